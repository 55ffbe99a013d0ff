"""The asyncpg driver against a real server: errors, cancellation, lost connections, loops and the pool."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import (
    Conflict,
    ConnectionLost,
    DatabaseTrouble,
    DatabaseUnavailable,
    DataRefused,
    LockTimeout,
    NotMigrated,
    PoolExhausted,
)
from oxpull_async.drivers.asyncpg import AsyncpgDatabase, AsyncpgSession
from oxpull_async.drivers.url import parse_url
from oxpull_async.store import enqueue, schema
from tests.fixtures.servers import MakeDatabase

type Watcher = asyncpg.Connection[Any]

LOCK = "SELECT pg_advisory_xact_lock({key})"


@pytest_asyncio.fixture
async def database(postgres_url: str) -> AsyncIterator[AsyncpgDatabase]:
    database = AsyncpgDatabase(parse_url(postgres_url))
    async with database.connection() as conn:
        await schema.migrate(conn, "uuid")
    yield database
    await database.close()


@pytest_asyncio.fixture
async def watcher(postgres_url: str) -> AsyncIterator[Watcher]:
    raw = await asyncpg.connect(postgres_url)
    yield raw
    await raw.close()


@asynccontextmanager
async def borrow(database: AsyncpgDatabase) -> AsyncIterator[AsyncpgSession]:
    async with database.connection() as conn:
        assert isinstance(conn, AsyncpgSession)
        yield conn


async def until(condition: Callable[[], Awaitable[Any]]) -> None:
    async with asyncio.timeout(20):
        while not await condition():
            pass


def is_waiting(watcher: Watcher, pid: int) -> Callable[[], Awaitable[bool]]:
    sql = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock')"
    return lambda: watcher.fetchval(sql, pid)


def is_gone(watcher: Watcher, pid: int) -> Callable[[], Awaitable[bool]]:
    return lambda: watcher.fetchval("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)", pid)


@asynccontextmanager
async def held_lock(watcher: Watcher) -> AsyncIterator[str]:
    """Hold a lock; gives the statement that waits for it."""
    key = secrets.randbits(31)
    await watcher.execute("SELECT pg_advisory_lock($1)", key)
    try:
        yield LOCK.format(key=key)
    finally:
        await watcher.execute("SELECT pg_advisory_unlock($1)", key)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 'x'::int", DataRefused),
        ("INSERT INTO oxpull_meta (name, value) SELECT 'installation', 'twice'", DataRefused),
        ("INSERT INTO oxpull_meta (name, value) VALUES (NULL, '')", DataRefused),
        ('SELECT \'{"a": "\\u0000"}\'::jsonb', DataRefused),
        ("SELECT * FROM oxpull_missing", NotMigrated),
        ("SELECT missing FROM oxpull_task", NotMigrated),
        ("SELECT * FROM somebody_elses", DatabaseTrouble),
        ("SELEKT", DatabaseTrouble),
        ("DO $$ BEGIN RAISE SQLSTATE '54000'; END $$", DataRefused),
        ("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$", Conflict),
        ("DO $$ BEGIN RAISE SQLSTATE '25006'; END $$", DatabaseUnavailable),
        ("SELECT pg_terminate_backend(pg_backend_pid())", ConnectionLost),
    ],
)
async def test_a_server_error_becomes_ours_and_keeps_its_cause(
    database: AsyncpgDatabase, sql: str, expected: type[Exception]
) -> None:
    async with database.connection() as conn:
        with pytest.raises(expected) as caught:
            await conn.run_script(sql)
    assert type(caught.value) is expected
    assert isinstance(caught.value.__cause__, asyncpg.PostgresError)


@pytest.mark.asyncio
@pytest.mark.parametrize("value", ["\ud800", "nul\0", 7, "\N{SNOWMAN}" * 300])
async def test_a_value_that_cannot_be_stored_is_refused_and_the_connection_lives(
    database: AsyncpgDatabase, value: Any
) -> None:
    values = {"backend_alias": "a", "queue_name": value, "paused": True}
    async with database.connection() as conn:
        with pytest.raises(DataRefused):
            await conn.execute("set_queue_paused", **values)
        assert await conn.fetch("schema_versions")


@pytest.mark.asyncio
async def test_a_cancelled_command_ends_on_the_server_and_its_connection_is_not_lent_again(
    database: AsyncpgDatabase, watcher: Watcher
) -> None:
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def wait_for_lock(lock: str) -> None:
        async with borrow(database) as conn:
            started.set_result(conn.raw.get_server_pid())
            await conn.run_script(lock)

    async with held_lock(watcher) as lock:
        waiting = asyncio.create_task(wait_for_lock(lock))
        pid = await started
        await until(is_waiting(watcher, pid))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with borrow(database) as conn:
            assert conn.raw.get_server_pid() != pid
        await until(is_gone(watcher, pid))


@pytest.mark.asyncio
async def test_a_timeout_caught_inside_the_block_spends_the_connection(
    database: AsyncpgDatabase, watcher: Watcher
) -> None:
    async with held_lock(watcher) as lock:
        async with borrow(database) as conn:
            with suppress(TimeoutError):
                async with asyncio.timeout(0.05):
                    await conn.run_script(lock)
            with pytest.raises(ConnectionLost):
                await conn.fetch("schema_versions")
        async with borrow(database) as other:
            assert other is not conn


@pytest.mark.asyncio
async def test_sessions_ended_by_the_server_are_lost_and_replaced(database: AsyncpgDatabase, watcher: Watcher) -> None:
    async with borrow(database) as conn:
        pid = conn.raw.get_server_pid()
        await watcher.fetchval("SELECT pg_terminate_backend($1)", pid)
        await until(is_gone(watcher, pid))
        with pytest.raises(ConnectionLost):
            await conn.fetch("schema_versions")
    async with borrow(database) as conn:
        assert await conn.fetch("schema_versions")


@pytest.mark.asyncio
async def test_a_lost_connection_takes_the_idle_ones_with_it(database: AsyncpgDatabase, watcher: Watcher) -> None:
    async with borrow(database) as idle, borrow(database) as lost:
        pass
    async with borrow(database) as again:
        assert again is idle
        async with borrow(database) as lent:
            assert lent is lost
            await watcher.fetchval("SELECT pg_terminate_backend($1, 5000)", again.raw.get_server_pid())
            with pytest.raises(ConnectionLost):
                await again.fetch("schema_versions")
    async with borrow(database) as fresh:
        assert fresh not in (idle, lost)


@pytest.mark.asyncio
async def test_an_idle_session_that_the_server_ended_is_not_lent(database: AsyncpgDatabase, watcher: Watcher) -> None:
    async with borrow(database) as conn:
        pid = conn.raw.get_server_pid()
    ended = asyncio.Event()
    conn.raw.add_termination_listener(lambda _: ended.set())
    await watcher.fetchval("SELECT pg_terminate_backend($1)", pid)
    async with asyncio.timeout(20):
        await ended.wait()
    async with borrow(database) as other:
        assert other is not conn
        assert await other.fetch("schema_versions")


@pytest.mark.asyncio
async def test_a_lock_timeout_inside_a_savepoint_leaves_the_transaction_alive(
    database: AsyncpgDatabase, watcher: Watcher
) -> None:
    async with held_lock(watcher) as lock, database.connection() as conn, conn.transaction():
        await conn.run_script("SET LOCAL lock_timeout = '10ms'")
        with pytest.raises(LockTimeout) as inner:
            async with conn.transaction():
                await conn.run_script(lock)
        assert inner.value.transaction_survived
        assert await conn.fetch("schema_versions")


@pytest.mark.asyncio
async def test_a_lock_timeout_without_a_savepoint_ends_the_transaction(
    database: AsyncpgDatabase, watcher: Watcher
) -> None:
    async with held_lock(watcher) as lock, database.connection() as conn, conn.transaction():
        await conn.run_script("SET LOCAL lock_timeout = '10ms'")
        with pytest.raises(LockTimeout) as caught:
            await conn.run_script(lock)
        assert not caught.value.transaction_survived
        await conn.run_script("ROLLBACK; BEGIN")


@pytest.mark.asyncio
async def test_a_deadlock_is_a_conflict(database: AsyncpgDatabase) -> None:
    keys = [secrets.randbits(31), secrets.randbits(31)]
    barrier = asyncio.Barrier(2)

    async def cross(first: int, second: int) -> None:
        async with database.connection() as conn, conn.transaction():
            await conn.run_script("SET LOCAL deadlock_timeout = '50ms'")
            await conn.run_script(LOCK.format(key=first))
            await barrier.wait()
            await conn.run_script(LOCK.format(key=second))

    outcomes = await asyncio.gather(cross(*keys), cross(*keys[::-1]), return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "NoneType"]


@pytest.mark.asyncio
async def test_a_commit_that_the_server_turns_into_a_rollback_is_an_error(database: AsyncpgDatabase) -> None:
    called: list[bool] = []

    async def fail_and_go_on(conn: Connection) -> None:
        async with conn.transaction():
            conn.after_commit(lambda: called.append(True))
            with suppress(DataRefused):
                await conn.run_script("SELECT 1/0")

    async with database.connection() as conn:
        with pytest.raises(DatabaseTrouble, match="rolled back, not committed"):
            await fail_and_go_on(conn)
        async with conn.transaction():
            await conn.fetch("schema_versions")
    assert not called


@pytest.mark.asyncio
async def test_a_connection_left_inside_a_transaction_is_not_lent_again(database: AsyncpgDatabase) -> None:
    async with borrow(database) as conn:
        await conn.run_script("BEGIN")
    async with borrow(database) as other:
        assert other is not conn


@pytest.mark.asyncio
async def test_a_connection_whose_command_still_runs_is_not_lent_again(
    database: AsyncpgDatabase, watcher: Watcher
) -> None:
    async with held_lock(watcher) as lock:
        async with borrow(database) as conn:
            stray = asyncio.create_task(conn.run_script(lock))
            await until(is_waiting(watcher, conn.raw.get_server_pid()))
        async with borrow(database) as other:
            assert other is not conn
        with pytest.raises(ConnectionLost):
            await stray


@pytest.mark.asyncio
async def test_statements_are_read_committed_whatever_the_server_defaults_to(make_database: MakeDatabase) -> None:
    url = make_database("postgres")
    raw = await asyncpg.connect(url)
    await raw.execute(f"ALTER DATABASE {parse_url(url).database} SET default_transaction_isolation = 'serializable'")
    await raw.close()
    database = AsyncpgDatabase(parse_url(url))
    async with borrow(database) as conn:
        assert await conn.raw.fetchval("SHOW transaction_isolation") == "read committed"
    pooled = AsyncpgDatabase(parse_url(f"{url}?pooler=transaction"))
    async with borrow(pooled) as conn, conn.transaction():
        assert await conn.raw.fetchval("SHOW transaction_isolation") == "read committed"
    await database.close()
    await pooled.close()


@pytest.mark.asyncio
async def test_a_full_pool_says_how_large_it_is_and_who_waits(postgres_url: str) -> None:
    database = AsyncpgDatabase(parse_url(f"{postgres_url}?pool_size=1&acquire_timeout=0.05"))
    async with database.connection():
        with pytest.raises(PoolExhausted, match=r"pool_size is 1.*waiting is 1"):
            async with database.connection():
                pass
    await database.close()


@pytest.mark.asyncio
async def test_behind_a_transaction_pooler_nothing_is_prepared_and_nobody_listens(postgres_url: str) -> None:
    database = AsyncpgDatabase(parse_url(f"{postgres_url}?pooler=transaction&application_name=shop"))
    async with borrow(database) as conn:
        for _ in range(2):
            await enqueue.notify(conn, "mail")
        assert await conn.raw.fetchval("SELECT count(*) FROM pg_prepared_statements WHERE name <> ''") == 0
        assert await conn.raw.fetchval("SHOW application_name") == "shop"
    assert await database.listen() is None
    await database.close()


def test_each_event_loop_has_connections_of_its_own(postgres_url: str) -> None:
    database = AsyncpgDatabase(parse_url(postgres_url))

    async def pid() -> int:
        async with borrow(database) as conn:
            return int(await conn.raw.fetchval("SELECT pg_backend_pid()"))

    with asyncio.Runner() as one:
        first = one.run(pid())
        with asyncio.Runner() as two:
            second = two.run(pid())
        assert one.run(pid()) == first != second

    async def both_end() -> None:
        watcher = await asyncpg.connect(postgres_url)
        await until(is_gone(watcher, first))
        await until(is_gone(watcher, second))
        await watcher.close()

    asyncio.run(both_end())
