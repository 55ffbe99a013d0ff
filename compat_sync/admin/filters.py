"""The filters of the task list.

Their choices come from settings and the newest rows, never from the whole table.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib.admin import SimpleListFilter
from django.http import HttpRequest

from compat_sync.models import OxpullQueue, OxpullTask
from compat_sync.operations import backend_of, operations_of, our_aliases
from compat_sync.shim import run_blocking
from oxpull_async.domain.record import TaskStatus

__all__ = ["MOST_UNFINISHED", "PathFilter", "QueueFilter", "StatusFilter", "edge_of", "is_unfinished"]

MOST_UNFINISHED = 1_000
SAMPLE = 1_000
STATUS, QUEUE, PATH = "status", "queue", "task"
_UNFINISHED = frozenset({TaskStatus.READY, TaskStatus.WAITING, TaskStatus.RUNNING})


def is_unfinished(request: HttpRequest) -> bool:
    """Say whether the list is asked for tasks of one status that have not ended."""
    return request.GET.get(STATUS) in _UNFINISHED


def edge_of(look_back: int, up_to: str | None = None) -> UUID | None:
    """Return the id of the newest row that is not among the newest `look_back`.

    None where all are among them. With `up_to`, of the rows up to that id.
    """
    rows = OxpullTask.objects.order_by("-pk")
    if up_to is not None:
        rows = rows.filter(pk__lte=up_to)
    return rows.values_list("pk", flat=True)[look_back : look_back + 1].first()


class StatusFilter(SimpleListFilter):
    """By status; those of tasks that have not ended are found without looking at the others.

    An index leads to them; where none does (another project's alias) they are looked for among the newest tasks.
    """

    title = "status"
    parameter_name = STATUS
    _look_back = 0

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        """Offer the seven statuses."""
        self._look_back = model_admin.look_back
        return [(status.value, status.value) for status in TaskStatus]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Narrow the list."""
        status = self.value()
        if status is None or status not in set(TaskStatus):
            return queryset
        if TaskStatus(status) in _UNFINISHED:
            ids = _unfinished(TaskStatus(status), request.GET.get(QUEUE))
            queryset = queryset.filter(pk__in=[*ids, *self._recent(status)])
        return queryset.filter(status=status)

    def _recent(self, status: str) -> list[UUID]:
        edge = edge_of(self._look_back)
        rows = OxpullTask.objects.filter(status=status).order_by("-pk").values_list("pk", flat=True)
        return list((rows if edge is None else rows.filter(pk__gt=edge))[:MOST_UNFINISHED])


class QueueFilter(SimpleListFilter):
    """By queue."""

    title = "queue"
    parameter_name = QUEUE

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        """Offer the queues of the settings, those ever paused, and those of the newest tasks."""
        declared = {name for alias in our_aliases() for name in backend_of(alias).queues}
        paused = OxpullQueue.objects.values_list("queue_name", flat=True)
        return _choices({*declared, *paused, *_newest("queue_name")}, self.value())

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # noqa: ARG002
        """Narrow the list."""
        return queryset if self.value() is None else queryset.filter(queue_name=self.value())


class PathFilter(SimpleListFilter):
    """By the task's dotted path."""

    title = "task"
    parameter_name = PATH

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        """Offer the paths of the newest tasks; the search takes any other."""
        return _choices(_newest("task_path"), self.value())

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # noqa: ARG002
        """Narrow the list."""
        return queryset if self.value() is None else queryset.filter(task_path=self.value())


def _unfinished(status: TaskStatus, queue_name: str | None) -> list[str]:
    return [
        id_
        for alias in our_aliases()
        for id_ in run_blocking(operations_of(alias).unfinished_tasks(status, queue_name, MOST_UNFINISHED))
    ]


def _newest(column: str) -> set[str]:
    return set(OxpullTask.objects.order_by("-pk").values_list(column, flat=True)[:SAMPLE])


def _choices(names: Iterable[str], chosen: str | None) -> list[tuple[str, str]]:
    """Return names in order, with the one that is chosen now."""
    return [(name, name) for name in sorted({*names, *([] if chosen is None else [chosen])})]
