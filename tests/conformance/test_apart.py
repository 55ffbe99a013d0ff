"""A look from beside: on a connection of its own, at what is committed, without much patience."""

from contextlib import suppress

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import LockTimeout
from oxpull_async.store.results import get_task
from tests.conformance.conftest import Clock
from tests.fixtures import make, raw


async def test_a_connection_knows_whether_a_transaction_is_open(conn: Connection) -> None:
    seen = [conn.in_transaction]
    async with conn.transaction():
        seen.append(conn.in_transaction)
        async with raw.taken_back(conn):
            seen.append(conn.in_transaction)
        seen.append(conn.in_transaction)
    seen.append(conn.in_transaction)
    assert seen == [False, True, True, True, False]


async def test_a_look_from_beside_sees_what_is_committed_and_only_that(conn: Connection, other: Connection) -> None:
    committed = await make.ready(conn)
    async with conn.transaction():
        mine = await make.ready(conn)
        async with conn.apart() as apart:
            assert await get_task(apart, mine.id) is None
            assert await get_task(apart, committed.id) == committed
        assert await get_task(conn, mine.id) == mine
    async with conn.apart() as apart:
        assert await get_task(apart, mine.id) == mine


async def test_a_look_from_beside_is_read_committed_and_in_a_transaction_where_that_matters(conn: Connection) -> None:
    async with conn.apart() as apart:
        (level, _), *_ = await apart.fetch("isolation_level")
        assert level in {"read committed", None}
        assert apart.in_transaction == (level is not None)


async def test_a_look_from_beside_does_not_wait_long_for_a_lock(conn: Connection) -> None:
    task = await make.ready(conn)
    async with conn.transaction():
        await raw.change(conn, task.id, "priority = 1")
        with suppress(LockTimeout):
            async with conn.apart() as apart:
                await raw.change(apart, task.id, "priority = 2")
                raise AssertionError
    assert (await make.record(conn, task.id)).priority == 1


async def test_a_look_from_beside_tells_the_same_time(conn: Connection, clock: Clock) -> None:
    clock.advance(200_000)
    async with conn.apart() as apart:
        here, there = await conn.fetchrow("test_now"), await apart.fetchrow("test_now")
    assert here is not None
    assert there is not None
    assert str(here[0])[:10] == str(there[0])[:10]
