"""A unique enqueue on SQLite is one trip, in which key and task are written together or not at all."""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import aiosqlite
import pytest
import pytest_asyncio

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import DataRefused
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase
from oxpull_async.store.results import get_task
from oxpull_async.store.unique import enqueue_unique
from tests.drivers.sqlite_kit import borrow, count_rows, foreign_writer, holder, migrate, open_url, put, unique_call

MIDWAY = """
import os, sqlite3, sys
from oxpull_async.db.statements import QMARK, load_statement
from oxpull_async.drivers.sqlite_file import FileSettings, open_file, run_patiently, run_together
statement = load_statement("sqlite", "insert_unique_task", QMARK)
values = dict.fromkeys(statement.names - {"clock_offset"}, "1") | {"delay": None, "run_after": None, "args": "[]"}
file = open_file(FileSettings(sys.argv[1], sys.argv[2], "full", 5.0))
file.set_trace_callback(lambda sql: os._exit(9) if sql.startswith("INSERT INTO oxpull_task") else None)
run_together(file, statement.dealt(statement.bind(values)), run_patiently)
"""


@pytest_asyncio.fixture
async def database(sqlite_url: str) -> AsyncIterator[AiosqliteDatabase]:
    database = open_url(sqlite_url)
    await migrate(database)
    yield database
    await database.close()


@pytest_asyncio.fixture
async def conn(database: AiosqliteDatabase) -> AsyncIterator[Connection]:
    async with database.connection() as conn:
        yield conn


@pytest.mark.asyncio
async def test_a_fresh_enqueue_is_one_trip_to_the_connections_thread(
    database: AiosqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with borrow(database) as conn:
        trips: list[object] = []
        go: Any = conn.raw._execute

        async def counted(*errand: Any, **options: Any) -> Any:
            trips.append(errand)
            return await go(*errand, **options)

        monkeypatch.setattr(conn.raw, "_execute", counted)
        answer = await put(conn)
        assert len(trips) == 1
        assert (answer.created, await holder(conn)) == (True, answer.record.id)


async def refused_midway(conn: Connection) -> None:
    """Let the task be refused after its key was taken."""
    with pytest.raises(DataRefused):
        await put(conn, args="no json")
    assert (await count_rows(conn), await holder(conn)) == (0, None)


@pytest.mark.asyncio
async def test_a_refused_task_leaves_no_lock_row(conn: Connection) -> None:
    await refused_midway(conn)
    assert (await put(conn)).created


@pytest.mark.asyncio
async def test_a_refused_task_leaves_no_lock_row_in_a_transaction_that_goes_on(conn: Connection) -> None:
    async with conn.transaction():
        await refused_midway(conn)
        other = await put(conn, key="other")
    assert (await holder(conn), await holder(conn, "other")) == (None, other.record.id)


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", [{"isolation_level": None}, {"isolation_level": ""}, {"autocommit": False}], ids=str)
async def test_a_joined_transaction_keeps_its_own_writes_and_its_own_end(
    database: AiosqliteDatabase, conn: Connection, mode: dict[str, Any]
) -> None:
    async with aiosqlite.connect(database.settings.path, **mode) as theirs:
        if mode == {"isolation_level": None}:
            await theirs.execute("BEGIN")
        joined = await database.join(theirs)
        await joined.run_script("INSERT INTO oxpull_meta VALUES ('theirs', '')")
        await refused_midway(joined)
        inside = await put(joined)
        assert not (await put(joined)).created
        assert (theirs.in_transaction, await holder(conn)) == (True, None)
        await theirs.commit()
    assert (await holder(conn), await count_rows(conn)) == (inside.record.id, 1)
    assert await get_task(conn, inside.record.id) is not None


@pytest.mark.asyncio
async def test_after_the_owners_commit_the_joined_connection_begins_anew(
    database: AiosqliteDatabase, conn: Connection
) -> None:
    async with aiosqlite.connect(database.settings.path) as theirs:
        joined = await database.join(theirs)
        await theirs.commit()
        await put(joined)
        assert (theirs.in_transaction, await holder(conn)) == (True, None)
        await theirs.rollback()
    assert (await holder(conn), await count_rows(conn)) == (None, 0)


@pytest.mark.asyncio
@pytest.mark.parametrize("journal_mode", ["wal", "delete"])
async def test_a_process_that_dies_between_the_steps_has_written_neither(sqlite_url: str, journal_mode: str) -> None:
    database = open_url(sqlite_url, journal_mode=journal_mode)
    await migrate(database)
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", MIDWAY, database.settings.path, journal_mode)
    assert await child.wait() == 9
    async with database.connection() as conn:
        assert (await count_rows(conn), await holder(conn, "1")) == (0, None)
        assert (await put(conn, key="1")).created
    await database.close()


@pytest.mark.asyncio
async def test_a_cancelled_enqueue_that_waits_for_the_file_writes_neither(database: AiosqliteDatabase) -> None:
    with foreign_writer(database):
        async with borrow(database) as conn:
            waiting = asyncio.create_task(put(conn))
            async with asyncio.timeout(10):
                while not conn.running:  # noqa: ASYNC110 - the driver has no event for it
                    await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
    async with database.connection() as conn:
        assert (await count_rows(conn), await holder(conn)) == (0, None)
        assert (await put(conn)).created


@pytest.mark.asyncio
async def test_an_enqueue_that_is_repeated_with_its_own_id_is_answered_with_its_row(conn: Connection) -> None:
    call = unique_call()
    first = await enqueue_unique(conn, call)
    again = await enqueue_unique(conn, call)
    assert (first.created, again.created, again.record) == (True, False, first.record)
