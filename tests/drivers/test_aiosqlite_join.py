"""Joined connections: aiosqlite's own in every mode, and SQLAlchemy's, whose owner commits or rolls back."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import aiosqlite
import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

from oxpull_async.domain.errors import LockTimeout, TransactionNotOpen, UsageError
from oxpull_async.domain.record import TaskId
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase
from oxpull_async.store.enqueue import enqueue
from oxpull_async.store.results import get_task
from tests.drivers.sqlite_kit import foreign_writer, migrate, open_url
from tests.fixtures import make


@pytest_asyncio.fixture
async def database(sqlite_url: str) -> AsyncIterator[AiosqliteDatabase]:
    database = open_url(sqlite_url)
    await migrate(database)
    yield database
    await database.close()


@pytest_asyncio.fixture
async def engine(database: AiosqliteDatabase) -> AsyncIterator[AsyncEngine]:
    engine = create_async_engine(f"sqlite+aiosqlite:///{database.settings.path}")
    yield engine
    await engine.dispose()


async def enqueue_in(database: AiosqliteDatabase, connection: object) -> TaskId:
    task = make.new_task()
    conn = await database.join(connection)
    await enqueue(conn, task)
    assert await get_task(conn, task.id) is not None
    return task.id


async def is_stored(database: AiosqliteDatabase, task_id: TaskId) -> bool:
    async with database.connection() as conn:
        return await get_task(conn, task_id) is not None


@pytest.mark.asyncio
@pytest.mark.parametrize("isolation_level", ["", "DEFERRED", "EXCLUSIVE"])
async def test_a_connection_that_begins_by_itself_is_begun_and_left_to_its_owner(
    database: AiosqliteDatabase, isolation_level: Any
) -> None:
    async with aiosqlite.connect(database.settings.path, isolation_level=isolation_level) as raw:
        lost = await enqueue_in(database, raw)
        assert raw.in_transaction
        await raw.rollback()
        kept = await enqueue_in(database, raw)
        assert not await is_stored(database, kept)
        await raw.commit()
    assert (await is_stored(database, lost), await is_stored(database, kept)) == (False, True)


@pytest.mark.asyncio
async def test_a_transaction_that_is_open_is_joined(database: AiosqliteDatabase) -> None:
    async with aiosqlite.connect(database.settings.path, isolation_level=None) as raw:
        await raw.execute("BEGIN")
        task_id = await enqueue_in(database, raw)
        assert not await is_stored(database, task_id)
        await raw.execute("COMMIT")
    assert await is_stored(database, task_id)


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", [{"isolation_level": None}, {"autocommit": True}], ids=str)
async def test_a_connection_that_commits_each_statement_is_refused(
    database: AiosqliteDatabase, mode: dict[str, Any]
) -> None:
    async with aiosqlite.connect(database.settings.path, **mode) as raw:
        with pytest.raises(TransactionNotOpen, match="BEGIN IMMEDIATE"):
            await database.join(raw)
        assert not raw.in_transaction


@pytest.mark.asyncio
async def test_a_connection_in_the_mode_of_pep_249_is_joined(database: AiosqliteDatabase) -> None:
    async with aiosqlite.connect(database.settings.path, autocommit=False) as raw:
        task_id = await enqueue_in(database, raw)
        await raw.commit()
    assert await is_stored(database, task_id)


@pytest.mark.asyncio
async def test_the_owners_kinds_of_rows_and_text_and_settings_do_not_matter_and_stay(
    database: AiosqliteDatabase,
) -> None:
    def as_dict(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
        return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}

    factories: list[Any] = [sqlite3.Row, as_dict, None]
    for row_factory in factories:
        async with aiosqlite.connect(database.settings.path, timeout=1.25) as raw:
            raw.row_factory = row_factory
            raw.text_factory = bytes
            await raw.execute("PRAGMA synchronous = OFF")
            await enqueue_in(database, raw)
            assert (raw.row_factory, raw.text_factory, raw.isolation_level) == (row_factory, bytes, "")
            await raw.rollback()
            raw.row_factory = None
            for pragma, value in (("synchronous", 0), ("busy_timeout", 1250)):
                assert await (await raw.execute(f"PRAGMA {pragma}")).fetchone() == (value,)


@pytest.mark.asyncio
async def test_a_block_inside_a_joined_transaction_is_a_savepoint(database: AiosqliteDatabase) -> None:
    async with aiosqlite.connect(database.settings.path) as raw:
        conn = await database.join(raw)
        called: list[bool] = []
        with suppress(ZeroDivisionError):
            async with conn.transaction():
                await enqueue(conn, make.new_task())
                raise ZeroDivisionError
        async with conn.transaction():
            conn.after_commit(lambda: called.append(True))
            await enqueue(conn, make.new_task())
        assert raw.in_transaction
        await raw.commit()
        assert await (await raw.execute("SELECT count(*) FROM oxpull_task")).fetchone() == (1,)
        assert not called


@pytest.mark.asyncio
async def test_a_file_that_another_holds_cannot_be_begun_on(database: AiosqliteDatabase) -> None:
    async with aiosqlite.connect(database.settings.path, timeout=0.01) as raw:
        with foreign_writer(database), pytest.raises(LockTimeout) as caught:
            await database.join(raw)
        assert not caught.value.transaction_survived
        assert await enqueue_in(database, raw)
        await raw.rollback()


@pytest.mark.asyncio
async def test_a_transaction_that_read_before_another_wrote_must_be_repeated(database: AiosqliteDatabase) -> None:
    async with aiosqlite.connect(database.settings.path, isolation_level=None) as raw:
        await raw.execute("BEGIN")
        await raw.execute_fetchall("SELECT * FROM oxpull_task")
        async with database.connection() as conn:
            await enqueue(conn, make.new_task())
        with pytest.raises(LockTimeout, match="had begun to read") as caught:
            await enqueue_in(database, raw)
        assert not caught.value.transaction_survived


@pytest.mark.asyncio
async def test_a_cancelled_command_leaves_the_owners_connection_open(database: AiosqliteDatabase) -> None:
    async with aiosqlite.connect(database.settings.path) as raw:
        conn = await database.join(raw)
        enqueueing = asyncio.create_task(enqueue(conn, make.new_task()))
        await asyncio.sleep(0)
        enqueueing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await enqueueing
        await raw.rollback()
        assert await enqueue_in(database, raw)
        await raw.rollback()


@pytest.mark.asyncio
async def test_what_is_no_connection_is_refused(database: AiosqliteDatabase) -> None:
    with pytest.raises(UsageError, match="aiosqlite connection"):
        await database.join("sqlite:///path.db")


@pytest.mark.asyncio
async def test_sqlalchemy_connections_commit_or_roll_back_what_was_enqueued(
    database: AiosqliteDatabase, engine: AsyncEngine
) -> None:
    async with engine.connect() as connection:
        lost = await enqueue_in(database, connection)
        await connection.rollback()
        await connection.execute(text("INSERT INTO oxpull_meta VALUES ('theirs', '')"))
        kept = await enqueue_in(database, connection)
        assert not await is_stored(database, kept)
        await connection.commit()
    assert (await is_stored(database, lost), await is_stored(database, kept)) == (False, True)


@pytest.mark.asyncio
async def test_sqlalchemy_sessions_commit_or_roll_back_what_was_enqueued(
    database: AiosqliteDatabase, engine: AsyncEngine
) -> None:
    async with AsyncSession(engine) as session, session.begin():
        kept = await enqueue_in(database, session)
    async with AsyncSession(engine) as session:
        lost = await enqueue_in(database, session)
        await session.rollback()
    assert (await is_stored(database, lost), await is_stored(database, kept)) == (False, True)


@pytest.mark.asyncio
async def test_an_sqlalchemy_connection_at_autocommit_is_refused(
    database: AiosqliteDatabase, engine: AsyncEngine
) -> None:
    async with engine.connect() as connection:
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        with pytest.raises(TransactionNotOpen):
            await database.join(connection)
