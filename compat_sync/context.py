"""What a Django task is given as its context, and what any task may ask about its attempt."""

import time
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from inspect import iscoroutinefunction

from django.tasks import TaskContext as DjangoContext

from compat_sync.exceptions import UsageError, translated
from oxpull_async import TaskContext as CoreContext
from oxpull_async.domain.surroundings import Run
from oxpull_async.domain.workflow import Upstream

__all__ = ["CURRENT", "TaskContext", "deadline", "remaining"]

CURRENT: ContextVar[Run] = ContextVar("compat_sync.run")
"""The attempt that runs here, set by the worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext(DjangoContext):  # type: ignore[misc, type-arg] # to a checker not frozen, and generic
    """The running attempt, seen from inside a Django task.

    It has Django's `task_result` and `attempt`, and what the core's context offers.
    """

    core: CoreContext

    @property
    def epoch(self) -> int:
        """The fencing token for outside systems: it grows each time the task changes hands."""
        return self.core.epoch

    @property
    def deadline(self) -> float | None:
        """The instant of `time.monotonic()` at which the timeout ends the attempt, or None."""
        return self.core.deadline

    def remaining(self) -> float | None:
        """Return the seconds left until the deadline, at least 0; None without a timeout."""
        return self.core.remaining()

    @property
    def cancelled(self) -> bool:
        """Whether it was asked to stop: by a cancel, its timeout, a lost lease or a shutdown."""
        return self.core.cancelled

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Store how far a plain function is, at most ten times a second, the last step always.

        Raises: InvalidArguments when the note cannot be stored, UsageError in a coroutine.
        """
        if iscoroutinefunction(self.task_result.task.func):
            raise UsageError("progress() is for plain functions: in a coroutine, await context.aprogress(…)")
        with translated():
            self.core.report_progress(done, total, note)

    def upstream_results(self) -> dict[str, Upstream]:
        """Return how the nodes that this one depends on ended, and what they returned.

        By their names, for plain functions. Empty for a task that depends on none, or is no node of a workflow.
        """
        if iscoroutinefunction(self.task_result.task.func):
            raise UsageError(
                "upstream_results() is for plain functions: in a coroutine, await context.aupstream_results()"
            )
        with translated():
            return self.core.get_upstream_results()

    async def aupstream_results(self) -> dict[str, Upstream]:
        """Return how the nodes before this one ended, as `upstream_results` does for functions."""
        with translated():
            return await self.core.upstream_results()

    async def aprogress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Store how far a coroutine is, as `progress` does for functions."""
        with translated():
            await self.core.progress(done, total, note)


def deadline() -> datetime | None:
    """Return when the timeout ends this attempt; None without one, or outside of a worker."""
    left = remaining()
    return None if left is None else datetime.now(UTC) + timedelta(seconds=left)


def remaining() -> float | None:
    """Return the seconds until `deadline`, by a steady clock; less than 0 once it has passed."""
    run = CURRENT.get(None)
    return None if run is None or run.deadline is None else run.deadline - time.monotonic()
