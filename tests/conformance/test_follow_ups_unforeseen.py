"""C1, C5: follow-ups of holders that are not declared to rerun, that end unseen, or whose follow-up is gone."""

from functools import partial

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Settlement, Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.unique import Unique
from oxpull_async.store.clean import clean_keys
from oxpull_async.store.follow_ups import lock_free_keys, recheck, release_follow_ups
from oxpull_async.store.operate import PruneRequest, discard, prune_step, retry
from oxpull_async.store.settle import settle
from oxpull_async.store.unique import find
from tests.conformance.conftest import Clock
from tests.conformance.meanwhile import Meanwhile
from tests.conformance.pairs import ENDINGS, RERUN, RETURNS, Ending, Pair, is_released, names, pair, put, running
from tests.fixtures import make, raw

endings = pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS.keys())


@endings
async def test_C1_a_holder_that_was_not_declared_to_rerun_releases_at_its_end_too(
    conn: Connection, ending: Ending
) -> None:
    found = await pair(conn, rule=make.PLAIN)
    assert found.claimed.rerun_key is None
    await ending(conn, found)
    assert await is_released(conn, found)
    await recheck(conn, 10)
    assert await recheck(conn, 10) == 0


@endings
async def test_C5_a_follow_up_of_a_callers_transaction_is_released_by_a_recheck_after_its_commit(
    conn: Connection, ending: Ending
) -> None:
    claimed = await running(conn, rule=make.PLAIN)
    async with conn.transaction():
        found = Pair(make.KEY, claimed, await put(conn))
    await ending(conn, found)
    await recheck(conn, 10)
    assert await is_released(conn, found)
    assert await recheck(conn, 10) == 0


@endings
async def test_C1_once_rechecked_the_end_itself_releases(conn: Connection, ending: Ending) -> None:
    claimed = await running(conn, rule=make.PLAIN)
    async with conn.transaction():
        found = Pair(make.KEY, claimed, await put(conn))
    assert [await recheck(conn, 10) for _ in range(2)] == [1, 0]
    assert not await is_released(conn, found)
    await ending(conn, found)
    assert await is_released(conn, found)


@pytest.mark.parametrize("ending", RETURNS.values(), ids=RETURNS.keys())
async def test_C1_a_return_to_ready_of_such_a_holder_releases_nothing(conn: Connection, ending: Ending) -> None:
    found = await pair(conn, rule=make.PLAIN)
    await ending(conn, found)
    await recheck(conn, 10)
    assert not await is_released(conn, found)


@pytest.mark.parametrize("rule", [make.PLAIN, RERUN], ids=["existing", "rerun"])
@pytest.mark.parametrize("followed", [False, True], ids=["new", "rewritten"])
@pytest.mark.parametrize("opened", ["transaction", "snapshot"])
async def test_C5_a_follow_up_keeps_nobody_from_settling_its_holder(
    conn: Connection, other: Connection, rule: Unique, followed: bool, opened: str
) -> None:
    claimed = await running(conn, rule=rule)
    if followed:
        await put(conn)
    if not conn.dialect.skips_locked:
        return  # there is one writer
    await raw.hurry(other)
    async with conn.transaction() if opened == "transaction" else raw.snapshot(conn):
        found = Pair(make.KEY, claimed, await put(conn, args="[3]"))
        assert await make.settled(other, claimed, Succeeded("1")) is TaskStatus.SUCCESSFUL
    await recheck(other, 10)
    assert await is_released(conn, found)


@pytest.mark.parametrize("rule", [make.PLAIN, RERUN], ids=["existing", "rerun"])
async def test_C5_a_holder_that_ended_after_the_snapshot_began_releases_the_follow_up(
    conn: Connection, other: Connection, rule: Unique
) -> None:
    claimed = await running(conn, rule=rule)
    if not conn.dialect.skips_locked:
        return  # there is one writer
    async with raw.snapshot(conn):
        assert await make.settled(other, claimed, Succeeded("1")) is TaskStatus.SUCCESSFUL
        found = Pair(make.KEY, claimed, await put(conn))
    await recheck(other, 10)
    assert await is_released(conn, found)


async def test_a_rerun_that_rewrites_a_holder_declares_it_to_rerun(conn: Connection) -> None:
    await put(conn, rule=make.PLAIN)
    await put(conn)
    await put(conn, rule=Unique(on_duplicate="replace"))
    [claimed] = await make.claimed(conn, await make.worker(conn))
    assert claimed.rerun_key == make.KEY


async def test_a_follow_up_that_was_deleted_makes_room_for_exactly_one(conn: Connection) -> None:
    found = await pair(conn)
    await raw.delete(conn, found.follow_up.id)
    second, third = await put(conn), await put(conn, args="[3]")
    assert (second.id, third.args) == (third.id, [3])
    assert await raw.count_tasks(conn) == 2
    await make.settled(conn, found.claimed, Succeeded("1"))
    assert await is_released(conn, Pair(make.KEY, found.claimed, third))


async def test_C1_a_follow_up_that_was_discarded_beside_a_locked_key_makes_room_for_another(
    conn: Connection, other: Connection
) -> None:
    found = await pair(conn)
    if conn.dialect.skips_locked:
        async with other.transaction():
            await lock_free_keys(other, [make.KEY])
            await discard(conn, [found.follow_up.id])
    else:
        await raw.change(conn, found.follow_up.id, "status = 'DISCARDED', waiting_for = NULL, recheck = 1")
    assert await names(conn) == (found.claimed.id, None)
    second = await put(conn)
    assert (second.id != found.follow_up.id, second.status) == (True, TaskStatus.WAITING)
    await make.settled(conn, found.claimed, Succeeded("1"))
    await recheck(conn, 10)
    assert await is_released(conn, Pair(make.KEY, found.claimed, second))
    assert (await make.record(conn, found.follow_up.id)).status is TaskStatus.DISCARDED


@pytest.mark.parametrize("after", ["find_follow_ups", "nothing"])
async def test_C1_a_discarded_follow_up_never_becomes_the_holder(conn: Connection, after: str) -> None:
    found = await pair(conn)
    ended = "status = 'DISCARDED', waiting_for = NULL, finished_at = '2001-01-01 00:00:00.000000'"
    await raw.change(conn, found.claimed.id, "status = 'LOST', leased_by = NULL")
    discarded = partial(raw.change, task_id=found.follow_up.id, assignments=ended)
    async with conn.transaction():
        if after == "nothing":
            await discarded(conn)
            await release_follow_ups(conn, [make.KEY])
        else:
            await release_follow_ups(Meanwhile(conn, after, discarded), [make.KEY])
    assert await names(conn) == (found.claimed.id, None)
    assert (await make.record(conn, found.follow_up.id)).status is TaskStatus.DISCARDED
    await retry(conn, [found.follow_up.id], include_discarded=True)
    fresh = await put(conn)
    assert await names(conn) == (fresh.id, None)


async def test_a_released_follow_up_holds_its_key_without_the_ttl_of_its_holder(conn: Connection, clock: Clock) -> None:
    found = await pair(conn, rule=Unique(ttl=60))
    clock.advance(30)
    await make.settled(conn, found.claimed, Succeeded("1"))
    clock.advance(60)
    assert (await put(conn, rule=make.PLAIN)).id == found.follow_up.id
    assert (await find(conn, [make.KEY]))[make.KEY].is_expired is None


async def test_a_prune_keeps_a_holder_whose_follow_up_has_yet_to_be_released(conn: Connection, clock: Clock) -> None:
    found = await pair(conn)
    await settle(conn, [Settlement(make.lease(found.claimed), Succeeded("1"))])
    await raw.change(conn, found.follow_up.id, "status = 'WAITING', waiting_for = 'follow_up', due = NULL")
    await raw.hold_key(conn, make.KEY, found.claimed.id, found.follow_up.id)
    await raw.change(conn, found.claimed.id, "recheck = 1")
    clock.advance(100)
    prune = PruneRequest(10, ("SUCCESSFUL",), 10, dry_run=False)
    assert (await prune_step(conn, prune, None)).removed == 0
    await recheck(conn, 10)
    assert await is_released(conn, found)
    assert (await prune_step(conn, prune, None)).removed == 1


async def test_a_cleaning_removes_the_key_of_an_ended_holder_whose_follow_up_was_deleted(conn: Connection) -> None:
    found = await pair(conn)
    await raw.delete(conn, found.follow_up.id)
    assert (await clean_keys(conn, make.pruning(10), None)).removed == 0
    await make.settled(conn, found.claimed, Succeeded("1"))
    assert (await clean_keys(conn, make.pruning(10), None)).removed == 1


async def test_a_cleaning_keeps_the_key_of_an_ended_holder_whose_follow_up_waits(conn: Connection) -> None:
    found = await pair(conn)
    await raw.change(conn, found.claimed.id, "status = 'LOST', leased_by = NULL")
    assert (await clean_keys(conn, make.pruning(10), None)).removed == 0
