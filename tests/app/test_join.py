"""Joining the caller's own transaction: raw connections of each driver, and SQLAlchemy's over each."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiomysql
import aiosqlite
import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, create_async_engine

from oxpull_async import Oxpull
from oxpull_async.errors import TransactionElsewhere, TransactionNotOpen, UsageError, WrongDatabase
from tests.app.conftest import KINDS
from tests.app.kit import count, nothing, open_oxpull, rolled_back, unmasked, work
from tests.fixtures.servers import MakeDatabase

pytestmark = pytest.mark.asyncio


@dataclass(frozen=True)
class Foreign:
    """A connection of the caller's, with what its owner does to begin, commit and roll back."""

    connection: Any
    commit: Callable[[], Awaitable[object]]
    rollback: Callable[[], Awaitable[object]]


type Open = Callable[[str], AbstractAsyncContextManager[Foreign]]


@asynccontextmanager
async def raw_postgres(url: str) -> AsyncIterator[Foreign]:
    connection = await asyncpg.connect(url)
    transaction = connection.transaction()
    await transaction.start()
    yield Foreign(connection, transaction.commit, transaction.rollback)
    await connection.close()


@asynccontextmanager
async def pooled_postgres(url: str) -> AsyncIterator[Foreign]:
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool, pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        yield Foreign(connection, transaction.commit, transaction.rollback)


@asynccontextmanager
async def raw_mysql(url: str) -> AsyncIterator[Foreign]:
    connection = await mysql(url, autocommit=False)
    yield Foreign(connection, connection.commit, connection.rollback)
    connection.close()


@asynccontextmanager
async def begun_mysql(url: str) -> AsyncIterator[Foreign]:
    connection = await mysql(url, autocommit=True, cursorclass=aiomysql.DictCursor)
    await connection.begin()
    yield Foreign(connection, connection.commit, connection.rollback)
    connection.close()


@asynccontextmanager
async def raw_sqlite(url: str) -> AsyncIterator[Foreign]:
    async with aiosqlite.connect(file_of(url)) as connection:
        connection.row_factory = aiosqlite.Row
        yield Foreign(connection, connection.commit, connection.rollback)


@asynccontextmanager
async def begun_sqlite(url: str) -> AsyncIterator[Foreign]:
    async with aiosqlite.connect(file_of(url), isolation_level=None) as connection:
        await connection.execute("BEGIN IMMEDIATE")
        yield Foreign(connection, connection.commit, connection.rollback)


@asynccontextmanager
async def sqlalchemy_connection(url: str) -> AsyncIterator[Foreign]:
    async with engine_of(url) as engine, engine.connect() as connection:
        yield Foreign(connection, connection.commit, connection.rollback)


@asynccontextmanager
async def sqlalchemy_session(url: str) -> AsyncIterator[Foreign]:
    async with engine_of(url) as engine, AsyncSession(engine) as session:
        yield Foreign(session, session.commit, session.rollback)


async def mysql(url: str, **options: Any) -> Any:
    parts = make_url(url)
    return await aiomysql.connect(
        host=parts.host, port=parts.port or 3306, user=parts.username, db=parts.database, **options
    )


def file_of(url: str) -> str:
    return url.removeprefix("sqlite:///").partition("?")[0]


@asynccontextmanager
async def engine_of(url: str) -> AsyncIterator[AsyncEngine]:
    driver = {"postgresql": "postgresql+asyncpg", "mysql": "mysql+aiomysql", "sqlite": "sqlite+aiosqlite"}
    parts = make_url(url.partition("?")[0])
    engine = create_async_engine(parts.set(drivername=driver[parts.drivername]))
    yield engine
    await engine.dispose()


WAYS: dict[str, tuple[Open, ...]] = {
    "postgres": (raw_postgres, pooled_postgres, sqlalchemy_connection, sqlalchemy_session),
    "mysql": (raw_mysql, begun_mysql, sqlalchemy_connection, sqlalchemy_session),
    "sqlite": (raw_sqlite, begun_sqlite, sqlalchemy_connection, sqlalchemy_session),
}
EVERY_WAY = [pytest.param(kind, way, id=f"{kind}-{way.__name__}") for kind in KINDS for way in WAYS[kind]]


@pytest.fixture
def url(request: pytest.FixtureRequest, kind: str) -> str:
    found: str = request.getfixturevalue(f"{kind}_url")
    return found


every_way = pytest.mark.parametrize(("kind", "way"), EVERY_WAY)
each_kind = pytest.mark.parametrize("kind", KINDS)


@every_way
async def test_F3_the_callers_commit_stores_what_was_enqueued(ox: Oxpull, url: str, way: Open) -> None:
    task = ox.task(nothing)
    async with way(url) as foreign:
        async with ox.join(foreign.connection):
            await task.enqueue(1)
            await ox.enqueue_many([task.call(2), task.call(3)])
        assert await count(ox) == 0
        await foreign.commit()
        assert await count(ox) == 3
    await work(ox)
    assert [row.successful for row in await ox.stats()] == [3]


@every_way
async def test_F3_the_callers_rollback_leaves_nothing(ox: Oxpull, url: str, way: Open) -> None:
    task = ox.task(nothing)
    async with way(url) as foreign:
        async with ox.join(foreign.connection):
            await task.enqueue(1)
            async with ox.transaction():
                await ox.enqueue_many([task.call(2), task.call(3)])
        await foreign.rollback()
    assert await count(ox) == 0


@every_way
async def test_F3_an_error_in_the_block_leaves_the_transaction_to_the_caller(ox: Oxpull, url: str, way: Open) -> None:
    task = ox.task(nothing)
    async with way(url) as foreign:
        async with rolled_back(ox.join(foreign.connection)):
            await task.enqueue(1)
        async with ox.join(foreign.connection):
            await task.enqueue(2)
        await foreign.commit()
    assert await count(ox) == 2


@every_way
async def test_a_savepoint_inside_a_joined_transaction_rolls_back_alone(ox: Oxpull, url: str, way: Open) -> None:
    task = ox.task(nothing)
    async with way(url) as foreign:
        async with ox.join(foreign.connection) as tx:
            assert tx.connection is not None
            await task.enqueue(1)
            async with rolled_back(ox.transaction()):
                await task.enqueue(2)
            assert [tuple(row) for row in await tx.fetch("SELECT count(*) FROM oxpull_task")] == [(1,)]
        await foreign.commit()
    assert await count(ox) == 1


@every_way
async def test_F3_a_connection_to_another_database_is_refused(
    ox: Oxpull, url: str, way: Open, kind: Any, make_database: MakeDatabase
) -> None:
    elsewhere = make_database(kind)
    async with open_oxpull(elsewhere) as other:
        await other.migrate()
        async with way(elsewhere) as foreign:
            for _ in range(2):
                with pytest.raises(WrongDatabase, match=r"belongs to another database than .*: a task enqueued there"):
                    async with ox.join(foreign.connection):
                        pass
            async with other.join(foreign.connection):
                await other.task(nothing).enqueue(1)
            await foreign.commit()
        assert await count(other) == 1


@each_kind
async def test_F3_a_database_without_our_tables_is_another_one_and_the_transaction_lives(
    ox: Oxpull, url: str, kind: Any, make_database: MakeDatabase
) -> None:
    async with WAYS[kind][0](make_database(kind)) as foreign:
        with pytest.raises(WrongDatabase):
            async with ox.join(foreign.connection):
                pass
        if kind == "postgres":
            assert await foreign.connection.fetchval("SELECT 1") == 1
        await foreign.rollback()


@each_kind
async def test_F3_a_connection_is_asked_once_which_database_it_belongs_to(ox: Oxpull, url: str, kind: str) -> None:
    asked: list[str] = []
    way = WAYS[kind][1 if kind == "postgres" else 0]
    async with way(url) as foreign:
        for number in range(3):
            async with ox.join(foreign.connection) as tx:
                session: Any = tx._session
                asked.append(str(session.anchor in ox.neighbours._known))
                await ox.task(nothing).enqueue(number)
                before = len(ox.neighbours._known)
        assert before == 1
        await foreign.commit()
    assert await count(ox) == 3


@asynccontextmanager
async def autocommitting(kind: str, url: str) -> AsyncIterator[Any]:
    if kind == "postgres":
        connection = await asyncpg.connect(url)
        yield connection
        await connection.close()
    elif kind == "mysql":
        raw = await mysql(url, autocommit=True)
        yield raw
        raw.close()
    else:
        async with aiosqlite.connect(file_of(url), isolation_level=None) as file:
            yield file


@each_kind
async def test_F3_an_autocommitting_connection_is_refused(ox: Oxpull, url: str, kind: str) -> None:
    async with autocommitting(kind, url) as connection:
        with pytest.raises(TransactionNotOpen, match=r"commits? (each statement )?by itself: "):
            async with ox.join(connection):
                pass
    assert await count(ox) == 0


@each_kind
async def test_F3_sqlalchemys_autocommit_is_refused(ox: Oxpull, url: str, kind: str) -> None:
    async with engine_of(url) as engine, engine.connect() as plain:
        connection = await plain.execution_options(isolation_level="AUTOCOMMIT")
        with pytest.raises(TransactionNotOpen):
            async with ox.join(connection):
                pass


@each_kind
async def test_what_is_no_connection_of_the_database_is_refused(ox: Oxpull, url: str, kind: str) -> None:
    with pytest.raises(UsageError, match=r"object is no connection of .*: give an a"):
        async with ox.join(object()):
            pass


@every_way
async def test_F3_a_child_task_is_refused_while_the_joined_block_is_open(ox: Oxpull, url: str, way: Open) -> None:
    task = ox.task(nothing)
    async with way(url) as foreign:
        async with ox.join(foreign.connection):
            child = asyncio.create_task(task.enqueue(1))
            with pytest.raises(TransactionElsewhere):
                await child
        await foreign.rollback()
        await asyncio.create_task(task.enqueue(2))
    assert await count(ox) == 1


@each_kind
async def test_F7_a_result_of_the_joined_transaction_is_not_waited_for_in_it(ox: Oxpull, url: str, kind: str) -> None:
    async with WAYS[kind][0](url) as foreign:
        async with ox.join(foreign.connection):
            result = await ox.task(nothing).enqueue(1)
            with pytest.raises(UsageError, match="was enqueued in this transaction"):
                await result.wait()
        await foreign.commit()
        await result.refresh()


@each_kind
async def test_sqlalchemys_own_statements_share_the_transaction(ox: Oxpull, url: str, kind: str) -> None:
    task = ox.task(nothing)
    async with engine_of(url) as engine:
        async with engine.begin() as connection:
            await connection.execute(text("CREATE TABLE IF NOT EXISTS notes (id integer)"))
            await connection.execute(text("DELETE FROM notes"))
        async with rolled_back(engine.begin()) as connection:
            await note(connection, 1)
            async with ox.join(connection):
                await task.enqueue(1)
        async with AsyncSession(engine) as session, session.begin():
            async with ox.join(session):
                await task.enqueue(2)
            await note(await session.connection(), 2)
        async with engine.connect() as connection:
            assert (await connection.execute(text("SELECT id FROM notes"))).scalars().all() == [2]
    assert await count(ox) == 1


async def note(connection: AsyncConnection, number: int) -> None:
    await connection.execute(text("INSERT INTO notes (id) VALUES (:number)"), {"number": number})


@each_kind
async def test_an_oxpull_serves_two_loops_of_one_process(ox: Oxpull, url: str, kind: str) -> None:
    def in_a_loop_of_its_own() -> None:
        async def enqueue() -> None:
            async with open_oxpull(unmasked(ox)) as other:
                await other.task(nothing).enqueue(1)

        asyncio.run(enqueue())

    await asyncio.to_thread(in_a_loop_of_its_own)
    assert await count(ox) == 1


@pytest.mark.asyncio
async def test_a_transaction_is_joined_on_a_file_that_has_a_rollback_journal(tmp_path: Path) -> None:
    file = tmp_path / "made by others.db"
    async with Oxpull(f"sqlite:///{file}?journal_mode=delete") as others:
        await others.migrate()
    ox = Oxpull(f"sqlite:///{file}")
    task = ox.remote("shop.tasks.send_invoice")
    async with ox, aiosqlite.connect(file, isolation_level=None) as connection:
        await connection.execute("BEGIN IMMEDIATE")
        async with ox.join(connection):
            result = await task.enqueue(1)
        await connection.commit()
        assert (await ox.get_result(result.id)).args == [1]
