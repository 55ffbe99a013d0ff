"""The types of `ox.task(…)`: decorators that keep a function's parameters and result."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, Protocol, overload

from oxpull_async.app.task import CoroutineTask, FunctionTask, Task

if TYPE_CHECKING:
    from oxpull_async.domain.batch import BatchInfo
    from oxpull_async.runtime.context import TaskContext


class Declare(Protocol):
    """What `ox.task(…)` returns: a decorator that keeps the function's parameters and result."""

    @overload
    def __call__[**P, R](  # type: ignore[overload-overlap] # a coroutine function is a callable too; the first match wins
        self, function: Callable[P, Coroutine[Any, Any, R]], /
    ) -> CoroutineTask[P, R]: ...
    @overload
    def __call__[**P, R](self, function: Callable[P, R], /) -> FunctionTask[P, R]: ...


class DeclareWithContext(Protocol):
    """What `ox.task(takes_context=True, …)` returns: the context is no argument of the task."""

    @overload
    def __call__[**P, R](
        self, function: "Callable[Concatenate[TaskContext, P], Coroutine[Any, Any, R]]", /
    ) -> Task[P, R]: ...
    @overload
    def __call__[**P, R](self, function: "Callable[Concatenate[TaskContext, P], R]", /) -> Task[P, R]: ...


class DeclareWithBatch(Protocol):
    """What `ox.task(takes_batch=True, …)` returns: the batch is no argument of the task."""

    @overload
    def __call__[**P, R](
        self, function: "Callable[Concatenate[BatchInfo, P], Coroutine[Any, Any, R]]", /
    ) -> Task[P, R]: ...
    @overload
    def __call__[**P, R](self, function: "Callable[Concatenate[BatchInfo, P], R]", /) -> Task[P, R]: ...


class DeclareWithBoth(Protocol):
    """What `ox.task(takes_context=True, takes_batch=True, …)` returns: neither is an argument."""

    @overload
    def __call__[**P, R](
        self, function: "Callable[Concatenate[TaskContext, BatchInfo, P], Coroutine[Any, Any, R]]", /
    ) -> Task[P, R]: ...
    @overload
    def __call__[**P, R](self, function: "Callable[Concatenate[TaskContext, BatchInfo, P], R]", /) -> Task[P, R]: ...
