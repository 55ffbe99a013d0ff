"""What a batch or workflow may be given to run when it completes."""

from collections.abc import Mapping
from typing import Any, TypedDict

from django.core.exceptions import ImproperlyConfigured
from django.tasks import Task
from django.utils.module_loading import import_string

from compat_sync.backend import OxpullBackend
from compat_sync.django_types import AnyTask
from compat_sync.tasks import core_task
from oxpull_async.app.batches import callback_task
from oxpull_async.app.task import Call
from oxpull_async.domain.batch import BatchId, Callback
from oxpull_async.domain.durations import Duration
from oxpull_async.domain.errors import UsageError

__all__ = ["BatchKeywords", "callbacks"]

WHENS = ("complete", "success", "failure")


class BatchKeywords(TypedDict, total=False):
    """What a batch or workflow may be created with; callbacks are tasks or their dotted paths."""

    on_complete: AnyTask | str | None
    on_complete_args: list[Any] | tuple[Any, ...] | None
    on_complete_kwargs: Mapping[str, Any] | None
    on_success: AnyTask | str | None
    on_success_args: list[Any] | tuple[Any, ...] | None
    on_success_kwargs: Mapping[str, Any] | None
    on_failure: AnyTask | str | None
    on_failure_args: list[Any] | tuple[Any, ...] | None
    on_failure_kwargs: Mapping[str, Any] | None
    expire_after: Duration | None


def callbacks(options: BatchKeywords, batch_id: BatchId | None) -> list[Callback]:
    """Return the callbacks of a batch that is about to be stored; a workflow's have no batch.

    Raises: ImproperlyConfigured for whatever is wrong with one, naming it.
    """
    return [
        Callback(when, _task(f"on_{when}", dict(options), batch_id))
        for when in WHENS
        if _is_given(f"on_{when}", dict(options))
    ]


def _is_given(name: str, options: Mapping[str, Any]) -> bool:
    if options.get(name) is not None:
        return True
    for part in (f"{name}_args", f"{name}_kwargs"):
        if options.get(part):
            raise ImproperlyConfigured(f"{part} was given without {name}: name the task that takes them")
    return False


def _task(name: str, options: Mapping[str, Any], batch_id: BatchId | None) -> Any:
    task = _found(name, options[name])
    backend = task.get_backend()
    if not isinstance(backend, OxpullBackend):
        raise ImproperlyConfigured(f"{name}: {task.module_path} is on TASKS[{task.backend!r}], which is not ours")
    args, kwargs = options.get(f"{name}_args"), options.get(f"{name}_kwargs")
    if not isinstance(args, list | tuple | None):
        raise ImproperlyConfigured(f"{name}_args={args!r:.80} must be a list or a tuple")
    if not isinstance(kwargs, Mapping | None):
        raise ImproperlyConfigured(f"{name}_kwargs={kwargs!r:.80} must be a dict")
    try:
        call = Call(core_task(backend.ox, task, backend.setup), tuple(args or ()), dict(kwargs or {}))
        return callback_task(backend.ox.enqueuer, name, call, batch_id)
    except UsageError as wrong:
        raise ImproperlyConfigured(f"{name}: {wrong}") from wrong


def _found(name: str, given: object) -> AnyTask:
    """Return the task of a callback, which a worker must find again by its path."""
    path = given if isinstance(given, str) else getattr(given, "module_path", None)
    if path is None or not isinstance(given, str | Task):
        raise ImproperlyConfigured(f"{name}={given!r:.80} is neither a task nor a dotted path")
    try:
        found = import_string(path)
    except ImportError as missing:
        raise ImproperlyConfigured(f"{name}: {path!r} cannot be imported: {missing}") from missing
    if not isinstance(found, Task) or found.module_path != path:
        raise ImproperlyConfigured(f"{name}: {path!r} names no task, so a worker would not find it")
    return found if isinstance(given, str) else given
