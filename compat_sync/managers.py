"""What the read models can be asked, in a shell and for reports.

They refuse whatever would write. Every query goes to the database that the tasks are written to, unless `using()`
names another one.
"""

from collections import defaultdict
from typing import Any, NoReturn, Self

from django.db import models
from django.db.models import Count

from compat_sync.columns import DatabaseNow
from compat_sync.exceptions import UsageError
from oxpull_async.domain.record import TaskStatus

__all__ = [
    "ReadManager",
    "ReadOnlyModel",
    "ReadQuerySet",
    "TaskQuerySet",
    "WorkerQuerySet",
    "manager_of",
    "refuse_fixture",
    "refuse_write",
]


class ReadOnlyModel(UsageError):
    """Tasks are not written through their models: use compat_sync.actions, or enqueue."""


def refuse_write(model: type[models.Model], method: str) -> NoReturn:
    """Raise ReadOnlyModel for a method that would write rows of a model past the core."""
    raise ReadOnlyModel(
        f"{model.__name__}.{method}() would change rows past their leases, locks and unique keys, so it is refused: "
        "enqueue tasks, and use compat_sync.actions (retry, discard, cancel) on stored ones"
    )


def refuse_fixture(*, sender: type[models.Model], **_signal: Any) -> NoReturn:
    """Raise ReadOnlyModel when a row is about to be written whole, as by `loaddata`."""
    raise ReadOnlyModel(
        f"a fixture with rows of {sender.__name__} would put tasks back to what they were, so that ended ones run "
        "again: load one that was made by `manage.py dumpdata --exclude compat_sync`"
    )


class ReadQuerySet[M: models.Model](models.QuerySet[M]):
    """A query that reads where the tasks are written, and refuses to write."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._for_write = True  # as for a select_for_update(): the routers are asked where this is written

    def create(self, **_kwargs: Any) -> NoReturn:
        """Refuse."""
        refuse_write(self.model, "objects.create")

    def get_or_create(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Refuse."""
        refuse_write(self.model, "objects.get_or_create")

    def update_or_create(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Refuse."""
        refuse_write(self.model, "objects.update_or_create")

    def bulk_create(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Refuse."""
        refuse_write(self.model, "objects.bulk_create")

    def bulk_update(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Refuse."""
        refuse_write(self.model, "objects.bulk_update")

    def update(self, **_kwargs: Any) -> NoReturn:
        """Refuse."""
        refuse_write(self.model, "objects.update")

    def delete(self) -> NoReturn:
        """Refuse."""
        refuse_write(self.model, "objects.delete")

    delete.queryset_only = True  # type: ignore[attr-defined]


class TaskQuerySet[M: models.Model](ReadQuerySet[M]):
    """Tasks by where they are in their life."""

    def ready(self) -> Self:
        """Return those that wait for a worker or for their time: `due()` and `scheduled()`."""
        return self.filter(status=TaskStatus.READY)

    def due(self) -> Self:
        """Return those that are ready and whose time has come by the database's clock."""
        return self.ready().filter(available_at__lte=DatabaseNow())

    def scheduled(self) -> Self:
        """Return those that are ready and start later by the database's clock, retries among them."""
        return self.ready().filter(available_at__gt=DatabaseNow())

    def waiting(self) -> Self:
        """Return those that wait for another task; `waiting_for` says for which reason."""
        return self.filter(status=TaskStatus.WAITING)

    def running(self) -> Self:
        """Return those that a worker has; those that it has taken in advance are among them."""
        return self.filter(status=TaskStatus.RUNNING)

    def successful(self) -> Self:
        """Return those that ended well."""
        return self.filter(status=TaskStatus.SUCCESSFUL)

    def failed(self) -> Self:
        """Return those whose attempts are spent, or whose error is not to be retried."""
        return self.filter(status=TaskStatus.FAILED)

    def lost(self) -> Self:
        """Return those whose last worker fell silent, so that nothing is known about the work."""
        return self.filter(status=TaskStatus.LOST)

    def discarded(self) -> Self:
        """Return those that were ended without running, by a person or a rule."""
        return self.filter(status=TaskStatus.DISCARDED)

    def finished(self) -> Self:
        """Return those to which nothing more happens by itself."""
        return self.filter(status__in=[status for status in TaskStatus if status.is_finished])

    def unfinished(self) -> Self:
        """Return those that are ready, waiting or running."""
        return self.filter(status__in=[status for status in TaskStatus if not status.is_finished])

    def on_queue(self, queue_name: str) -> Self:
        """Return those of one queue."""
        return self.filter(queue_name=queue_name)

    def of_task(self, task: Any) -> Self:
        """Return those of one task: the declared task itself, or its dotted path."""
        return self.filter(task_path=getattr(task, "module_path", task))

    def counts_by_queue(self) -> dict[str, dict[str, int]]:
        """Count the tasks of this query per queue and status; what is not there is not named.

        Reads every row of the query: `unfinished().counts_by_queue()` where many have finished.
        """
        counted: defaultdict[str, dict[str, int]] = defaultdict(dict)
        groups = self.order_by("queue_name", "status").values_list("queue_name", "status").annotate(tasks=Count("*"))
        for queue_name, status, count in groups:
            counted[queue_name][status] = count
        return dict(counted)


class WorkerQuerySet[M: models.Model](ReadQuerySet[M]):
    """Worker processes by whether their lease is good."""

    def living(self) -> Self:
        """Return those whose lease is good by the database's clock."""
        return self.filter(dead=False, lease_expires_at__gt=DatabaseNow())

    def silent(self) -> Self:
        """Return those whose lease has run out; their tasks are taken back, or are about to be."""
        return self.exclude(dead=False, lease_expires_at__gt=DatabaseNow())


class ReadManager[M: models.Model](models.Manager[M]):
    """A manager whose queries go to where the tasks are written."""

    @property
    def db(self) -> str:
        """The alias that a query of this manager goes to."""
        return self.get_queryset().db


def manager_of[Q: ReadQuerySet[Any]](queries: type[Q]) -> Q:
    """Return a manager with the methods of a class of queries; to a type checker it is one."""
    manager: Any = ReadManager.from_queryset(queries)()
    made: Q = manager
    return made
