"""Writing on a connection that the caller owns: raw aiomysql, aiomysql's pool, SQLAlchemy."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import aiomysql
import pytest
import pytest_asyncio
import uuid_utils
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, create_async_engine

from oxpull_async.domain.errors import ConnectionLost, DataRefused, TransactionNotOpen, UsageError
from oxpull_async.domain.record import NewTask
from oxpull_async.drivers.aiomysql import AiomysqlDatabase
from oxpull_async.drivers.url import parse_url
from oxpull_async.store import enqueue, operate, results, schema

RUN_AFTER = datetime(2040, 1, 2, 3, 4, 5, 678901, UTC)


@pytest_asyncio.fixture
async def database(mysql_url: str) -> AsyncIterator[AiomysqlDatabase]:
    database = AiomysqlDatabase(parse_url(mysql_url))
    async with database.connection() as conn:
        await schema.migrate(conn, await database.uuid_type())
    yield database
    await database.close()


def place(url: str) -> dict[str, Any]:
    parts = parse_url(url)
    return {
        "host": parts.host, "port": parts.port, "user": parts.user, "password": parts.password or "",
        "db": parts.database,
    }  # fmt: skip


@pytest_asyncio.fixture
async def raw(mysql_url: str) -> AsyncIterator[Any]:
    raw = await aiomysql.connect(**place(mysql_url))
    yield raw
    raw.close()


@pytest_asyncio.fixture
async def engine(mysql_url: str) -> AsyncIterator[AsyncEngine]:
    engine = create_async_engine(mysql_url.replace("mysql:", "mysql+aiomysql:"))
    yield engine
    await engine.dispose()


def new_task() -> NewTask:
    return NewTask(str(uuid_utils.uuid7()), "joined", "shop.send", "mail", 0, '["\\u00e9"]', "{}", RUN_AFTER, 3, None)


async def enqueue_on(database: AiomysqlDatabase, connection: object) -> str:
    one, many = new_task(), new_task()
    conn = await database.join(connection)
    await enqueue.enqueue(conn, one)
    await enqueue.enqueue_many(conn, [many])
    records = await results.get_tasks(conn, [one.id, many.id])
    assert [(record.args, record.run_after) for record in records.values()] == [(["é"], RUN_AFTER)] * 2
    return one.id


async def exists(database: AiomysqlDatabase, task_id: str) -> bool:
    async with database.connection() as conn:
        return await results.get_task(conn, task_id) is not None


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cursorclass": aiomysql.DictCursor},
        {"cursorclass": aiomysql.SSCursor},
        {"charset": "latin1"},
        {"init_command": "SET time_zone = '+09:00', sql_mode = 'ANSI'"},
        {"init_command": "SET sql_mode = 'NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'"},
        {"init_command": "SET NAMES utf8mb4 COLLATE utf8mb4_bin"},
    ],
    ids=str,
)
async def test_a_joined_enqueue_commits_with_the_caller(
    database: AiomysqlDatabase, mysql_url: str, options: dict[str, Any]
) -> None:
    raw = await aiomysql.connect(**place(mysql_url), **options)
    task_id = await enqueue_on(database, raw)
    assert not await exists(database, task_id)
    await raw.commit()
    raw.close()
    assert await exists(database, task_id)


@pytest.mark.asyncio
async def test_a_joined_enqueue_rolls_back_with_the_caller(database: AiomysqlDatabase, raw: Any) -> None:
    task_id = await enqueue_on(database, raw)
    await raw.rollback()
    assert not await exists(database, task_id)


@pytest.mark.asyncio
async def test_the_first_join_of_a_database_needs_no_connection_of_its_own(mysql_url: str, raw: Any) -> None:
    database = AiomysqlDatabase(parse_url(f"{mysql_url}?pool_size=1&acquire_timeout=0.05"))
    async with database.connection() as conn:
        await schema.migrate(conn, await AiomysqlDatabase(parse_url(mysql_url)).uuid_type())
    await database.close()
    fresh = AiomysqlDatabase(parse_url(mysql_url.replace(str(parse_url(mysql_url).port), "1")))
    conn = await fresh.join(raw)
    await enqueue.enqueue(conn, new_task())
    assert conn.max_batch_bytes > 0
    await raw.rollback()


@pytest.mark.asyncio
async def test_an_autocommitting_connection_is_refused_until_it_begins(database: AiomysqlDatabase, raw: Any) -> None:
    await raw.autocommit(True)
    with pytest.raises(TransactionNotOpen, match="begin"):
        await database.join(raw)
    await raw.begin()
    task_id = await enqueue_on(database, raw)
    await raw.rollback()
    assert not await exists(database, task_id)
    with pytest.raises(TransactionNotOpen):
        await database.join(raw)


@pytest.mark.asyncio
async def test_rows_are_counted_without_the_flag_for_matched_rows(database: AiomysqlDatabase, raw: Any) -> None:
    conn = await database.join(raw)
    task = new_task()
    await enqueue.enqueue(conn, task)
    assert await operate.cancel(conn, [task.id]) == 1
    assert await operate.cancel(conn, [task.id]) == 0
    assert await operate.retry(conn, [task.id], include_discarded=True) == 1
    assert await operate.discard(conn, [task.id]) == 1
    await raw.rollback()


@pytest.mark.asyncio
async def test_an_object_of_another_kind_is_refused(database: AiomysqlDatabase) -> None:
    with pytest.raises(UsageError, match="aiomysql"):
        await database.join(object())


@pytest.mark.asyncio
async def test_a_closed_connection_is_lost(database: AiomysqlDatabase, raw: Any) -> None:
    raw.close()
    with pytest.raises(ConnectionLost):
        await database.join(raw)


@pytest.mark.asyncio
async def test_a_connection_of_aiomysqls_pool_is_joined(database: AiomysqlDatabase, mysql_url: str) -> None:
    async with aiomysql.create_pool(minsize=1, maxsize=1, **place(mysql_url)) as pool, pool.acquire() as raw:
        task_id = await enqueue_on(database, raw)
        await raw.commit()
    assert await exists(database, task_id)


@pytest.mark.asyncio
async def test_a_failed_nested_block_leaves_the_callers_transaction_alive(database: AiomysqlDatabase, raw: Any) -> None:
    conn = await database.join(raw)
    kept, refused = new_task(), new_task()
    await enqueue.enqueue(conn, kept)
    with pytest.raises(DataRefused):
        await enqueue.enqueue_many(conn, [refused, refused])
    await raw.commit()
    assert await exists(database, kept.id)
    assert not await exists(database, refused.id)


@pytest.mark.asyncio
async def test_nothing_is_called_after_a_commit_that_is_the_callers(database: AiomysqlDatabase, raw: Any) -> None:
    called: list[None] = []
    conn = await database.join(raw)
    async with conn.transaction():
        conn.after_commit(lambda: called.append(None))
    await raw.commit()
    assert called == []


@pytest.mark.asyncio
async def test_a_cancelled_command_breaks_the_session(database: AiomysqlDatabase, raw: Any) -> None:
    conn = await database.join(raw)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.05):
            await conn.run_script("SELECT SLEEP(30)")
    with pytest.raises(ConnectionLost):
        await enqueue.enqueue(conn, new_task())


@pytest.mark.asyncio
@pytest.mark.parametrize("owner", [AsyncConnection, AsyncSession])
async def test_an_sqlalchemy_owner_commits(database: AiomysqlDatabase, engine: AsyncEngine, owner: type[Any]) -> None:
    async with owner(engine) as connection:
        task_id = await enqueue_on(database, connection)
        assert not await exists(database, task_id)
        await connection.commit()
    assert await exists(database, task_id)


@pytest.mark.asyncio
@pytest.mark.parametrize("owner", [AsyncConnection, AsyncSession])
async def test_an_sqlalchemy_owner_rolls_back(
    database: AiomysqlDatabase, engine: AsyncEngine, owner: type[Any]
) -> None:
    async with owner(engine) as connection:
        task_id = await enqueue_on(database, connection)
        await connection.rollback()
    assert not await exists(database, task_id)


@pytest.mark.asyncio
async def test_sqlalchemys_autocommit_is_refused(database: AiomysqlDatabase, engine: AsyncEngine) -> None:
    async with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        with pytest.raises(TransactionNotOpen):
            await database.join(connection)
