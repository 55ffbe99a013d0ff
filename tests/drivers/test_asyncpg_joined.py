"""Writing on a connection that the caller owns: raw asyncpg, asyncpg's pool, SQLAlchemy."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest
import pytest_asyncio
import uuid_utils
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, create_async_engine

from oxpull_async.domain.errors import ConnectionLost, DataRefused, TransactionNotOpen, UsageError
from oxpull_async.domain.record import NewTask
from oxpull_async.drivers.asyncpg import AsyncpgDatabase
from oxpull_async.drivers.url import parse_url
from oxpull_async.store import enqueue, results, schema

type Raw = asyncpg.Connection[Any]

RUN_AFTER = datetime(2040, 1, 2, 3, 4, 5, 678901, UTC)
CODECS = ("jsonb", "json", "uuid", "timestamptz", "timestamp", "interval", "numeric")


class LoudRecord(asyncpg.Record):
    """A row whose positions answer something else."""

    def __getitem__(self, key: Any) -> Any:
        return f"loud {super().__getitem__(key)}"


@pytest_asyncio.fixture
async def database(postgres_url: str) -> AsyncIterator[AsyncpgDatabase]:
    database = AsyncpgDatabase(parse_url(postgres_url))
    async with database.connection() as conn:
        await schema.migrate(conn, "uuid")
    yield database
    await database.close()


@pytest_asyncio.fixture
async def raw(postgres_url: str) -> AsyncIterator[Raw]:
    raw = await asyncpg.connect(postgres_url)
    yield raw
    await raw.close()


@pytest_asyncio.fixture
async def engine(postgres_url: str) -> AsyncIterator[AsyncEngine]:
    engine = create_async_engine(postgres_url.replace("postgresql:", "postgresql+asyncpg:"))
    yield engine
    await engine.dispose()


def new_task() -> NewTask:
    return NewTask(str(uuid_utils.uuid7()), "joined", "shop.send", "mail", 0, "[1]", "{}", RUN_AFTER, 3, None)


async def enqueue_on(database: AsyncpgDatabase, connection: object) -> str:
    task = new_task()
    conn = await database.join(connection)
    await enqueue.enqueue(conn, task)
    await enqueue.notify(conn, task.queue_name)
    return task.id


async def exists(database: AsyncpgDatabase, task_id: str) -> bool:
    async with database.connection() as conn:
        return await results.get_task(conn, task_id) is not None


@pytest.mark.asyncio
async def test_a_joined_enqueue_commits_with_the_caller(database: AsyncpgDatabase, raw: Raw) -> None:
    async with raw.transaction():
        task_id = await enqueue_on(database, raw)
        assert not await exists(database, task_id)
    assert await exists(database, task_id)


@pytest.mark.asyncio
async def test_a_joined_enqueue_rolls_back_with_the_caller(database: AsyncpgDatabase, raw: Raw) -> None:
    transaction = raw.transaction()
    await transaction.start()
    task_id = await enqueue_on(database, raw)
    await transaction.rollback()
    assert not await exists(database, task_id)


@pytest.mark.asyncio
async def test_a_connection_without_a_transaction_is_refused(database: AsyncpgDatabase, raw: Raw) -> None:
    with pytest.raises(TransactionNotOpen, match=r"connection\.transaction"):
        await database.join(raw)


@pytest.mark.asyncio
async def test_an_object_of_another_kind_is_refused(database: AsyncpgDatabase) -> None:
    with pytest.raises(UsageError, match="list is no connection of postgresql://"):
        await database.join([])


@pytest.mark.asyncio
async def test_a_closed_connection_is_lost(database: AsyncpgDatabase, raw: Raw) -> None:
    await raw.close()
    with pytest.raises(ConnectionLost):
        await database.join(raw)


@pytest.mark.asyncio
async def test_a_connection_of_asyncpgs_pool_is_joined_and_refused_once_released(
    database: AsyncpgDatabase, postgres_url: str
) -> None:
    async with asyncpg.create_pool(postgres_url, min_size=1, max_size=1) as pool:
        async with pool.acquire() as proxy, proxy.transaction():
            task_id = await enqueue_on(database, proxy)
        assert await exists(database, task_id)
        with pytest.raises(ConnectionLost):
            await database.join(proxy)


@pytest.mark.asyncio
async def test_the_callers_codecs_and_row_class_change_nothing(database: AsyncpgDatabase, postgres_url: str) -> None:
    raw = await asyncpg.connect(postgres_url, record_class=LoudRecord)
    for name in CODECS:
        await raw.set_type_codec(
            name, encoder=lambda value: json.dumps(["loud", value]), decoder=lambda _: 0, schema="pg_catalog"
        )
    await raw.execute("SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'German'; SET bytea_output = 'escape'")
    one, many = new_task(), [new_task(), new_task()]
    async with raw.transaction():
        conn = await database.join(raw)
        answers = [await enqueue.enqueue(conn, one), *await enqueue.enqueue_many(conn, many)]
        records = await results.get_tasks(conn, [one.id, *(task.id for task in many)])
        listed = await results.list_tasks(conn, "joined", results.TaskFilter(limit=3))
        installation = await schema.installation(conn)
    await raw.close()
    assert {answer.available_at for answer in answers} == {RUN_AFTER}
    assert {record.id for record in listed} == set(records) == {one.id, *(task.id for task in many)}
    assert all((record.args, record.run_after) == ([1], RUN_AFTER) for record in records.values())
    async with database.connection() as own:
        assert await schema.installation(own) == installation


@pytest.mark.asyncio
async def test_a_failed_nested_block_leaves_the_callers_transaction_alive(database: AsyncpgDatabase, raw: Raw) -> None:
    async with raw.transaction():
        conn = await database.join(raw)
        kept = new_task()
        await enqueue.enqueue(conn, kept)
        with pytest.raises(DataRefused):
            await enqueue.enqueue_many(conn, [new_task(), kept])
    assert await exists(database, kept.id)


@pytest.mark.asyncio
async def test_nothing_is_called_after_a_commit_that_is_the_callers(database: AsyncpgDatabase, raw: Raw) -> None:
    called: list[bool] = []
    async with raw.transaction():
        conn = await database.join(raw)
        async with conn.transaction():
            conn.after_commit(lambda: called.append(True))
    assert not called


@pytest.mark.asyncio
async def test_a_cancelled_command_leaves_the_callers_connection_to_the_caller(
    database: AsyncpgDatabase, raw: Raw
) -> None:
    transaction = raw.transaction()
    await transaction.start()
    conn = await database.join(raw)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await conn.run_script("SELECT pg_sleep(60)")
    with pytest.raises(ConnectionLost):
        await conn.fetch("schema_versions")
    await transaction.rollback()
    assert await raw.fetchval("SELECT 1") == 1


OWNERS = pytest.mark.parametrize("owner", [AsyncConnection, AsyncSession], ids=["AsyncConnection", "AsyncSession"])


def opened(engine: AsyncEngine, owner: type[Any]) -> Any:
    return AsyncSession(engine) if owner is AsyncSession else engine.connect()


@OWNERS
@pytest.mark.asyncio
async def test_an_sqlalchemy_owner_commits(database: AsyncpgDatabase, engine: AsyncEngine, owner: type[Any]) -> None:
    async with opened(engine, owner) as connection:
        task_id = await enqueue_on(database, connection)
        await connection.execute(text("SELECT 1"))
        assert not await exists(database, task_id)
        await connection.commit()
        assert await exists(database, task_id)


@OWNERS
@pytest.mark.asyncio
async def test_an_sqlalchemy_owner_rolls_back(database: AsyncpgDatabase, engine: AsyncEngine, owner: type[Any]) -> None:
    async with opened(engine, owner) as connection:
        first = await enqueue_on(database, connection)
        await connection.rollback()
        second = await enqueue_on(database, connection)
        await connection.commit()
    assert not await exists(database, first)
    assert await exists(database, second)


@OWNERS
@pytest.mark.asyncio
async def test_an_sqlalchemy_owner_that_leaves_without_commit_rolls_back(
    database: AsyncpgDatabase, engine: AsyncEngine, owner: type[Any]
) -> None:
    async with opened(engine, owner) as connection:
        task_id = await enqueue_on(database, connection)
    assert not await exists(database, task_id)


@pytest.mark.asyncio
async def test_a_begin_block_of_sqlalchemy_commits_at_its_end(database: AsyncpgDatabase, engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        first = await enqueue_on(database, connection)
    async with AsyncSession(engine) as session, session.begin():
        second = await enqueue_on(database, session)
    assert await exists(database, first)
    assert await exists(database, second)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "configure",
    [
        lambda engine: engine.execution_options(isolation_level="AUTOCOMMIT"),
        lambda engine: create_async_engine(engine.url, isolation_level="AUTOCOMMIT"),
    ],
    ids=["option", "engine"],
)
async def test_sqlalchemys_autocommit_is_refused(
    database: AsyncpgDatabase, engine: AsyncEngine, configure: Callable[[AsyncEngine], AsyncEngine]
) -> None:
    configured = configure(engine)
    async with configured.connect() as connection:
        with pytest.raises(TransactionNotOpen):
            await database.join(connection)
    await configured.dispose()


@pytest.mark.asyncio
async def test_an_sqlalchemy_connection_on_another_driver_is_refused(
    database: AsyncpgDatabase, sqlite_url: str
) -> None:
    engine = create_async_engine(sqlite_url.replace("sqlite:", "sqlite+aiosqlite:"))
    async with engine.connect() as connection:
        with pytest.raises(UsageError, match="AsyncConnection is no connection of postgresql://"):
            await database.join(connection)
    await engine.dispose()


@pytest.mark.asyncio
async def test_an_sqlalchemy_connection_that_the_server_ended_is_lost(
    database: AsyncpgDatabase, engine: AsyncEngine, raw: Raw
) -> None:
    async with engine.connect() as connection:
        pid = (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
        await raw.fetchval("SELECT pg_terminate_backend($1, 5000)", pid)
        with pytest.raises(ConnectionLost):
            await database.join(connection)
