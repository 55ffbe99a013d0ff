"""Transactions that enqueues join: our own, and those of a caller's connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from oxpull_async.app import ambient
from oxpull_async.app.ambient import Ambient
from oxpull_async.db.contract import Connection, Database, Row
from oxpull_async.db.statements import Statement
from oxpull_async.domain.errors import NotMigrated, WrongDatabase
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.schema import installation

if TYPE_CHECKING:
    from oxpull_async.app.oxpull import Oxpull
    from oxpull_async.drivers.session import Session


class Transaction:
    """An open transaction, for SQL of your own beside the enqueues that join it."""

    def __init__(self, conn: Connection) -> None:
        self._session = cast("Session", conn)

    @property
    def connection(self) -> Any:
        """The driver's own connection object (asyncpg, aiomysql or aiosqlite)."""
        return self._session.raw

    async def execute(self, sql: str, *args: Any) -> int:
        """Run SQL with the driver's placeholders ($1, %s or ?); returns how many rows it matched."""
        return await self._session.guard(self._session.command(self._statement(sql, args), list(args)))

    async def fetch(self, sql: str, *args: Any) -> list[Row]:
        """Run SQL with the driver's placeholders ($1, %s or ?) and return its rows."""
        return list(await self._session.guard(self._session.query(self._statement(sql, args), list(args))))

    def _statement(self, sql: str, args: tuple[Any, ...]) -> Statement:
        """Take the text as it is; without arguments a percent sign is just that, as everywhere in the DB API."""
        if not args and self._session.speech.placeholders.doubles_percent:
            sql = sql.replace("%", "%%")
        return Statement("the transaction's own SQL", sql, (), frozenset(), writes=True)


@asynccontextmanager
async def own_transaction(ox: "Oxpull") -> AsyncIterator[Transaction]:
    """Open a transaction for the block, or a savepoint where this task has one open already."""
    outer = ambient.current(ox)
    if outer is not None:
        async with outer.conn.transaction():
            yield Transaction(outer.conn)
        return
    async with ox.database.connection() as conn:
        entry = Ambient(ox, asyncio.current_task(), conn, joined=False)
        async with _closing(entry), conn.transaction():
            ambient.push(entry)
            yield Transaction(conn)
    for queue_name in entry.committed:
        ox.wakeups.announce(queue_name)


@asynccontextmanager
async def joined_transaction(ox: "Oxpull", connection: object) -> AsyncIterator[Transaction]:
    """Let the block's enqueues join the transaction that is open on the caller's connection."""
    conn = await ox.database.join(connection)
    await ox.neighbours.require(conn)
    entry = Ambient(ox, asyncio.current_task(), conn, joined=True)
    async with _closing(entry):
        ambient.push(entry)
        yield Transaction(conn)


@asynccontextmanager
async def _closing(entry: Ambient) -> AsyncIterator[None]:
    try:
        yield
    finally:
        ambient.pop(entry)


class Neighbours:
    """Remembers which connections were found to belong to the same database as an Oxpull."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._installation: str | None = None
        self._known: WeakSet[Any] = WeakSet()

    async def require(self, conn: Connection) -> None:
        """Ask a joined connection, once in its life, which database it belongs to.

        Raises: WrongDatabase when it is not ours; the caller's transaction lives on.
        """
        anchor = cast("Session", conn).anchor
        if anchor in self._known:
            return
        if await self._asked(conn) != await self._ours():
            raise WrongDatabase(
                f"the joined connection belongs to another database than {self._database.label}: a task enqueued "
                "there would not be seen by this Oxpull's workers. Join a connection to that database, or enqueue "
                "with an Oxpull of the other one"
            )
        self._known.add(anchor)

    async def _ours(self) -> str:
        if self._installation is None:
            self._installation = await repeat(self._database, installation)
        return self._installation

    async def _asked(self, conn: Connection) -> str | None:
        """Ask in a savepoint, since a failed statement would end the caller's transaction on some databases."""
        try:
            async with conn.transaction():
                return await installation(conn)
        except NotMigrated:
            return None
