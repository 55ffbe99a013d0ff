"""Lock rows that nothing hangs on any more are removed, and none that something hangs on."""

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.unique import Unique
from oxpull_async.store import follow_ups
from oxpull_async.store.clean import clean_keys, clean_locks
from oxpull_async.store.operate import Pruned
from oxpull_async.store.unique import enqueue_unique, find
from tests.conformance.conftest import Clock
from tests.drivers.locks_kit import end, locked, statuses, stored, take
from tests.fixtures import make, raw

KEYS = ("a", "b", "c", "d", "e")


async def ended_keys(conn: Connection) -> None:
    """Let five keys name tasks that have ended."""
    task = await make.successful(conn)
    for key in KEYS:
        await raw.hold_key(conn, key, task.id)


async def swept(conn: Connection) -> int:
    return (await clean_keys(conn, make.pruning(100), None)).removed


@pytest.mark.parametrize("status", TaskStatus, ids=str)
async def test_a_key_goes_when_its_holder_has_ended(conn: Connection, status: TaskStatus) -> None:
    task = await make.BUILDERS[status](conn, unique_key=make.KEY)
    await raw.hold_key(conn, make.KEY, task.id)
    assert await swept(conn) == int(status.is_finished)
    assert (await find(conn, [make.KEY]) == {}) is status.is_finished


async def test_a_key_goes_when_its_holder_is_gone(conn: Connection) -> None:
    await raw.hold_key(conn, make.KEY, make.new_id())
    assert await swept(conn) == 1


async def test_a_key_that_a_follow_up_hangs_on_stays(conn: Connection) -> None:
    ended = await make.successful(conn)
    follow_up = await make.waiting(conn)
    await raw.change(conn, follow_up.id, "waiting_for = 'follow_up'")
    await raw.hold_key(conn, make.KEY, ended.id, follow_up.id)
    assert await swept(conn) == 0


async def test_a_key_stays_until_it_expires(conn: Connection, clock: Clock) -> None:
    await enqueue_unique(conn, make.unique_call(Unique(until="expired", ttl=60)))
    [claimed] = await make.claimed(conn, await make.worker(conn))
    await make.settled(conn, claimed, Succeeded("1"))
    assert await swept(conn) == 0
    clock.advance(61)
    assert await swept(conn) == 1


async def test_keys_are_cleaned_step_by_step(conn: Connection) -> None:
    await ended_keys(conn)
    steps = [await clean_keys(conn, make.pruning(2), None)]
    while steps[-1].after is not None:
        steps.append(await clean_keys(conn, make.pruning(2), steps[-1].after))
    assert steps == [Pruned(2, 2, "b"), Pruned(2, 2, "d"), Pruned(1, 1, None)]
    assert await find(conn, KEYS) == {}


async def test_a_dry_run_counts_and_removes_nothing(conn: Connection) -> None:
    await ended_keys(conn)
    assert (await clean_keys(conn, make.pruning(100, dry_run=True), None)).removed == 5
    assert len(await find(conn, KEYS)) == 5


async def test_a_key_that_somebody_has_locked_is_left_alone(conn: Connection, other: Connection) -> None:
    if not conn.dialect.skips_locked:
        return  # whoever writes is alone
    await ended_keys(conn)
    async with conn.transaction():
        await follow_ups.lock_free_keys(conn, ["b"])
        assert await swept(other) == 4
    assert list(await find(conn, KEYS)) == ["b"]


async def test_a_cleaned_key_is_free(conn: Connection) -> None:
    await ended_keys(conn)
    await swept(conn)
    assert (await enqueue_unique(conn, make.unique_call(key="c"))).created


async def test_lock_rows_go_when_no_task_needs_them(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked("idle"), locked("busy"), locked("busy"))
    idle, busy = await take(conn, worker)
    await end(conn, idle)
    assert [(await clean_locks(conn, make.pruning(10), None)).removed for _ in range(2)] == [1, 0]
    await end(conn, busy)
    assert (await clean_locks(conn, make.pruning(10), None)).removed == 0
    [last] = await take(conn, worker)
    await end(conn, last)
    assert (await clean_locks(conn, make.pruning(10), None)).removed == 1
    assert await statuses(conn, ids) == "SSS"


async def test_a_lock_whose_row_was_cleaned_still_holds(conn: Connection) -> None:
    worker = await make.worker(conn)
    await stored(conn, locked())
    await end(conn, *await take(conn, worker))
    await clean_locks(conn, make.pruning(10), None)
    ids = await stored(conn, locked(), locked())
    await take(conn, worker)
    assert await statuses(conn, ids) == "RW"


async def test_a_dry_run_counts_idle_lock_rows_step_by_step_and_removes_none(conn: Connection) -> None:
    await stored(conn, *[locked(key) for key in KEYS])
    await end(conn, *await take(conn, await make.worker(conn)))
    request, steps = make.pruning(2, dry_run=True), list[Pruned]()
    while not steps or steps[-1].after is not None:
        steps.append(await clean_locks(conn, request, steps[-1].after if steps else None))
    assert [step.removed for step in steps] == [2, 2, 1]
    assert (await clean_locks(conn, make.pruning(100), None)).removed == 5


async def test_no_more_lock_rows_go_than_asked_for(conn: Connection) -> None:
    await stored(conn, *[locked(key) for key in KEYS])
    await end(conn, *await take(conn, await make.worker(conn)))
    assert [(await clean_locks(conn, make.pruning(2), None)).removed for _ in range(4)] == [2, 2, 1, 0]
