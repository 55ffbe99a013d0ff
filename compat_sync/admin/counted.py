"""What the pages of batches and workflows share: how far each is."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from compat_sync.admin.base import ReadOnlyAdmin
from compat_sync.admin.links import pretty

__all__ = ["CountedAdmin"]

_COUNTS = ("status", "total", "succeeded", "failed", "unattributed", "completed_at")


class CountedAdmin(ReadOnlyAdmin):
    """Rows whose counts are in a table of their own, the youngest first."""

    counts: ClassVar[Any]
    """The manager of the table of counts."""
    parts: ClassVar[str]
    """The column that says how many there are, and what they are called."""

    list_display = ("id", "name", "backend_alias", "status", "counted", "created_at", "completed")
    fields: ClassVar[Any] = (
        "id", "name", "backend_alias", "status", "counted", "created_at", "expires_at", "sealed_at", "completed",
        "follows",
    )  # fmt: skip
    readonly_fields: ClassVar[Any] = fields
    search_fields = ("name__startswith",)
    search_help_text = "The beginning of a name."
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> Any:
        """Read the counts along."""
        counts = self.counts.filter(pk=OuterRef("pk"))
        named = {f"counts_{name}": Subquery(counts.values(name)[:1]) for name in _COUNTS}
        return super().get_queryset(request).annotate(**named)

    @admin.display(description="status")
    def status(self, row: Any) -> str:
        """Say whether it is open, sealed or complete."""
        return str(row.counts_status)

    @admin.display(description="counts")
    def counted(self, row: Any) -> str:
        """Say how many tasks of it have ended, and how."""
        total = getattr(row, self.parts) if row.counts_total is None else row.counts_total
        ended = row.counts_succeeded + row.counts_failed + row.counts_unattributed
        return (
            f"{total} {self.parts}: {total - ended} pending, {row.counts_succeeded} succeeded, "
            f"{row.counts_failed} failed, {row.counts_unattributed} unattributed"
        )

    @admin.display(description="completed at")
    def completed(self, row: Any) -> Any:
        """Say when it completed."""
        return row.counts_completed_at

    @admin.display(description="callbacks")
    def follows(self, row: Any) -> SafeString:
        """Show what is stored when it completes."""
        return format_html("<pre>{}</pre>", pretty(row.callbacks))
