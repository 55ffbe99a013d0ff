"""Where a coroutine's sync calls run: in a waiting caller's thread, or in a few of ours."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from asgiref.sync import sync_to_async
from django.db import close_old_connections

from compat_sync.caller import has_sync_caller

__all__ = ["on_django"]

MOST_THREADS = 10

_pool = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="compat_sync")


async def on_django[**P, R](function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a sync function on the thread whose connections of Django's count here.

    Below a sync caller that is the caller's thread, with the transaction that is open there. Else it is one of at most
    ten threads, whose connections are closed when they are old or broken.
    """
    if has_sync_caller():
        return await sync_to_async(function, thread_sensitive=True)(*args, **kwargs)
    return await sync_to_async(_alone, thread_sensitive=False, executor=_pool)(function, *args, **kwargs)


def _alone[**P, R](function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    close_old_connections()
    try:
        return function(*args, **kwargs)
    finally:
        close_old_connections()
