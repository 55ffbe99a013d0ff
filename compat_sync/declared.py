"""From a stored dotted path to the declared Django task, or to a stand-in for it."""

import sys
from dataclasses import fields
from importlib import import_module
from typing import Any

from django.apps import apps
from django.tasks import Task

from compat_sync.django_types import AnyTask
from compat_sync.tasks import MissingCode, PolicyTask
from oxpull_async.domain.record import TaskRecord

__all__ = ["declared_task", "stored_task"]


def declared_task(path: str) -> AnyTask | None:
    """Return the Django task of a dotted path, or None.

    Its module is imported only where it belongs to the package of an installed app.
    """
    module_name, _, name = path.rpartition(".")
    module = sys.modules.get(module_name)
    if module is None and _is_ours(module_name):
        try:
            module = import_module(module_name)
        except Exception:  # noqa: BLE001 - a module's import may raise anything; its tasks are then unknown here
            return None
    found = getattr(module, name, None)
    return found if isinstance(found, Task) and found.module_path == path else None


def stored_task(record: TaskRecord) -> AnyTask:
    """Return a task with queue, priority and time of its row, and the rest of its declaration.

    Where the code is not here it is a stand-in that has the path, and can be neither called nor enqueued.
    """
    known = declared_task(record.task_path)
    kind: Any = PolicyTask if known is None else type(known)
    said: dict[str, Any] = {field.name: getattr(known, field.name, None) for field in fields(kind)}
    if known is None:
        said |= {"func": MissingCode(record.task_path), "takes_context": False}
    said |= {
        "priority": record.priority,
        "queue_name": record.queue_name,
        "run_after": record.run_after,
        "backend": record.backend_alias,
    }
    return _unchecked(kind, said)


def _unchecked(kind: Any, said: dict[str, Any]) -> AnyTask:
    """Make a task without asking its backend, whose rules may have changed since the row was stored."""
    task: AnyTask = object.__new__(kind)
    for name, value in said.items():
        object.__setattr__(task, name, value)
    return task


def _is_ours(module: str) -> bool:
    top = module.partition(".")[0]
    return apps.ready and any(top == config.name.partition(".")[0] for config in apps.get_app_configs())
