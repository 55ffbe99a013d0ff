"""The live line of a worker on a terminal: what is done, running and failed, and how fast."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from oxpull_async.domain.events import AttemptFailed, TaskSettled
from oxpull_async.runtime.worker import Worker

REFRESHES_PER_SECOND, SPAN = 4, 2.0


class Progress:
    """Counts what a worker settles, and tells the speed of the last two seconds."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._done = 0
        self._failed = 0
        self._past: deque[tuple[float, int, int]] = deque([(time.monotonic(), 0, 0)])
        worker.hub.subscribe(TaskSettled, self._count_done)
        worker.hub.subscribe(AttemptFailed, self._count_failed)

    def _count_done(self, _: TaskSettled) -> None:
        self._done += 1

    def _count_failed(self, _: AttemptFailed) -> None:
        self._failed += 1

    def line(self) -> Text:
        """Return the present figures as one line."""
        now = time.monotonic()
        self._past.append((now, self._done, self._failed))
        while now - self._past[1][0] > SPAN:
            self._past.popleft()
        then, done, failed = self._past[0]
        span = max(now - then, 1 / REFRESHES_PER_SECOND)
        return Text.assemble(
            ("done ", "dim"), f"{self._done:,} ", (f"{(self._done - done) / span:,.0f}/s  ", "green"),
            ("running ", "dim"), f"{self._worker.running:,}  ",
            ("failed attempts ", "dim"), f"{self._failed:,} ", (f"{(self._failed - failed) / span:,.0f}/s", "red"),
        )  # fmt: skip


@contextmanager
def live_line(console: Console, worker: Worker) -> Iterator[None]:
    """Show the line while the block runs, if the console is a terminal."""
    if not console.is_terminal:
        yield
        return
    progress = Progress(worker)
    with Live(get_renderable=progress.line, console=console, refresh_per_second=REFRESHES_PER_SECOND):
        yield
