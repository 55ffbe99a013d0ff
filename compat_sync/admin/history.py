"""The trace that somebody's change leaves in the log of Django's admin."""

from collections.abc import Sequence
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import Model
from django.http import HttpRequest

__all__ = ["log_changes"]


def log_changes(request: HttpRequest, changed: Sequence[Model], what: str) -> None:
    """Note in the admin's log that the user of the request did this to stored rows."""
    user: Any = request.user
    entries: Any = LogEntry.objects  # the stubs know a queryset only
    if changed:
        entries.log_actions(user_id=user.pk, queryset=changed, action_flag=CHANGE, change_message=what)
