"""Taking due tasks for a worker: which, in which order, and for whom."""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import LockTimeout
from oxpull_async.domain.outcome import Failed
from oxpull_async.domain.record import ClaimedTask, TaskStatus
from oxpull_async.store import queues
from oxpull_async.store.claim import claim
from oxpull_async.store.enqueue import enqueue_many
from oxpull_async.store.lease import bury_dead_workers
from tests.conformance.conftest import Clock
from tests.fixtures import make, raw


def later(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def ids(claimed: list[ClaimedTask]) -> list[str]:
    return [task.id for task in claimed]


async def test_a_claim_brings_what_is_needed_to_run(conn: Connection) -> None:
    task = await make.ready(conn, priority=7, args="[1]", kwargs='{"a":2}', max_attempts=5, timeout=1.5)
    [claimed] = await make.claimed(conn, await make.worker(conn))
    assert (claimed.id, claimed.epoch, claimed.attempt, claimed.begun) == (task.id, 1, 1, True)
    assert (claimed.task_path, claimed.queue_name, claimed.priority) == (task.task_path, task.queue_name, 7)
    assert (claimed.args.replace(" ", ""), claimed.kwargs.replace(" ", "")) == ("[1]", '{"a":2}')
    assert (claimed.max_attempts, claimed.timeout, claimed.snoozes) == (5, 1.5, 0)
    assert claimed.available_at == task.available_at


async def test_a_claim_leases_the_task_to_the_worker(conn: Connection) -> None:
    worker = await make.worker(conn)
    task = await make.running(conn, worker)
    assert (task.status, task.leased_by, task.attempts, task.epoch) == (TaskStatus.RUNNING, worker, 1, 1)
    assert task.worker_ids == (worker,)
    assert task.started_at == task.last_attempted_at is not None


async def test_a_later_attempt_keeps_the_first_start(conn: Connection, clock: Clock) -> None:
    first = await make.running(conn)
    await make.settled(conn, first, Failed(make.ERROR, 0.0))
    clock.advance(5)
    worker = await make.worker(conn)
    await make.claimed(conn, worker)
    second = await make.record(conn, first.id)
    assert (second.attempts, second.epoch, second.worker_ids) == (2, 2, (*first.worker_ids, worker))
    assert second.started_at == first.started_at
    assert second.last_attempted_at is not None
    assert first.started_at is not None
    assert second.last_attempted_at > first.started_at


async def test_nothing_is_claimed_where_nothing_is(conn: Connection) -> None:
    assert await make.claimed(conn, await make.worker(conn)) == []


async def test_a_limit_of_none_or_no_queue_claims_nothing(conn: Connection) -> None:
    await make.ready(conn)
    worker = await make.worker(conn)
    assert await claim(conn, make.request(worker, limit=0)) == []
    assert await claim(conn, make.request(worker, queues=())) == []


async def test_a_claim_takes_no_more_than_its_limit(conn: Connection) -> None:
    await enqueue_many(conn, [make.new_task() for _ in range(5)])
    worker = await make.worker(conn)
    assert [len(await make.claimed(conn, worker, limit=2)) for _ in range(4)] == [2, 2, 1, 0]


async def test_A5_higher_priority_goes_first(conn: Connection) -> None:
    tasks = [await make.ready(conn, priority=priority) for priority in (0, 5, -100, 100, 5)]
    worker = await make.worker(conn)
    expected = [tasks[3].id, tasks[1].id, tasks[4].id, tasks[0].id, tasks[2].id]
    assert [task_id for _ in expected for task_id in ids(await make.claimed(conn, worker, limit=1))] == expected


async def test_A5_among_equals_the_one_available_first_goes_first(conn: Connection) -> None:
    seconds = (-10.0, -30.0, -20.0)
    tasks = [await make.ready(conn, run_after=later(second)) for second in seconds]
    fresh = await make.ready(conn)
    claimed = await make.claimed(conn, await make.worker(conn))
    assert ids(claimed) == [tasks[1].id, tasks[2].id, tasks[0].id, fresh.id]


async def test_A5_among_equals_of_one_instant_the_id_decides(conn: Connection) -> None:
    when = later(-10)
    tasks = [make.new_task(run_after=when) for _ in range(6)]
    await enqueue_many(conn, tasks[::-1])
    worker = await make.worker(conn)
    halves = [ids(await make.claimed(conn, worker, limit=3)) for _ in range(2)]
    assert halves == [[task.id for task in tasks[:3]], [task.id for task in tasks[3:]]]


async def test_A5_the_order_holds_across_queues(conn: Connection) -> None:
    low, high, middle = [
        await make.ready(conn, queue_name=queue, priority=priority)
        for queue, priority in (("a", 1), ("b", 3), ("a", 2))
    ]
    worker = await make.worker(conn)
    first = await claim(conn, make.request(worker, limit=2, queues=("a", "b")))
    second = await claim(conn, make.request(worker, limit=2, queues=("a", "b")))
    assert (ids(first), ids(second)) == ([high.id, middle.id], [low.id])


async def test_only_the_queues_asked_for_are_claimed(conn: Connection) -> None:
    mail = await make.ready(conn, queue_name="mail")
    await make.ready(conn, queue_name="bulk")
    worker = await make.worker(conn)
    assert ids(await claim(conn, make.request(worker, queues=("mail", "unknown")))) == [mail.id]


async def test_a_queue_s_name_is_compared_byte_for_byte(conn: Connection) -> None:
    await make.ready(conn, queue_name="Mail")
    worker = await make.worker(conn)
    for name in ("mail", "MAIL", "Mail ", "Mäil"):
        assert await claim(conn, make.request(worker, queues=(name,))) == []


async def test_only_the_worker_s_own_backend_is_claimed(conn: Connection) -> None:
    await make.ready(conn, backend_alias="elsewhere")
    assert await make.claimed(conn, await make.worker(conn)) == []


async def test_only_ready_tasks_are_claimed(conn: Connection) -> None:
    for status, build in make.BUILDERS.items():
        if status is not TaskStatus.READY:
            await build(conn)
    assert await make.claimed(conn, await make.worker(conn)) == []


async def test_A5_a_task_that_is_not_due_is_ready_and_not_claimed(conn: Connection) -> None:
    task = await make.ready(conn, run_after=later(60))
    assert task.status is TaskStatus.READY
    assert await make.claimed(conn, await make.worker(conn)) == []


async def test_A5_a_deferred_task_is_claimed_when_its_time_has_come(conn: Connection, clock: Clock) -> None:
    task = await make.ready(conn, run_after=later(60))
    worker = await make.worker(conn, lease_seconds=600)
    clock.advance(61)
    assert await queues.promote(conn, 10) == 1
    assert ids(await make.claimed(conn, worker)) == [task.id]


async def test_a_paused_queue_is_not_claimed(conn: Connection) -> None:
    held = await make.ready(conn, queue_name="held", priority=9)
    free = await make.ready(conn, queue_name="free")
    worker = await make.worker(conn)
    await queues.set_paused(conn, make.ALIAS, "held", paused=True)
    both = make.request(worker, queues=("free", "held"))
    assert ids(await claim(conn, both)) == [free.id]
    await queues.set_paused(conn, make.ALIAS, "held", paused=False)
    assert ids(await claim(conn, both)) == [held.id]


async def test_a_pause_concerns_its_own_backend_only(conn: Connection) -> None:
    task = await make.ready(conn)
    await queues.set_paused(conn, "elsewhere", make.QUEUE, paused=True)
    assert ids(await make.claimed(conn, await make.worker(conn))) == [task.id]


async def test_excluded_paths_are_left_alone(conn: Connection) -> None:
    await make.ready(conn, task_path="old.code", priority=9)
    known = await make.ready(conn, task_path="new.code")
    request = make.request(await make.worker(conn), limit=1)
    claimed = await claim(conn, replace(request, excluded_paths=frozenset({"old.code", "older.code"})))
    assert ids(claimed) == [known.id]


async def test_A3_attempts_that_start_later_are_not_marked_as_begun(conn: Connection) -> None:
    await make.ready(conn, task_path="thread.task")
    await make.ready(conn, task_path="coroutine.task")
    request = replace(make.request(await make.worker(conn)), later_paths=frozenset({"thread.task"}))
    begun = {task.task_path: task.begun for task in await claim(conn, request)}
    assert begun == {"thread.task": False, "coroutine.task": True}


async def test_A2_a_worker_whose_lease_has_ended_claims_nothing(conn: Connection, clock: Clock) -> None:
    task = await make.ready(conn)
    worker = await make.worker(conn, lease_seconds=10)
    clock.advance(11)
    assert await make.claimed(conn, worker) == []
    assert await make.record(conn, task.id) == task


async def test_A2_a_dead_worker_claims_nothing(conn: Connection, clock: Clock) -> None:
    await make.ready(conn)
    worker = await make.worker(conn, lease_seconds=10)
    clock.advance(11)
    assert await bury_dead_workers(conn, 0) == 1
    clock.advance(-11)
    assert await make.claimed(conn, worker) == []


async def test_A2_a_worker_that_never_registered_claims_nothing(conn: Connection) -> None:
    await make.ready(conn)
    assert await make.claimed(conn, make.new_id()) == []


async def test_two_connections_never_get_the_same_task(conn: Connection, other: Connection) -> None:
    await enqueue_many(conn, [make.new_task() for _ in range(6)])
    worker, rival = await make.worker(conn), await make.worker(conn)
    second: list[ClaimedTask] = []
    async with conn.transaction():
        first = await make.claimed(conn, worker, limit=3)
        with suppress(LockTimeout):  # where one writes, the others wait
            second = await make.claimed(other, rival, limit=3)
    third = await make.claimed(other, rival, limit=6)
    taken = [*ids(first), *ids(second), *ids(third)]
    assert len(taken) == len(set(taken)) == 6


async def test_a_claim_does_not_wait_for_a_row_that_is_locked(conn: Connection, other: Connection) -> None:
    best = await make.ready(conn, priority=9)
    next_best = await make.ready(conn)
    worker, rival = await make.worker(conn), await make.worker(conn)
    async with conn.transaction():
        assert ids(await make.claimed(conn, worker, limit=1)) == [best.id]
        with suppress(LockTimeout):
            assert ids(await make.claimed(other, rival, limit=1)) == [next_best.id]


async def test_a_claim_that_is_rolled_back_leaves_the_task_ready(conn: Connection) -> None:
    task = await make.ready(conn)
    worker = await make.worker(conn)
    async with raw.taken_back(conn):
        assert [one.id for one in await make.claimed(conn, worker)] == [task.id]
    assert await make.record(conn, task.id) == task
