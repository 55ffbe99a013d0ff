"""Who is told, in this process, about every enqueue and its answer: the test kit.

Signals do not do for that: none is sent for a call that a unique key answered, and receivers change what is done.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from compat_sync.results import TaskResult
from oxpull_async.app.task import Call

__all__ = ["WATCHERS", "Watcher", "tell"]

type Watcher = Callable[[Call[Any], TaskResult], None]

WATCHERS: Final[list[Watcher]] = []
"""They are called on whichever thread enqueues, before the caller has its results."""


def tell(calls: Sequence[Call[Any]], results: Sequence[TaskResult]) -> list[TaskResult]:
    """Return the results, having told every watcher of each call and its result."""
    for watcher in tuple(WATCHERS):
        for call, result in zip(calls, results, strict=True):
            watcher(call, result)
    return list(results)
