"""The overview of the queues: what it counts, where counting ends, and what it finds without looking at ended rows."""

from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.unique import Unique
from oxpull_async.store.operate import run_now
from oxpull_async.store.overview import QueueOverview, overview, unfinished_tasks
from oxpull_async.store.queues import set_paused
from oxpull_async.store.unique import enqueue_unique
from tests.conformance.conftest import Clock
from tests.fixtures import make, raw

LIMIT = 100
LATER = datetime(2999, 1, 1, tzinfo=UTC)
RERUN = Unique(on_duplicate="rerun")
READY, RUNNING, WAITING = TaskStatus.READY, TaskStatus.RUNNING, TaskStatus.WAITING


async def queues(conn: Connection, limit: int = LIMIT) -> dict[str, QueueOverview]:
    return {found.queue_name: found for found in (await overview(conn, make.ALIAS, limit)).queues}


async def park(conn: Connection, **options: str) -> str:
    task = await make.ready(conn, lock_key="lock", lock_limit=1, lock_conflict="wait", queue_name=options["queue_name"])
    await raw.change(conn, task.id, "status = 'WAITING', waiting_for = 'lock', due = NULL")
    return task.id


async def follow_up(conn: Connection, queue_name: str) -> tuple[str, str]:
    """Store a running holder of a key, and the follow-up that waits for its end."""
    holder = await enqueue_unique(conn, make.unique_call(RERUN, queue_name=queue_name))
    await make.claimed_from(conn, await make.worker(conn), queue_name)
    follower = await enqueue_unique(conn, make.unique_call(RERUN, queue_name=queue_name))
    return holder.record.id, follower.record.id


async def test_an_empty_table_has_no_queues(conn: Connection) -> None:
    found = await overview(conn, make.ALIAS, LIMIT)
    assert (found.queues, found.capped) == ([], frozenset())


async def test_every_unfinished_state_is_counted_by_queue(conn: Connection, clock: Clock) -> None:
    await make.ready(conn, queue_name="mail", priority=1)
    await follow_up(conn, "sync")
    clock.advance(50)
    for queue_name in ("bulk", "mail", "mail"):
        await make.ready(conn, queue_name=queue_name)
        await make.ready(conn, queue_name=queue_name, run_after=LATER)
    await park(conn, queue_name="mail")
    clock.advance(10)
    found = await queues(conn)
    assert {name: queue.counts for name, queue in found.items()} == {
        "bulk": {"due": 1, "deferred": 1},
        "mail": {"due": 3, "deferred": 2, "waiting": 1},
        "sync": {"running": 1, "waiting": 1},
    }
    assert found["mail"].oldest_due == pytest.approx(60, abs=5)
    assert found["bulk"].oldest_due == pytest.approx(10, abs=5)
    assert found["sync"].oldest_due is None


async def test_due_tasks_with_a_running_lock_are_counted_with_the_others(conn: Connection, clock: Clock) -> None:
    locked = await make.ready(conn, queue_name="a", lock_key="lock", lock_limit=1, lock_conflict="wait")
    clock.advance(60)
    free = [await make.ready(conn, queue_name=queue_name) for queue_name in ("a", "b")]
    also = await make.ready(conn, queue_name="c", lock_key="lock", lock_limit=1, lock_conflict="wait")
    found = await queues(conn)
    assert {name: queue.counts for name, queue in found.items()} == {"a": {"due": 2}, "b": {"due": 1}, "c": {"due": 1}}
    assert found["a"].oldest_due == pytest.approx(60, abs=5)
    assert (await queues(conn, 1))["a"].counts == {"due": 1}
    ids = {locked.id, also.id, *(task.id for task in free)}
    assert set(await unfinished_tasks(conn, make.ALIAS, READY, None, LIMIT)) == ids
    assert set(await unfinished_tasks(conn, make.ALIAS, READY, "a", LIMIT)) == {locked.id, free[0].id}


async def test_the_newest_ended_tasks_are_counted(conn: Connection) -> None:
    for build in (make.successful, make.failed, make.lost, make.discarded):
        await build(conn, queue_name="old")
    for _ in range(3):
        await make.successful(conn, queue_name="new")
    assert (await queues(conn, 3))["new"].counts == {"successful": 3}
    found = await queues(conn)
    assert found["old"].counts == {"successful": 1, "failed": 1, "lost": 1, "discarded": 1}


async def test_a_paused_queue_is_named_without_tasks_too(conn: Connection) -> None:
    await set_paused(conn, make.ALIAS, "mail", paused=True)
    assert await queues(conn) == {"mail": QueueOverview("mail", paused=True, oldest_due=None)}


async def test_counting_ends_at_the_limit_and_says_so(conn: Connection) -> None:
    for queue_name in ("a", "b"):
        for run_after in (None, LATER):
            for _ in range(3):
                await make.ready(conn, queue_name=queue_name, run_after=run_after)
    found = await overview(conn, make.ALIAS, 2)
    assert [queue.counts.get("due") for queue in found.queues] == [2, 2]
    assert sum(queue.counts.get("deferred", 0) for queue in found.queues) == 2
    assert found.capped == {"due", "deferred"}
    assert (await overview(conn, make.ALIAS, 7)).capped == frozenset()


async def test_other_aliases_are_not_counted(conn: Connection) -> None:
    await make.ready(conn, backend_alias="other")
    await make.ready(conn, backend_alias="other", run_after=LATER)
    assert await queues(conn) == {}


async def test_unfinished_tasks_are_found_by_status_and_queue(conn: Connection) -> None:
    due, later = await make.ready(conn, queue_name="b"), await make.ready(conn, queue_name="a", run_after=LATER)
    parked = await park(conn, queue_name="a")
    runs, follows = await follow_up(conn, "c")
    for build in (make.successful, make.failed, make.lost, make.discarded):
        await build(conn, queue_name="ended")
    await make.ready(conn, backend_alias="other", queue_name="b")

    async def find(status: TaskStatus, queue_name: str | None = None) -> set[str]:
        return set(await unfinished_tasks(conn, make.ALIAS, status, queue_name, LIMIT))

    assert await find(READY) == {due.id, later.id}
    assert await find(RUNNING) == {runs}
    assert await find(WAITING) == {parked, follows}
    assert await find(READY, "a") == {later.id}
    assert await find(WAITING, "a") == {parked}
    assert await find(WAITING, "c") == {follows}
    assert await find(RUNNING, "b") == set()


async def test_a_task_that_is_run_now_can_be_claimed_and_keeps_what_its_caller_asked(conn: Connection) -> None:
    task = await make.ready(conn, run_after=datetime.now(UTC) + timedelta(days=1))
    assert await run_now(conn, [task.id]) == 1
    moved = await make.record(conn, task.id)
    assert (moved.run_after, moved.epoch, moved.status) == (task.run_after, task.epoch, READY)
    assert moved.available_at < task.available_at
    assert [claimed.id for claimed in await make.claimed(conn, await make.worker(conn))] == [task.id]


async def test_a_task_that_is_due_keeps_its_place_when_it_is_run_now(conn: Connection) -> None:
    task = await make.ready(conn)
    assert await run_now(conn, [task.id, make.new_id()]) == 0
    assert await make.record(conn, task.id) == task
