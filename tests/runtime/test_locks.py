"""Running locks over several worker processes."""

import asyncio
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async import Oxpull, RunningLock
from oxpull_async.domain.events import TasksReleased
from oxpull_async.runtime.lock_watch import LockWatch
from oxpull_async.store.claim import ClaimRequest, claim
from tests.app.kit import eventually
from tests.drivers.locks_kit import end
from tests.fixtures import make
from tests.fixtures.workers import working
from tests.scenarios import locks
from tests.scenarios.slots import Held, check_limits, most_at_once

CROWD = locks.Crowd(tasks=20, keys=10, seconds=0.2)


@pytest.mark.asyncio
async def test_B2_no_lock_is_held_more_often_than_its_limit_while_workers_are_killed(url: str) -> None:
    await locks.never_more_than_the_limit(url, CROWD, kills=3)


@pytest.mark.asyncio
async def test_B1_free_rows_get_past_many_rows_of_a_taken_lock(url: str) -> None:
    figures = await locks.past_the_blocked(url, blocked=2_000, free=200)
    assert figures.parked <= 2_000


@pytest.mark.asyncio
async def test_B1_a_row_behind_a_backlog_of_a_taken_lock_starts_before_free_rows_run_out(ox: Oxpull) -> None:
    held, left = asyncio.Event(), [1_500]

    @ox.task(running_lock=RunningLock(name="taken"))
    async def hold() -> None:
        await held.wait()

    @ox.task
    async def free() -> None:
        left[0] -= 1

    @ox.task(running_lock=True)
    async def behind() -> int:
        held.set()
        return left[0]

    blocked, freely = [hold.call() for _ in range(300)], [free.call() for _ in range(left[0])]
    results = await ox.enqueue_many([*blocked, behind.call(), *freely])
    async with working(ox, concurrency=5):
        result = await results[len(blocked)].wait(timeout=30)
    assert isinstance(result.return_value, int)
    assert result.return_value > 0


@pytest.mark.asyncio
async def test_B1_blocked_rows_park_although_free_ones_trickle_in_and_no_claim_is_empty_or_full(ox: Oxpull) -> None:
    locked, free = ox.remote("a.locked", running_lock=RunningLock(name="taken")), ox.remote("a.free")
    await ox.enqueue_many([locked.call() for _ in range(20)])
    async with ox.database.connection() as conn:
        worker = await make.worker(conn, alias="default")
        request = ClaimRequest(worker, "default", ("default",), 5, meets_locks=True)
        await claim(conn, replace(request, limit=1))
    watch = LockWatch(ox.database)
    watch.note(meets_locks=True)

    async def parked() -> int:
        await free.enqueue()
        assert len(await watch.claim(request)) == 1
        await watch.make_way(request)
        return sum(queue.waiting for queue in await ox.stats())

    assert await eventually(parked, bool) == 19


@pytest.mark.asyncio
async def test_B1_a_freed_lock_is_seen_soon_although_looks_are_spared(ox: Oxpull) -> None:
    locked, free = ox.remote("a.locked", running_lock=RunningLock(name="taken")), ox.remote("a.free")
    await ox.enqueue_many([locked.call(), locked.call()])
    async with ox.database.connection() as conn:
        worker = await make.worker(conn, alias="default")
        request = ClaimRequest(worker, "default", ("default",), 1, meets_locks=True)
        [holder] = await claim(conn, request)
        watch = LockWatch(ox.database)
        await free.enqueue()
        assert [task.lock_key for task in await watch.claim(request)] == [None]
        await end(conn, holder)

    async def key() -> str | None:
        await free.enqueue()
        [task] = await watch.claim(request)
        return task.lock_key

    assert await eventually(key, lambda taken: taken is not None) == holder.lock_key


@pytest.mark.asyncio
async def test_B1_a_lock_is_handed_on_at_once_and_to_one_at_a_time(url: str) -> None:
    await locks.handed_over(url, tasks=20)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.asyncio
async def test_G2_the_ledger_shows_more_than_the_limit_where_the_claim_admits_everybody(url: str) -> None:
    with pytest.raises(AssertionError, match="running locks exceeded"):
        await locks.never_more_than_the_limit(url, CROWD, kills=1, workers=1, OXPULL_TEST_NO_LOCKS="1")


def test_G2_a_killed_workers_slot_counts_until_its_lease_ends() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    second = timedelta(seconds=1)
    cut_short, next_one = Held("a", "x 1", 1, now, None), Held("a", "y 1", 2, now + second, now + 3 * second)
    assert most_at_once([cut_short, next_one], {1: [now + second]}) == {"a": 1}
    with pytest.raises(AssertionError, match="1 of 1 running locks exceeded"):
        check_limits([cut_short, next_one], {1: [now + 2 * second]}, {"a": 1})


@pytest.mark.asyncio
async def test_A6_a_function_that_waits_for_a_thread_holds_no_running_lock(ox: Oxpull) -> None:
    ended = threading.Event()

    @ox.task(running_lock=True)
    def hold(_: int) -> None:
        ended.wait(30)

    await ox.enqueue_many([hold.call(number) for number in range(5)])
    async with working(ox, threads=1) as (_, witness):
        try:
            released = await witness.seen(TasksReleased)
            assert "wait for a thread" in released[0].why
            assert [row.running for row in await ox.stats()] == [1]
        finally:
            ended.set()
