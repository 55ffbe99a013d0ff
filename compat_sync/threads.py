"""Where a coroutine's sync calls run: in a waiting caller's thread, or in a few of ours."""

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.db import close_old_connections

from compat_sync.caller import has_sync_caller

__all__ = ["on_django", "pinned"]

MOST_THREADS = 10

_pool = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="compat_sync")


@dataclass(slots=True)
class _Pin:
    pool: ThreadPoolExecutor
    is_open: bool = True


_pinned: ContextVar[_Pin] = ContextVar("compat_sync.pinned")


async def on_django[**P, R](function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a sync function on the thread whose connections of Django's count here.

    Below a sync caller that is the caller's thread, with the transaction that is open there. Else it is one of at most
    ten threads, whose connections are closed when they are old or broken, or in a block that keeps one, that one.
    """
    if has_sync_caller():
        return await sync_to_async(function, thread_sensitive=True)(*args, **kwargs)
    pin = _pinned.get(None)
    if pin is not None and pin.is_open:
        return await sync_to_async(function, thread_sensitive=False, executor=pin.pool)(*args, **kwargs)
    return await sync_to_async(_alone, thread_sensitive=False, executor=_pool)(function, *args, **kwargs)


@contextmanager
def pinned(pool: ThreadPoolExecutor) -> Generator[None]:
    """Have the sync functions of the block run in this pool where no sync caller waits."""
    pin = _Pin(pool)
    before = _pinned.set(pin)
    try:
        yield
    finally:
        pin.is_open = False
        _pinned.reset(before)


def _alone[**P, R](function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    close_old_connections()
    try:
        return function(*args, **kwargs)
    finally:
        close_old_connections()
