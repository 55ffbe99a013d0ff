"""Declaring tasks on an Oxpull: over functions, or by name only."""

import inspect
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast, overload

from oxpull_async.app.decorators import Declare, DeclareWithBatch, DeclareWithBoth, DeclareWithContext
from oxpull_async.app.task import (
    CallKeywords,
    CoroutineTask,
    FunctionTask,
    Task,
    TaskKeywords,
    check_options,
    declare_task,
    declared_options,
)
from oxpull_async.domain.errors import InvalidTask
from oxpull_async.domain.settings import Settings, refuse_unknown
from oxpull_async.domain.task import checked_task_path

if TYPE_CHECKING:
    from oxpull_async.app.oxpull import Oxpull


class Declarations:
    """The declaring half of Oxpull."""

    settings: Settings
    tasks: dict[str, Task[..., Any]]

    @overload
    def task[**P, R](  # type: ignore[overload-overlap] # a coroutine function is a callable too; the first match wins
        self, function: Callable[P, Coroutine[Any, Any, R]], /
    ) -> CoroutineTask[P, R]: ...
    @overload
    def task[**P, R](self, function: Callable[P, R], /) -> FunctionTask[P, R]: ...
    @overload
    def task(
        self, *, takes_context: Literal[True], takes_batch: Literal[True], **options: Unpack[TaskKeywords]
    ) -> DeclareWithBoth: ...
    @overload
    def task(self, *, takes_batch: Literal[True], **options: Unpack[TaskKeywords]) -> DeclareWithBatch: ...
    @overload
    def task(self, *, takes_context: Literal[True], **options: Unpack[TaskKeywords]) -> DeclareWithContext: ...
    @overload
    def task(self, *, takes_context: Literal[False] = False, **options: Unpack[TaskKeywords]) -> Declare: ...
    def task(self, *function: Any, takes_context: bool = False, takes_batch: bool = False, **options: Any) -> Any:
        """Declare a function as a task of this queue.

        Options: `queue_name`, `priority` (-100..100), `max_attempts` (1..32767), `timeout` (seconds or timedelta),
        `backoff` (Exponential, list of seconds or callable over the attempt's number), `retry_on`, `fail_on`
        (exception classes), `takes_context` (the function takes a TaskContext first), `takes_batch` (a BatchInfo, after
        the context), `unique` (True or Unique(…)), `running_lock` (True or RunningLock(…)).

        Raises: InvalidTask for a value out of range, TypeError for an unknown option.
        """

        def declare(function: Callable[..., Any]) -> Task[..., Any]:
            task = declare_task(
                cast("Oxpull", self),
                function,
                cast("TaskKeywords", options),
                takes_context=takes_context,
                takes_batch=takes_batch,
            )
            _refuse_another(self.tasks.get(task.path), task)
            self.tasks[task.path] = task
            return task

        return declare(*function) if function else declare

    def remote(self, path: str, **options: Unpack[CallKeywords]) -> Task[..., Any]:
        """Return a task known by its dotted path only, to be run by a worker that has its code."""
        refuse_unknown("remote()", options.keys(), CallKeywords.__annotations__)
        if not all(part.isidentifier() for part in path.split(".")) or "." not in path:
            raise InvalidTask(f"{path!r} is no dotted path to a task, like 'shop.tasks.send_invoice'")
        declared = declared_options(self.settings, checked_task_path(path), options)
        check_options(declared, path, None, self.settings.rate_limits)
        return Task(cast("Oxpull", self), path, declared, body=None)


def _refuse_another(known: Task[..., Any] | None, task: Task[..., Any]) -> None:
    """Raise InvalidTask when two functions have one path; the same lines imported again are the same function."""
    if known is None or known.body is None or task.body is None:
        return
    old, new = (getattr(inspect.unwrap(body.function), "__code__", None) for body in (known.body, task.body))
    if old and new and (old.co_filename, old.co_firstlineno) != (new.co_filename, new.co_firstlineno):
        where = f"{old.co_filename}:{old.co_firstlineno} and {new.co_filename}:{new.co_firstlineno}"
        raise InvalidTask(
            f"two tasks have the path {task.path} ({where}): rename one, a worker finds a task by its path"
        )
