"""C1, C5: the one follow-up of a key becomes ready when the key's holder ends, however it ends, and never before."""

from contextlib import nullcontext, suppress
from datetime import timedelta

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import LockTimeout
from oxpull_async.domain.outcome import Released, Settlement, Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.store import follow_ups
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.follow_ups import recheck
from oxpull_async.store.operate import cancel, discard, retry
from oxpull_async.store.settle import settle
from oxpull_async.store.unique import enqueue_unique
from tests.conformance.conftest import Clock
from tests.conformance.pairs import (
    ENDINGS,
    RETURNS,
    Ending,
    Pair,
    is_released,
    names,
    pair,
    put,
    reaped,
    reaped_for_good,
)
from tests.conformance.spy import Spy
from tests.fixtures import make, raw

LOCK: make.Options = {"lock_key": "lock", "lock_limit": 1, "lock_conflict": "discard"}


async def test_a_follow_up_waits_and_is_not_claimed(conn: Connection) -> None:
    found = await pair(conn)
    assert (found.follow_up.waiting_for, found.follow_up.queue_name) == ("follow_up", make.QUEUE)
    assert await make.claimed(conn, await make.worker(conn)) == []


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS.keys())
async def test_C1_whatever_ends_the_holder_makes_the_follow_up_ready_and_the_holder(
    conn: Connection, ending: Ending
) -> None:
    found = await pair(conn)
    await ending(conn, found)
    assert (await make.record(conn, found.claimed.id)).status.is_finished
    assert await is_released(conn, found)
    [claimed] = await make.claimed(conn, await make.worker(conn))
    assert (claimed.id, claimed.rerun_key) == (found.follow_up.id, make.KEY)
    assert await recheck(conn, 10) == 0


@pytest.mark.parametrize("ending", RETURNS.values(), ids=RETURNS.keys())
async def test_C1_a_holder_that_goes_back_to_ready_releases_nothing(conn: Connection, ending: Ending) -> None:
    found = await pair(conn)
    await ending(conn, found)
    assert not await is_released(conn, found)
    assert await recheck(conn, 10) == 0
    assert not await is_released(conn, found)


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS.keys())
async def test_C1_the_release_goes_with_the_transaction_that_ends_the_holder(conn: Connection, ending: Ending) -> None:
    found = await pair(conn)
    async with raw.taken_back(conn):
        await ending(conn, found)
        assert await is_released(conn, found)
    assert not await is_released(conn, found)


async def test_a_follow_up_runs_with_the_newest_arguments(conn: Connection) -> None:
    found = await pair(conn)
    assert (await put(conn, args="[3]")).id == found.follow_up.id
    await make.settled(conn, found.claimed, Succeeded("1"))
    [claimed] = await make.claimed(conn, await make.worker(conn))
    assert (claimed.id, claimed.args) == (found.follow_up.id, "[3]")


async def test_a_follow_up_keeps_its_own_time(conn: Connection, clock: Clock) -> None:
    found = await pair(conn)
    later = found.follow_up.enqueued_at + timedelta(seconds=60)
    assert (await put(conn, run_after=later)).available_at == later
    await make.settled(conn, found.claimed, Succeeded("1"))
    worker = await make.worker(conn, lease_seconds=600)
    assert await make.claimed(conn, worker) == []
    assert (await make.record(conn, found.follow_up.id)).status is TaskStatus.READY


async def test_a_released_follow_up_may_have_a_follow_up_of_its_own(conn: Connection) -> None:
    found = await pair(conn)
    await make.settled(conn, found.claimed, Succeeded("1"))
    [second] = await make.claimed(conn, await make.worker(conn))
    third = await put(conn, args="[3]")
    assert await names(conn) == (second.id, third.id)
    await make.settled(conn, second, Succeeded("1"))
    assert await names(conn) == (third.id, None)


async def test_a_settle_that_lost_its_lease_releases_nothing(conn: Connection) -> None:
    found = await pair(conn)
    await reaped(conn, found)
    assert await make.settled(conn, found.claimed, Succeeded("1")) is None
    assert not await is_released(conn, found)


async def test_C1_the_late_outcome_of_a_lost_holder_releases_nothing(conn: Connection) -> None:
    found = await pair(conn)
    await reaped_for_good(conn, found)
    [second] = await make.claimed(conn, await make.worker(conn))
    third = await put(conn, args="[3]")
    assert await make.settled(conn, found.claimed, Succeeded("1")) is TaskStatus.SUCCESSFUL
    assert await names(conn) == (second.id, third.id)
    assert (await make.record(conn, third.id)).status is TaskStatus.WAITING


@pytest.mark.parametrize("end", [discard, cancel])
async def test_C1_a_discarded_follow_up_clears_its_pointer(conn: Connection, end: object) -> None:
    found = await pair(conn)
    assert callable(end)
    assert await end(conn, [found.follow_up.id]) == 1
    assert await names(conn) == (found.claimed.id, None)
    again = await put(conn)
    assert (again.status, again.id != found.follow_up.id) == (TaskStatus.WAITING, True)


async def test_C1_a_retried_follow_up_that_was_discarded_runs_without_the_key(conn: Connection) -> None:
    found = await pair(conn)
    await discard(conn, [found.follow_up.id])
    await retry(conn, [found.follow_up.id], include_discarded=True)
    again = await put(conn)
    await make.settled(conn, found.claimed, Succeeded("1"))
    assert await names(conn) == (again.id, None)


async def test_C1_the_next_enqueue_releases_the_follow_up_of_a_holder_that_was_deleted(conn: Connection) -> None:
    found = await pair(conn)
    await raw.delete(conn, found.claimed.id)
    answer = await put(conn, args="[3]")
    assert (answer.id, answer.args) == (found.follow_up.id, [3])
    assert await is_released(conn, found)


async def test_many_holders_that_end_together_release_all_their_follow_ups(conn: Connection) -> None:
    pairs = [await pair(conn, key) for key in ("b", "a", "c")]
    await make.ready(conn)
    [plain] = await make.claimed(conn, await make.worker(conn))
    rows = [Settlement(make.lease(one.claimed), Succeeded("1"), one.claimed.rerun_key) for one in pairs[:2]]
    await settle(conn, [*rows, Settlement(make.lease(plain), Succeeded("1"))])
    assert [await is_released(conn, one) for one in pairs] == [True, True, False]


async def test_tasks_that_do_not_rerun_end_without_a_look_at_keys(conn: Connection) -> None:
    await enqueue_unique(conn, make.unique_call())
    [claimed] = await make.claimed(conn, await make.worker(conn))
    spy = Spy(conn)
    await make.settled(spy, claimed, Succeeded("1"))
    assert {name for name, _ in spy.sent} <= {"settle", "settle_successes", "lock_outcomes", "settle_locked"}


async def test_C5_a_key_that_somebody_has_locked_is_rechecked_later(conn: Connection, other: Connection) -> None:
    found = await pair(conn)
    await raw.hurry(other)
    async with conn.transaction():
        await follow_ups.lock_free_keys(conn, [make.KEY])
        if not conn.dialect.skips_locked:
            with pytest.raises(LockTimeout):
                await make.settled(other, found.claimed, Succeeded("1"))
            return
        assert await make.settled(other, found.claimed, Succeeded("1")) is TaskStatus.SUCCESSFUL
        assert await recheck(other, 10) == 0
    assert not await is_released(conn, found)
    assert await recheck(other, 10) == 1
    assert await is_released(conn, found)
    assert await recheck(other, 10) == 0


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS.keys())
async def test_C5_whoever_commits_second_sees_the_first(conn: Connection, other: Connection, ending: Ending) -> None:
    """A follow-up is added in a transaction while the holder ends beside it, and waits for nobody."""
    holder = await put(conn, args="[1]", queue_name=make.KEY)
    claimed = await make.claimed_from(conn, await make.worker(conn), make.KEY)
    await raw.hurry(other)
    ended = False
    async with conn.transaction():
        follow_up = await put(conn)
        assert (follow_up.status, holder.id) == (TaskStatus.WAITING, claimed.id)
        found = Pair(make.KEY, claimed, follow_up)
        with nullcontext() if conn.dialect.skips_locked else suppress(LockTimeout):  # there is one writer
            await ending(other, found)
            ended = True
    if not ended:
        await ending(other, found)
    await recheck(other, 10)
    assert await is_released(conn, found)


async def test_a_recheck_looks_at_no_more_marks_than_asked_for(conn: Connection) -> None:
    pairs = [await pair(conn, key) for key in ("a", "b", "c")]
    for one in pairs:
        await raw.change(conn, one.claimed.id, "status = 'SUCCESSFUL', leased_by = NULL, recheck = 1")
    assert [await recheck(conn, 2) for _ in range(3)] == [2, 1, 0]
    assert [await is_released(conn, one) for one in pairs] == [True] * 3


async def test_a_recheck_takes_the_marks_off_whose_keys_are_gone(conn: Connection) -> None:
    task = await make.failed(conn, unique_key="nobody's")
    await raw.change(conn, task.id, "recheck = 1")
    assert [await recheck(conn, 10) for _ in range(2)] == [1, 0]
    assert await make.record(conn, task.id) == task


async def test_a_holder_that_its_running_lock_refuses_releases_at_the_next_recheck(conn: Connection) -> None:
    found = await pair(conn, **LOCK)
    await make.settled(conn, found.claimed, Released())
    rival: make.Options = {"queue_name": "rivals"}
    await enqueue_unique(conn, make.unique_call(key="rival", **(LOCK | rival)))
    worker = await make.worker(conn)
    for queue, taken in (("rivals", 1), (make.KEY, 0)):
        assert len(await claim(conn, ClaimRequest(worker, make.ALIAS, (queue,), 1, meets_locks=True))) == taken
    assert (await make.record(conn, found.claimed.id)).status is TaskStatus.DISCARDED
    await recheck(conn, 10)
    assert await is_released(conn, found)
