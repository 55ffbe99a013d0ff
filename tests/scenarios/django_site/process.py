"""Run the measured site in a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Literal

from tests.fixtures.processes import ROOT
from tests.scenarios.django_site.held import Held

type Mode = Literal["asgi", "asgi-with-signals", "wsgi"]
LIMIT_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Seen:
    """What a site told about its requests; `peak` is beyond what it held before, but for connections."""

    before: Held
    after: Held
    peak: Held
    answered: int
    seconds: float


def measured(url: str, mode: Mode, view: str, *, requests: int, at_once: int = 1) -> Seen:
    """Send requests to a view of a fresh site, and return what they held; all must be answered."""
    command = [sys.executable, "-m", "tests.scenarios.django_site", mode, view, str(requests), str(at_once)]
    environment = os.environ | {"OXPULL_DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    before, after, peak = (Held(**told[name]) for name in ("before", "after", "peak"))
    seen = Seen(before, after, peak, told["answered"], told["seconds"])
    assert seen.answered == requests, f"{seen.answered} of {requests} answered by {view}: {done.stderr[-2000:]}"
    return seen
