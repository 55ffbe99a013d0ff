"""The pages of unique keys and running locks: who holds them."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from compat_sync import clock
from compat_sync.admin.base import ReadOnlyAdmin
from compat_sync.admin.links import task_link
from compat_sync.connection import DjangoConnection
from compat_sync.exceptions import translated
from compat_sync.models import OxpullLock, OxpullTask, OxpullUniqueKey
from compat_sync.placement import database_alias
from compat_sync.shim import run_blocking
from oxpull_async.store.overview import lock_holders

__all__ = ["LockAdmin", "UniqueKeyAdmin"]


@admin.register(OxpullUniqueKey)
class UniqueKeyAdmin(ReadOnlyAdmin):
    """Unique keys. One is free once its holder has ended; `oxpull_prune` removes free ones."""

    list_display = ("unique_key", "holder", "follow_up", "first_at", "expires_at")
    fields = readonly_fields = ("unique_key", "holder", "holder_now", "follow_up", "first_at", "expires_at")
    search_fields = ("unique_key",)
    search_help_text = "A whole unique key, or its beginning."
    ordering = ("pk",)

    @admin.display(description="holder")
    def holder(self, held: OxpullUniqueKey) -> SafeString:
        """Link to the task that holds the key, or held it last."""
        return task_link(held.holder_id, self.admin_site.name)

    @admin.display(description="follow-up")
    def follow_up(self, held: OxpullUniqueKey) -> SafeString:
        """Link to the task that waits for the holder's end."""
        return task_link(held.follow_up_id, self.admin_site.name)

    @admin.display(description="the holder is")
    def holder_now(self, held: OxpullUniqueKey) -> str:
        """Say what became of the holder."""
        task = OxpullTask.objects.filter(pk=held.holder_id).only("task_path", "status").first()
        return "gone, so the key is free" if task is None else f"{task.task_path}, {task.status}"

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:  # noqa: ARG002
        """Find keys by their beginning."""
        return queryset.filter(unique_key__startswith=search_term.strip()), False


@admin.register(OxpullLock)
class LockAdmin(ReadOnlyAdmin):
    """Running locks. A task that runs is its own place in the lock, so its end frees it."""

    list_display = ("lock_key",)
    fields = readonly_fields = ("lock_key", "holders")
    search_fields = ("lock_key",)
    search_help_text = "A whole lock key, or its beginning."
    ordering = ("pk",)

    @admin.display(description="held by")
    def holders(self, lock: OxpullLock) -> SafeString | str:
        """Link to the running tasks that have the lock."""
        conn = DjangoConnection(database_alias(), clock_offset=clock.offset())
        with translated():
            found = run_blocking(lock_holders(conn, lock.lock_key))
        links = ((task_link(id_, self.admin_site.name),) for id_ in found)
        return format_html_join(", ", "{}", links) or "nobody"

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:  # noqa: ARG002
        """Find locks by the beginning of their keys."""
        return queryset.filter(lock_key__startswith=search_term.strip()), False
