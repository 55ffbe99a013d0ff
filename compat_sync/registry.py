"""The tasks that stored schedules may start: registered above `@task`, or in the settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django import forms
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.tasks import Task, task_backends
from django.utils.module_loading import autodiscover_modules, import_string

from compat_sync.backend import OxpullBackend
from compat_sync.django_types import AnyTask
from compat_sync.options.schedules import SchedulableEntry, checked_key

__all__ = ["ArgsForm", "ScheduleKind", "get", "kinds", "register", "schedulable"]


class ArgsForm(forms.Form):
    """Fields for the keyword arguments of a task; what they clean is what the task gets."""

    def clean(self) -> dict[str, Any]:
        """Refuse arguments that no field stands for, and text fields given anything but text."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for name in self.data:
            if name not in self.fields:
                raise ValidationError(f"{name!r} is no argument of this task")
        for name, field in self.fields.items():
            given = self.data.get(name)
            if type(field) is forms.CharField and given is not None and not isinstance(given, str):
                self.add_error(name, f"{given!r:.80} must be text")
        return cleaned


@dataclass(frozen=True, slots=True)
class ScheduleKind:
    """One task that stored schedules may start.

    `form` is an ArgsForm that checks its arguments, `permission` what a user needs to schedule it.
    """

    key: str
    task: AnyTask
    form: type[forms.BaseForm] | None = None
    permission: str | None = None


_registered: dict[str, ScheduleKind] = {}


def register(kind: ScheduleKind) -> None:
    """Let stored schedules start a task; raises ImproperlyConfigured for a key of another kind."""
    checked_key(kind.key)
    known = _registered.setdefault(kind.key, kind)
    if known.task.module_path != kind.task.module_path:
        raise ImproperlyConfigured(
            f"two tasks are schedulable as {kind.key!r}: {known.task.module_path} and {kind.task.module_path}"
        )
    _registered[kind.key] = kind


def schedulable[T: Task[..., Any]](
    key: str, *, form: type[forms.BaseForm] | None = None, permission: str | None = None
) -> Callable[[T], T]:
    """Let stored schedules start the task below, by this key; the decorator goes above `@task`."""

    def decorate(task: T) -> T:
        register(ScheduleKind(key, task, form, permission))
        return task

    return decorate


def kinds() -> Mapping[str, ScheduleKind]:
    """Return every schedulable task by its key.

    Those of the apps' `tasks` modules, and of SCHEDULABLE_TASKS.

    Raises: ImproperlyConfigured for a wrong entry of the settings.
    """
    _discover()
    found = dict(_registered)
    for backend in (task_backends[alias] for alias in task_backends):
        if isinstance(backend, OxpullBackend):
            for key, entry in backend.setup.schedulable.items():
                _add(found, _kind(key, entry))
    return found


def get(key: str) -> ScheduleKind:
    """Return a schedulable task; raises KeyError for an unknown key."""
    return kinds()[key]


@cache
def _discover() -> None:
    autodiscover_modules("tasks")


def _add(found: dict[str, ScheduleKind], kind: ScheduleKind) -> None:
    known = found.setdefault(kind.key, kind)
    if known.task.module_path != kind.task.module_path:
        raise ImproperlyConfigured(f"SCHEDULABLE_TASKS: {kind.key!r} is {known.task.module_path} already")


def _kind(key: str, entry: SchedulableEntry) -> ScheduleKind:
    try:
        task = import_string(entry.task_path)
        form = None if entry.form is None else import_string(entry.form)
    except ImportError as missing:
        raise ImproperlyConfigured(f"SCHEDULABLE_TASKS[{key!r}]: {missing}") from missing
    if not isinstance(task, Task):
        raise ImproperlyConfigured(f"SCHEDULABLE_TASKS[{key!r}]: {entry.task_path} is no task")
    return ScheduleKind(key, task, form, entry.permission)
