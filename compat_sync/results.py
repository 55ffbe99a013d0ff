"""From stored records to Django's results, with what Django has no word for."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.tasks import TaskResult as DjangoResult
from django.tasks import TaskResultStatus
from django.tasks.base import TASK_REFRESH_ATTRS
from django.tasks.base import TaskError as DjangoError

from compat_sync import exceptions
from compat_sync.declared import stored_task
from compat_sync.django_types import AnyResult
from oxpull_async.domain.record import TaskRecord, TaskStatus

__all__ = ["PUBLIC_STATUS", "TaskError", "TaskResult", "result_of"]

PUBLIC_STATUS = {
    TaskStatus.READY: TaskResultStatus.READY,
    TaskStatus.WAITING: TaskResultStatus.READY,
    TaskStatus.RUNNING: TaskResultStatus.RUNNING,
    TaskStatus.SUCCESSFUL: TaskResultStatus.SUCCESSFUL,
    TaskStatus.FAILED: TaskResultStatus.FAILED,
    TaskStatus.LOST: TaskResultStatus.FAILED,
    TaskStatus.DISCARDED: TaskResultStatus.FAILED,
}

_CORE = "oxpull_async.errors"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskError(DjangoError):  # type: ignore[misc] # the stubs do not know that Django's is frozen
    """One failed attempt: what was raised, in which attempt, by which worker, and when."""

    attempt: int
    worker_id: str
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskResult(DjangoResult):  # type: ignore[misc, type-arg] # the same; generic to a type checker only
    """A stored task as Django sees it.

    `record` is the whole row as last read; `created` is False when an enqueue was answered with a task that was there.
    Results are equal when what Django knows of them is.
    """

    record: TaskRecord
    created: bool = False

    @property
    def stored_status(self) -> TaskStatus:
        """The status in the database: one of seven, where Django knows four."""
        return self.record.status

    @property
    def max_attempts(self) -> int:
        """How many attempts the task may have."""
        return self.record.max_attempts

    @property
    def run_after(self) -> datetime | None:
        """What the caller asked: not before this instant."""
        return self.record.run_after

    @property
    def progress(self) -> dict[str, Any] | None:
        """What the task last reported of its progress."""
        return self.record.progress

    def refresh(self) -> None:
        """Read the task again; raises TaskResultDoesNotExist when it is gone."""
        self._renew(self.task.get_backend().get_result(self.id))

    async def arefresh(self) -> None:
        """Read the task again; raises TaskResultDoesNotExist when it is gone."""
        self._renew(await self.task.get_backend().aget_result(self.id))

    def _renew(self, read: AnyResult) -> None:
        for name in (*TASK_REFRESH_ATTRS, "record"):
            object.__setattr__(self, name, getattr(read, name))


def result_of(record: TaskRecord, *, created: bool = False) -> TaskResult:
    """Return Django's result of a stored record; its task's code need not be here."""
    result = TaskResult(
        task=stored_task(record),
        id=record.id,
        status=PUBLIC_STATUS[record.status],
        enqueued_at=record.enqueued_at,
        started_at=record.started_at,
        finished_at=record.finished_at,
        last_attempted_at=record.last_attempted_at,
        args=record.args,
        kwargs=record.kwargs,
        backend=record.backend_alias,
        errors=[
            TaskError(
                exception_class_path=_class_path(error.exception_class_path),
                traceback=error.traceback,
                attempt=error.attempt,
                worker_id=error.worker_id,
                at=error.at,
            )
            for error in record.errors
        ],
        worker_ids=list(record.worker_ids),
        record=record,
        created=created,
    )
    if record.status is TaskStatus.SUCCESSFUL:
        object.__setattr__(result, "_return_value", record.return_value)
    return result


def _class_path(stored: str) -> str:
    """Return where Django's code finds the class of a stored failure: an error of the core's is one of ours here."""
    module, _, name = stored.rpartition(".")
    return f"{exceptions.__name__}.{name}" if module == _CORE and hasattr(exceptions, name) else stored
