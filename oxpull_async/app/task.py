"""Tasks as users declare and call them."""

import inspect
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, Unpack

import msgspec

from oxpull_async.domain.annotations import ArgumentCodec
from oxpull_async.domain.durations import Duration
from oxpull_async.domain.errors import InvalidTask
from oxpull_async.domain.key_functions import check_key_function
from oxpull_async.domain.rate_limit import RateLimits, limit_place
from oxpull_async.domain.retry import Backoff, RetryPolicy, checked_backoff
from oxpull_async.domain.running_lock import RunningLock, declared_lock, lock_place
from oxpull_async.domain.settings import Settings, refuse_unknown
from oxpull_async.domain.signatures import POSITIONAL
from oxpull_async.domain.task import (
    Body,
    TaskOptions,
    checked_max_attempts,
    checked_priority,
    checked_queue,
    checked_run_after,
    checked_task_path,
    checked_timeout,
)
from oxpull_async.domain.unique import Unique, declared_rule

if TYPE_CHECKING:
    from oxpull_async.app.oxpull import Oxpull
    from oxpull_async.app.result import TaskResult


class CallKeywords(TypedDict, total=False):
    """What `using` may change for a call."""

    queue_name: str
    priority: int
    run_after: datetime | None
    max_attempts: int
    timeout: Duration | None
    unique: bool | Unique
    running_lock: bool | RunningLock


class PolicyKeywords(TypedDict, total=False):
    """What a declaration may say about failures."""

    backoff: Backoff
    retry_on: type[BaseException] | tuple[type[BaseException], ...]
    fail_on: type[BaseException] | tuple[type[BaseException], ...]


class TaskKeywords(PolicyKeywords, total=False):
    """What a declaration may say."""

    queue_name: str
    priority: int
    max_attempts: int
    timeout: Duration | None
    unique: bool | Unique
    running_lock: bool | RunningLock


class Call[R](msgspec.Struct, frozen=True):
    """A task with arguments, not yet stored; made by `task.call(…)`, taken by `enqueue_many`."""

    task: "Task[..., R]"
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Task[**P, R]:
    """A declared callable with its options; immutable, `using` makes changed copies.

    A task known by name only (`ox.remote`) has no function and no codec: its arguments must be plain JSON.
    """

    def __init__(self, ox: "Oxpull", path: str, options: TaskOptions, body: Body | None) -> None:
        self.ox = ox
        self.path = path
        self.options = options
        self.body = body

    def __repr__(self) -> str:
        return f"<Task {self.path} on queue {self.options.queue_name!r}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, here and now; nothing is stored."""
        if self.body is None:
            raise InvalidTask(f"{self.path} is known by name only here, so it can be enqueued but not called")
        return self.body.function(*args, **kwargs)

    def using(self, **changes: Unpack[CallKeywords]) -> Self:
        """Return a copy with other options for the calls made through it.

        `priority` is -100..100, `run_after` an aware datetime, `timeout` seconds or timedelta (None or math.inf: no
        limit), `unique` True, a Unique(…) or False, `running_lock` True, a RunningLock(…) or False.

        Raises: InvalidTask for a value out of range, TypeError for an unknown option.
        """
        refuse_unknown("using()", changes.keys(), CallKeywords.__annotations__)
        options = _changed_options(self.options, changes, self.ox.settings)
        check_options(options, self.path, self.body, self.ox.settings.rate_limits)
        return type(self)(self.ox, self.path, options, self.body)

    def call(self, *args: P.args, **kwargs: P.kwargs) -> Call[R]:
        """Return the call as a value, for `enqueue_many`; arguments are checked when it is enqueued."""
        return Call(self, args, kwargs)

    async def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> "TaskResult[R]":
        """Store the call so that a worker runs it.

        It joins the transaction that is open in this asyncio task, or is committed at once.

        Raises: InvalidArguments, before anything is written, when the arguments do not fit or are not JSON;
        AlreadyEnqueued and UniqueEnqueueRace as docs/unique.md says, for a unique task only.
        """
        return await self.ox.enqueuer.enqueue(Call(self, args, kwargs))


class CoroutineTask[**P, R](Task[P, R]):
    """A task over an `async def` function."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
        """Call the coroutine function itself; nothing is stored."""
        result: Coroutine[Any, Any, R] = super().__call__(*args, **kwargs)
        return result


class FunctionTask[**P, R](Task[P, R]):
    """A task over a plain function; workers run it in a thread."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself; nothing is stored."""
        result: R = super().__call__(*args, **kwargs)
        return result


def declare_task(
    ox: "Oxpull", function: Callable[..., Any], keywords: TaskKeywords, *, takes_context: bool, takes_batch: bool
) -> Task[..., Any]:
    """Make a task of a function.

    Raises: InvalidTask for something that is not a function or options out of range, TypeError for unknown options.
    """
    refuse_unknown("task()", keywords.keys(), TaskKeywords.__annotations__)
    if not inspect.isroutine(function):
        raise InvalidTask(f"{function!r} is not a function: @task goes directly above def or async def")
    if function.__name__ == "<lambda>":
        raise InvalidTask("a lambda has no name by which a worker could find it: use def or async def")
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise InvalidTask(f"{function.__qualname__} is a generator; a task returns one value")
    first = [name for name, taken in (("context", takes_context), ("batch", takes_batch)) if taken]
    if not _takes_first(function, len(first)):
        wanted = ", ".join(first)
        raise InvalidTask(
            f"{function.__qualname__} takes no {wanted}: declare it `def {function.__name__}({wanted}, …)`"
        )
    path = checked_task_path(path_of(function))
    options = declared_options(ox.settings, path, _call_keywords(keywords), _policy_keywords(keywords))
    checked_queue(options.queue_name, ox.settings.queues)
    is_coroutine = inspect.iscoroutinefunction(function)
    codec = ArgumentCodec.for_function(function, skip_first=len(first))
    body = Body(function, codec, is_coroutine, takes_context, takes_batch=takes_batch)
    check_options(options, path, body, ox.settings.rate_limits)
    kind = CoroutineTask if is_coroutine else FunctionTask
    return kind(ox, path, options, body)


def declared_options(
    settings: Settings, path: str, keywords: CallKeywords, failures: PolicyKeywords | None = None
) -> TaskOptions:
    """Return the options of a task that is being declared; the settings may make it unique."""
    if path in settings.unique_tasks:
        keywords = {"unique": True, **keywords}
    options = _changed_options(settings.defaults, keywords, settings)
    return replace(options, policy=_policy(options.policy, failures)) if failures else options


def check_options(options: TaskOptions, path: str, body: Body | None, limits: RateLimits) -> None:
    """Raise InvalidTask where options do not go together, or not with the task's parameters."""
    rule, lock = options.unique, options.running_lock
    if rule is not None and rule.wait is not None and options.run_after is not None:
        raise InvalidTask(f'{path}: run_after is what on_duplicate="debounce" sets; with run_after, use "replace"')
    signature = None if body is None else body.codec.signature
    if rule is not None and rule.key is not None:
        check_key_function(rule.key, signature, path)
    if lock is not None and lock.key is not None:
        check_key_function(lock.key, signature, lock_place(path))
    for limit in limits.covering(path, options.queue_name):
        if limit.key is not None:
            check_key_function(limit.key, signature, limit_place(path, limit.name))


def _changed_options(options: TaskOptions, changes: CallKeywords, settings: Settings) -> TaskOptions:
    """Return the options with those of a call in place, each checked."""
    checked: dict[str, Any] = {}
    for name, value in changes.items():
        match name:
            case "queue_name":
                checked[name] = checked_queue(value, settings.queues)
            case "priority":
                checked[name] = checked_priority(value)
            case "run_after":
                checked[name] = checked_run_after(value)
            case "max_attempts":
                checked[name] = checked_max_attempts(value)
            case "unique":
                checked[name] = declared_rule(value, default_ttl=settings.unique_ttl)
            case "running_lock":
                checked[name] = declared_lock(value)
            case _:
                checked[name] = checked_timeout(value)
    return replace(options, **checked)


def path_of(function: Callable[..., Any]) -> str:
    """Return the dotted path by which every process knows the function, `__main__` or not."""
    module = function.__module__
    if module == "__main__":
        main = sys.modules["__main__"]
        spec = getattr(main, "__spec__", None)
        file = getattr(main, "__file__", None)
        module = spec.name.removesuffix(".__main__") if spec is not None else Path(file).stem if file else module
    return f"{module}.{function.__qualname__}"


def _takes_first(function: Callable[..., Any], count: int) -> bool:
    """Whether a call may pass so many arguments by their places before all others."""
    given = list(inspect.signature(function).parameters.values())[:count]
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in given):
        return True
    return len(given) == count and all(parameter.kind in POSITIONAL for parameter in given)


def _call_keywords(keywords: TaskKeywords) -> CallKeywords:
    return {name: keywords[name] for name in CallKeywords.__annotations__ if name in keywords}  # type: ignore[return-value, literal-required]


def _policy_keywords(keywords: TaskKeywords) -> PolicyKeywords:
    return {name: keywords[name] for name in PolicyKeywords.__annotations__ if name in keywords}  # type: ignore[return-value, literal-required]


def _policy(policy: RetryPolicy, keywords: PolicyKeywords) -> RetryPolicy:
    changes: dict[str, Any] = {}
    if "backoff" in keywords:
        changes["backoff"] = checked_backoff(keywords["backoff"])
    for name in ("retry_on", "fail_on"):
        if name in keywords:
            changes[name] = _exceptions(name, keywords[name])
    return replace(policy, **changes)


def _exceptions(name: Literal["retry_on", "fail_on"], given: object) -> tuple[type[BaseException], ...]:
    kinds = given if isinstance(given, tuple) else (given,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise InvalidTask(f"{name}={given!r} must be an exception class or a tuple of them")
    return kinds
