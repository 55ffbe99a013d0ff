"""Unique tasks on SQLite between two connections: who waits for whom, and what the loser is told."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Any

import aiosqlite
import pytest
import pytest_asyncio

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import Contended
from oxpull_async.domain.outcome import Settlement, Succeeded
from oxpull_async.domain.unique import Unique
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase
from oxpull_async.store.settle import settle
from oxpull_async.store.unique import enqueue_unique, enqueue_unique_many, find
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.drivers.sqlite_kit import borrow, foreign_writer, migrate, open_url, unique_call
from tests.fixtures import make

JOURNALS = ["wal", "delete"]
RERUN = Unique(on_duplicate="rerun")


@pytest_asyncio.fixture(params=JOURNALS)
async def database(request: pytest.FixtureRequest, sqlite_url: str) -> AsyncIterator[AiosqliteDatabase]:
    database = open_url(sqlite_url, journal_mode=request.param)
    await migrate(database)
    yield database
    await database.close()


@asynccontextmanager
async def winner(database: AiosqliteDatabase, begin: str = "BEGIN IMMEDIATE") -> AsyncIterator[tuple[Any, Connection]]:
    """Give a caller's connection with a transaction open, and that joined."""
    async with aiosqlite.connect(database.settings.path, isolation_level=None) as theirs:
        await theirs.execute(begin)
        yield theirs, await database.join(theirs)


@asynccontextmanager
async def duplicate_waits(
    database: AiosqliteDatabase, unique: Unique, *, in_transaction: bool
) -> AsyncIterator[asyncio.Task[UniqueAnswer]]:
    """Give an enqueue that is on its way to the file, which another holds."""
    async with borrow(database) as conn:

        async def enqueue() -> UniqueAnswer:
            if not in_transaction:
                return await enqueue_unique(conn, unique_call(unique, args="[2]"))
            async with conn.transaction():
                return await enqueue_unique(conn, unique_call(unique, args="[2]"))

        task = asyncio.create_task(enqueue())
        async with asyncio.timeout(10):
            while not conn.running:  # noqa: ASYNC110 - the driver has no event for it
                await asyncio.sleep(0)
        yield task


async def counted(database: AiosqliteDatabase) -> tuple[int, int]:
    """Count the rows of tasks and of keys."""
    with closing(sqlite3.connect(database.settings.path)) as file:
        (tasks,) = file.execute("SELECT count(*) FROM oxpull_task").fetchone()
        (keys,) = file.execute("SELECT count(*) FROM oxpull_unique").fetchone()
    return tasks, keys


RULES = [Unique(), Unique(on_duplicate="raise"), Unique(on_duplicate="replace"), RERUN, Unique(until="expired", ttl=9)]
every_rule = pytest.mark.parametrize("unique", RULES, ids=lambda unique: f"{unique.on_duplicate}-{unique.until}")
in_and_out = pytest.mark.parametrize("in_transaction", [False, True], ids=["alone", "in a transaction"])


@pytest.mark.asyncio
@every_rule
@in_and_out
async def test_the_winner_commits_and_the_duplicate_that_waited_gets_its_task(
    database: AiosqliteDatabase, unique: Unique, in_transaction: bool
) -> None:
    async with winner(database) as (theirs, joined):
        won = await enqueue_unique(joined, unique_call(unique))
        async with duplicate_waits(database, unique, in_transaction=in_transaction) as task:
            assert not task.done()
            await theirs.execute("COMMIT")
            lost = await task
    assert (won.created, lost.created, lost.record.id) == (True, False, won.record.id)
    assert lost.refused == (unique.on_duplicate == "raise")
    assert await counted(database) == (1, 1)


@pytest.mark.asyncio
@every_rule
@in_and_out
async def test_the_winner_rolls_back_and_the_duplicate_that_waited_creates_the_task(
    database: AiosqliteDatabase, unique: Unique, in_transaction: bool
) -> None:
    async with winner(database) as (theirs, joined):
        won = await enqueue_unique(joined, unique_call(unique))
        async with duplicate_waits(database, unique, in_transaction=in_transaction) as task:
            assert not task.done()
            await theirs.execute("ROLLBACK")
            second = await task
    assert (second.created, second.record.id != won.record.id, second.record.args) == (True, True, [2])
    assert await counted(database) == (1, 1)


@pytest.mark.asyncio
async def test_a_takeover_that_rolls_back_leaves_the_key_to_the_one_that_waited(database: AiosqliteDatabase) -> None:
    async with database.connection() as conn:
        old = (await enqueue_unique(conn, unique_call())).record
        await conn.run_script("UPDATE oxpull_task SET status = 'FAILED', due = NULL")
    async with winner(database) as (theirs, joined):
        assert (await enqueue_unique(joined, unique_call())).created
        async with duplicate_waits(database, Unique(), in_transaction=False) as task:
            await theirs.execute("ROLLBACK")
            second = await task
    assert (second.created, second.record.id != old.id) == (True, True)
    assert await counted(database) == (2, 1)


@pytest.mark.asyncio
async def test_of_many_at_once_one_creates_and_all_get_its_task(database: AiosqliteDatabase) -> None:
    async def enqueue() -> UniqueAnswer:
        other = open_url(f"sqlite+aiosqlite:///{database.settings.path}", journal_mode=database.settings.journal_mode)
        async with other.connection() as conn:
            answer = await enqueue_unique(conn, unique_call())
        await other.close()
        return answer

    def in_a_loop_of_its_own() -> UniqueAnswer:
        return asyncio.run(enqueue())

    answers = await asyncio.gather(*(asyncio.to_thread(in_a_loop_of_its_own) for _ in range(6)))
    assert [answer.created for answer in answers].count(True) == 1
    assert len({answer.record.id for answer in answers}) == 1
    assert await counted(database) == (1, 1)


@pytest.mark.asyncio
@pytest.mark.parametrize("journal_mode", JOURNALS)
async def test_an_enqueue_that_waits_in_vain_says_so_and_has_written_nothing(
    sqlite_url: str, journal_mode: str
) -> None:
    database = open_url(sqlite_url, journal_mode=journal_mode, busy_timeout=0.05)
    await migrate(database)
    async with database.connection() as conn:
        with foreign_writer(database):
            with pytest.raises(Contended, match="busy_timeout") as caught:
                await enqueue_unique(conn, unique_call())
            assert not caught.value.transaction_survived
        assert (await enqueue_unique(conn, unique_call())).created
    assert await counted(database) == (1, 1)
    await database.close()


@pytest.mark.asyncio
async def test_a_commit_that_readers_hold_up_is_undone_and_the_connection_stays_good(sqlite_url: str) -> None:
    database = open_url(sqlite_url, journal_mode="delete", busy_timeout=0.05)
    await migrate(database)
    async with database.connection() as conn:
        with closing(sqlite3.connect(database.settings.path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM oxpull_meta").fetchall()
            with pytest.raises(Contended) as caught:
                await enqueue_unique(conn, unique_call())
            assert not caught.value.transaction_survived
        assert await find(conn, ["k"]) == {}
        assert (await enqueue_unique(conn, unique_call())).created
    await database.close()


@pytest.mark.asyncio
async def test_a_joined_transaction_survives_an_enqueue_that_waits_in_vain(database: AiosqliteDatabase) -> None:
    async with aiosqlite.connect(database.settings.path, timeout=0.01, isolation_level=None) as theirs:
        await theirs.execute("BEGIN")
        joined = await database.join(theirs)
        with foreign_writer(database):
            with pytest.raises(Contended) as caught:
                await enqueue_unique(joined, unique_call())
            assert caught.value.transaction_survived
        assert theirs.in_transaction
        assert (await enqueue_unique(joined, unique_call())).created
        await theirs.execute("COMMIT")
    assert await counted(database) == (1, 1)


@pytest.mark.asyncio
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
async def test_a_transaction_whose_snapshot_is_old_is_told_to_begin_anew(sqlite_url: str, many: bool) -> None:
    database = open_url(sqlite_url)
    await migrate(database)
    async with winner(database, "BEGIN") as (theirs, joined):
        await theirs.execute_fetchall("SELECT * FROM oxpull_task")
        async with database.connection() as conn:
            await enqueue_unique(conn, unique_call())
        with pytest.raises(Contended, match="had begun to read") as caught:
            await (enqueue_unique_many(joined, [unique_call()]) if many else enqueue_unique(joined, unique_call()))
        assert not caught.value.transaction_survived
        cause: BaseException | None = caught.value
        while cause is not None and not isinstance(cause, sqlite3.OperationalError):
            cause = cause.__cause__
        assert getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY_SNAPSHOT
        await theirs.execute("ROLLBACK")
        await theirs.execute("BEGIN")
        assert not (await enqueue_unique(joined, unique_call())).created
        await theirs.execute("ROLLBACK")
    assert await counted(database) == (1, 1)
    await database.close()


@pytest.mark.asyncio
async def test_a_holder_that_settles_while_its_follow_up_is_written_still_releases_it(
    database: AiosqliteDatabase,
) -> None:
    async with database.connection() as conn:
        await enqueue_unique(conn, unique_call(RERUN))
        (claimed,) = await make.claimed(conn, await make.worker(conn))
    async with winner(database) as (theirs, joined):
        follow_up = await enqueue_unique(joined, unique_call(RERUN))
        async with borrow(database) as conn:
            ending = asyncio.create_task(settle(conn, [Settlement(make.lease(claimed), Succeeded("1"), rerun_key="k")]))
            async with asyncio.timeout(10):
                while not conn.running:  # noqa: ASYNC110 - the driver has no event for it
                    await asyncio.sleep(0)
            await theirs.execute("COMMIT")
            await ending
            assert (await find(conn, ["k"]))["k"].holder_id == follow_up.record.id
            assert len(await make.claimed(conn, await make.worker(conn))) == 1
