"""B1: two connections meet at one running lock, in named interleavings."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from oxpull_async import Oxpull
from oxpull_async.db.contract import Connection
from oxpull_async.store import operate
from tests.drivers.locks_kit import Gate, Gated, end, locked, statuses, stored, take
from tests.fixtures import make


@pytest_asyncio.fixture
async def conn(ox: Oxpull) -> AsyncIterator[Connection]:
    async with ox.database.connection() as conn:
        yield conn


@pytest_asyncio.fixture
async def other(ox: Oxpull) -> AsyncIterator[Connection]:
    async with ox.database.connection() as conn:
        yield conn


async def comes(gate: Gate, conn: Connection) -> None:
    """Wait until the second one stands before the lock, where it is not kept from beginning at all."""
    if conn.dialect.skips_locked:
        await gate.wait_until_reached()


@pytest.mark.asyncio
async def test_a_row_that_parks_while_the_holder_ends_is_woken(conn: Connection, other: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked())
    (holder,) = await take(conn, worker, 1)
    parks, ends = Gate(), Gate()
    ends.opened.set()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        claim = group.create_task(take(Gated(conn, park_tasks=parks), worker))
        await parks.wait_until_reached()
        group.create_task(end(Gated(other, lock_locks=ends), holder))
        await comes(ends, other)
        parks.opened.set()
    assert [task.id for task in claim.result() or await take(conn, worker)] == ids[1:]
    assert await statuses(conn, ids) == "SR"


@pytest.mark.asyncio
async def test_a_claim_that_comes_while_the_holder_ends_takes_the_slot(conn: Connection, other: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked())
    (holder,) = await take(conn, worker, 1)
    ends, claims = Gate(), Gate()
    claims.opened.set()
    statement = "find_waiters" if conn.dialect.has_lateral else "waiting_places"
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(end(Gated(conn, **{statement: ends}), holder))
        await ends.wait_until_reached()
        claim = group.create_task(take(Gated(other, lock_locks=claims), worker))
        await comes(claims, other)
        ends.opened.set()
    assert [task.id for task in claim.result()] == ids[1:]
    assert await statuses(conn, ids) == "SR"


@pytest.mark.asyncio
@pytest.mark.parametrize("limit", [1, 2])
async def test_two_claims_of_one_key_take_no_more_than_its_limit(
    conn: Connection, other: Connection, limit: int
) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, *[locked(limit=limit) for _ in range(4)])
    leases, claims = Gate(), Gate()
    claims.opened.set()
    statement = "claim_ids" if conn.dialect.update_returns_rows else "claim"
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        first = group.create_task(take(Gated(conn, **{statement: leases}), worker, 2))
        await leases.wait_until_reached()
        second = group.create_task(take(Gated(other, lock_locks=claims), worker, 2))
        await comes(claims, other)
        leases.opened.set()
    assert len(first.result()) == limit
    assert second.result() == []
    assert sorted(await statuses(conn, ids)) == sorted("R" * limit + "W" * (4 - limit))


@pytest.mark.asyncio
async def test_the_first_claims_of_a_key_that_never_was_make_its_lock_row_once(
    conn: Connection, other: Connection
) -> None:
    worker = await make.worker(conn)
    key = make.new_id()
    ids = await stored(conn, locked(key), locked(key))
    inserts, claims = Gate(), Gate()
    claims.opened.set()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        first = group.create_task(take(Gated(conn, insert_locks=inserts), worker, 1))
        await inserts.wait_until_reached()
        second = group.create_task(take(Gated(other, insert_locks=claims), worker, 1))
        await comes(claims, other)
        inserts.opened.set()
    assert len(first.result() + second.result()) == 1
    assert sorted(await statuses(conn, ids)) == ["R", "W"]


@pytest.mark.asyncio
async def test_a_waiter_that_is_being_ended_is_passed_over(conn: Connection, other: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked(), locked())
    (holder,) = await take(conn, worker)
    discards = Gate()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(operate.discard(Gated(other, discard_tasks=discards), [ids[1]]))
        await discards.wait_until_reached()
        settles = group.create_task(end(conn, holder))
        if conn.dialect.skips_locked:
            assert await settles == 1
            assert await statuses(conn, ids) == "SWD"
        discards.opened.set()
    assert await statuses(conn, ids) == "SXD"


@pytest.mark.asyncio
async def test_many_claims_and_ends_at_once_run_every_row_and_never_two_of_a_key(ox: Oxpull, conn: Connection) -> None:
    worker = await make.worker(conn, lease_seconds=300)
    left = set(await stored(conn, *[locked(f"k{number % 3}") for number in range(45)]))
    running: list[str] = []

    async def work() -> None:
        async with ox.database.connection() as mine:
            while left:
                for task in await take(mine, worker, 5):
                    assert task.lock_key is not None
                    assert task.lock_key not in running
                    running.append(task.lock_key)
                    await asyncio.sleep(0)
                    running.remove(task.lock_key)
                    left.discard(task.id)
                    await end(mine, task)

    async with asyncio.timeout(50), asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(work())
