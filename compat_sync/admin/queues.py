"""The page of the queues, whose cost does not grow with what has ended; and the pauses."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from compat_sync import actions
from compat_sync.admin.history import log_changes
from compat_sync.exceptions import OxpullError, translated
from compat_sync.models import OxpullQueue
from compat_sync.operations import operations_of, our_aliases
from compat_sync.shim import run_blocking
from oxpull_async.store.overview import Overview, QueueOverview

__all__ = ["MAY_SWITCH", "queue_page", "switch_queue"]

LOOKED_AT = 10_000
UNFINISHED = ("due", "deferred", "running", "waiting")
ENDED = ("successful", "failed", "lost", "discarded")
MAY_SWITCH = "compat_sync.change_oxpullqueue"
PAGE = "admin:compat_sync_queues"


@dataclass(frozen=True, slots=True)
class _Row:
    """One queue as the template shows it."""

    backend: str
    queue_name: str
    paused: bool
    cells: list[str]
    oldest_due: str


def queue_page(task_admin: Any, request: HttpRequest) -> HttpResponse:
    """Show every queue of every alias."""
    if not task_admin.has_view_permission(request):
        raise PermissionDenied
    context = {
        **task_admin.admin_site.each_context(request),
        "title": "Queues",
        "opts": task_admin.opts,
        "media": task_admin.media,
        "columns": (*UNFINISHED, *ENDED),
        "looked_at": LOOKED_AT,
        "rows": [row for alias in our_aliases() for row in _rows(request, alias)],
        "may_switch": _may_switch(request),
    }
    return TemplateResponse(request, "admin/compat_sync/queues.html", context)


def switch_queue(task_admin: Any, request: HttpRequest) -> HttpResponse:
    """Pause or resume the queue that the form names."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    if not _may_switch(request):
        raise PermissionDenied
    backend, queue_name = request.POST.get("backend", ""), request.POST.get("queue", "")
    pausing = request.POST.get("paused") == "1"
    try:
        changed = (actions.pause if pausing else actions.resume)(queue_name, backend=backend)
    except (ImproperlyConfigured, OxpullError) as refused:
        messages.error(request, str(refused))
    else:
        done = "paused: what runs, runs on" if pausing else "open again"
        if changed:
            queue = OxpullQueue.objects.get(backend_alias=backend, queue_name=queue_name)
            log_changes(request, [queue], "Paused" if pausing else "Resumed")
        messages.success(request, f"Queue {queue_name!r} {'is' if changed else 'was already'} {done}")
    return HttpResponseRedirect(reverse(PAGE, current_app=task_admin.admin_site.name))


def _may_switch(request: HttpRequest) -> bool:
    user: Any = request.user
    return bool(user.has_perm(MAY_SWITCH))


def _rows(request: HttpRequest, alias: str) -> Iterator[_Row]:
    """Look at the queues of an alias; of one whose settings are wrong the page says what is wrong."""
    try:
        with translated():
            found = run_blocking(operations_of(alias).overview(LOOKED_AT))
    except ImproperlyConfigured as wrong:
        messages.error(request, str(wrong))
        return
    for queue in found.queues:
        cells = [_figure(found, queue, column) for column in (*UNFINISHED, *ENDED)]
        oldest = "" if queue.oldest_due is None else f"{max(queue.oldest_due, 0):,.0f} s"
        yield _Row(alias, queue.queue_name, queue.paused, cells, oldest)


def _figure(found: Overview, queue: QueueOverview, column: str) -> str:
    """Return a count; a plus says that counting ended before the rows did."""
    count = queue.counts.get(column, 0)
    is_capped = count >= found.limit if column == "due" else column in found.capped
    return f"{count:,}{'+' if is_capped else ''}" if count or is_capped else ""
