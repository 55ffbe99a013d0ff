"""What all our pages have in common: they only read, and never count or sort a whole table."""

from functools import cached_property
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import HttpRequest

__all__ = ["MOST", "BoundedPaginator", "ReadOnlyAdmin"]

MOST = 10_000


class BoundedPaginator(Paginator):  # type: ignore[type-arg] # generic to a type checker only
    """Counts at most 10,000 rows; what lies behind is reached by filters and search."""

    object_list: Any

    @cached_property
    def count(self) -> int:
        """The number of rows, MOST where there are more."""
        return min(self._seen, MOST)

    @property
    def is_capped(self) -> bool:
        """Whether there are more rows than were counted."""
        return self._seen > MOST

    @cached_property
    def _seen(self) -> int:
        seen: int = self.object_list.values("pk")[: MOST + 1].count()
        return seen


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg] # generic to a type checker only
    """Pages of a table that only the core writes."""

    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by = ()
    actions: Any = ()
    list_per_page = 100
    list_max_show_all = 0

    class Media:
        """The looks of the pages."""

        css = {"all": ("compat_sync/admin.css",)}  # noqa: RUF012 - Django wants a dict

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - Django's signature
        """Nobody adds rows here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        """Nobody edits rows here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        """Nobody deletes rows here: `oxpull_prune` does."""
        return False
