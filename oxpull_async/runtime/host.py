"""What a worker needs of the Oxpull it serves."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from oxpull_async.db.contract import Database
from oxpull_async.domain.record import TaskRecord
from oxpull_async.domain.schedule import DeclaredSchedule, StoredSchedule
from oxpull_async.domain.settings import Settings
from oxpull_async.domain.task import Body, TaskOptions
from oxpull_async.store.enqueue_calls import EnqueueCalls


class RunnableTask(Protocol):
    """A declared task, as far as running it goes."""

    @property
    def path(self) -> str:
        """The dotted path under which its rows are stored."""

    @property
    def options(self) -> TaskOptions:
        """Its declared options."""

    @property
    def body(self) -> Body | None:
        """Its function, or None where only the name is known."""


class Host(Protocol):
    """Settings, database and tasks of one Oxpull."""

    @property
    def settings(self) -> Settings:
        """The validated settings."""

    @property
    def database(self) -> Database:
        """Where the tasks are."""

    @property
    def tasks(self) -> Mapping[str, RunnableTask]:
        """The declared tasks by path; grows while modules are imported."""

    @property
    def schedules(self) -> Mapping[str, DeclaredSchedule]:
        """The declared schedules by name; grows while modules are imported."""

    def scheduled_calls(self, schedule: StoredSchedule, ticks: int) -> EnqueueCalls:
        """Return the call of a schedule, whose task is known here, once for each tick.

        Raises: UsageError where its arguments or options do not fit the task.
        """

    async def announce_scheduled(self, records: Sequence[TaskRecord]) -> None:
        """Tell everybody concerned that ticks enqueued these tasks."""

    async def check_schema(self) -> None:
        """Raise NotMigrated or SchemaTooNew unless the schema is this version's."""

    def on_wake(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call `callback` with the queue's name at every enqueue in this process.

        Returns what ends that.
        """

    async def announce(self, queue_name: str) -> None:
        """Wake the workers here and elsewhere: this queue, or for "" any, may have changed."""

    def result_of(self, record: TaskRecord) -> Any:
        """Return the user's handle for a record."""
