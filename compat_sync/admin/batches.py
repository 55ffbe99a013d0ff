"""The pages of batches: how far each is."""

from django.contrib import admin

from compat_sync.admin.counted import CountedAdmin
from compat_sync.models import OxpullBatch, OxpullBatchCounts

__all__ = ["BatchAdmin"]


@admin.register(OxpullBatch)
class BatchAdmin(CountedAdmin):
    """Batches, the youngest first."""

    counts = OxpullBatchCounts.objects
    parts = "members"
