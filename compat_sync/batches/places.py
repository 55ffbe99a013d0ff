"""Where the calls about batches and workflows go: Django's connection, or the native driver."""

from collections.abc import Awaitable, Callable

from django.core.exceptions import ImproperlyConfigured

from compat_sync.backend import OxpullBackend
from compat_sync.exceptions import translated
from compat_sync.operations import BlockingOperations, backend_of, our_aliases
from compat_sync.placement import check_placement
from compat_sync.shim import run_blocking
from compat_sync.threads import on_django
from oxpull_async.db.contract import Connection

__all__ = ["awaited", "blocking", "home"]

type Operation[T] = Callable[[Connection], Awaitable[T]]


def home() -> OxpullBackend:
    """Return the backend through which they are reached: "default", or the first of ours.

    Raises: ImproperlyConfigured where no alias of TASKS is ours, or routers split our tables.
    """
    check_placement()
    aliases = our_aliases()
    if not aliases:
        raise ImproperlyConfigured("no alias of TASKS has the backend 'compat_sync.backend.OxpullBackend'")
    return backend_of("default" if "default" in aliases else aliases[0])


def blocking[T](operation: Operation[T]) -> T:
    """Carry out an operation on Django's connection, in whatever transaction is open there."""
    with translated():
        backend = home()
        return run_blocking(BlockingOperations(backend.ox, backend.database).operate(operation))


async def awaited[T](operation: Operation[T]) -> T:
    """Carry out an operation by the native driver, or below a sync caller on its connection."""
    backend = home()
    if not backend.goes_native:
        return await on_django(blocking, operation)
    with translated():
        return await backend.ox.operate(operation)
