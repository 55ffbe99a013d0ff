"""Django's Task with this queue's options, and the core task that stands behind it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import lru_cache
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import TYPE_CHECKING, Any, NoReturn, Self, cast

from django.tasks import Task
from django.utils.module_loading import import_string

from compat_sync.django_types import AnyTask
from compat_sync.exceptions import InvalidTask, UsageError
from compat_sync.options import BackendOptions
from compat_sync.unique import is_registered
from oxpull_async.app.oxpull import Oxpull
from oxpull_async.app.task import Call, CallKeywords, PolicyKeywords, check_options, declared_options
from oxpull_async.app.task import Task as CoreTask
from oxpull_async.domain.annotations import JsonCodec
from oxpull_async.domain.durations import Duration
from oxpull_async.domain.retry import Backoff
from oxpull_async.domain.running_lock import RunningLock
from oxpull_async.domain.task import Body
from oxpull_async.domain.unique import Unique

if TYPE_CHECKING:
    from compat_sync.results import TaskResult

__all__ = ["POLICY", "MissingCode", "PolicyTask", "body_of", "check_function", "core_task", "numbered_calls"]

_CALL = ("max_attempts", "timeout", "unique", "running_lock")
_FAILURES = ("backoff", "retry_on", "fail_on")
POLICY = (*_CALL, *_FAILURES)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyTask(Task):  # type: ignore[type-arg] # generic to a type checker only
    """A Django task with options of this queue; None leaves one to OPTIONS and its defaults.

    `max_attempts` is 1..32767, `timeout` seconds or timedelta (math.inf: no limit, whatever OPTIONS say), `backoff` an
    Exponential, a list of seconds or a callable over the attempt's number, `retry_on` and `fail_on` exception classes,
    `unique` True, False or Unique(…), `running_lock` True, False or RunningLock(…). `takes_batch`: the function takes a
    BatchInfo, after the context.
    """

    max_attempts: int | None = None
    timeout: Duration | None = None
    backoff: Backoff | None = None
    retry_on: type[BaseException] | tuple[type[BaseException], ...] | None = None
    fail_on: type[BaseException] | tuple[type[BaseException], ...] | None = None
    unique: bool | Unique | None = None
    running_lock: bool | RunningLock | None = None
    takes_batch: bool = False

    def using(
        self,
        *,
        priority: int | None = None,
        queue_name: str | None = None,
        run_after: datetime | None = None,
        backend: str | None = None,
        **policy: Any,
    ) -> Self:
        """Return a copy with other options; None leaves one as it is.

        Besides Django's own: `unique`, `running_lock`, `max_attempts`, `timeout`.

        Raises: InvalidTask for a value out of range, TypeError for an unknown option.
        """
        for name in policy:
            if name not in _CALL:
                raise TypeError(f"using() got an unexpected keyword argument {name!r}; known are {', '.join(_KNOWN)}")
        given = {"priority": priority, "queue_name": queue_name, "run_after": run_after, "backend": backend, **policy}
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    def __reduce__(self) -> tuple[Any, ...]:
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return _unpickled, (type(self), {**said, "func": self.module_path})

    def enqueue(self, *args: Any, **kwargs: Any) -> "TaskResult":
        """Store a call in Django's open transaction, or at once; see OxpullBackend.enqueue."""
        result: TaskResult = self.get_backend().enqueue(self, args, kwargs)  # type: ignore[arg-type, assignment] # a tuple
        return result

    async def aenqueue(self, *args: Any, **kwargs: Any) -> "TaskResult":
        """Store a call; see OxpullBackend.aenqueue."""
        result: TaskResult = await self.get_backend().aenqueue(self, args, kwargs)  # type: ignore[arg-type, assignment]
        return result


def _unpickled(kind: type[PolicyTask], said: dict[str, Any]) -> PolicyTask:
    """Make a task whose function is that of the declared task at a path; Django 6.0 has no way to do that."""
    path = said["func"]
    try:
        function = import_string(path).func
    except (ImportError, AttributeError) as missing:
        raise ValueError(f"{path!r} does not lead to a Task instance: {missing}") from missing
    return kind(**{**said, "func": function})


_KNOWN = ("priority", "queue_name", "run_after", "backend", *_CALL)


class MissingCode:
    """Stands for a function whose code is not here; it has a path, and cannot be called."""

    def __init__(self, path: str) -> None:
        self.__module__, _, self.__qualname__ = path.rpartition(".")
        self.__name__ = self.__qualname__

    def __call__(self, *_args: object, **_kwargs: object) -> NoReturn:
        """Raise ImportError."""
        raise ImportError(f"the code of the task {self.__module__}.{self.__qualname__} is not here")


def _is_task(given: object) -> bool:
    return isinstance(given, Task)


def core_task(ox: Oxpull, task: AnyTask, setup: BackendOptions) -> CoreTask[..., Any]:
    """Return the core task that a Django task stands for, its options checked.

    Where the declaration says nothing, the backend's OPTIONS do: for the task, for its queue, for all.

    Raises: InvalidTask for what is no task, a value out of range or options that do not go together, ImportError where
    the task's code is not here.
    """
    if not _is_task(task):
        raise InvalidTask(f"{task!r:.80} is no task: declare the function with @task, and enqueue what that returns")
    if isinstance(task.func, MissingCode):
        task.func()
    path = task.module_path
    keywords = _keywords(task, path, setup)
    calls = {name: keywords[name] for name in CallKeywords.__annotations__ if name in keywords}
    failures = {name: keywords[name] for name in _FAILURES if name in keywords}
    options = declared_options(ox.settings, path, cast("CallKeywords", calls), cast("PolicyKeywords", failures))
    takes_batch = bool(getattr(task, "takes_batch", False))
    body = body_of(task.func, takes_context=task.takes_context, takes_batch=takes_batch)
    check_options(options, path, body, ox.settings.rate_limits)
    return CoreTask(ox, path, options, body)


def numbered_calls(core: CoreTask[..., Any], calls: Any) -> list[Call[Any]]:
    """Return the parts of a bulk call from pairs of arguments.

    Raises: UsageError for what holds no calls, InvalidTask naming its position for what is no pair.
    """
    if not isinstance(calls, Iterable) or isinstance(calls, str | bytes):
        raise UsageError(f"{calls!r:.80} must be a list of pairs of arguments, like [([1], {{}})]")
    return [_numbered_call(core, position, call) for position, call in enumerate(calls)]


def _numbered_call(core: CoreTask[..., Any], position: int, call: Any) -> Call[Any]:
    try:
        args, kwargs = call
        return Call(core, tuple(args), dict(kwargs))
    except (TypeError, ValueError):
        raise InvalidTask(f"call {position}: {call!r:.80} must be a pair of arguments, like ([1], {{}})") from None


def check_function(function: Callable[..., Any]) -> None:
    """Raise InvalidTask for a lambda, which no worker could find, and for a generator."""
    if function.__name__ == "<lambda>":
        raise InvalidTask("a lambda has no name by which a worker could find it: use def or async def")
    if isgeneratorfunction(function) or isasyncgenfunction(function):
        raise InvalidTask(f"{function.__qualname__} is a generator; a task returns one value")


@lru_cache(maxsize=4096)
def body_of(function: Callable[..., Any], *, takes_context: bool, takes_batch: bool) -> Body:
    """Return the executable half of a Django task, whose arguments are plain JSON."""
    codec = JsonCodec(function, skip_first=takes_context + takes_batch)
    return Body(function, codec, iscoroutinefunction(function), takes_context, takes_batch=takes_batch)


def _keywords(task: AnyTask, path: str, setup: BackendOptions) -> dict[str, Any]:
    """Return what is said about a task: by itself, in the settings, by its decorator, in this order."""
    said: dict[str, Any] = {"unique": True} if is_registered(path) else {}
    if task.queue_name in setup.queue_timeouts:
        said["timeout"] = setup.queue_timeouts[task.queue_name]
    said |= setup.task_options.get(path, {})
    said |= {name: value for name in POLICY if (value := getattr(task, name, None)) is not None}
    return said | {"queue_name": task.queue_name, "priority": task.priority, "run_after": task.run_after}
