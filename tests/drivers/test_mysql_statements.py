"""Every statement of sql/mysql, run through the store on databases with both column types of ids."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Lease, Released, Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.drivers.aiomysql import AiomysqlDatabase
from oxpull_async.store import enqueue, health, lease, operate, queues, results, schema, settle
from tests.drivers.mysql_kit import ID_TYPES, claim, finish, migrated, new_alias, new_task, read, register, run_one
from tests.fixtures.servers import MakeDatabase

ABANDONED = json.dumps({"exception_class_path": "oxpull_async.errors.TaskAbandoned", "attempt": 1})


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


@pytest.fixture
def alias() -> str:
    return new_alias()


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
@pytest.mark.parametrize("priority", [-100, -1, 0, 1, 100])
async def test_a_priority_of_either_sign_is_stored(conn: Connection, alias: str, priority: int) -> None:
    one, many = new_task(alias, priority=priority), new_task(alias, priority=priority)
    await enqueue.enqueue(conn, one)
    await enqueue.enqueue_many(conn, [many])
    records = await results.get_tasks(conn, [one.id, many.id])
    assert {record.priority for record in records.values()} == {priority}


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
    assert [worker.replace("-", "") for worker in record.worker_ids] == [worker_id.replace("-", "")]
    assert record.started_at == record.last_attempted_at is not None
    assert len(await lease.held(conn, worker_id)) == 3


@pytest.mark.asyncio
async def test_equals_are_claimed_by_id_across_queues(conn: Connection, alias: str) -> None:
    tasks = [new_task(alias, queue_name=name) for name in ("mail", "bulk", "mail", "bulk")]
    await enqueue.enqueue_many(conn, tasks)
    worker_id = await register(conn, alias)
    taken = [(await claim(conn, alias, worker_id, 1))[0].id for _ in tasks]
    assert taken == [task.id for task in tasks]


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
    task = new_task(alias)
    await enqueue.enqueue(conn, task)
    assert await claim(conn, alias, await register(conn, alias, lease_seconds=-1)) == []
    assert (await read(conn, task.id)).status is TaskStatus.READY


@pytest.mark.asyncio
async def test_deferred_rows_are_promoted_when_their_time_comes(database: AiomysqlDatabase, alias: str) -> None:
    async with database.connection() as conn:
        await queues.promote(conn, 1000)
        await enqueue.enqueue(conn, new_task(alias, run_after=datetime.now(UTC) + timedelta(seconds=60)))
        outlook = await queues.peek(conn, alias)
        assert outlook.queues == ()
        assert outlook.next_due_in is not None
        assert outlook.next_due_in <= 60
        assert await queues.promote(conn, 1000) == 0
        database.clock_offset = 61.0
        assert await queues.promote(conn, 1000) >= 1
        assert (await queues.peek(conn, alias)).queues == ("mail",)


@pytest.mark.asyncio
async def test_a_promotion_skips_locked_rows(database: AiomysqlDatabase, alias: str) -> None:
    async with database.connection() as holder, database.connection() as conn:
        tasks = [new_task(alias, run_after=datetime.now(UTC) + timedelta(seconds=60)) for _ in range(2)]
        await enqueue.enqueue_many(conn, tasks)
        database.clock_offset = 61.0
        async with holder.transaction():
            held = tasks[0].id.replace("-", "")
            await holder.run_script(f"UPDATE oxpull_task SET priority = 1 WHERE id = '{held}'")
            await queues.promote(conn, 1000)
            (claimed,) = await claim(conn, alias, await register(conn, alias))
            assert claimed.id == tasks[1].id


@pytest.mark.asyncio
async def test_two_claims_at_once_share_the_rows(database: AiomysqlDatabase, alias: str) -> None:
    async with database.connection() as first, database.connection() as second:
        await enqueue.enqueue_many(first, [new_task(alias) for _ in range(4)])
        worker_id = await register(first, alias)
        async with first.transaction():
            one = await claim(first, alias, worker_id, 2)
            two = await claim(second, alias, worker_id, 2)
        assert len({task.id for task in one + two}) == 4


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
async def test_names_are_compared_byte_for_byte(conn: Connection, alias: str) -> None:
    names = ["mail", "Mail", "mäil", "ma\u0308il", "mail "]
    await enqueue.enqueue_many(conn, [new_task(alias, queue_name=name) for name in names])
    assert sorted((await queues.peek(conn, alias)).queues) == sorted(names)
    assert len(await claim(conn, alias, await register(conn, alias))) == 1


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
async def test_a_silent_worker_is_buried_and_its_rows_are_taken(database: AiomysqlDatabase, alias: str) -> None:
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
        record = await read(conn, claimed.id)
        assert (record.status, record.epoch, record.attempts) == (TaskStatus.READY, claimed.epoch + 1, 1)
        assert (await health.backlog(conn, alias)).oldest_due is not None
        database.clock_offset = 100_000.0
        await lease.bury_dead_workers(conn, 0.0)
        assert await health.workers(conn, alias) == []


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
async def test_old_finished_tasks_are_pruned(database: AiomysqlDatabase, alias: str) -> None:
    async with database.connection() as conn:
        _, claimed = await run_one(conn, alias)
        await finish(conn, claimed, Succeeded("1"))
        request = operate.PruneRequest(3600, ("SUCCESSFUL",), 100_000, dry_run=False, backend_alias=alias)
        assert (await operate.prune_step(conn, request, None)).removed == 0
        database.clock_offset = 7200.0
        assert (await operate.prune_step(conn, replace(request, dry_run=True), None)).removed == 1
        assert (await operate.prune_step(conn, replace(request, batch_size=1, dry_run=True), None)).after is not None
        assert (await operate.prune_step(conn, request, None)).removed == 1
        assert await results.get_task(conn, claimed.id) is None


@pytest.mark.asyncio
async def test_migrating_again_changes_nothing(conn: Connection) -> None:
    installation = await schema.installation(conn)
    assert await schema.migrate(conn, "uuid") == []
    assert await schema.installation(conn) == installation
    schema.require_current(await schema.read_schema(conn, "uuid"))
