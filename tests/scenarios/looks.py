"""What an onlooker reads from the tables with SQL of its own, while others write them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from oxpull_async import Oxpull
from oxpull_async.db.contract import Connection, Row
from oxpull_async.db.statements import Statement

if TYPE_CHECKING:
    from oxpull_async.drivers.session import Session

NOW = {
    "postgres": "statement_timestamp()",
    "mysql": "UTC_TIMESTAMP(6)",
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', 'now')",
}
"""The instant of a statement, as the package stamps rows."""

PAUSE = 0.005


async def read(conn: Connection, sql: str) -> list[Row]:
    """Run one SELECT outside of any transaction: one consistent picture of what is committed."""
    session = cast("Session", conn)
    text = sql.replace("%", "%%") if session.speech.placeholders.doubles_percent else sql
    return list(await session.guard(session.query(Statement("a look", text, (), frozenset(), writes=False), [])))


@dataclass(slots=True)
class Watch:
    """How often an onlooker looked."""

    looks: int = 0


@asynccontextmanager
async def watching(ox: Oxpull, look: Callable[[Connection], Awaitable[None]]) -> AsyncIterator[Watch]:
    """Look again and again during the block, on a connection of its own; fails at the end as the first bad look did."""
    watch = Watch()
    over = asyncio.Event()

    async def keep_looking() -> None:
        async with ox.database.connection() as conn:
            while not over.is_set():
                await look(conn)
                watch.looks += 1
                await asyncio.sleep(PAUSE)

    onlooker = asyncio.create_task(keep_looking())
    try:
        yield watch
    finally:
        over.set()
        await asyncio.wait([onlooker])
    await onlooker
