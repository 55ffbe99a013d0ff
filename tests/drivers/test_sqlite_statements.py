"""Every statement of sql/sqlite, run through the store on a migrated file."""

import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
import uuid_utils
from msgspec.structs import replace as replaced

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Cancelled, Failed, Lease, Outcome, Released, Settlement, Snoozed, Succeeded
from oxpull_async.domain.record import ClaimedTask, NewTask, TaskRecord, TaskStatus
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase
from oxpull_async.drivers.url import parse_url
from oxpull_async.store import claim as claims
from oxpull_async.store import enqueue, health, lease, operate, queues, results, schema, settle

ABANDONED = json.dumps({"exception_class_path": "oxpull_async.errors.TaskAbandoned", "attempt": 1})


@pytest_asyncio.fixture
async def database(sqlite_url: str) -> AsyncIterator[AiosqliteDatabase]:
    database = AiosqliteDatabase(parse_url(sqlite_url))
    async with database.connection() as conn:
        await schema.migrate(conn, await database.uuid_type())
    yield database
    await database.close()


@pytest_asyncio.fixture
async def conn(database: AiosqliteDatabase) -> AsyncIterator[Connection]:
    async with database.connection() as conn:
        yield conn


@pytest.fixture
def alias() -> str:
    return f"alias-{secrets.token_hex(4)}"


def new_id() -> str:
    return str(uuid_utils.uuid7())


def new_task(alias: str, **changes: object) -> NewTask:
    task = NewTask(new_id(), alias, "shop.tasks.send", "mail", 0, '["\u00e9", 1.0]', '{"a": 1}', None, 3, 30.0)
    return replaced(task, **changes)


async def register(conn: Connection, alias: str, *, lease_seconds: float = 30) -> str:
    card = lease.WorkerCard(new_id(), alias, "host", 1, ("mail",), 10, lease_seconds)
    await lease.register(conn, card)
    return card.worker_id


async def claim(conn: Connection, alias: str, worker_id: str, limit: int = 10, **more: Any) -> list[ClaimedTask]:
    return await claims.claim(conn, claims.ClaimRequest(worker_id, alias, ("mail", "bulk"), limit, **more))


async def run_one(conn: Connection, alias: str) -> tuple[str, ClaimedTask]:
    await enqueue.enqueue(conn, new_task(alias))
    worker_id = await register(conn, alias)
    (claimed,) = await claim(conn, alias, worker_id)
    return worker_id, claimed


async def finish(conn: Connection, claimed: ClaimedTask, outcome: Outcome) -> TaskRecord:
    lease_ = Lease(claimed.id, claimed.epoch)
    written = await settle.settle(conn, [Settlement(lease_, outcome)])
    record = await read(conn, claimed.id)
    assert written == {lease_: record.status}
    return record


async def read(conn: Connection, task_id: str) -> TaskRecord:
    record = await results.get_task(conn, task_id)
    assert record is not None
    return record


@pytest.mark.asyncio
async def test_a_task_is_read_back_as_it_was_stored(conn: Connection, alias: str) -> None:
    run_after = datetime(2040, 1, 2, 3, 4, 5, 678901, UTC)
    task = new_task(alias, run_after=run_after)
    stored = await enqueue.enqueue(conn, task)
    record = await read(conn, task.id)
    assert (record.id, record.args, record.kwargs) == (task.id, ["é", 1.0], {"a": 1})
    assert record.run_after == record.available_at == stored.available_at == run_after
    assert record.enqueued_at == stored.enqueued_at
    assert record.status is TaskStatus.READY
    assert abs(stored.enqueued_at - datetime.now(UTC)) < timedelta(seconds=60)


@pytest.mark.asyncio
async def test_bulk_answers_stand_in_the_order_of_the_call(conn: Connection, alias: str) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    tasks = [new_task(alias), new_task(alias, run_after=later), new_task(alias, timeout=None)][::-1]
    stored = await enqueue.enqueue_many(conn, tasks)
    assert stored[1].available_at == later
    records = await results.get_tasks(conn, [task.id for task in tasks])
    assert [records[task.id].available_at for task in tasks] == [one.available_at for one in stored]
    assert [records[task.id].timeout for task in tasks] == [None, 30.0, 30.0]


@pytest.mark.asyncio
async def test_a_claim_takes_the_best_first_and_leases_them(conn: Connection, alias: str) -> None:
    low, high, bulk = new_task(alias), new_task(alias, priority=5), new_task(alias, queue_name="bulk", priority=3)
    later = new_task(alias, run_after=datetime.now(UTC) + timedelta(hours=1))
    await enqueue.enqueue_many(conn, [low, high, bulk, later])
    worker_id = await register(conn, alias)
    assert [task.id for task in await claim(conn, alias, worker_id, 2)] == [high.id, bulk.id]
    (claimed,) = await claim(conn, alias, worker_id)
    assert (claimed.id, claimed.epoch, claimed.attempt, claimed.begun) == (low.id, 1, 1, True)
    assert json.loads(claimed.args) == ["é", 1.0]
    record = await read(conn, low.id)
    assert (record.status, record.leased_by, record.attempts) == (TaskStatus.RUNNING, worker_id, 1)
    assert len(await lease.held(conn, worker_id)) == 3


@pytest.mark.asyncio
async def test_a_claim_leaves_excluded_paths_and_marks_later_ones_not_begun(conn: Connection, alias: str) -> None:
    await enqueue.enqueue_many(conn, [new_task(alias), new_task(alias, task_path="other.path")])
    worker_id = await register(conn, alias)
    excluded = frozenset({"other.path"})
    (claimed,) = await claim(
        conn, alias, worker_id, excluded_paths=excluded, later_paths=frozenset({"shop.tasks.send"})
    )
    assert (claimed.task_path, claimed.begun) == ("shop.tasks.send", False)
    await settle.mark_begun(conn, [Lease(claimed.id, claimed.epoch)])
    assert await claim(conn, alias, worker_id, excluded_paths=excluded) == []


@pytest.mark.asyncio
async def test_a_worker_whose_lease_has_ended_claims_nothing(conn: Connection, alias: str) -> None:
    await enqueue.enqueue(conn, new_task(alias))
    assert await claim(conn, alias, await register(conn, alias, lease_seconds=-1)) == []


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("outcome", "status", "attempts"),
    [
        (Succeeded('{"x": [1]}'), TaskStatus.SUCCESSFUL, 1),
        (Failed('{"traceback": "t"}', None), TaskStatus.FAILED, 1),
        (Failed('{"traceback": "t"}', 5.0), TaskStatus.READY, 1),
        (Snoozed(5.0), TaskStatus.READY, 0),
        (Released(), TaskStatus.READY, 0),
        (Cancelled('{"traceback": "t"}'), TaskStatus.DISCARDED, 1),
    ],
    ids=str,
)
async def test_an_outcome_is_written(
    conn: Connection, alias: str, outcome: Outcome, status: TaskStatus, attempts: int
) -> None:
    _, claimed = await run_one(conn, alias)
    record = await finish(conn, claimed, outcome)
    assert (record.status, record.attempts, len(record.worker_ids)) == (status, attempts, attempts)
    assert len(record.errors) == isinstance(outcome, Failed | Cancelled)
    assert all(error.at is not None for error in record.errors)
    assert (record.finished_at is not None) == record.status.is_finished


@pytest.mark.asyncio
async def test_a_lost_lease_settles_nothing(conn: Connection, alias: str) -> None:
    _, claimed = await run_one(conn, alias)
    stale = Settlement(Lease(claimed.id, claimed.epoch - 1), Succeeded("1"))
    assert await settle.settle(conn, [stale]) == {}
    assert not await settle.report_progress(conn, stale.lease, "{}")
    assert await settle.report_progress(conn, Lease(claimed.id, claimed.epoch), '{"done": 1}')
    assert (await read(conn, claimed.id)).progress == {"done": 1}


@pytest.mark.asyncio
async def test_deferred_rows_are_promoted_when_their_time_comes(conn: Connection, alias: str) -> None:
    await enqueue.enqueue(conn, new_task(alias, run_after=datetime.now(UTC) + timedelta(seconds=60)))
    outlook = await queues.peek(conn, alias)
    assert outlook.queues == ()
    assert outlook.next_due_in is not None
    assert outlook.next_due_in <= 60


@pytest.mark.asyncio
async def test_the_test_kit_moves_the_clock(database: AiosqliteDatabase, alias: str) -> None:
    async with database.connection() as conn:
        await enqueue.enqueue(conn, new_task(alias, run_after=datetime.now(UTC) + timedelta(seconds=60)))
        database.clock_offset = 61.0
        assert await queues.promote(conn, 1000) >= 1
        assert (await queues.peek(conn, alias)).queues == ("mail",)


@pytest.mark.asyncio
async def test_a_paused_queue_is_neither_seen_nor_claimed(conn: Connection, alias: str) -> None:
    await enqueue.enqueue_many(conn, [new_task(alias), new_task(alias, queue_name="bulk")])
    assert await queues.set_paused(conn, alias, "mail", paused=True)
    assert not await queues.set_paused(conn, alias, "mail", paused=True)
    assert await queues.paused_queues(conn, alias) == ["mail"]
    assert (await queues.peek(conn, alias)).queues == ("bulk",)
    worker_id = await register(conn, alias)
    assert [task.queue_name for task in await claim(conn, alias, worker_id)] == ["bulk"]
    assert await queues.set_paused(conn, alias, "mail", paused=False)
    assert (await queues.peek(conn, alias)).queues == ("mail",)


@pytest.mark.asyncio
async def test_queues_are_counted_by_status(conn: Connection, alias: str) -> None:
    _, claimed = await run_one(conn, alias)
    await enqueue.enqueue_many(conn, [new_task(alias), new_task(alias, queue_name="bulk")])
    await finish(conn, claimed, Succeeded("1"))
    assert await queues.stats(conn, alias) == [
        queues.QueueStats("bulk", ready=1),
        queues.QueueStats("mail", ready=1, successful=1),
    ]


@pytest.mark.asyncio
async def test_a_silent_worker_is_buried_and_its_rows_are_taken(database: AiosqliteDatabase, alias: str) -> None:
    async with database.connection() as conn:
        worker_id, claimed = await run_one(conn, alias)
        assert await lease.renew(conn, worker_id, 30.0, '{"note": 1}')
        database.clock_offset = 31.0
        assert not await lease.renew(conn, worker_id, 30.0)
        assert await lease.bury_dead_workers(conn, 0.0) >= 1
        (row,) = (row for row in await lease.expired(conn, 1000) if row.task_id == claimed.id)
        assert (row.worker_id, row.begun) == (worker_id, True)
        assert (await health.backlog(conn, alias)).orphans >= 1
        assert await lease.reap(conn, row, ABANDONED) is not None
        assert await lease.reap(conn, row, ABANDONED) is None
        assert (await read(conn, claimed.id)).status is TaskStatus.READY
        assert (await health.backlog(conn, alias)).oldest_due is not None


@pytest.mark.asyncio
async def test_the_last_attempt_of_a_silent_worker_is_lost_until_its_late_outcome(
    database: AiosqliteDatabase, alias: str
) -> None:
    async with database.connection() as conn:
        await enqueue.enqueue(conn, new_task(alias, max_attempts=1))
        (claimed,) = await claim(conn, alias, await register(conn, alias))
        database.clock_offset = 31.0
        await lease.bury_dead_workers(conn, 0.0)
        (row,) = (row for row in await lease.expired(conn, 1000) if row.task_id == claimed.id)
        await lease.reap(conn, row, ABANDONED)
        lost = await read(conn, claimed.id)
        assert (lost.status, len(lost.errors)) == (TaskStatus.LOST, 1)
        late = await finish(conn, claimed, Succeeded("7"))
        assert (late.status, late.return_value, late.errors) == (TaskStatus.SUCCESSFUL, 7, ())


@pytest.mark.asyncio
async def test_workers_are_listed_until_removed(conn: Connection, alias: str) -> None:
    worker_id, _ = await run_one(conn, alias)
    (state,) = await health.workers(conn, alias)
    assert (state.worker_id, state.hostname, state.queues, state.running) == (worker_id, "host", ("mail",), 1)
    assert state.is_alive
    await lease.remove(conn, worker_id)
    assert await health.workers(conn, alias) == []


@pytest.mark.asyncio
async def test_operators_move_tasks(conn: Connection, alias: str) -> None:
    _, running = await run_one(conn, alias)
    ready = new_task(alias)
    await enqueue.enqueue(conn, ready)
    assert await operate.cancel(conn, [ready.id, running.id]) == 2
    assert await operate.cancel(conn, [ready.id, running.id]) == 0
    assert (await read(conn, running.id)).cancel_requested
    assert await operate.retry(conn, [ready.id], include_discarded=False) == 0
    assert await operate.retry(conn, [ready.id], include_discarded=True) == 1
    assert (await read(conn, ready.id)).status is TaskStatus.READY
    assert await operate.discard(conn, [ready.id, running.id]) == 1
    assert (await finish(conn, running, Released())).status is TaskStatus.DISCARDED


@pytest.mark.asyncio
async def test_lists_are_filtered_and_newest_first(conn: Connection, alias: str) -> None:
    first, second = new_task(alias), new_task(alias, queue_name="bulk")
    await enqueue.enqueue_many(conn, [first, second])
    everything = await results.list_tasks(conn, alias, results.TaskFilter())
    assert [record.id for record in everything] == [second.id, first.id]
    wanted = results.TaskFilter(TaskStatus.READY, "bulk", "shop.tasks.send", 5)
    assert [record.id for record in await results.list_tasks(conn, alias, wanted)] == [second.id]


@pytest.mark.asyncio
async def test_old_finished_tasks_are_pruned(database: AiosqliteDatabase, alias: str) -> None:
    async with database.connection() as conn:
        _, claimed = await run_one(conn, alias)
        await finish(conn, claimed, Succeeded("1"))
        request = operate.PruneRequest(3600, ("SUCCESSFUL",), 100_000, dry_run=False, backend_alias=alias)
        before = (await operate.prune_step(conn, request, None)).removed
        database.clock_offset = 7200.0
        assert (await operate.prune_step(conn, replace(request, dry_run=True), None)).removed >= 1
        assert (await operate.prune_step(conn, request, None)).removed >= 1
        assert before == 0
        assert await results.get_task(conn, claimed.id) is None


@pytest.mark.asyncio
async def test_migrating_again_changes_nothing(conn: Connection) -> None:
    installation = await schema.installation(conn)
    assert await schema.migrate(conn, "char(32)") == []
    assert await schema.installation(conn) == installation
    schema.require_current(await schema.read_schema(conn, "char(32)"))
