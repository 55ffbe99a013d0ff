"""What a framework does around the body of its tasks."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from oxpull_async.domain.outcome import Failed, Outcome, Succeeded
from oxpull_async.domain.record import ClaimedTask, TaskRecord, WorkerId


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt that has begun, as the surroundings of its task see it.

    `record` is the whole row after the claim where the surroundings wanted it and it is still there; `deadline` is the
    instant of `time.monotonic()` at which the timeout ends the attempt, None without one.
    """

    claimed: ClaimedTask
    worker_id: WorkerId
    record: TaskRecord | None
    deadline: float | None


class Surroundings(Protocol):
    """What is done around a body on the thread, or in the asyncio task, that runs it.

    The blocking methods are called for functions, those with an `a` before their names for coroutines.
    """

    def wants_record(self) -> bool:
        """Whether the whole row is to be read after the claim; asked at every claim."""

    def context(self, core: Any, record: TaskRecord) -> Any:
        """Return what a task that takes a context is given, made from the core's own context."""

    def around(self, run: Run) -> AbstractContextManager[None]:
        """Return a block around the body and its telling; it must not wait on the event loop."""

    def started(self, run: Run) -> None:
        """Tell that the body is about to start; what this raises fails the attempt."""

    async def astarted(self, run: Run) -> None:
        """Do what `started` does, on the event loop."""

    def finished(self, run: Run, outcome: Outcome) -> None:
        """Tell that the task has ended for good, in the handler of what the body raised if it did."""

    async def afinished(self, run: Run, outcome: Outcome) -> None:
        """Do what `finished` does, on the event loop."""


def is_final(outcome: Outcome) -> bool:
    """Say whether an outcome ends the task by success or failure, with no attempt to come."""
    return isinstance(outcome, Succeeded) or (isinstance(outcome, Failed) and outcome.retry_in is None)
