"""Batches: tasks that are counted together, and the calls that follow when all have ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from oxpull_async.domain.durations import seconds
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.record import NewTask, TaskId, instant, instant_or_none, task_id
from oxpull_async.domain.storable import is_name

type BatchId = str

MAX_NAME = 128
MOST_EXPIRY = 1_000 * 366 * 86_400.0


class BatchStatus(StrEnum):
    """How far a batch is; the stored words are these."""

    OPEN = "OPEN"
    SEALED = "SEALED"
    COMPLETE = "COMPLETE"


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a batch is.

    `total` members, of which `pending` have not ended; `unattributed` are LOST, DISCARDED or deleted by hand.
    """

    total: int
    pending: int
    succeeded: int
    failed: int
    unattributed: int
    status: BatchStatus

    @property
    def finished(self) -> int:
        """How many members have ended."""
        return self.total - self.pending


@dataclass(frozen=True, slots=True)
class BatchInfo:
    """The batch of a task that is declared with `takes_batch`, as it was after the claim."""

    id: BatchId
    name: str
    counts: BatchProgress


@dataclass(frozen=True, slots=True)
class Callback:
    """A task to be stored when its batch completes: `when` is complete, success or failure."""

    when: str
    task: NewTask


@dataclass(frozen=True, slots=True)
class NewBatch:
    """A batch that is about to be stored.

    It is cancelled if it is still open `expire_after` seconds from then.
    """

    id: BatchId
    backend_alias: str
    name: str
    callbacks: Sequence[Callback]
    expire_after: float | None = None


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """One stored batch; `callbacks` are as stored, the tasks' ids among them."""

    id: BatchId
    backend_alias: str
    name: str
    progress: BatchProgress
    callbacks: Sequence[Mapping[str, Any]]
    created_at: datetime
    sealed_at: datetime | None
    completed_at: datetime | None

    @property
    def info(self) -> BatchInfo:
        """What a task that takes its batch is given."""
        return BatchInfo(self.id, self.name, self.progress)


def checked_name(name: object) -> str:
    """Return a batch's name.

    Raises: UsageError unless it is text of at most 128 characters that can be stored.
    """
    if not is_name(name, MAX_NAME, least=0):
        raise UsageError(
            f"name={str(name)[:60]!r} must be text of at most {MAX_NAME} characters without NUL or lone surrogates"
        )
    return name


def checked_expiry(expire_after: object) -> float | None:
    """Return after how many seconds an open batch is cancelled.

    Raises: UsageError unless it is None or a duration above zero, a thousand years at most.
    """
    if expire_after is None:
        return None
    value = seconds(expire_after, name="expire_after")
    if value == 0:
        raise UsageError("expire_after=0 would cancel it at once: pass None to keep it open")
    if value > MOST_EXPIRY:
        raise UsageError(f"expire_after={expire_after!r:.80} is more than a thousand years: pass None to keep it open")
    return value


def batch_record(row: Sequence[Any], callbacks: Sequence[Mapping[str, Any]]) -> BatchRecord:
    """Read one row of the statement `get_batches`, whose callbacks have been decoded."""
    total, succeeded, failed, unattributed = row[4:8]
    pending = total - succeeded - failed - unattributed
    progress = BatchProgress(total, pending, succeeded, failed, unattributed, BatchStatus(row[3]))
    return BatchRecord(
        task_id(row[0]), row[1], row[2], progress, callbacks,
        instant(row[9]), instant_or_none(row[10]), instant_or_none(row[11]),
    )  # fmt: skip


def callback_ids(callbacks: Sequence[Mapping[str, Any]]) -> list[TaskId]:
    """Return the ids of the tasks that a batch's callbacks are or will be."""
    return [task_id(callback["task"]["id"]) for callback in callbacks]
