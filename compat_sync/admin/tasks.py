"""The pages of the tasks: a list that does not read the whole table, and a page for each."""

from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.urls.resolvers import URLPattern
from django.utils.safestring import SafeString

from compat_sync.admin.base import ReadOnlyAdmin
from compat_sync.admin.bulk import BULK_ACTIONS
from compat_sync.admin.filters import PathFilter, QueueFilter, StatusFilter, is_cut, is_unfinished, reach_of
from compat_sync.admin.links import badge
from compat_sync.admin.queues import queue_page, switch_queue
from compat_sync.admin.task_page import task_page
from compat_sync.models import OxpullTask, OxpullUniqueKey
from oxpull_async.domain.record import TaskStatus

__all__ = ["TaskAdmin"]

UP_TO = "id__lte"
KEY_LENGTH = 64
_BIG = ("args", "kwargs", "errors", "return_value", "progress", "worker_ids")
_NARROWS_NOTHING = frozenset({"o", "p", "all", "e", UP_TO})


class _TaskList(ChangeList):
    """A list that looks for what is asked among the newest rows, unless an index leads to it."""

    older: UUID | None = None
    is_partial = False

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        """Return what matches, within reach."""
        found = super().get_queryset(request, exclude_parameters).defer(*_BIG)
        if is_unfinished(request):
            self.is_partial = is_cut(request, found)
            return found
        if not set(request.GET) - _NARROWS_NOTHING or _exact(self.query):
            return found
        of_tasks: Any = self.model_admin
        reach = reach_of(of_tasks.look_back, request.GET.get(UP_TO))
        self.older = reach.older
        return reach.narrow(found)

    @property
    def older_query(self) -> str:
        """The query of the same list over the rows before these."""
        return str(self.get_query_string({UP_TO: str(self.older)}, ["p"]))


@admin.register(OxpullTask)
class TaskAdmin(ReadOnlyAdmin):
    """Tasks, newest first. Whoever may change tasks may retry, discard, cancel and run them now."""

    look_back = 50_000
    actions = BULK_ACTIONS
    list_display = ("id", "task_path", "queue_name", "status_badge", "priority", "tries", "enqueued_at", "due_at")
    list_filter = (StatusFilter, QueueFilter, PathFilter)
    search_fields = ("id", "task_path")
    search_help_text = "An id, the beginning of a task's path, or a whole unique key."
    ordering = ("-pk",)
    fields = readonly_fields = ("id",)

    @admin.display(description="status")
    def status_badge(self, task: OxpullTask) -> SafeString:
        """Show the status in its colour."""
        return badge(task.status)

    @admin.display(description="attempts")
    def tries(self, task: OxpullTask) -> str:
        """Show how many attempts were made of those allowed."""
        return f"{task.attempts}/{task.max_attempts}"

    @admin.display(description="due")
    def due_at(self, task: OxpullTask) -> datetime | None:
        """Show when a ready task may start."""
        return task.available_at if task.status == TaskStatus.READY else None

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Say whether somebody may carry actions out: with the permission to change tasks."""
        user: Any = request.user
        return bool(user.has_perm("compat_sync.change_oxpulltask"))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:  # noqa: ARG002
        """Return the list that keeps within reach."""
        return _TaskList

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:  # noqa: ARG002
        """Find tasks by id, by unique key, or by the beginning of their path."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if (ids := _exact(term)) is not None:
            return queryset.filter(pk__in=ids), False
        return queryset.filter(task_path__startswith=term), False

    def get_urls(self) -> list[URLPattern]:
        """Add the page of the queues."""
        view = self.admin_site.admin_view
        return [
            path("queues/", view(partial(queue_page, self)), name="compat_sync_queues"),
            path("queues/switch/", view(partial(switch_queue, self)), name="compat_sync_queues_switch"),
            *super().get_urls(),
        ]

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show a task; those who may see it have been let in before."""
        context["page"] = task_page(context["original"], self.admin_site.name)
        context["page_actions"] = self.get_action_choices(request, []) if self.has_operate_permission(request) else []
        return super().render_change_form(request, context, *args, **kwargs)


def _exact(term: str) -> list[UUID] | None:
    """Return the ids that a whole id or unique key stands for, None for any other text."""
    try:
        return [UUID(term.strip())]
    except ValueError:
        pass
    if len(term.strip()) != KEY_LENGTH:
        return None
    held = OxpullUniqueKey.objects.filter(pk=term.strip()).first()
    return None if held is None else [id_ for id_ in (held.holder_id, held.follow_up_id) if id_ is not None]
