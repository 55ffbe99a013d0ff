"""Run the core's coroutines to their end on the caller's own thread, without an event loop.

The only place that calls `.send` on a coroutine. What it runs must use a connection whose awaits never wait.
"""

import asyncio
import os
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final

from django.core.exceptions import SynchronousOnlyOperation

from oxpull_async.domain.errors import OxpullError, UsageError

__all__ = ["CoreSuspended", "WrongWorld", "run_blocking"]

# Django's own switch for shells that keep a loop running: whoever sets it blocks that loop knowingly.
_UNSAFE_ALLOWED: Final = "DJANGO_ALLOW_ASYNC_UNSAFE"


class CoreSuspended(OxpullError):
    """Core code waited for an event loop; this is a bug in oxpull-async."""


class WrongWorld(UsageError, SynchronousOnlyOperation):
    """This thread runs an event loop: await the async twin of this call instead."""


def run_blocking[T](operation: Coroutine[Any, Any, T]) -> T:
    """Run a core coroutine to its end on this thread, in the caller's open transaction.

    Raises: CoreSuspended, with the traceback of the await that waited, when the coroutine waits for a loop;
    WrongWorld, before anything ran, when this thread runs an event loop.
    """
    if _loop_is_running():
        operation.close()
        raise WrongWorld
    try:
        waited_on = operation.send(None)
    except StopIteration as finished:
        result: T = finished.value
        return result
    raise _complaint(operation, waited_on)


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return not os.environ.get(_UNSAFE_ALLOWED)


def _complaint(operation: Coroutine[Any, Any, object], waited_on: object) -> CoreSuspended:
    """Throw the complaint into the coroutine, which puts the way to the await into its traceback, and return it.

    Whatever the coroutine makes of that, even if it waits again, the complaint stays the answer.
    """
    name = getattr(operation, "__qualname__", repr(operation))
    complaint = CoreSuspended(f"{name} waited on {waited_on!r}; blocking code has no event loop that could wake it")
    with suppress(BaseException):
        operation.throw(complaint)
    with suppress(BaseException):
        operation.close()
    return complaint
