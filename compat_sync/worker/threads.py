"""Threads in which whatever a coroutine sends there may use Django's connections."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from compat_sync.worker.around import thread_connections

__all__ = ["TidyThreads"]


class TidyThreads(ThreadPoolExecutor):
    """The threads of `asyncio.to_thread` and of `sync_to_async(…, thread_sensitive=False)`.

    Each call finds no connection that is dead, old or in a transaction, and leaves none.
    """

    def submit[**P, T](self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call as a task that is a plain function is run."""

        def tidily() -> T:
            with thread_connections():
                return function(*args, **kwargs)

        return super().submit(tidily)
