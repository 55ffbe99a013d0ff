"""What a task function that takes a context can ask and tell."""

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio.from_thread

from oxpull_async.domain.errors import DatabaseTrouble, UsageError
from oxpull_async.domain.values import encode_payload
from oxpull_async.domain.workflow import Upstream
from oxpull_async.runtime.attempts import Attempt

MOST_BYTES = 16_384
SPACING = 0.1

type Report = Callable[[Attempt, str], Awaitable[bool]]
type ReadUpstreams = Callable[[Attempt], Awaitable[dict[str, Upstream]]]


class TaskContext:
    """The running attempt, seen from inside the task function."""

    def __init__(self, attempt: Attempt, task_result: Any, report: Report, read_upstreams: ReadUpstreams) -> None:
        self._attempt = attempt
        self._report = report
        self._read_upstreams = read_upstreams
        self._reported_at = 0.0
        self.task_result = task_result
        """The task's TaskResult as it was when the attempt was claimed."""

    @property
    def attempt(self) -> int:
        """The number of this attempt, from 1."""
        return self._attempt.claimed.attempt

    @property
    def epoch(self) -> int:
        """The fencing token for outside systems: it grows each time the task changes hands."""
        return self._attempt.lease.epoch

    @property
    def deadline(self) -> float | None:
        """The instant of `time.monotonic()` at which the timeout ends the attempt, or None."""
        return self._attempt.deadline

    def remaining(self) -> float | None:
        """Return the seconds left until the deadline, at least 0; None without a timeout."""
        deadline = self._attempt.deadline
        return None if deadline is None else max(0.0, deadline - time.monotonic())

    @property
    def cancelled(self) -> bool:
        """Whether it was asked to stop: by a cancel, its timeout, a lost lease or a shutdown."""
        return self._attempt.stop is not None

    async def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Store how far the work is, for `TaskResult.progress`.

        It is stored at most ten times a second, the last step always. Where the database is away the report is dropped
        and the work goes on.

        Raises: InvalidArguments when the note cannot be stored.
        """
        now = time.monotonic()
        if now - self._reported_at < SPACING and done != total:
            return
        self._reported_at = now
        told = {"done": done, "total": total, "note": note}
        text = encode_payload(told, path="progress", max_bytes=MOST_BYTES)
        with suppress(DatabaseTrouble):
            await self._report(self._attempt, text)

    def report_progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Do what `progress` does, from a plain function, which runs in a thread.

        Raises: UsageError when called from a coroutine.
        """
        if self._attempt.body.is_coroutine:
            raise UsageError("report_progress() is for plain functions: in a coroutine, await context.progress(…)")
        anyio.from_thread.run(self.progress, done, total, note)

    async def upstream_results(self) -> dict[str, Upstream]:
        """Return how the nodes ended that this one depends on, and what they returned.

        By their names; empty for a task that depends on none, or is no node of a workflow.
        """
        return await self._read_upstreams(self._attempt)

    def get_upstream_results(self) -> dict[str, Upstream]:
        """Do what `upstream_results` does, from a plain function, which runs in a thread.

        Raises: UsageError when called from a coroutine.
        """
        if self._attempt.body.is_coroutine:
            raise UsageError(
                "get_upstream_results() is for plain functions: in a coroutine, await context.upstream_results()"
            )
        return anyio.from_thread.run(self.upstream_results)
