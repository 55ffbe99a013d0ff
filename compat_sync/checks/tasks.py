"""Look for the tasks that an entry of TASKS names; only checks do, since it imports them."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.forms import BaseForm
from django.tasks import Task
from django.utils.module_loading import import_string

from compat_sync.checks.catalog import Problem
from compat_sync.options import BackendOptions
from compat_sync.unique import is_registered
from oxpull_async.domain.schedule_entry import ScheduleEntry
from oxpull_async.domain.signatures import CallShape

__all__ = ["imported", "named_problems", "schedule_problems", "scheduled_problems", "schedules_of"]


def imported(path: str) -> object:
    """Return what a dotted path names, or the exception that its import raised."""
    try:
        return import_string(path)
    except Exception as error:  # noqa: BLE001 - the import of a project's module may raise anything
        return error


def named_problems(options: BackendOptions) -> Iterator[Problem]:
    """List the paths of UNIQUE_TASKS, RATE_LIMITS and TASK_OPTIONS that lead to no task."""
    settings = options.settings
    for code, key, paths in (
        ("E002", "UNIQUE_TASKS", settings.unique_tasks),
        ("E005", "RATE_LIMITS", {path for rule in settings.rate_limits.rules for path in rule.tasks}),
        ("E207", "TASK_OPTIONS", options.task_options),
    ):
        for path in sorted(paths):
            if fault := _fault(path):
                yield Problem(code, f"TASKS[{settings.alias!r}]: {key} names {path!r}, which {fault}.")


def schedule_problems(options: BackendOptions) -> Iterator[Problem]:
    """List the paths of SCHEDULES and SCHEDULABLE_TASKS that lead to no task or form."""
    settings = options.settings
    for name, entry in settings.schedules.items():
        if fault := _fault(entry.task_path):
            text = f"TASKS[{settings.alias!r}]: the schedule {name!r} names {entry.task_path!r}, which {fault}."
            yield Problem("E102", text)
        elif fault := _call_fault(entry):
            text = f"TASKS[{settings.alias!r}]: the schedule {name!r} cannot call {entry.task_path!r}: {fault}"
            yield Problem("E102", text)
    for key, kind in options.schedulable.items():
        if fault := _fault(kind.task_path) or (None if kind.form is None else _form_fault(kind.form)):
            yield Problem("E107", f"TASKS[{settings.alias!r}]: SCHEDULABLE_TASKS[{key!r}] {kind.task_path!r} {fault}.")


def schedules_of(params: Mapping[str, Any]) -> dict[object, str]:
    """Return the task's path of each entry of SCHEDULES that is written as django-ox has it."""
    entries = _dict(_dict(params.get("OPTIONS")).get("SCHEDULES"))
    paths = {name: _dict(entry).get("task") for name, entry in entries.items()}
    return {name: path for name, path in paths.items() if isinstance(path, str)}


def scheduled_problems(options: BackendOptions, schedules: Mapping[object, str]) -> Iterator[Problem]:
    """List the schedules that start a unique task."""
    for name, path in schedules.items():
        if _is_unique(path, options):
            text = f"TASKS[{options.settings.alias!r}]: the schedule {name!r} starts {path!r}, which is unique"
            yield Problem("W001", f"{text}: a tick enqueues nothing while one is pending.")


def _fault(path: str) -> str | None:
    found = imported(path)
    if isinstance(found, Exception):
        return f"cannot be imported: {type(found).__name__}: {found}"
    if not isinstance(found, Task):
        return f"is no task but {found!r:.80}"
    return None if found.module_path == path else f"is the task {found.module_path!r}: name it by that path"


def _call_fault(entry: ScheduleEntry) -> str | None:
    """Say why a schedule's arguments do not fit its task, or None."""
    task: Any = imported(entry.task_path)
    if getattr(task, "takes_batch", False):
        return "it takes its batch, so it runs in one only."
    return CallShape.of(task.func, skip_first=int(task.takes_context)).mismatch(entry.args, entry.kwargs)


def _form_fault(path: str) -> str | None:
    found = imported(path)
    if isinstance(found, Exception):
        return f"has the form {path!r}, which cannot be imported: {type(found).__name__}: {found}"
    is_form = isinstance(found, type) and issubclass(found, BaseForm)
    return None if is_form else f"has the form {path!r}, which is no form but {found!r:.80}"


def _is_unique(path: str, options: BackendOptions) -> bool:
    """Say whether a task is unique: by its declaration, by TASK_OPTIONS, or by one of the two lists."""
    said = getattr(imported(path), "unique", None)
    if said is None:
        said = options.task_options.get(path, {}).get("unique")
    if said is None:
        said = is_registered(path) or path in options.settings.unique_tasks
    return said is not False


def _dict(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}
