"""Marking tasks as unique: the decorator above `@task`, and the key that it holds."""

from django.tasks import Task

from compat_sync.django_types import AnyTask
from oxpull_async.domain.keys import unique_key

__all__ = ["is_registered", "unique", "unique_key"]

_paths: set[str] = set()


def unique[T: AnyTask](task: T) -> T:
    """Make a task unique while it is pending; goes above `@task` and returns the task.

    Raises: TypeError for anything else than a task, as where it stands below `@task`.
    """
    if not isinstance(task, Task):
        raise TypeError(f"@unique goes above @task and takes no arguments; it was given {task!r:.80}")
    _paths.add(task.module_path)
    return task


def is_registered(task_path: str) -> bool:
    """Say whether the task of this dotted path was decorated with `@unique` in this process."""
    return task_path in _paths
