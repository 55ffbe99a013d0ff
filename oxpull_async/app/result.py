"""The handle on a stored task that enqueue and get_result return."""

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio

from oxpull_async.app import ambient
from oxpull_async.domain.durations import Duration, seconds
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.record import NewTask, TaskError, TaskRecord, TaskStatus
from oxpull_async.store.plain_tasks import Written, written_record

if TYPE_CHECKING:
    from datetime import datetime

    from oxpull_async.app.oxpull import Oxpull

FIRST_POLL, LONGEST_POLL = 0.02, 1.0


class TaskResult[R]:
    """A stored task as it was when last read; `refresh` and `wait` read it again."""

    __slots__ = ("_decode", "_known", "_ox", "created")

    def __init__(
        self,
        ox: "Oxpull",
        known: TaskRecord | tuple[NewTask, Written] | Callable[[], TaskRecord],
        *,
        created: bool = False,
        decode: Callable[[Any], Any] | None = None,
    ) -> None:
        self._ox = ox
        self._known = known
        self._decode = decode
        self.created = created
        """Whether the call that returned this result inserted the row."""

    def __repr__(self) -> str:
        return f"<TaskResult {self.id} {self.task_path} {self.status}>"

    def __getattr__(self, name: str) -> Any:
        if name in _SHOWN:
            return getattr(self.record, name)
        raise AttributeError(f"TaskResult has no attribute {name!r}")

    if TYPE_CHECKING:
        id: str
        task_path: str
        args: list[Any]
        kwargs: dict[str, Any]
        queue_name: str
        priority: int
        run_after: datetime | None
        status: TaskStatus
        enqueued_at: datetime
        started_at: datetime | None
        last_attempted_at: datetime | None
        finished_at: datetime | None
        attempts: int
        max_attempts: int
        errors: tuple[TaskError, ...]
        worker_ids: tuple[str, ...]
        progress: dict[str, Any] | None

    @property
    def record(self) -> TaskRecord:
        """The whole stored record as last read."""
        if not isinstance(self._known, TaskRecord):  # made when it is first looked at: many callers never do
            self._known = written_record(*self._known) if isinstance(self._known, tuple) else self._known()
        return self._known

    @property
    def is_finished(self) -> bool:
        """Whether the task has ended."""
        return self.record.status.is_finished

    @property
    def return_value(self) -> R:
        """What the task returned.

        Raises: ValueError until the task is SUCCESSFUL, saying what it is instead.
        """
        if self.record.status is not TaskStatus.SUCCESSFUL:
            raise ValueError(f"task {self.id} is {self.status}, so it has no return value" + self._last_error())
        value: R = self._decode(self.record.return_value) if self._decode else self.record.return_value
        return value

    async def refresh(self) -> None:
        """Read the task again.

        Raises: UsageError in the transaction that enqueued it, TaskResultDoesNotExist when it was pruned.
        """
        self._refuse_inside_its_transaction()
        self._known = await self._ox.read(self.id)

    async def wait(self, timeout: Duration | None = None) -> "TaskResult[R]":  # noqa: ASYNC109 - part of the public API
        """Wait until the task has ended, and return this result, read again.

        Raises: TimeoutError after `timeout` seconds, UsageError in the transaction that enqueued the task.
        """
        self._refuse_inside_its_transaction()
        limit = None if timeout is None else seconds(timeout, name="timeout")
        ends = math.inf if limit is None else time.monotonic() + limit
        pause = FIRST_POLL
        await self.refresh()
        while not self.is_finished:
            left = ends - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"task {self.id} ({self.task_path}) is still {self.status} after {limit:g} s")
            await anyio.sleep(min(pause, left))
            pause = min(pause * 2, LONGEST_POLL)
            await self.refresh()
        return self

    def _refuse_inside_its_transaction(self) -> None:
        if ambient.has_created(self._ox, self.id):
            raise UsageError(
                f"task {self.id} was enqueued in this transaction, so no worker can see it before the commit: "
                "wait for it after the block"
            )

    def _last_error(self) -> str:
        errors = self.record.errors
        return f"; its last error was {errors[-1].exception_class_path}" if errors else ""


_SHOWN = frozenset(
    {
        "id", "task_path", "args", "kwargs", "queue_name", "priority", "run_after", "status", "enqueued_at",
        "started_at", "last_attempted_at", "finished_at", "attempts", "max_attempts", "errors", "worker_ids",
        "progress",
    }
)  # fmt: skip
