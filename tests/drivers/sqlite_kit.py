"""What the tests of the aiosqlite driver share: files, other programs that hold them, and commands under way."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager

from oxpull_async.db.contract import Connection
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase, AiosqliteSession
from oxpull_async.drivers.url import parse_url
from oxpull_async.store import schema

WRITE = "UPDATE oxpull_meta SET value = value"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO oxpull_meta SELECT i, '' FROM n"


def open_url(url: str, **options: object) -> AiosqliteDatabase:
    query = "&".join(f"{name}={value}" for name, value in options.items())
    return AiosqliteDatabase(parse_url(f"{url}?{query}"))


async def migrate(database: AiosqliteDatabase) -> None:
    async with database.connection() as conn:
        await schema.migrate(conn, await database.uuid_type())


@asynccontextmanager
async def borrow(database: AiosqliteDatabase) -> AsyncIterator[AiosqliteSession]:
    async with database.connection() as conn:
        assert isinstance(conn, AiosqliteSession)
        yield conn


@contextmanager
def foreign_writer(database: AiosqliteDatabase) -> Iterator[sqlite3.Connection]:
    """Hold the file as another program would."""
    with closing(sqlite3.connect(database.settings.path, isolation_level=None)) as file:
        file.execute("BEGIN IMMEDIATE")
        yield file


async def begin_running(conn: Connection, sql: str) -> asyncio.Task[None]:
    """Start a command, and return when it is on its way."""
    assert isinstance(conn, AiosqliteSession)
    task = asyncio.create_task(conn.run_script(sql))
    async with asyncio.timeout(10):
        while not conn.running:  # noqa: ASYNC110 - the driver has no event for it
            await asyncio.sleep(0)
    return task


def threads_left(before: set[threading.Thread]) -> list[threading.Thread]:
    """Return the threads that have come since `before` and do not end by themselves soon."""
    others = [thread for thread in threading.enumerate() if thread not in before]
    for thread in others:
        thread.join(5)
    return [thread for thread in others if thread.is_alive()]
