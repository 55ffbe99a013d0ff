"""Reach the driver's own connection behind an SQLAlchemy AsyncConnection or AsyncSession.

Whether a transaction is then open on it, the driver can tell by itself: at SQLAlchemy's AUTOCOMMIT there is none.
SQLAlchemy is not imported but looked up: who passes one of its objects has imported it.
"""

import sys
from typing import Any

from oxpull_async.domain.errors import ConnectionLost, DatabaseTrouble

_ANY_QUERY = "SELECT 1"


async def unwrap(connection: object) -> object:
    """Make SQLAlchemy begin its transaction, and return the driver connection it runs on.

    SQLAlchemy begins at the first statement, so one is sent through it; commit and rollback stay the caller's.
    Any other object is returned as it is. Raises: ConnectionLost, DatabaseTrouble.
    """
    library: Any = sys.modules.get("sqlalchemy.ext.asyncio")
    if library is None or not isinstance(
        connection, library.AsyncConnection | library.AsyncSession | library.async_scoped_session
    ):
        return connection
    try:
        return await _begin(connection, library)
    except sys.modules["sqlalchemy.exc"].DBAPIError as error:
        kind = ConnectionLost if error.connection_invalidated else DatabaseTrouble
        raise kind(f"the SQLAlchemy connection cannot be joined: {error.orig or error}") from error


async def _begin(owner: Any, library: Any) -> object:
    connection = owner if isinstance(owner, library.AsyncConnection) else await owner.connection()
    await connection.exec_driver_sql(_ANY_QUERY)
    return (await connection.get_raw_connection()).driver_connection
