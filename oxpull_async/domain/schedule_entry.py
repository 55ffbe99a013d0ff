"""Schedules as settings write them: a dict of names to dicts, read and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, cast

from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.schedule import ScheduleKeywords, Ticking, checked_name, checked_ticking
from oxpull_async.domain.task import checked_priority, checked_queue, checked_task_path
from oxpull_async.domain.values import JsonValue, normalise

NO_DEFAULTS: ScheduleKeywords = {}
_OF_CALL = ("task", "args", "kwargs", "queue_name", "priority")
KEYS = frozenset({*_OF_CALL, *ScheduleKeywords.__annotations__})


@dataclass(frozen=True, slots=True)
class ScheduleEntry:
    """One schedule of the settings; its task is named by path, since it may not be imported yet."""

    name: str
    task_path: str
    ticking: Ticking
    args: tuple[JsonValue, ...] = ()
    kwargs: Mapping[str, JsonValue] = MappingProxyType({})
    queue_name: str | None = None
    priority: int | None = None


def read_entries(
    entries: object, defaults: ScheduleKeywords = NO_DEFAULTS, queues: frozenset[str] = frozenset()
) -> dict[str, ScheduleEntry]:
    """Read a dict of schedules; `defaults` stand where an entry says nothing of its ticks.

    Raises: UsageError naming the first entry that is wrong, and why.
    """
    if not isinstance(entries, Mapping):
        raise UsageError(f"schedules={entries!r:.80} must be a dict of names to dicts")
    return {name: read_entry(name, entry, defaults, queues) for name, entry in entries.items()}


def read_entry(
    name: object, entry: object, defaults: ScheduleKeywords = NO_DEFAULTS, queues: frozenset[str] = frozenset()
) -> ScheduleEntry:
    """Read one schedule; raises UsageError naming it for whatever is wrong."""
    known = checked_name(name)
    try:
        return _read(known, entry, defaults, queues)
    except UsageError as wrong:
        raise UsageError(f"the schedule {name!r}: {wrong}") from None


def checked_path(task: object) -> str:
    """Return the dotted path of a task, given itself or by it; raises UsageError."""
    path = task if isinstance(task, str) else getattr(task, "path", None)
    if not isinstance(path, str) or "." not in path or not all(part.isidentifier() for part in path.split(".")):
        raise UsageError(f"task={task!r:.80} must be a dotted path, like 'shop.tasks.send_invoice'")
    return checked_task_path(path)


def _read(name: str, entry: object, defaults: ScheduleKeywords, queues: frozenset[str]) -> ScheduleEntry:
    if not isinstance(entry, Mapping):
        raise UsageError(f"{entry!r:.80} must be a dict like {{'task': 'shop.tasks.send_invoice', 'every': 60}}")
    for key in entry:
        if key not in KEYS:
            near = get_close_matches(str(key), KEYS, n=1)
            raise UsageError(f"{key!r:.80} is not known; {f'is {near[0]!r} meant?' if near else _known()}")
    said = {key: entry[key] for key in ScheduleKeywords.__annotations__ if key in entry}
    queue, priority = entry.get("queue_name"), entry.get("priority")
    return ScheduleEntry(
        name=name,
        task_path=checked_path(entry.get("task")),
        ticking=checked_ticking(cast("ScheduleKeywords", {**defaults, **said})),
        args=tuple(_json(entry.get("args", ()), "args", Sequence)),
        kwargs=MappingProxyType(_json(entry.get("kwargs", {}), "kwargs", Mapping)),
        queue_name=None if queue is None else checked_queue(queue, queues),
        priority=None if priority is None else checked_priority(priority),
    )


def _json(value: object, name: str, kind: type) -> Any:
    if not isinstance(value, kind) or isinstance(value, str | bytes):
        raise UsageError(f"{name}={value!r:.80} must be a {'dict' if kind is Mapping else 'list'}")
    return normalise(value, path=name)


def _known() -> str:
    return f"known are {', '.join(sorted(KEYS))}"
