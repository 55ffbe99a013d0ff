"""SCHEDULES and SCHEDULABLE_TASKS: what is enqueued when, and what stored rows may start."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from django.conf import settings

from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.schedule import ScheduleKeywords
from oxpull_async.domain.schedule_entry import ScheduleEntry, checked_path, read_entry

__all__ = ["SchedulableEntry", "as_in_settings", "checked_key", "read_schedulable", "read_schedules"]

MAX_KEY = 128
_RESERVED = "db:"
_KEYS = ("task", "form", "permission")


@dataclass(frozen=True, slots=True)
class SchedulableEntry:
    """A task that stored schedules may start.

    `form` is the path of an ArgsForm, `permission` one of Django's.
    """

    task_path: str
    form: str | None = None
    permission: str | None = None


def as_in_settings() -> ScheduleKeywords:
    """Return what holds for schedules of a Django project that say nothing else.

    The site's time zone, and both passes of an hour that comes twice.
    """
    return {"tz": settings.TIME_ZONE, "repeated_hour": "twice"}


def read_schedules(
    given: object, queues: frozenset[str] = frozenset()
) -> tuple[Mapping[str, ScheduleEntry], list[str]]:
    """Read SCHEDULES; returns the entries that are right, and a sentence for each that is wrong."""
    if not isinstance(given, Mapping):
        return MappingProxyType({}), [f"SCHEDULES={given!r:.80} must be a dict of names to dicts"]
    entries: dict[str, ScheduleEntry] = {}
    wrong = []
    for name, entry in given.items():
        try:
            entries[name] = _entry(name, entry, queues)
        except UsageError as refused:
            wrong.append(f"SCHEDULES: {refused}")
    return MappingProxyType(entries), wrong


def read_schedulable(key: str, given: object) -> Mapping[str, SchedulableEntry]:
    """Read SCHEDULABLE_TASKS; raises UsageError naming the first entry that is wrong."""
    if not isinstance(given, Mapping):
        raise UsageError(f"{key}={given!r:.80} must be a dict of keys to dotted paths or dicts")
    return MappingProxyType({checked_key(name): _schedulable(key, name, entry) for name, entry in given.items()})


def checked_key(key: object) -> str:
    """Return the key of a schedulable task; raises UsageError for no text, or too long a one."""
    if not isinstance(key, str) or not key or len(key) > MAX_KEY:
        raise UsageError(f"SCHEDULABLE_TASKS: the key {key!r:.160} must be text of 1 to {MAX_KEY} characters")
    return key


def _entry(name: object, entry: object, queues: frozenset[str]) -> ScheduleEntry:
    if isinstance(name, str) and name.startswith(_RESERVED):
        raise UsageError(f"the name {name!r:.80} begins with {_RESERVED!r}, as only stored schedules of django-ox do")
    return read_entry(name, entry, as_in_settings(), queues)


def _schedulable(key: str, name: str, entry: object) -> SchedulableEntry:
    said: Any = {"task": entry} if isinstance(entry, str) else entry
    if not isinstance(said, Mapping) or "task" not in said or not set(said) <= set(_KEYS):
        raise UsageError(f"{key}[{name!r}]={entry!r:.80} must be a dotted path, or a dict of task, form and permission")
    for kind in _KEYS[1:]:
        if not isinstance(said.get(kind), str | None):
            raise UsageError(f"{key}[{name!r}]: {kind}={said[kind]!r:.80} must be text")
    return SchedulableEntry(checked_path(said["task"]), said.get("form"), said.get("permission"))
