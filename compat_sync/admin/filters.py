"""The filters of the task list.

Their choices come from settings and the newest rows, never from the whole table.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import SimpleListFilter
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest

from compat_sync.exceptions import translated
from compat_sync.models import OxpullQueue, OxpullTask
from compat_sync.operations import backend_of, operations_of, our_aliases
from compat_sync.shim import run_blocking
from oxpull_async.domain.record import TaskStatus

__all__ = ["PathFilter", "QueueFilter", "Reach", "StatusFilter", "is_cut", "is_unfinished", "reach_of"]

MOST_UNFINISHED = 1_000
SAMPLE = 1_000
STATUS, QUEUE, PATH = "status", "queue", "task"
_UNFINISHED = frozenset({TaskStatus.READY, TaskStatus.WAITING, TaskStatus.RUNNING})


def is_unfinished(request: HttpRequest) -> bool:
    """Say whether the list is asked for tasks of one status that have not ended."""
    return request.GET.get(STATUS) in _UNFINISHED


def is_cut(request: HttpRequest, queryset: Any) -> bool:
    """Say whether there may be more tasks of the status that is asked for than were looked at."""
    return is_unfinished(request) and queryset.values("pk")[:MOST_UNFINISHED].count() == MOST_UNFINISHED


@dataclass(frozen=True, slots=True)
class Reach:
    """How far back a list looks; `older` is the newest task behind that, if there is any."""

    older: UUID | None

    def narrow(self, queryset: Any) -> Any:
        """Leave only what is within reach."""
        return queryset if self.older is None else queryset.filter(pk__gt=self.older)


def reach_of(look_back: int, up_to: str | None = None) -> Reach:
    """Return the reach over the newest `look_back` tasks, or of those up to an id."""
    rows = OxpullTask.objects.order_by("-pk")
    if up_to is not None:
        rows = rows.filter(pk__lte=up_to)
    return Reach(rows.values_list("pk", flat=True)[look_back : look_back + 1].first())


class StatusFilter(SimpleListFilter):
    """By status; those of tasks that have not ended are found without looking at the others.

    An index leads to them; where none does (another project's alias) they are looked for among the newest tasks.
    """

    title = "status"
    parameter_name = STATUS

    def __init__(self, request: HttpRequest, params: Any, model: Any, model_admin: Any) -> None:
        self._look_back: int = model_admin.look_back
        super().__init__(request, params, model, model_admin)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        """Offer the seven statuses."""
        return [(status.value, status.value) for status in TaskStatus]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Narrow the list."""
        status = self.value()
        if status is None or status not in set(TaskStatus):
            return queryset
        if TaskStatus(status) in _UNFINISHED:
            ids = _unfinished(request, TaskStatus(status))
            queryset = queryset.filter(pk__in=[*ids, *self._recent(status)])
        return queryset.filter(status=status)

    def _recent(self, status: str) -> list[UUID]:
        rows = OxpullTask.objects.filter(status=status).order_by("-pk").values_list("pk", flat=True)
        return list(reach_of(self._look_back).narrow(rows)[:MOST_UNFINISHED])


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


def _unfinished(request: HttpRequest, status: TaskStatus) -> list[str]:
    """Return ids of every alias; one whose settings are wrong has none, which the page says."""
    found: list[str] = []
    for alias in our_aliases():
        try:
            with translated():
                asked = operations_of(alias).unfinished_tasks(status, request.GET.get(QUEUE), MOST_UNFINISHED)
                found += run_blocking(asked)
        except ImproperlyConfigured as wrong:
            messages.error(request, str(wrong), fail_silently=True)
    return found


def _newest(column: str) -> set[str]:
    return set(OxpullTask.objects.order_by("-pk").values_list(column, flat=True)[:SAMPLE])


def _choices(names: Iterable[str], chosen: str | None) -> list[tuple[str, str]]:
    """Return names in order, with the one that is chosen now."""
    return [(name, name) for name in sorted({*names, *([] if chosen is None else [chosen])})]
