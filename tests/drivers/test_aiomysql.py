"""The aiomysql driver: errors, cancelled commands, lost sessions, deadlocks, the pool."""

import asyncio
import contextlib
import gc
import math
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import aiomysql
import pytest
import pytest_asyncio
import uuid_utils
from msgspec.structs import replace

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import (
    Conflict,
    ConnectionLost,
    DatabaseTrouble,
    DataRefused,
    LockTimeout,
    NotMigrated,
    PoolExhausted,
)
from oxpull_async.domain.record import NewTask, wire_id
from oxpull_async.drivers.aiomysql import AiomysqlDatabase, OwnSession
from oxpull_async.drivers.aiomysql_link import Link
from oxpull_async.drivers.url import parse_url
from oxpull_async.store import enqueue, queues, results, schema
from tests.fixtures import innodb
from tests.fixtures.servers import MakeDatabase
from tests.fixtures.waiting import until

TAKEN = "00000000-0000-7000-8000-000000000000"

type Watcher = Callable[[str], Awaitable[Sequence[Sequence[Any]]]]


@pytest_asyncio.fixture
async def database(mysql_url: str) -> AsyncIterator[AiomysqlDatabase]:
    database = AiomysqlDatabase(parse_url(mysql_url))
    async with database.connection() as conn:
        await schema.migrate(conn, await database.uuid_type())
    yield database
    await database.close()


@pytest_asyncio.fixture
async def watcher(mysql_url: str) -> AsyncIterator[Watcher]:
    link = Link(parse_url(mysql_url))
    await link.open()

    async def ask(sql: str) -> Sequence[Sequence[Any]]:
        cursor = await link.cursor(aiomysql.Cursor)
        await cursor.execute(sql)
        rows: Sequence[Sequence[Any]] = await cursor.fetchall()
        return rows

    yield ask
    link.drop()


def new_task(**changes: Any) -> NewTask:
    task = NewTask(str(uuid_utils.uuid7()), "driver", "shop.send", "mail", 0, "[]", "{}", None, 3, None)
    return replace(task, **changes)


def thread(conn: Connection) -> int:
    assert isinstance(conn, OwnSession)
    return int(conn.link.thread_id())


async def change(conn: Connection, task_id: str) -> None:
    await conn.run_script(f"UPDATE oxpull_task SET refunds = refunds + 1 WHERE id = '{wire_id(task_id)}'")


async def stored_pair(conn: Connection) -> tuple[str, str]:
    first, second = new_task(), new_task()
    await enqueue.enqueue_many(conn, [first, second])
    return first.id, second.id


@pytest.mark.asyncio
async def test_a_session_is_set_up_as_the_contract_says(database: AiomysqlDatabase) -> None:
    async with database.connection() as conn:
        assert isinstance(conn, OwnSession)
        cursor = await conn.link.cursor(aiomysql.Cursor)
        await cursor.execute("SHOW SESSION VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')")
        assert {row[1] for row in await cursor.fetchall()} == {"READ-COMMITTED"}
        await cursor.execute("SELECT @@time_zone, @@character_set_client, @@sql_mode, @@max_allowed_packet")
        zone, charset, mode, packet = await cursor.fetchone()
        assert (zone, charset) == ("+00:00", "utf8mb4")
        assert conn.link.get_autocommit()
        assert "STRICT_TRANS_TABLES" in mode
        assert conn.max_batch_bytes == min(4 * 1024 * 1024, packet // 4)


@pytest.mark.asyncio
async def test_a_database_without_tables_says_how_to_make_them(make_database: MakeDatabase) -> None:
    database = AiomysqlDatabase(parse_url(make_database("mysql")))
    async with database.connection() as conn:
        with pytest.raises(NotMigrated, match="oxpull migrate"):
            await queues.peek(conn, "driver")
    await database.close()


@pytest.mark.asyncio
async def test_a_missing_table_of_the_user_is_no_missing_migration(database: AiomysqlDatabase) -> None:
    async with database.connection() as conn:
        with pytest.raises(DatabaseTrouble, match="nobodys_orders") as caught:
            await conn.run_script("SELECT * FROM nobodys_orders")
    assert not isinstance(caught.value, NotMigrated)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "changes",
    [{"args": "{"}, {"id": TAKEN}, {"timeout": math.inf}, {"args": '["\ud800"]'}, {"task_path": "p" * 300}],
    ids=["broken JSON", "same id", "infinity", "surrogate", "long name"],
)
async def test_a_value_that_cannot_be_stored_is_refused_and_the_connection_lives(
    database: AiomysqlDatabase, changes: dict[str, Any]
) -> None:
    async with database.connection() as conn:
        with contextlib.suppress(DataRefused):
            await enqueue.enqueue(conn, new_task(id=TAKEN))
        with pytest.raises(DataRefused):
            await enqueue.enqueue(conn, new_task(**changes))
        assert await results.get_task(conn, new_task().id) is None


@pytest.mark.asyncio
async def test_a_statement_larger_than_the_packet_is_refused_and_the_connection_lives(
    database: AiomysqlDatabase,
) -> None:
    async with database.connection() as conn:
        assert isinstance(conn, OwnSession)
        too_much = '["' + "x" * conn.facts.max_packet + '"]'
        with pytest.raises(DataRefused, match="max_allowed_packet"):
            await enqueue.enqueue(conn, new_task(args=too_much))
        await enqueue.enqueue(conn, new_task())


@pytest.mark.asyncio
async def test_a_batch_full_of_quotes_fits_into_the_packet(database: AiomysqlDatabase) -> None:
    async with database.connection() as conn:
        text = '["' + '\\"' * 250_000 + '"]'
        tasks = [new_task(args=text) for _ in range(12)]
        assert len(await enqueue.enqueue_many(conn, tasks)) == len(tasks)


@pytest.mark.asyncio
async def test_a_cancelled_command_ends_on_the_server_and_its_connection_is_not_lent_again(
    database: AiomysqlDatabase, watcher: Watcher
) -> None:
    async with database.connection() as holder:
        first, second = await stored_pair(holder)
        started = asyncio.Event()

        async def wait_for_the_lock() -> None:
            async with database.connection() as conn, conn.transaction():
                waiting.append(thread(conn))
                await change(conn, second)
                started.set()
                await change(conn, first)

        async def is_waiting() -> bool:
            return waiting[0] in innodb.waiting(await watcher(innodb.REPORT))

        async def is_gone() -> bool:
            return not await watcher(f"SELECT 1 FROM information_schema.processlist WHERE id = {waiting[0]}")

        waiting: list[int] = []
        async with holder.transaction():
            await change(holder, first)
            task = asyncio.create_task(wait_for_the_lock())
            await started.wait()
            await until(is_waiting)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await until(is_gone)
            await change(holder, second)
        async with database.connection() as conn:
            assert thread(conn) != waiting[0]


@pytest.mark.asyncio
async def test_a_timeout_caught_inside_the_block_spends_the_connection(database: AiomysqlDatabase) -> None:
    async with database.connection() as conn:
        spent = thread(conn)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await conn.run_script("SELECT SLEEP(30)")
        with pytest.raises(ConnectionLost):
            await queues.peek(conn, "driver")
    async with database.connection() as conn:
        assert thread(conn) != spent
        await queues.peek(conn, "driver")


@pytest.mark.asyncio
async def test_a_session_ended_by_the_server_is_lost_and_replaced(database: AiomysqlDatabase, watcher: Watcher) -> None:
    async with database.connection() as conn, database.connection() as idle:
        ended = {thread(conn), thread(idle)}
    async with database.connection() as conn:
        await watcher(f"KILL {thread(conn)}")
        with pytest.raises(ConnectionLost) as caught:
            await queues.peek(conn, "driver")
        assert caught.value.__cause__ is not None
    async with database.connection() as conn:
        assert thread(conn) not in ended
        await queues.peek(conn, "driver")


@pytest.mark.asyncio
async def test_an_idle_session_that_the_server_ended_is_not_lent(database: AiomysqlDatabase, watcher: Watcher) -> None:
    async with database.connection() as conn:
        assert isinstance(conn, OwnSession)
        ended, link = thread(conn), conn.link
    await watcher(f"KILL {ended}")

    async def is_seen() -> bool:
        return not link.is_open

    await until(is_seen)
    async with database.connection() as conn:
        assert thread(conn) != ended
        await queues.peek(conn, "driver")


@pytest.mark.asyncio
async def test_a_lock_timeout_leaves_the_transaction_alive(database: AiomysqlDatabase) -> None:
    async with database.connection() as holder, database.connection() as conn:
        first, second = await stored_pair(holder)
        await conn.run_script("SET SESSION innodb_lock_wait_timeout = 1")
        async with holder.transaction(), conn.transaction():
            await change(holder, first)
            await change(conn, second)
            with pytest.raises(LockTimeout) as caught:
                await change(conn, first)
            assert caught.value.transaction_survived
            with pytest.raises(LockTimeout):
                await conn.run_script(f"SELECT 1 FROM oxpull_task WHERE id = '{wire_id(first)}' FOR UPDATE NOWAIT")
        await change(holder, second)


async def crossed(
    pair: tuple[Connection, Connection], ids: tuple[str, str], after: Callable[[Connection], Awaitable[object]]
) -> tuple[Connection, BaseException]:
    """Let two blocks lock two rows crosswise, go on as if nothing was, and give the loser with its error."""
    met = asyncio.Barrier(2)

    async def cross(conn: Connection, near: str, far: str) -> None:
        async with conn.transaction():
            await change(conn, near)
            await met.wait()
            with contextlib.suppress(Conflict):
                async with conn.transaction():
                    await change(conn, far)
            await after(conn)

    outcomes = await asyncio.gather(cross(pair[0], *ids), cross(pair[1], *ids[::-1]), return_exceptions=True)
    (error,) = [outcome for outcome in outcomes if outcome is not None]
    return pair[outcomes.index(error)], error


@pytest.mark.asyncio
async def test_after_a_deadlock_nothing_more_of_the_block_is_written(database: AiomysqlDatabase) -> None:
    async with database.connection() as setter, database.connection() as one, database.connection() as two:
        late = {one: new_task(), two: new_task()}
        ids = await stored_pair(setter)
        loser, error = await crossed((one, two), ids, lambda conn: enqueue.enqueue(conn, late[conn]))
        assert isinstance(error, Conflict)
        assert not error.transaction_survived
        assert set(await results.get_tasks(setter, [task.id for task in late.values()])) == {
            task.id for conn, task in late.items() if conn is not loser
        }
        await enqueue.enqueue(loser, new_task())


@pytest.mark.asyncio
async def test_a_commit_after_a_deadlock_is_an_error(database: AiomysqlDatabase) -> None:
    async with database.connection() as setter, database.connection() as one, database.connection() as two:
        _, error = await crossed((one, two), await stored_pair(setter), lambda _: asyncio.sleep(0))
        assert isinstance(error, DatabaseTrouble)
        assert "not committed" in str(error)


@pytest.mark.asyncio
async def test_a_connection_left_inside_a_transaction_is_not_lent_again(database: AiomysqlDatabase) -> None:
    async with database.connection() as conn:
        left = thread(conn)
        await conn.run_script("BEGIN")
        await conn.run_script("UPDATE oxpull_queue SET paused = paused")
    async with database.connection() as conn:
        assert thread(conn) != left


@pytest.mark.asyncio
async def test_a_full_pool_says_how_large_it_is(mysql_url: str) -> None:
    database = AiomysqlDatabase(parse_url(f"{mysql_url}?pool_size=1&acquire_timeout=0.05"))
    async with database.connection():
        with pytest.raises(PoolExhausted, match="pool_size is 1"):
            async with database.connection():
                pass
    await database.close()


def test_each_event_loop_has_connections_of_its_own_and_leaves_none(mysql_url: str) -> None:
    database = AiomysqlDatabase(parse_url(mysql_url))

    async def ask() -> int:
        async with database.connection() as conn:
            await schema.read_schema(conn, "uuid")
            return thread(conn)

    assert asyncio.run(ask()) != asyncio.run(ask())
    abandoned = asyncio.new_event_loop()
    abandoned.run_until_complete(ask())
    abandoned.close()
    asyncio.run(ask())
    del abandoned
    gc.collect()


@pytest.mark.asyncio
async def test_an_account_of_one_database_is_enough(
    mysql_url: str, database: AiomysqlDatabase, watcher: Watcher
) -> None:
    url = parse_url(mysql_url)
    name, password = f"oxpull_{secrets.token_hex(4)}", "geheim-äöü€:/@"
    await watcher(f"CREATE USER '{name}'@'%' IDENTIFIED BY '{password}'")
    try:
        await watcher(f"GRANT ALL PRIVILEGES ON `{url.database}`.* TO '{name}'@'%'")
        quoted = "geheim-%C3%A4%C3%B6%C3%BC%E2%82%AC%3A%2F%40"
        own = AiomysqlDatabase(parse_url(f"mysql://{name}:{quoted}@{url.host}:{url.port}/{url.database}"))
        async with own.connection() as conn:
            await schema.migrate(conn, await own.uuid_type())
            first, second = await stored_pair(conn)
            assert set(await results.get_tasks(conn, [first, second])) == {first, second}
            await queues.promote(conn, 10)
        await own.close()
    finally:
        await watcher(f"DROP USER '{name}'@'%'")
