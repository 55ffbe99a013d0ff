"""The pages of the workers: who lives, and since when one has been silent."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from compat_sync.admin.base import ReadOnlyAdmin
from compat_sync.admin.links import pretty
from compat_sync.columns import DatabaseNow
from compat_sync.models import OxpullWorker

__all__ = ["WorkerAdmin"]


@admin.register(OxpullWorker)
class WorkerAdmin(ReadOnlyAdmin):
    """Worker processes, the youngest first."""

    list_display = ("id", "hostname", "pid", "backend_alias", "serves", "concurrency", "started_at", "lease")
    fields = readonly_fields = (
        "id", "hostname", "pid", "backend_alias", "serves", "concurrency", "started_at", "renewed_at",
        "lease_expires_at", "lease", "noted",
    )  # fmt: skip
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> Any:
        """Read the database's clock along, by which leases end."""
        return super().get_queryset(request).annotate(now=DatabaseNow())

    @admin.display(description="queues")
    def serves(self, worker: OxpullWorker) -> str:
        """Name the queues."""
        return "all" if worker.queues is None else ", ".join(worker.queues)

    @admin.display(description="lease")
    def lease(self, worker: Any) -> SafeString:
        """Say how long the lease is good, or for how long the worker has been silent."""
        left = (worker.lease_expires_at - worker.now).total_seconds()
        if worker.dead or left <= 0:
            silent = (worker.now - worker.renewed_at).total_seconds()
            return format_html('<span class="oxpull-badge oxpull-lost">silent</span> for {} s', f"{silent:.0f}")
        return format_html('<span class="oxpull-badge oxpull-successful">alive</span> {} s left', f"{left:.0f}")

    @admin.display(description="notes")
    def noted(self, worker: OxpullWorker) -> SafeString:
        """Show what the worker has noted about itself."""
        return format_html("<pre>{}</pre>", pretty(worker.notes))
