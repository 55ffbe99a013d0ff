"""The pages of batches: how far each is."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from compat_sync.admin.base import ReadOnlyAdmin
from compat_sync.admin.links import pretty
from compat_sync.models import OxpullBatch, OxpullBatchCounts

__all__ = ["BatchAdmin"]

_COUNTS = ("status", "total", "succeeded", "failed", "unattributed", "completed_at")


@admin.register(OxpullBatch)
class BatchAdmin(ReadOnlyAdmin):
    """Batches, the youngest first."""

    list_display = ("id", "name", "backend_alias", "status", "counted", "created_at", "completed")
    fields = readonly_fields = (
        "id", "name", "backend_alias", "status", "counted", "created_at", "expires_at", "sealed_at", "completed",
        "follows",
    )  # fmt: skip
    search_fields = ("name__startswith",)
    search_help_text = "The beginning of a name."
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> Any:
        """Read the counts along."""
        counts = OxpullBatchCounts.objects.filter(pk=OuterRef("pk"))
        named = {f"counts_{name}": Subquery(counts.values(name)[:1]) for name in _COUNTS}
        return super().get_queryset(request).annotate(**named)

    @admin.display(description="status")
    def status(self, batch: Any) -> str:
        """Say whether it is open, sealed or complete."""
        return str(batch.counts_status)

    @admin.display(description="members")
    def counted(self, batch: Any) -> str:
        """Say how many members have ended, and how."""
        total = batch.members if batch.counts_total is None else batch.counts_total
        ended = batch.counts_succeeded + batch.counts_failed + batch.counts_unattributed
        return (
            f"{total} members: {total - ended} pending, {batch.counts_succeeded} succeeded, "
            f"{batch.counts_failed} failed, {batch.counts_unattributed} unattributed"
        )

    @admin.display(description="completed at")
    def completed(self, batch: Any) -> Any:
        """Say when it completed."""
        return batch.counts_completed_at

    @admin.display(description="callbacks")
    def follows(self, batch: OxpullBatch) -> SafeString:
        """Show what is stored when it completes."""
        return format_html("<pre>{}</pre>", pretty(batch.callbacks))
