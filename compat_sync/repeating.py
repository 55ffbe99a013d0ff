"""Doing an operation on Django's connection again where that helps.

Only where no transaction is open: whoever opened one repeats all of it.
"""

from collections.abc import Awaitable, Callable

from compat_sync.connection import DjangoConnection
from oxpull_async.domain.errors import Conflict, ConnectionLost, DatabaseTrouble

__all__ = ["repeat_blocking"]

MOST_TRIES = 5

type Kinds = tuple[type[DatabaseTrouble], ...]


async def repeat_blocking[T](
    conn: DjangoConnection,
    attempt: Callable[[], Awaitable[T]],
    *,
    on: Kinds = (Conflict,),
    once_lost: Callable[[], Awaitable[T]] | None = None,
    on_once_lost: Kinds = (),
) -> T:
    """Await an attempt, up to five in all while one ends by an error of `on`.

    After a lost connection its outcome is unknown: what is safe then is `once_lost`, for all that follows, where there
    is one; it is repeated on `on_once_lost` too. A second loss is raised, and so is the error of the last attempt.
    """
    if conn.in_transaction:
        return await attempt()
    for _ in range(MOST_TRIES - 1):
        try:
            return await attempt()
        except on:
            continue
        except ConnectionLost:
            if once_lost is None:
                raise
            attempt, once_lost, on = once_lost, None, (*on, *on_once_lost)
    return await attempt()
