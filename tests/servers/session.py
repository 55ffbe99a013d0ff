"""Share what was found or started between the processes of one test run, and stop it at the end."""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Self

from tests.servers import launch
from tests.servers.facts import FACTS, Kind, ServerUnavailable
from tests.servers.find import Found, find_or_start

VARIABLE = "OXPULL_TEST_RUN"


class Session:
    """One run of the tests; its child processes join it through an environment variable.

    A server is looked for when it is first asked for, by whichever process asks, under a
    lock. Only the process that opened the session stops what was started.
    """

    def __init__(self) -> None:
        """Open a session, or join the one that a parent process opened."""
        joined = os.environ.get(VARIABLE)
        self.is_owner = joined is None
        self.folder = Path(joined or tempfile.mkdtemp(prefix="oxpull-run-"))
        os.environ[VARIABLE] = str(self.folder)

    def server(self, kind: Kind) -> Found:
        """Give the run's server of this kind; ServerUnavailable says why there is none."""
        with self._locked(kind):
            known = self.known(kind)
            if known is None:
                known = self._find(kind)
        if isinstance(known, str):
            raise ServerUnavailable(known)
        return known

    def known(self, kind: Kind) -> Found | str | None:
        """Tell what the run knows so far: a server, the reason for none, or nothing yet."""
        path = self.folder / f"{kind}.json"
        if not path.exists():
            return None
        content = json.loads(path.read_text())
        return content if isinstance(content, str) else Found(**content)

    def close(self) -> None:
        """Stop the servers that this run started; does nothing in a process that joined."""
        if not self.is_owner:
            return
        for kind in FACTS:
            known = self.known(kind)
            if isinstance(known, Found) and known.home:
                launch.stop(Path(known.home))
        shutil.rmtree(self.folder, ignore_errors=True)
        os.environ.pop(VARIABLE, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _find(self, kind: Kind) -> Found | str:
        answer: Found | str
        try:
            answer = find_or_start(kind)
        except ServerUnavailable as error:
            answer = str(error)
        content = answer if isinstance(answer, str) else asdict(answer)
        (self.folder / f"{kind}.json").write_text(json.dumps(content))
        return answer

    @contextmanager
    def _locked(self, kind: Kind) -> Iterator[None]:
        with (self.folder / f"{kind}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
