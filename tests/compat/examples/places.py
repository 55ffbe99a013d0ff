"""The example projects in a process each, on a database of a test."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.cli.support import Program, until
from tests.fixtures.processes import ROOT

EXAMPLES = ROOT / "docs" / "examples"
DJANGO, FASTAPI = EXAMPLES / "django_shop", EXAMPLES / "fastapi_shop"
PASSWORD = "a password of the tests"


class Shop(httpx.Client):
    """A client of a shop, and the process that serves it."""

    server: Program


@dataclass(frozen=True, slots=True)
class Place:
    """A database for both shops, and a folder for what their programs print."""

    url: str
    folder: Path

    def manage(self, *arguments: str) -> str:
        """Run a command of the Django shop to its end; gives what it printed, to stderr too."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=DJANGO, env=self._environment(), capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    @contextmanager
    def started(self, project: Path, *command: str, **environment: str) -> Iterator[Program]:
        """Start a program in the folder of a project; it is killed at the end of the block."""
        place = self.folder / f"program{len(list(self.folder.glob('program*')))}"
        place.mkdir()
        with (place / "stdout").open("wb") as output, (place / "stderr").open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, *command], cwd=project, env=self._environment() | environment,
                stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
            )  # fmt: skip
            try:
                yield Program(process, place)
            finally:
                process.kill()
                process.wait()

    @contextmanager
    def served(self, project: Path, *command: str) -> Iterator[Shop]:
        """Start a server, its command without the port, wait until it answers, and give a client of it."""
        port = _free_port()
        here = [part.format(port=port) for part in command]
        client = Shop(base_url=f"http://127.0.0.1:{port}", timeout=30)
        with client, self.started(project, *here, DEBUG="0") as server:
            until(lambda: server.ended() or _answers(client), f"an answer of {command}, logs in {self.folder}")
            assert not server.ended(), server.errors
            client.server = server
            yield client

    def _environment(self) -> dict[str, str]:
        own = {
            "OXPULL_DATABASE_URL": self.url,
            "PYTHONPATH": str(ROOT),
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "300",
        }
        return {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"} | own


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/health/").is_success
    except httpx.TransportError:
        return False
