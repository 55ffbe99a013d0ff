"""The watchdog: notices a loop that does not answer and functions that do not stop.

Runs on the lease thread.
"""

import asyncio
import sys
import threading
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from oxpull_async.domain.events import LoopBlocked
from oxpull_async.runtime.attempts import Attempt, Attempts
from oxpull_async.runtime.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Callable

TICK = 0.25
BLOCKED_AFTER = 1.0
GRACE = 10.0
FRAMES_SHOWN = 3


class Watchdog:
    """Watches one event loop and the deadlines of its attempts."""

    def __init__(self, loop: asyncio.AbstractEventLoop, attempts: Attempts, hub: Hub) -> None:
        self._loop = loop
        self._thread_id = threading.get_ident()
        self._attempts = attempts
        self._hub = hub
        self._beat = time.monotonic()
        self._waiting = False
        self._warned_at = 0.0
        self.grace = GRACE
        self.on_stuck: Callable[[list[Attempt]], None] = lambda _: None

    @property
    def blocked_for(self) -> float:
        """For how many seconds the loop has not answered."""
        return time.monotonic() - self._beat if self._waiting else 0.0

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            self._ask()
            await asyncio.sleep(TICK)
            self._warn_if_blocked()
            stuck = [attempt for attempt in self._attempts.live() if self._is_stuck(attempt)]
            if stuck:
                self.on_stuck(stuck)

    def _ask(self) -> None:
        if not self._waiting:
            self._waiting, self._beat = True, time.monotonic()
            self._loop.call_soon_threadsafe(self._answer)

    def _answer(self) -> None:
        self._waiting = False
        self._warned_at = 0.0

    def _warn_if_blocked(self) -> None:
        blocked = self.blocked_for
        if blocked > max(BLOCKED_AFTER, self._warned_at * 2):
            self._warned_at = blocked
            self._hub.emit(LoopBlocked(round(blocked, 1), self._culprit()))

    def _is_stuck(self, attempt: Attempt) -> bool:
        """Whether timeout and grace have passed for a function, or for anything while the loop is blocked."""
        deadline = attempt.deadline
        if deadline is None or time.monotonic() < deadline + self.grace:
            return False
        return not attempt.body.is_coroutine or self.blocked_for > self.grace

    def _culprit(self) -> str:
        """Name the running coroutine and the lines that hold the loop."""
        task = asyncio.current_task(self._loop)
        name = task.get_name() if task is not None else "a callback"
        frame = sys._current_frames().get(self._thread_id)  # noqa: SLF001 - the documented way to see another thread
        return f"{name}: {_lines(frame)}" if frame is not None else name


def _lines(frame: FrameType) -> str:
    summary = traceback.extract_stack(frame)[-FRAMES_SHOWN:]
    return " > ".join(f"{Path(entry.filename).name}:{entry.lineno} {entry.name}" for entry in summary)
