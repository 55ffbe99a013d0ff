"""Stored schedules: created, changed and deleted in whatever transaction is open.

The names of fields are those of django-ox; `tz`, `catch_up` and what else is new stand beside them.
"""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied, ValidationError
from django.db import transaction

from compat_sync.exceptions import InvalidArguments, ScheduleDoesNotExist, ScheduleExists, UsageError, translated
from compat_sync.models import OxpullSchedule
from compat_sync.operations import BlockingOperations, operations_of
from compat_sync.options.schedules import as_in_settings
from compat_sync.placement import database_alias
from compat_sync.registry import ScheduleKind, kinds
from compat_sync.results import TaskResult
from compat_sync.shim import run_blocking
from oxpull_async.app.task import Call

if TYPE_CHECKING:
    from oxpull_async.app.schedules import ChangeKeywords, NewScheduleKeywords

__all__ = [
    "CRON",
    "INTERVAL",
    "ScheduleFields",
    "create_schedule",
    "create_schedules",
    "delete_schedule",
    "fields_of",
    "pause_schedule",
    "resume_schedule",
    "run_schedule",
    "update_schedule",
]

CRON, INTERVAL = "cron", "interval"
_SAME = ("tz", "repeated_hour", "catch_up", "overlap")
_RENAMED = {"starting_deadline_seconds": "max_age", "end_time": "ends_at", "start_time": "starts_at"}
_WORDS = {
    "cron=": "cron", "every=": "every_seconds", "phase=": "phase_seconds", "tz=": "tz",
    "max_age=": "starting_deadline_seconds",
    "catch_up=": "catch_up", "overlap=": "overlap", "repeated_hour=": "repeated_hour", "a schedule's name": "name",
    "queue_name=": "queue_name", "priority=": "priority",
}  # fmt: skip
_CALL = ("task_key", "arguments", "queue_name", "priority")


class ScheduleFields(TypedDict, total=False):
    """What a stored schedule says.

    `task_key` is a key of the registry, `arguments` its keyword arguments. `trigger` ("cron" or "interval") may be left
    out where one of `cron` and `every_seconds` is given. `start_time` is for create only.
    """

    name: str
    task_key: str
    trigger: str
    cron: str
    every_seconds: float | None
    phase_seconds: float | None
    arguments: Mapping[str, Any]
    enabled: bool
    start_time: datetime
    end_time: datetime | None
    starting_deadline_seconds: float | None
    tz: str
    repeated_hour: str
    catch_up: str
    overlap: str
    queue_name: str | None
    priority: int | None


def create_schedule(*, user: Any = None, backend: str = "default", **fields: Unpack[ScheduleFields]) -> OxpullSchedule:
    """Store a schedule, whose first tick is the next one after `start_time`, by default now.

    `user`, where given, needs the permission that the task's registry entry names.

    Raises: ValidationError by field, PermissionDenied, TypeError for an unknown field.
    """
    _refuse_unknown(fields)
    operations = operations_of(backend)
    if missing := [name for name in ("name", "task_key") if name not in fields]:
        raise ValidationError(dict.fromkeys(missing, "This field is required."))
    keywords: dict[str, Any] = {**as_in_settings(), **_keywords(fields)}
    with _as_validation(), translated():
        call = _call(operations, fields, user)
        made = run_blocking(operations.create_schedule(fields["name"], call, **cast("NewScheduleKeywords", keywords)))
    return _row(made.id)


def create_schedules(
    rows: Iterable[ScheduleFields], *, user: Any = None, backend: str = "default"
) -> list[OxpullSchedule]:
    """Store schedules, all or none.

    Raises: ValidationError with a message for each that is wrong, naming it by its place and name.
    """
    made, wrong = [], []
    with transaction.atomic(using=database_alias()):
        for index, fields in enumerate(rows):
            try:
                made.append(create_schedule(user=user, backend=backend, **fields))
            except ValidationError as refused:
                name = fields.get("name")
                wrong += [f"schedule {index} ({name!r}): {line}" for line in refused.messages]
        if wrong:
            raise ValidationError(wrong)
    return made


def update_schedule(
    schedule: OxpullSchedule | str, *, user: Any = None, backend: str = "default", **fields: Unpack[ScheduleFields]
) -> OxpullSchedule:
    """Change a stored schedule, given itself or by name; what is not given stays.

    With another timing or `enabled=True` after a pause it begins anew: ticks until now are dropped.

    Raises: ValidationError by field, PermissionDenied, ScheduleDoesNotExist, TypeError for an unknown field.
    """
    _refuse_unknown(fields)
    if "start_time" in fields:
        raise TypeError("start_time is for create_schedule() only")
    row = _found(schedule, backend)
    operations = operations_of(row.backend_alias)
    _permit(_kind_of(row.task_path), user)
    changes: dict[str, Any] = _keywords(fields)
    with _as_validation(), translated():
        said: Mapping[str, Any] = cast("Mapping[str, Any]", fields)
        known: Mapping[str, Any] = cast("Mapping[str, Any]", fields_of(row))
        if any(said[name] != known[name] for name in _CALL if name in said):
            if row.args:
                raise ValidationError(
                    {"arguments": "It has arguments without names, which can be changed in code only."}
                )
            changes["call"] = _call(operations, cast("ScheduleFields", {**known, **said}), user)
        if "name" in fields:
            changes["name"] = fields["name"]
        changed = run_blocking(operations.update_schedule(row.name, **cast("ChangeKeywords", changes)))
    return _row(changed.id)


def pause_schedule(schedule: OxpullSchedule | str, *, user: Any = None, backend: str = "default") -> bool:
    """Drop the ticks of a schedule from now on; False when it was paused already."""
    return _switch(schedule, user, backend, "pause_schedule")


def resume_schedule(schedule: OxpullSchedule | str, *, user: Any = None, backend: str = "default") -> bool:
    """Let a paused schedule go on with its next tick; False when it was not paused."""
    return _switch(schedule, user, backend, "resume_schedule")


def run_schedule(schedule: OxpullSchedule | str, *, user: Any = None, backend: str = "default") -> TaskResult:
    """Enqueue the call of a schedule once, now; its ticks and its pause stay as they are.

    Raises: ScheduleDoesNotExist, PermissionDenied, UsageError for one that the settings do not have any more, and what
    an enqueue of its call raises.
    """
    row = _found(schedule, backend)
    if not row.declared:
        _permit(_kind_of(row.task_path), user)
    operations = operations_of(row.backend_alias)
    with translated():
        return run_blocking(operations.run_schedule(row.name))


def delete_schedule(schedule: OxpullSchedule | str, *, user: Any = None, backend: str = "default") -> bool:
    """Forget a schedule; False when it has gone already."""
    return _switch(schedule, user, backend, "delete_schedule")


def fields_of(row: OxpullSchedule) -> ScheduleFields:
    """Return what a stored schedule says, in the names of its fields."""
    kind = _kind_of(row.task_path)
    said: dict[str, Any] = {
        "name": row.name, "task_key": row.task_path if kind is None else kind.key,
        "trigger": INTERVAL if row.cron is None else CRON, "cron": row.cron or "", "every_seconds": row.every,
        "phase_seconds": row.phase, "arguments": row.kwargs, "enabled": not row.paused, "end_time": row.ends_at,
        "starting_deadline_seconds": row.max_age, "queue_name": row.queue_name, "priority": row.priority,
        **{name: getattr(row, name) for name in _SAME},
    }  # fmt: skip
    return cast("ScheduleFields", said)


def _keywords(fields: ScheduleFields) -> dict[str, Any]:
    """Return the core's keywords for the fields that concern ticks."""
    said: Mapping[str, Any] = cast("Mapping[str, Any]", fields)
    keywords = {name: said[name] for name in _SAME if name in said}
    keywords |= {core: said[name] for name, core in _RENAMED.items() if name in said}
    if "enabled" in said:
        keywords["paused"] = not said["enabled"]
    trigger = said.get("trigger")
    if trigger not in {None, CRON, INTERVAL}:
        raise ValidationError({"trigger": f"{trigger!r} is neither 'cron' nor 'interval'."})
    if trigger != INTERVAL and said.get("cron"):
        keywords["cron"] = said["cron"]
    if trigger != CRON and said.get("every_seconds") is not None:
        keywords |= {"every": said["every_seconds"], "phase": said.get("phase_seconds")}
    if trigger is not None and not {"cron", "every"} & set(keywords):
        missing = "cron" if trigger == CRON else "every_seconds"
        raise ValidationError({missing: "This field is required."})
    return keywords


def _call(operations: BlockingOperations, fields: ScheduleFields, user: Any) -> Call[Any]:
    """Return the call of a schedule, its task found in the registry and its arguments checked by its form."""
    key = fields.get("task_key")
    kind = kinds().get(str(key))
    if kind is None:
        raise ValidationError({"task_key": f"{key!r} is no key of a schedulable task."})
    _permit(kind, user)
    given: Any = fields.get("arguments") or {}
    if not isinstance(given, Mapping):
        raise ValidationError({"arguments": f"{given!r:.80} must be an object: the arguments by their names."})
    arguments = dict(given)
    if kind.form is not None:
        form = kind.form(arguments)
        if not form.is_valid():
            lines = [f"{name}: {line}" for name, found in form.errors.items() for line in found]
            raise ValidationError({"arguments": lines})
        arguments = form.cleaned_data
    task = operations.task_named(kind.task.module_path)
    routing = {name: fields.get(name) for name in ("queue_name", "priority")}
    routed = task.using(**{name: value for name, value in routing.items() if value is not None})  # type: ignore[arg-type]
    return routed.call(**arguments)


def _permit(kind: ScheduleKind | None, user: Any) -> None:
    """Raise PermissionDenied where a user may not schedule a task; an unknown task needs a superuser."""
    if user is None:
        return
    if kind is None:
        if not (user.is_active and user.is_superuser):
            raise PermissionDenied("only a superuser may change a schedule of a task that is not schedulable")
    elif kind.permission is not None and not user.has_perm(kind.permission):
        raise PermissionDenied(f"scheduling {kind.key!r} needs the permission {kind.permission}")


def _kind_of(path: str) -> ScheduleKind | None:
    return next((kind for kind in kinds().values() if kind.task.module_path == path), None)


def _switch(schedule: OxpullSchedule | str, user: Any, backend: str, method: str) -> bool:
    row = _found(schedule, backend)
    if not row.declared:
        _permit(_kind_of(row.task_path), user)
    operations = operations_of(row.backend_alias)
    with translated():
        done: bool = run_blocking(getattr(operations, method)(row.name))
    return done


def _found(schedule: OxpullSchedule | str, backend: str) -> OxpullSchedule:
    """Return a schedule's row as it is now."""
    if isinstance(schedule, OxpullSchedule):
        asked = OxpullSchedule.objects.filter(pk=schedule.pk)
    else:
        asked = OxpullSchedule.objects.filter(backend_alias=backend, name=schedule)
    row = asked.first()
    if row is None:
        raise ScheduleDoesNotExist(f"there is no schedule {str(schedule)!r}")
    return row


def _row(id_: str) -> OxpullSchedule:
    return OxpullSchedule.objects.get(pk=id_)


@contextmanager
def _as_validation() -> Generator[None]:
    """Let what the core refuses leave as a ValidationError of the field that it is about."""
    try:
        yield
    except ScheduleDoesNotExist:
        raise
    except UsageError as refused:
        raise ValidationError({_field_of(refused): [str(refused)]}) from refused


def _field_of(refused: UsageError) -> str:
    """Return the field that an error is about; forms know the rest as NON_FIELD_ERRORS."""
    if isinstance(refused, ScheduleExists):
        return "name"
    if isinstance(refused, InvalidArguments):
        return "arguments"
    text = str(refused)
    return next((field for word, field in _WORDS.items() if text.startswith(word)), NON_FIELD_ERRORS)


def _refuse_unknown(fields: ScheduleFields) -> None:
    for name in fields:
        if name not in ScheduleFields.__annotations__:
            raise TypeError(f"a schedule has no field {name!r}; known are {', '.join(ScheduleFields.__annotations__)}")
