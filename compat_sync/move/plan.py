"""Whether a task of django-ox can be moved, and what this library stores for it."""

import json
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.tasks import task_backends
from django.tasks.exceptions import InvalidTask

from compat_sync.backend import OxpullBackend
from compat_sync.declared import declared_task
from compat_sync.exceptions import translated
from compat_sync.move.rows import OldTask, Place
from compat_sync.tasks import core_task
from oxpull_async.app.new_tasks import NewTasks
from oxpull_async.app.task import Call
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.record import NewTask, TaskStatus

__all__ = ["OLD_STATUS", "Planner", "UnmovableError"]

OLD_STATUS = {
    TaskStatus.RUNNING: "RUNNING: a worker of django-ox has it. It ends there, or is READY again and can be moved then",
    TaskStatus.WAITING: "WAITING: a workflow of the oxpull app holds it back, and is still there",
    TaskStatus.LOST: "LOST: its worker may still report. Retry or discard it there",
}
UPKEEP = ("oxpull.", "django_ox.")


class UnmovableError(Exception):
    """Says why a task stays where it is."""


class Planner:
    """Makes of old tasks what an enqueue of the same call would store now; writes nothing."""

    def __init__(self) -> None:
        self._makers: dict[str, NewTasks] = {}

    def plan(self, old: OldTask, place: Place | None = None) -> NewTask | None:
        """Return what is stored for an old task: None beside a task that has ended.

        Raises: UnmovableError with the reason and the way out.
        """
        waits = old.status is TaskStatus.WAITING and place is not None and place.workflow_id is not None
        if old.status in OLD_STATUS and not waits:
            raise UnmovableError(OLD_STATUS[old.status])
        if old.status.is_finished:
            return None
        if old.task_path.startswith(UPKEEP):
            raise UnmovableError("it is upkeep of the old apps, which is not needed here. Discard it there")
        backend = _backend(old.backend_alias)
        try:
            with translated():
                return self._maker(backend).of(_call(old, backend))
        except (UsageError, InvalidTask, ImproperlyConfigured) as refused:
            raise UnmovableError(str(refused)) from refused

    def _maker(self, backend: OxpullBackend) -> NewTasks:
        return self._makers.setdefault(backend.alias, NewTasks(backend.ox))


def _backend(alias: str) -> OxpullBackend:
    try:
        backend = task_backends[alias]
    except ImproperlyConfigured as unknown:
        raise UnmovableError(f"TASKS has no alias {alias!r}. Add it") from unknown
    if not isinstance(backend, OxpullBackend):
        raise UnmovableError(f"TASKS[{alias!r}] is no compat_sync.backend.OxpullBackend. Change its BACKEND")
    return backend


def _call(old: OldTask, backend: OxpullBackend) -> Call[Any]:
    """Return the stored call of the task as it is declared now; raises UnmovableError where there is none."""
    declared = declared_task(old.task_path)
    if declared is None:
        raise UnmovableError(
            "no task of this path is found. Its module must import, and belong to an installed app or be named by "
            "--import"
        )
    args, kwargs = json.loads(old.args), json.loads(old.kwargs)
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        raise UnmovableError("its arguments are no list and dict")
    task = declared.using(
        priority=old.priority, queue_name=old.queue_name, run_after=old.run_after, backend=old.backend_alias
    )
    return Call(core_task(backend.ox, task, backend.setup), tuple(args), kwargs)
