"""What the tests of the aiosqlite driver share: files, other programs that hold them, and commands under way."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from typing import Any, Unpack

from msgspec.structs import replace as replaced

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskId
from oxpull_async.domain.unique import OnDuplicate, Unique, UniqueRule
from oxpull_async.domain.unique_plan import UniqueCall
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase, AiosqliteSession
from oxpull_async.drivers.url import parse_url
from oxpull_async.store import schema
from oxpull_async.store.unique import enqueue_unique, find
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.fixtures import make

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


def unique_call(
    unique: Unique = Unique(),  # noqa: B008 - frozen
    *,
    key: str = "k",
    position: int = 0,
    **options: Unpack[make.Options],
) -> UniqueCall:
    """Make one enqueue of a unique task, as the app would."""
    rule = UniqueRule.of(unique, default_ttl=None)
    reruns = rule.mode is OnDuplicate.RERUN
    task = replaced(make.new_task(**options), unique_key=key, reruns=reruns, delay=rule.wait)
    return UniqueCall(position, task, rule)


async def put(conn: Connection, unique: Unique = Unique(), **options: Any) -> UniqueAnswer:  # noqa: B008 - frozen
    """Enqueue a unique task."""
    return await enqueue_unique(conn, unique_call(unique, **options))


async def holder(conn: Connection, key: str = "k") -> TaskId | None:
    """Return whom a key's lock row names."""
    found = (await find(conn, [key])).get(key)
    return None if found is None else found.holder_id


async def count_rows(conn: Connection) -> int:
    """Count the task table's rows, up to 10,000."""
    return len(await conn.fetch("prune_scan", statuses="[]", age=0, backend_alias=None, after=None, limit=10_000))
