"""The executor: runs coroutines on the loop and functions in threads, and hands on outcomes."""

import asyncio
import time
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from oxpull_async.domain.events import TaskStarted
from oxpull_async.domain.outcome import Outcome, Released
from oxpull_async.domain.record import TaskRecord
from oxpull_async.runtime.attempts import Attempt, Attempts, Stop
from oxpull_async.runtime.host import Host
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.performer import Performer
from oxpull_async.runtime.settler import Settler

if TYPE_CHECKING:
    from collections.abc import Callable

CANCEL_AGAIN = 5.0


class Executor:
    """Starts attempts, watches their time, and hands their outcomes to the settler."""

    def __init__(self, host: Host, attempts: Attempts, settler: Settler, lease: LeaseState, hub: Hub) -> None:
        self._performer = Performer(host, hub)
        self.attempts = attempts
        self._settler = settler
        self._lease = lease
        self._hub = hub
        self._loop = asyncio.get_running_loop()
        self.threads = anyio.CapacityLimiter(1)
        self.on_free: Callable[[], None] = lambda: None

    def start(self, attempt: Attempt, record: TaskRecord | None) -> None:
        """Start an attempt; `record` is the whole row, given where its body wants it."""
        run = self._run_coroutine if attempt.runnable.body.is_coroutine else self._run_function
        task = asyncio.Task(run(attempt, record), loop=self._loop, name=attempt.claimed.task_path, eager_start=True)
        if not task.done():
            attempt.aio_task = task

    async def _run_coroutine(self, attempt: Attempt, record: TaskRecord | None) -> None:
        if not self._begin(attempt):
            self._finish(attempt, Released())
            return
        if self._hub.wants(TaskStarted):
            self._announce_start(attempt)
        if attempt.claimed.timeout is not None:
            self._set_timer(attempt)
        self._finish(attempt, await self._performer.acall(attempt, record))

    async def _run_function(self, attempt: Attempt, record: TaskRecord | None) -> None:
        try:
            outcome = await anyio.to_thread.run_sync(
                self._call_in_thread, attempt, record, abandon_on_cancel=True, limiter=self.threads
            )
        except (asyncio.CancelledError, RuntimeError):
            return  # it was taken back while it waited, or no thread could be had and the caretaker takes it back
        self._finish(attempt, outcome)

    def _call_in_thread(self, attempt: Attempt, record: TaskRecord | None) -> Outcome:
        if not self._begin(attempt):
            return Released()
        self._loop.call_soon_threadsafe(self._begun_in_thread, attempt)
        return self._performer.call(attempt, record)

    def _begun_in_thread(self, attempt: Attempt) -> None:
        self._announce_start(attempt)
        self._set_timer(attempt)

    def _begin(self, attempt: Attempt) -> bool:
        now = time.monotonic()
        return self._lease.is_trusted(now) and self.attempts.begin(attempt, now)

    def _finish(self, attempt: Attempt, outcome: Outcome) -> None:
        if attempt.timer is not None:
            attempt.timer.cancel()
        if self.attempts.end(attempt):
            self._settler.add(attempt, outcome)
        self.on_free()

    def _announce_start(self, attempt: Attempt) -> None:
        claimed = attempt.claimed
        self._hub.emit(TaskStarted(claimed.id, claimed.task_path, claimed.attempt))

    def _set_timer(self, attempt: Attempt) -> None:
        if attempt.timeout is not None:
            attempt.timer = self._loop.call_later(attempt.timeout, self.interrupt, attempt, Stop.TIMEOUT)

    def interrupt(self, attempt: Attempt, why: Stop) -> None:
        """Ask an attempt to stop.

        One that waits is given back, a coroutine is cancelled, a function is shown a flag.
        """
        attempt.stop = attempt.stop or why
        if self.attempts.take_back(attempt):
            self._settler.add(attempt, Released())
            if attempt.aio_task is not None:
                attempt.aio_task.cancel()
            self.on_free()
        elif attempt.body.is_coroutine:
            self._cancel(attempt)

    def _cancel(self, attempt: Attempt) -> None:
        """Cancel a coroutine, and again after a while if it holds on."""
        if attempt not in self.attempts or attempt.aio_task is None:
            return
        if attempt.timer is not None:
            attempt.timer.cancel()
        attempt.timer = self._loop.call_later(CANCEL_AGAIN, self._cancel, attempt)
        attempt.aio_task.cancel()
