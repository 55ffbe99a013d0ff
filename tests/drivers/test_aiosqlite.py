"""The aiosqlite driver on real files: writers in line, cancellation and errors."""

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from typing import Any

import pytest
import pytest_asyncio

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import (
    ConnectionLost,
    DatabaseTrouble,
    DataRefused,
    LockTimeout,
    NotMigrated,
)
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase
from oxpull_async.store.enqueue import enqueue
from tests.drivers.sqlite_kit import (
    ENDLESS,
    WRITE,
    begin_running,
    borrow,
    foreign_writer,
    migrate,
    open_url,
)
from tests.fixtures import make

HOLDER = """
import sqlite3, sys
file = sqlite3.connect(sys.argv[1], isolation_level=None)
file.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
file.execute("UPDATE oxpull_meta SET value = value")
file.execute("COMMIT")
"""


@pytest_asyncio.fixture
async def database(sqlite_url: str) -> AsyncIterator[AiosqliteDatabase]:
    database = open_url(sqlite_url)
    await migrate(database)
    yield database
    await database.close()


@pytest.mark.asyncio
async def test_writers_of_one_loop_get_their_turn_in_the_order_they_came(database: AiosqliteDatabase) -> None:
    came: list[int] = []
    served: list[int] = []

    async def write(number: int) -> None:
        async with database.connection() as conn:
            came.append(number)
            async with conn.transaction():
                served.append(number)
                await conn.run_script(WRITE)

    await asyncio.gather(*(write(number) for number in range(30)))
    assert served == came
    assert sorted(served) == list(range(30))


@pytest.mark.asyncio
async def test_writers_of_several_loops_all_get_through(database: AiosqliteDatabase) -> None:
    async def write_often() -> None:
        async with database.connection() as conn:
            for _ in range(20):
                async with conn.transaction():
                    await enqueue(conn, make.new_task())

    await asyncio.gather(write_often(), *(asyncio.to_thread(asyncio.run, write_often()) for _ in range(2)))
    async with borrow(database) as conn:
        assert (
            len(await conn.fetch("prune_scan", statuses="[]", age=0, backend_alias=None, after=None, limit=100)) == 60
        )


@pytest.mark.asyncio
async def test_a_writer_waits_for_another_process(database: AiosqliteDatabase) -> None:
    pipe = asyncio.subprocess.PIPE
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, database.settings.path, stdin=pipe, stdout=pipe
    )
    assert holder.stdout is not None
    await holder.stdout.readline()
    async with database.connection() as conn:
        waiting = await begin_running(conn, WRITE)
        assert not waiting.done()
        await holder.communicate(b"\n")
        await waiting
    assert holder.returncode == 0


@pytest.mark.asyncio
async def test_a_writer_that_waits_in_vain_gets_a_lock_timeout_and_works_later(sqlite_url: str) -> None:
    database = open_url(sqlite_url, busy_timeout=0.05)
    await migrate(database)
    async with database.connection() as conn:
        with foreign_writer(database):
            with pytest.raises(LockTimeout, match="busy_timeout") as caught:
                await enqueue(conn, make.new_task())
            assert not caught.value.transaction_survived
            assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
        await enqueue(conn, make.new_task())
    await database.close()


async def write_while_read(conn: Connection, reader: sqlite3.Connection) -> None:
    async with conn.transaction():
        await enqueue(conn, make.new_task())
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM oxpull_meta").fetchall()


@pytest.mark.asyncio
async def test_a_commit_that_readers_hold_up_is_rolled_back_and_its_connection_spent(sqlite_url: str) -> None:
    database = open_url(sqlite_url, journal_mode="delete", busy_timeout=0.05)
    await migrate(database)
    with closing(sqlite3.connect(database.settings.path, isolation_level=None)) as reader:
        async with borrow(database) as conn:
            with pytest.raises(LockTimeout):
                await write_while_read(conn, reader)
            with pytest.raises(ConnectionLost):
                await conn.fetch("schema_versions")
        reader.execute("COMMIT")
        async with borrow(database) as other:
            assert other is not conn
            await enqueue(other, make.new_task())
        assert reader.execute("SELECT count(*) FROM oxpull_task").fetchall() == [(1,)]
    await database.close()


@pytest.mark.asyncio
async def test_a_write_on_a_second_connection_inside_a_transaction_does_not_wait_for_ever(sqlite_url: str) -> None:
    database = open_url(sqlite_url, busy_timeout=0.05)
    await migrate(database)
    async with database.connection() as conn, conn.transaction(), database.connection() as second:
        with pytest.raises(LockTimeout, match="second connection"):
            await enqueue(second, make.new_task())
        assert await second.fetch("schema_versions")
    await database.close()


@pytest.mark.asyncio
async def test_a_cancelled_command_frees_the_file_and_its_connection_is_not_lent_again(
    database: AiosqliteDatabase,
) -> None:
    async with borrow(database) as conn:
        with suppress(asyncio.CancelledError):
            async with conn.transaction():
                running = await begin_running(conn, ENDLESS)
                running.cancel()
                await running
        with pytest.raises(ConnectionLost):
            await conn.fetch("schema_versions")
    async with borrow(database) as other:
        assert other is not conn
        await other.run_script(WRITE)


@pytest.mark.asyncio
async def test_a_cancelled_wait_for_the_file_writes_nothing_later(database: AiosqliteDatabase) -> None:
    with foreign_writer(database) as file:
        async with borrow(database) as conn:
            waiting = await begin_running(conn, "INSERT INTO oxpull_meta VALUES ('late', '')")
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        await asyncio.to_thread(conn.raw._thread.join, 10)
        assert not conn.raw._thread.is_alive()
        file.execute("COMMIT")
        assert file.execute("SELECT * FROM oxpull_meta WHERE name = 'late'").fetchall() == []


@pytest.mark.asyncio
async def test_a_writer_cancelled_in_line_passes_its_turn_on(database: AiosqliteDatabase) -> None:
    async def write() -> None:
        async with database.connection() as conn:
            await enqueue(conn, make.new_task())

    async with database.connection() as conn, conn.transaction():
        line = [asyncio.create_task(write()) for _ in range(3)]
        await asyncio.sleep(0)
        line[1].cancel()
    outcomes = await asyncio.gather(*line, return_exceptions=True)
    assert [type(outcome).__name__ for outcome in outcomes] == ["NoneType", "CancelledError", "NoneType"]


@pytest.mark.asyncio
async def test_a_connection_left_inside_a_transaction_is_not_lent_again(database: AiosqliteDatabase) -> None:
    async with borrow(database) as conn:
        await conn.run_script("BEGIN IMMEDIATE")
    async with borrow(database) as other:
        assert other is not conn
        await other.run_script(WRITE)


@pytest.mark.asyncio
async def test_a_connection_whose_command_still_runs_is_not_lent_again(database: AiosqliteDatabase) -> None:
    async with borrow(database) as conn:
        stray = await begin_running(conn, ENDLESS)
    async with borrow(database) as other:
        assert other is not conn
    with pytest.raises(ConnectionLost):
        await stray


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("INSERT INTO oxpull_meta (name, value) SELECT 'installation', 'twice'", DataRefused),
        ("INSERT INTO oxpull_meta (name, value) VALUES (NULL, '')", DataRefused),
        ("INSERT INTO oxpull_schema (version, name, applied_at) VALUES ('x', '', '')", DataRefused),
        ("SELECT json_set('{', '$.a', 1)", DataRefused),
        ("SELECT zeroblob(1000000001)", DataRefused),
        ("SELECT * FROM oxpull_missing", NotMigrated),
        ("SELECT missing FROM oxpull_task", NotMigrated),
        ("SELECT * FROM somebody_elses", DatabaseTrouble),
        ("SELEKT", DatabaseTrouble),
    ],
)
async def test_an_error_becomes_ours_and_keeps_its_cause(
    database: AiosqliteDatabase, sql: str, expected: type[Exception]
) -> None:
    async with database.connection() as conn:
        with pytest.raises(expected) as caught:
            await conn.run_script(sql)
        assert await conn.fetch("schema_versions")
    assert type(caught.value) is expected
    assert isinstance(caught.value.__cause__, sqlite3.Error)


@pytest.mark.asyncio
@pytest.mark.parametrize("value", ["\ud800", 2**63, object(), None], ids=["surrogate", "integer", "object", "null"])
async def test_a_value_that_cannot_be_stored_is_refused_and_the_connection_lives(
    database: AiosqliteDatabase, value: Any
) -> None:
    async with database.connection() as conn:
        with pytest.raises(DataRefused):
            await conn.execute("set_queue_paused", backend_alias="a", queue_name=value, paused=True)
        assert await conn.fetch("schema_versions")


@pytest.mark.asyncio
async def test_a_file_that_may_grow_no_further_is_trouble_with_a_way_out(database: AiosqliteDatabase) -> None:
    async with borrow(database) as conn:
        await conn.raw.execute("PRAGMA max_page_count = 1")
        with pytest.raises(DatabaseTrouble, match="make room"):
            await enqueue(conn, make.new_task(args=f'["{"x" * 1_000_000}"]'))
