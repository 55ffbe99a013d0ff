"""Carry out an operation on a connection of its own, and repeat it where that helps."""

from collections.abc import Awaitable, Callable

from oxpull_async.db.contract import Connection, Database
from oxpull_async.domain.errors import Conflict

MOST_TRIES = 5


async def repeat[T](
    database: Database, operation: Callable[[Connection], Awaitable[T]], *, tries: int = MOST_TRIES
) -> T:
    """Run `operation` on a lent connection, up to five times while others' transactions end it.

    That is after a deadlock or a serialization failure. Only for operations whose outermost transaction is our own.

    Raises: what the operation raises the last time.
    """
    for _ in range(tries - 1):
        try:
            async with database.connection() as conn:
                return await operation(conn)
        except Conflict:
            continue
    return await repeat_once(database, operation)


async def repeat_once[T](database: Database, operation: Callable[[Connection], Awaitable[T]]) -> T:
    """Run `operation` on a lent connection."""
    async with database.connection() as conn:
        return await operation(conn)
