"""Unique tasks on MySQL and MariaDB: what one connection costs another, and who wins when both want a key."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import Conflict, LockTimeout, UniqueEnqueueRace
from oxpull_async.domain.record import TaskStatus
from oxpull_async.drivers.aiomysql import AiomysqlDatabase, OwnSession
from oxpull_async.store import follow_ups, operate, unique
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.drivers.mysql_kit import ID_TYPES, migrated, new_alias, read
from tests.drivers.mysql_unique_kit import (
    REPLACE,
    RERUN,
    call,
    end,
    enqueue,
    enqueue_bulk,
    is_waiting,
    live,
    start,
    transaction,
)
from tests.fixtures import raw
from tests.fixtures.servers import MakeDatabase


@pytest.fixture(scope="module", params=ID_TYPES)
def place(request: pytest.FixtureRequest, make_database: MakeDatabase) -> tuple[str, str]:
    """Name a database for each column type of ids."""
    return make_database("mysql"), request.param


@pytest_asyncio.fixture
async def database(place: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AiomysqlDatabase]:
    async with migrated(*place, monkeypatch) as database:
        yield database


@pytest_asyncio.fixture
async def conn(database: AiomysqlDatabase) -> AsyncIterator[Connection]:
    async with database.connection() as conn:
        yield conn


@pytest_asyncio.fixture
async def others(database: AiomysqlDatabase) -> AsyncIterator[list[OwnSession]]:
    """Lend three more connections."""
    async with AsyncExitStack() as stack:
        sessions: list[OwnSession] = []
        for _ in range(3):
            session = await stack.enter_async_context(database.connection())
            assert isinstance(session, OwnSession)
            sessions.append(session)
        yield sessions


@pytest.fixture
def alias() -> str:
    """Name a backend, and the key of its test."""
    return new_alias()


@pytest.mark.asyncio
async def test_a_duplicate_does_not_wait_for_whoever_has_locked_the_key(
    conn: Connection, others: list[OwnSession], alias: str
) -> None:
    first = await enqueue(conn, alias)
    async with conn.transaction():
        await enqueue(conn, alias, REPLACE)
        await raw.hurry(others[0])
        again = await enqueue(others[0], alias)
    assert again.record.id == first.record.id


@pytest.mark.asyncio
async def test_a_duplicate_in_a_transaction_locks_nothing(
    conn: Connection, others: list[OwnSession], alias: str
) -> None:
    await enqueue(conn, alias)
    async with others[0].transaction():
        await enqueue(others[0], alias)
        await raw.hurry(conn)
        await end(conn, await start(conn, alias))
        assert (await enqueue(conn, alias)).created


@pytest.mark.asyncio
async def test_a_follow_up_whose_key_was_locked_at_the_end_is_released_by_the_recheck(
    conn: Connection, others: list[OwnSession], alias: str
) -> None:
    await enqueue(conn, alias, RERUN)
    claimed = await start(conn, alias)
    follow_up = await enqueue(conn, alias, RERUN)
    async with others[0].transaction():
        await others[0].fetch("lock_keys", keys=json.dumps([alias]))
        await end(conn, claimed)
        assert await follow_ups.recheck(conn, 100) == 0
    assert (await read(conn, follow_up.record.id)).status is TaskStatus.WAITING
    assert await follow_ups.recheck(conn, 100) == 1
    assert (await read(conn, follow_up.record.id)).status is TaskStatus.READY
    assert await follow_ups.recheck(conn, 100) == 0


@pytest.mark.asyncio
@pytest.mark.parametrize("bulk", [False, True], ids=["single", "bulk"])
@pytest.mark.parametrize("commits", [True, False], ids=["commits", "rolls back"])
async def test_a_duplicate_waits_for_the_winners_end(
    conn: Connection, others: list[OwnSession], alias: str, *, commits: bool, bulk: bool
) -> None:
    watcher, loser = others[:2]
    async with transaction(conn, commits=commits):
        winner = await enqueue(conn, alias)
        waiting = asyncio.ensure_future(enqueue_bulk(loser, alias) if bulk else enqueue(loser, alias))
        await is_waiting(watcher, loser)
    answer = await waiting
    assert (answer.record.id == winner.record.id) is commits
    assert answer.created is not commits
    assert [record.id for record in await live(conn, alias)] == [answer.record.id]


@pytest.mark.asyncio
async def test_several_duplicates_of_a_winner_that_rolls_back_agree_once_they_repeat_a_conflict(
    conn: Connection, others: list[OwnSession], alias: str
) -> None:
    async def persist(session: OwnSession) -> UniqueAnswer:
        for _ in range(5):
            try:
                return await enqueue(session, alias)
            except Conflict:  # the server may end all but one of those that wait to insert the same key
                continue
        raise AssertionError("five conflicts")

    async with transaction(conn, commits=False):
        await enqueue(conn, alias)
        waiting = [asyncio.ensure_future(persist(session)) for session in others[1:]]
        for session in others[1:]:
            await is_waiting(others[0], session)
    answers = await asyncio.gather(*waiting)
    assert sorted(answer.created for answer in answers) == [False, True]
    assert {record.id for record in await live(conn, alias)} == {answer.record.id for answer in answers}


@pytest.mark.asyncio
async def test_racers_over_a_stale_key_get_one_new_task(conn: Connection, others: list[OwnSession], alias: str) -> None:
    for _ in range(10):
        answers = await asyncio.gather(*(enqueue(session, alias) for session in [*others, conn]))
        assert len({answer.record.id for answer in answers}) == 1
        assert [answer.created for answer in answers].count(True) == 1
        assert [record.id for record in await live(conn, alias)] == [answers[0].record.id]
        await operate.discard(conn, [answers[0].record.id])


@pytest.mark.asyncio
async def test_bulk_calls_that_share_keys_neither_deadlock_nor_double(
    conn: Connection, others: list[OwnSession], alias: str
) -> None:
    keys = [f"{alias}-{n:02}" for n in range(40)]
    for round_ in range(5):
        orders = [keys, keys[::-1], keys[20:] + keys[:20]]
        answers = await asyncio.gather(
            *(
                unique.enqueue_unique_many(session, [call(alias, REPLACE, n, key=key) for n, key in enumerate(order)])
                for session, order in zip(others, orders, strict=True)
            )
        )
        created = sum(answer.created for many in answers for answer in many.values())
        records = await live(conn, alias)
        assert (created, len(records)) == (len(keys), len(keys)), round_
        await operate.discard(conn, [record.id for record in records])


@pytest.mark.asyncio
async def test_a_takeover_waits_for_an_operators_retry_and_then_finds_the_holder_alive(
    conn: Connection, others: list[OwnSession], alias: str
) -> None:
    first = await enqueue(conn, alias)
    await operate.discard(conn, [first.record.id])
    watcher, other = others[:2]
    async with conn.transaction():
        assert await operate.retry(conn, [first.record.id], include_discarded=True) == 1
        waiting = asyncio.ensure_future(enqueue(other, alias))
        await is_waiting(watcher, other)
    answer = await waiting
    assert (answer.record.id, answer.created) == (first.record.id, False)


@pytest.mark.asyncio
async def test_a_lock_that_is_not_to_be_had_leaves_the_transaction_usable(
    conn: Connection, others: list[OwnSession], alias: str
) -> None:
    other = others[0]
    await raw.hurry(other)
    async with conn.transaction():
        await enqueue(conn, alias)
        async with other.transaction():
            with pytest.raises(UniqueEnqueueRace) as timeout:
                await enqueue(other, alias)
            assert isinstance(timeout.value.__cause__, LockTimeout)
            assert timeout.value.transaction_survived
            assert (await enqueue(other, alias, key=f"{alias}-other")).created
    assert sorted(await unique.find(conn, [alias, f"{alias}-other"])) == [alias, f"{alias}-other"]


@pytest.mark.asyncio
async def test_a_deadlock_ends_one_transaction_with_a_conflict(
    conn: Connection, others: list[OwnSession], alias: str
) -> None:
    watcher, other = others[:2]
    first, second = f"{alias}-1", f"{alias}-2"

    async def cross(session: OwnSession | Connection, mine: str, theirs: str, met: asyncio.Barrier) -> bool:
        async with session.transaction():
            await enqueue(session, alias, key=mine)
            await met.wait()
            return (await enqueue(session, alias, key=theirs)).created

    met = asyncio.Barrier(2)
    ends = await asyncio.gather(
        cross(conn, first, second, met), cross(other, second, first, met), return_exceptions=True
    )
    assert sorted(type(end_).__name__ for end_ in ends) == ["UniqueEnqueueRace", "bool"]
    (conflict,) = (end_ for end_ in ends if isinstance(end_, BaseException))
    assert isinstance(conflict, UniqueEnqueueRace)
    assert isinstance(conflict.__cause__, Conflict)
    assert not conflict.transaction_survived
    assert len(await live(watcher, alias)) == 2


@pytest.mark.asyncio
@pytest.mark.parametrize("bulk", [False, True], ids=["single", "bulk"])
async def test_a_key_taken_after_a_snapshot_began_is_a_race_and_no_second_holder(
    conn: Connection, others: list[OwnSession], alias: str, *, bulk: bool
) -> None:
    other = others[0]
    await other.run_script("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    async with other.transaction():
        assert not await unique.find(other, [alias])
        await enqueue(conn, alias)
        with pytest.raises(UniqueEnqueueRace, match="snapshot"):
            await (enqueue_bulk if bulk else enqueue)(other, alias)
    assert len(await live(conn, alias)) == 1
    await other.run_script("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")


@pytest.mark.asyncio
async def test_fresh_keys_of_snapshot_transactions_do_not_block_each_other(
    conn: Connection, others: list[OwnSession], alias: str
) -> None:
    level = "SET SESSION TRANSACTION ISOLATION LEVEL "
    for session in others[:2]:
        await session.run_script(level + "REPEATABLE READ")
        await raw.hurry(session)
    async with others[0].transaction(), others[1].transaction():
        for n in range(6):
            assert (await enqueue(others[n % 2], alias, key=f"{alias}-{n % 3}{n}")).created
            assert (await enqueue_bulk(others[n % 2], alias, key=f"{alias}-bulk-{n % 3}{n}")).created
    for session in others[:2]:
        await session.run_script(level + "READ COMMITTED")
    assert len(await live(conn, alias)) == 12
