"""Pure decisions about leases.

What becomes of a row whose worker fell silent, and how long a lease is trusted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oxpull_async.domain.record import TaskId, TaskStatus, WorkerId, task_id

MAX_REFUNDS = 2
TRUSTED_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class HeldTask:
    """An attempt that runs under a worker's id according to the database."""

    task_id: TaskId
    epoch: int
    cancel_requested: bool
    rerun_key: str | None = None
    lock_key: str | None = None
    batch_id: str | None = None
    workflow_id: str | None = None

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> "HeldTask":
        """Read one row of the statement `held_tasks`."""
        return cls(task_id(row[0]), row[1], bool(row[2]), *row[3:7])


@dataclass(frozen=True, slots=True)
class ExpiredTask:
    """A running row whose worker is dead or gone."""

    task_id: TaskId
    epoch: int
    attempts: int
    max_attempts: int
    begun: bool
    refunds: int
    cancel_requested: bool
    worker_id: WorkerId
    rerun_key: str | None = None
    lock_key: str | None = None
    batch_id: str | None = None
    workflow_id: str | None = None

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> "ExpiredTask":
        """Read one row of the statement `expired_tasks`."""
        return cls(
            task_id(row[0]), row[1], row[2], row[3], bool(row[4]), row[5], bool(row[6]), task_id(row[7]), row[8],
            row[9], row[10], row[11],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReapVerdict:
    """What the reaper makes of an expired row."""

    status: TaskStatus
    refund: bool


def judge_expired(row: ExpiredTask) -> ReapVerdict:
    """Decide what becomes of a row whose worker fell silent.

    A cancel that was requested ends it; an attempt that never began is given back, twice at most; otherwise it runs
    again while attempts are left, and is LOST when they are spent.
    """
    if row.cancel_requested:
        return ReapVerdict(TaskStatus.DISCARDED, refund=False)
    if not row.begun and row.refunds < MAX_REFUNDS:
        return ReapVerdict(TaskStatus.READY, refund=True)
    if row.attempts < row.max_attempts:
        return ReapVerdict(TaskStatus.READY, refund=False)
    return ReapVerdict(TaskStatus.LOST, refund=False)


def trusted_until(sent_at: float, lease_seconds: float) -> float:
    """Return until which monotonic instant a lease renewed at `sent_at` may be relied on."""
    return sent_at + lease_seconds * TRUSTED_SHARE
