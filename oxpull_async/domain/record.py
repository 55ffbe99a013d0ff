"""The stored unit of work: its status and its frozen record.

Rows become records here and nowhere else.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from oxpull_async.domain.permit import Permit
from oxpull_async.domain.values import decode

type TaskId = str
type WorkerId = str

_read: Callable[[str], Any] = decode


class TaskStatus(StrEnum):
    """Where a task is in its life; the stored words are these."""

    READY = "READY"
    WAITING = "WAITING"
    RUNNING = "RUNNING"
    SUCCESSFUL = "SUCCESSFUL"
    FAILED = "FAILED"
    LOST = "LOST"
    DISCARDED = "DISCARDED"

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen by itself (a LOST row may still get its late outcome)."""
        return self in _FINISHED


_FINISHED = frozenset({TaskStatus.SUCCESSFUL, TaskStatus.FAILED, TaskStatus.LOST, TaskStatus.DISCARDED})


@dataclass(frozen=True, slots=True)
class TaskError:
    """One failed attempt: what was raised, where, and who ran it when."""

    exception_class_path: str
    traceback: str
    attempt: int
    worker_id: str
    at: datetime | None = None


class NewTask(msgspec.Struct, frozen=True, gc=False):
    """A task that is about to be stored; change a copy by `msgspec.structs.replace`.

    `args` and `kwargs` are JSON text, `run_after` is an aware instant; `delay` seconds from now stand in its place.
    """

    id: TaskId
    backend_alias: str
    task_path: str
    queue_name: str
    priority: int
    args: str
    kwargs: str
    run_after: datetime | None
    max_attempts: int
    timeout: float | None
    delay: float | None = None
    unique_key: str | None = None
    reruns: bool = False
    waiting_for: str | None = None
    lock_key: str | None = None
    lock_limit: int | None = None
    lock_conflict: str | None = None
    batch_id: str | None = None
    """The batch that the task is made in, or whose callback it is."""
    workflow_id: str | None = None
    """The workflow of which the task is a node."""
    limit_keys: str | None = None
    """The keys under which rate limits count it; None where no limit is known to cover it."""


class ClaimedTask(NamedTuple):
    """What a worker needs to run an attempt; `args` and `kwargs` are still JSON text."""

    id: TaskId
    epoch: int
    task_path: str
    queue_name: str
    priority: int
    available_at: datetime
    args: str
    kwargs: str
    attempt: int
    max_attempts: int
    snoozes: int
    timeout: float | None
    begun: bool
    rerun_key: str | None = None
    lock_key: str | None = None
    batch_id: str | None = None
    workflow_id: str | None = None
    limit_keys: str | None = None
    permits: tuple[Permit, ...] = ()
    """The starts that rate limits have counted for this attempt."""

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> "ClaimedTask":
        """Read one row of the statement `claim`."""
        values = [*row, ()]
        values[0], values[5], values[12] = task_id(row[0]), instant(row[5]), bool(row[12])
        for place in (15, 16):
            if values[place] is not None:
                values[place] = task_id(values[place])
        return cls._make(values)

    @property
    def stands_alone(self) -> bool:
        """Whether its end concerns its own row alone: no key, lock, batch or workflow hangs on it."""
        return self.rerun_key is None and self.lock_key is None and self.batch_id is None and self.workflow_id is None


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """One stored task, whole."""

    id: TaskId
    backend_alias: str
    task_path: str
    queue_name: str
    priority: int
    status: TaskStatus
    waiting_for: str | None
    args: list[Any]
    kwargs: dict[str, Any]
    run_after: datetime | None
    available_at: datetime
    enqueued_at: datetime
    started_at: datetime | None
    last_attempted_at: datetime | None
    finished_at: datetime | None
    attempts: int
    max_attempts: int
    epoch: int
    timeout: float | None
    leased_by: WorkerId | None
    worker_ids: tuple[WorkerId, ...]
    errors: tuple[TaskError, ...]
    return_value: Any
    progress: dict[str, Any] | None
    cancel_requested: bool

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> "TaskRecord":
        """Read one row of the statements `get_tasks` and `list_tasks`."""
        return cls(
            id=task_id(row[0]), backend_alias=row[1], task_path=row[2], queue_name=row[3], priority=row[4],
            status=TaskStatus(row[5]), waiting_for=row[6], args=_read(row[7]), kwargs=_read(row[8]),
            run_after=instant_or_none(row[9]), available_at=instant(row[10]), enqueued_at=instant(row[11]),
            started_at=instant_or_none(row[12]), last_attempted_at=instant_or_none(row[13]),
            finished_at=instant_or_none(row[14]), attempts=row[15], max_attempts=row[16], epoch=row[17],
            timeout=row[18], leased_by=None if row[19] is None else task_id(row[19]),
            worker_ids=tuple(task_id(entry) for entry in _read(row[20])),
            errors=tuple(error_from_json(entry) for entry in _read(row[21])),
            return_value=None if row[22] is None else _read(row[22]),
            progress=None if row[23] is None else _read(row[23]), cancel_requested=bool(row[24]),
        )  # fmt: skip


def task_id(value: Any) -> TaskId:
    """Return an id in its usual text form.

    Drivers give a UUID, or text of 32 or 36 characters.
    """
    text = value if isinstance(value, str) else str(value)
    if len(text) == _HEX_LENGTH:
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
    return text


_HEX_LENGTH = 32


def wire_id(text: TaskId) -> str:
    """Return an id as it travels to the database: 32 hexadecimal digits."""
    return text.replace("-", "")


def instant(value: Any) -> datetime:
    """Return a stored instant as an aware datetime in UTC.

    Drivers give text, naive or aware values.
    """
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    if moment.tzinfo is UTC:
        return moment
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def instant_or_none(value: Any) -> datetime | None:
    """Return a stored instant that may be absent."""
    return None if value is None else instant(value)


def wire_instant(moment: datetime | None) -> str | None:
    """Return an aware instant as it travels to the database: UTC text, microseconds, no zone."""
    if moment is None:
        return None
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def new_record(task: NewTask, enqueued_at: Any, available_at: Any) -> TaskRecord:
    """Return the record of a task just stored; the instants are as the driver gives them."""
    ready = task.waiting_for is None
    available = instant(available_at)
    return TaskRecord(
        id=task.id, backend_alias=task.backend_alias, task_path=task.task_path, queue_name=task.queue_name,
        priority=task.priority, status=TaskStatus.READY if ready else TaskStatus.WAITING, waiting_for=task.waiting_for,
        args=json.loads(task.args), kwargs={} if task.kwargs == "{}" else json.loads(task.kwargs),
        run_after=task.run_after if task.delay is None else available, available_at=available,
        enqueued_at=instant(enqueued_at), started_at=None, last_attempted_at=None, finished_at=None, attempts=0,
        max_attempts=task.max_attempts, epoch=0, timeout=task.timeout, leased_by=None, worker_ids=(), errors=(),
        return_value=None, progress=None, cancel_requested=False,
    )  # fmt: skip


def error_from_json(entry: dict[str, Any]) -> TaskError:
    """Read one entry of the stored `errors` list."""
    return TaskError(
        exception_class_path=entry.get("exception_class_path", ""),
        traceback=entry.get("traceback", ""),
        attempt=entry.get("attempt", 0),
        worker_id=entry.get("worker_id", ""),
        at=instant_or_none(entry.get("at")),
    )
