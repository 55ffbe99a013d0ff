"""What members of a batch or nodes of a workflow are counted as, and when it completes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from oxpull_async.domain.batch import BatchStatus
from oxpull_async.domain.record import TaskStatus, task_id


class Counted(StrEnum):
    """What an ended member is counted as."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNATTRIBUTED = "unattributed"


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a batch or a workflow under their lock; `total` is None until it is sealed."""

    id: str
    status: BatchStatus
    total: int | None
    succeeded: int
    failed: int
    unattributed: int
    cancelled: bool

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> "Counts":
        """Read one row of the statements `lock_counts` and `lock_workflow_counts`."""
        return cls(task_id(row[0]), BatchStatus(row[1]), row[2], row[3], row[4], row[5], bool(row[6]))

    @property
    def is_due(self) -> bool:
        """Whether it is sealed and nothing of it is pending any more."""
        ended = self.succeeded + self.failed + self.unattributed
        return self.status is BatchStatus.SEALED and self.total is not None and ended >= self.total

    @property
    def is_stopping(self) -> bool:
        """Whether it was cancelled, and something of it has not ended yet."""
        return self.cancelled and self.status is not BatchStatus.COMPLETE

    def moved(self, old: str | None, new: str | None) -> "Counts":
        """Return the counts after one member's move; None is pending."""
        changes = {name: getattr(self, name) for name in Counted}
        if old is not None:
            changes[Counted(old)] -= 1
        if new is not None:
            changes[Counted(new)] += 1
        return replace(self, **{name.value: count for name, count in changes.items()})

    def completed(self) -> tuple["Counts", frozenset[str]]:
        """Return the counts once complete, and which callbacks are due then."""
        succeeded = self.failed == 0 and self.unattributed == 0 and not self.cancelled
        due = frozenset({"complete", "success" if succeeded else "failure"})
        return replace(self, status=BatchStatus.COMPLETE), due


def complete_due(counts: Sequence[Counts]) -> tuple[list[Counts], dict[str, frozenset[str]]]:
    """Complete those that are due.

    Returns all as they are to be written, and which callbacks are due, by id.
    """
    due: dict[str, frozenset[str]] = {}
    written = []
    for one in counts:
        if one.is_due:
            one, due[one.id] = one.completed()  # noqa: PLW2901 - the same counts, a step further
        written.append(one)
    return written, due


def counted_as(status: TaskStatus | None) -> Counted | None:
    """Return what a member is counted as, None while it is pending.

    No status means that its row is gone.
    """
    match status:
        case TaskStatus.SUCCESSFUL:
            return Counted.SUCCEEDED
        case TaskStatus.FAILED:
            return Counted.FAILED
        case TaskStatus.LOST | TaskStatus.DISCARDED | None:
            return Counted.UNATTRIBUTED
        case _:
            return None
