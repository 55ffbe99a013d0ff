"""How the aiosqlite driver opens files, follows event loops that come and go, and watches for writes."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from oxpull_async.db.schema import migrations
from oxpull_async.domain.errors import (
    ConnectionLost,
    DatabaseUnavailable,
    PoolExhausted,
)
from oxpull_async.domain.outcome import Succeeded
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase, AiosqliteSession
from oxpull_async.drivers.url import parse_url
from oxpull_async.store.enqueue import enqueue
from tests.drivers.sqlite_kit import (
    ENDLESS,
    WRITE,
    begin_running,
    borrow,
    foreign_writer,
    migrate,
    open_url,
    threads_left,
)
from tests.fixtures import make

MIGRATOR = """
import asyncio, sys
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase
from oxpull_async.drivers.url import parse_url
from oxpull_async.store import schema

async def main():
    async with AiosqliteDatabase(parse_url(sys.argv[1])).connection() as conn:
        print(len(await schema.migrate(conn, "char(32)")))

asyncio.run(main())
"""


@pytest_asyncio.fixture
async def database(sqlite_url: str) -> AsyncIterator[AiosqliteDatabase]:
    database = open_url(sqlite_url)
    await migrate(database)
    yield database
    await database.close()


async def value_of(conn: AiosqliteSession, pragma: str) -> Any:
    cursor = await conn.raw.execute(f"PRAGMA {pragma}")
    row = await cursor.fetchone()
    assert row is not None
    return row[0]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("options", "journal_mode", "synchronous"),
    [({}, "wal", 2), ({"journal_mode": "delete"}, "delete", 2), ({"synchronous": "normal"}, "wal", 1)],
)
async def test_a_file_is_opened_as_the_url_says_or_else_safely(
    sqlite_url: str, options: dict[str, str], journal_mode: str, synchronous: int
) -> None:
    database = open_url(sqlite_url, **options)
    async with borrow(database) as conn:
        assert await value_of(conn, "journal_mode") == journal_mode
        assert await value_of(conn, "synchronous") == synchronous
    await database.close()


@pytest.mark.asyncio
async def test_a_task_lives_its_life_on_a_file_with_a_rollback_journal(sqlite_url: str) -> None:
    database = open_url(sqlite_url, journal_mode="delete")
    await migrate(database)
    before = await database.version()
    async with database.connection() as conn:
        await make.successful(conn)
    assert await database.version() != before
    await database.close()


@pytest.mark.asyncio
async def test_processes_that_migrate_a_new_file_at_once_all_succeed(sqlite_url: str) -> None:
    started = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", MIGRATOR, sqlite_url, stdout=asyncio.subprocess.PIPE)
        for _ in range(4)
    ]
    answers = await asyncio.gather(*(process.communicate() for process in started))
    assert [process.returncode for process in started] == [0, 0, 0, 0]
    assert sum(int(output) for output, _ in answers) == len(migrations("sqlite", ""))


def test_loops_that_come_and_go_leave_no_threads(sqlite_url: str) -> None:
    database = open_url(sqlite_url)
    before = set(threading.enumerate())

    async def use() -> None:
        await migrate(database)
        await database.version()

    for _ in range(10):
        asyncio.run(use())
    assert threads_left(before) == []


@pytest.mark.parametrize("sql", [ENDLESS, WRITE], ids=["it runs", "it waits for the file"])
def test_a_loop_that_ends_under_a_command_leaves_no_thread_and_no_lock(sqlite_url: str, sql: str) -> None:
    database = open_url(sqlite_url, busy_timeout=60)
    asyncio.run(migrate(database))
    before = set(threading.enumerate())

    async def hold(lent: asyncio.Future[asyncio.Task[None]]) -> None:
        async with database.connection() as conn:
            lent.set_result(await begin_running(conn, sql))
            await lent.result()

    async def leave() -> asyncio.Task[None]:
        lent = asyncio.get_running_loop().create_future()
        holder = asyncio.create_task(hold(lent))
        await lent
        return holder

    with foreign_writer(database) if sql == WRITE else nullcontext():
        assert asyncio.run(leave()).cancelled()
        assert threads_left(before) == []
    asyncio.run(migrate(database))


@pytest.mark.asyncio
async def test_a_cancelled_opening_leaves_no_thread(sqlite_url: str) -> None:
    database = open_url(sqlite_url)
    before = set(threading.enumerate())
    for turns in range(12):
        opening = asyncio.create_task(migrate(database))
        for _ in range(turns):
            await asyncio.sleep(0)
        opening.cancel()
        with suppress(asyncio.CancelledError):
            await opening
        await database.close()
    executor = {thread for thread in threading.enumerate() if thread.name.startswith("asyncio_")}
    for thread in set(threading.enumerate()) - before - executor:
        await asyncio.to_thread(thread.join, 5)
        assert not thread.is_alive()


@pytest.mark.asyncio
async def test_a_full_pool_says_how_large_it_is_and_who_waits(sqlite_url: str) -> None:
    database = open_url(sqlite_url, pool_size=1, acquire_timeout=0.05)
    async with database.connection():
        with pytest.raises(PoolExhausted, match=r"pool_size is 1.*waiting is 1"):
            async with database.connection():
                pass
    await database.close()


@pytest.mark.asyncio
async def test_the_version_is_another_one_after_every_commit_and_after_nothing_else(
    database: AiosqliteDatabase,
) -> None:
    first = await database.version()
    assert await database.version() == first
    async with database.connection() as conn:
        await enqueue(conn, make.new_task())
        second = await database.version()
        assert second != first
        with suppress(RuntimeError):
            async with conn.transaction():
                await enqueue(conn, make.new_task())
                raise RuntimeError
        await conn.fetch("schema_versions")
    assert await database.version() == second
    with foreign_writer(database) as file:
        file.execute("INSERT INTO oxpull_meta VALUES ('new', '')")
        assert await database.version() == second
        file.execute("COMMIT")
    assert await database.version() not in {first, second}


@pytest.mark.asyncio
async def test_a_database_in_memory_serves_the_test_kit(database: AiosqliteDatabase) -> None:
    memory = AiosqliteDatabase(parse_url("sqlite:///:memory:", allow_memory=True))
    await migrate(memory)
    async with memory.connection() as conn:
        assert await make.settled(conn, await make.running(conn), Succeeded("1"))
    assert await memory.version() is None
    await memory.close()


@pytest.mark.asyncio
async def test_a_closed_connection_is_lost(database: AiosqliteDatabase) -> None:
    async with borrow(database) as conn:
        await conn.raw.close()
        with pytest.raises(ConnectionLost):
            await conn.fetch("schema_versions")
    async with borrow(database) as other:
        assert await other.fetch("schema_versions")
        await other.raw.close()
    async with database.connection() as third:
        assert await third.fetch("schema_versions")


@pytest.mark.asyncio
async def test_a_file_that_became_no_database_is_named_and_opened_anew(database: AiosqliteDatabase) -> None:
    await database.close()
    path = Path(database.settings.path)
    good = await asyncio.to_thread(path.read_bytes)
    async with borrow(database) as conn:
        await conn.fetch("schema_versions")
        await asyncio.to_thread(path.write_bytes, b"no database" * 5000)
        with pytest.raises(DatabaseUnavailable, match=r"path\.db: .*(malformed|not a database)"):
            await conn.fetch("list_tasks", backend_alias="", status=None, queue_name=None, task_path=None, limit=1)
    await asyncio.to_thread(path.write_bytes, good)
    async with borrow(database) as other:
        assert other is not conn
        assert await other.fetch("schema_versions")


@pytest.mark.asyncio
@pytest.mark.parametrize("place", ["missing/path.db", "", "text.db"], ids=["no folder", "a folder", "no database"])
async def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "text.db").write_text("no database at all" * 100)
    database = AiosqliteDatabase(parse_url(f"sqlite:///{tmp_path / place}"))
    with pytest.raises(DatabaseUnavailable, match="check that") as caught:
        await migrate(database)
    assert str(tmp_path / place) in str(caught.value)
