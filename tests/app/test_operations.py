"""What operators ask of an Oxpull, on stored tasks in every status."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from oxpull_async import Oxpull, TaskContext, TaskResult, TaskStatus, Worker
from oxpull_async.errors import InvalidTask, TaskResultDoesNotExist, UsageError
from oxpull_async.store.health import WorkerState
from oxpull_async.store.queues import QueueStats
from oxpull_async.store.results import TaskFilter
from tests.app.kit import add, eventually, fail, nothing, open_oxpull, rolled_back, statuses, unmasked, work
from tests.fixtures import make, raw

if TYPE_CHECKING:
    from collections.abc import Callable

    from oxpull_async.app.operations import PruneReport

pytestmark = pytest.mark.asyncio
READY, DISCARDED, FAILED = TaskStatus.READY, TaskStatus.DISCARDED, TaskStatus.FAILED


async def failed(ox: Oxpull) -> TaskResult[Any]:
    result = await ox.task(max_attempts=1)(fail).enqueue()
    await work(ox)
    return await result.wait()


async def test_retry_gives_a_failed_task_one_more_attempt(ox: Oxpull) -> None:
    result = await failed(ox)
    assert await ox.retry(result.id)
    assert not await ox.retry(result.id)
    await result.refresh()
    assert (result.status, result.attempts, result.max_attempts) == (READY, 1, 2)
    await work(ox)
    await result.refresh()
    assert (result.status, result.attempts, len(result.errors)) == (FAILED, 2, 2)


async def test_A10_a_discarded_task_is_retried_on_request_only(ox: Oxpull) -> None:
    result = await ox.task(add).enqueue(1, 2)
    assert await ox.discard(result.id)
    assert not await ox.retry(result.id)
    assert await ox.retry(result.id, include_discarded=True)
    await work(ox)
    await result.refresh()
    assert result.return_value == 3


@pytest.mark.parametrize("operation", ["retry_many", "discard_many", "cancel_many", "run_now_many"])
async def test_one_id_where_a_list_is_wanted_is_refused(ox: Oxpull, operation: str) -> None:
    id_ = (await ox.task(add).enqueue(1, 2)).id
    with pytest.raises(UsageError, match="must be a list of ids") as refused:
        await getattr(ox, operation)(id_)
    assert f"[{id_!r}]" in str(refused.value)


async def test_A9_cancel_of_a_waiting_task_discards_it(ox: Oxpull) -> None:
    result = await ox.task(add).enqueue(1, 2)
    assert await ox.cancel(result.id)
    assert not await ox.cancel(result.id)
    await work(ox)
    await result.refresh()
    assert (result.status, result.attempts) == (DISCARDED, 0)


async def test_A9_cancel_of_a_running_task_ends_it_discarded(ox: Oxpull) -> None:
    running = asyncio.Event()

    async def endless(context: TaskContext) -> None:
        running.set()
        await asyncio.Event().wait()

    task = ox.task(takes_context=True)(endless)
    result = await task.enqueue()
    worker = Worker(ox)
    working = asyncio.create_task(worker.run())
    await asyncio.wait_for(running.wait(), 30)
    assert await ox.cancel(result.id)
    await result.wait(timeout=30)
    assert result.status is DISCARDED
    worker.stop()
    await working


@pytest.mark.parametrize("status", TaskStatus)
async def test_an_operation_in_a_wrong_status_changes_nothing_and_says_so(ox: Oxpull, status: TaskStatus) -> None:
    moved = {
        "retry": {FAILED, TaskStatus.LOST},
        "discard": {READY, TaskStatus.WAITING, FAILED, TaskStatus.LOST},
        "cancel": {READY, TaskStatus.WAITING, TaskStatus.RUNNING},
    }
    for name, wanted in moved.items():
        async with ox.database.connection() as conn:
            record = await make.BUILDERS[status](conn)
        operation: Callable[[str], Any] = getattr(ox, name)
        assert await operation(record.id) == (status in wanted), name
        if status not in wanted:
            assert (await ox.get_result(record.id)).record == record
        async with ox.database.connection() as conn:
            await raw.empty(conn)


async def test_many_are_changed_in_one_call_and_counted(ox: Oxpull) -> None:
    task = ox.task(nothing)
    results = await ox.enqueue_many([task.call(n) for n in range(2500)])
    ids = [result.id for result in results]
    assert await ox.discard_many(ids[:1200]) == (1200, 0)
    assert await ox.cancel_many(ids) == (1300, 1200)
    assert await ox.retry_many([*ids, ids[0], make.new_id()], include_discarded=True) == (2500, 1)
    assert await ox.retry_many([]) == (0, 0)
    assert await ox.stats() == [QueueStats("default", ready=2500)]


async def test_a_task_that_is_due_later_is_run_now_once(ox: Oxpull) -> None:
    asked = datetime.now(UTC) + timedelta(hours=1)
    result = await ox.task(add).using(run_after=asked).enqueue(1, 2)
    assert await ox.run_now(result.id)
    assert not await ox.run_now(result.id)
    assert await ox.run_now_many([result.id, make.new_id()]) == (0, 2)
    await work(ox)
    await result.refresh()
    assert (result.return_value, result.run_after) == (3, asked)


async def test_a_malformed_id_among_many_changes_nothing(ox: Oxpull) -> None:
    result = await ox.task(nothing).enqueue(1)
    with pytest.raises(TaskResultDoesNotExist, match="'x': ids are UUIDs"):
        await ox.discard_many([result.id, "x"])
    await result.refresh()
    assert result.status is READY


async def test_an_operation_joins_the_open_transaction(ox: Oxpull) -> None:
    result = await ox.task(nothing).enqueue(1)
    async with rolled_back(ox.transaction()):
        assert await ox.discard(result.id)
        assert await ox.pause("default")
    await result.refresh()
    assert result.status is READY
    assert (await ox.health()).paused == []


async def test_a_paused_queue_is_not_claimed_from_until_it_is_resumed(ox: Oxpull) -> None:
    task = ox.task(nothing)
    held, free = await task.using(queue_name="held").enqueue(1), await task.enqueue(2)
    assert [await ox.pause("held"), await ox.pause("held")] == [True, False]
    await work(ox)
    await held.refresh()
    await free.refresh()
    assert statuses([held, free]) == [READY, TaskStatus.SUCCESSFUL]
    assert (await ox.health()).paused == ["held"]
    assert [await ox.resume("held"), await ox.resume("held"), await ox.resume("never")] == [True, False, False]
    await work(ox)
    await held.refresh()
    assert held.status is TaskStatus.SUCCESSFUL


async def test_a_queue_name_of_an_operation_is_checked(ox: Oxpull) -> None:
    with pytest.raises(InvalidTask, match="queue_name='' must be text"):
        await ox.pause("")


async def test_a_resumed_queue_and_a_retried_task_wake_the_workers_here(ox: Oxpull) -> None:
    woken: list[str] = []
    result = await failed(ox)
    unsubscribe = ox.on_wake(woken.append)
    await ox.pause("mail")
    await ox.resume("mail")
    async with ox.transaction():
        await ox.retry(result.id)
        assert woken == ["mail"]
    assert woken == ["mail", ""]
    unsubscribe()
    await ox.resume("mail")
    assert woken == ["mail", ""]


async def test_stats_count_every_status_of_every_queue(ox: Oxpull) -> None:
    async with ox.database.connection() as conn:
        for status, build in make.BUILDERS.items():
            await build(conn, queue_name=status.lower())
        await make.ready(conn, backend_alias="other")
    expected = [QueueStats(name, **{name: 1}) for name in sorted(status.lower() for status in TaskStatus)]
    assert await ox.stats() == expected


async def test_prune_removes_what_ended_and_reports_each_step(ox: Oxpull) -> None:
    task = ox.task(nothing)
    steps: list[PruneReport] = []
    await ox.enqueue_many([task.call(n) for n in range(25)])
    bad = await failed(ox)
    waiting = await task.enqueue(1)
    ox.database.clock_offset = 60.0  # type: ignore[attr-defined] # what a driver offers to tests
    dry = await ox.prune(30, dry_run=True, batch_size=10)
    report = await ox.prune(30, batch_size=10, progress=steps.append)
    assert (dry.removed, dry.dry_run, report.removed, report.dry_run) == (25, True, 25, False)
    assert [step.removed for step in steps][:3] == [10, 20, 25]
    assert steps[-1] == report
    assert [row.successful for row in await ox.stats()] == [0]
    for kept in (waiting, bad):
        await kept.refresh()
    assert (await ox.prune(30, "FAILED")).removed == 1


async def test_prune_leaves_what_is_younger(ox: Oxpull) -> None:
    await ox.task(nothing).enqueue(1)
    await work(ox)
    assert (await ox.prune()).removed == 0
    assert (await ox.prune(60)).removed == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"statuses": ["READY"]}, "tasks with status 'READY' are not pruned: choose among SUCCESSFUL, DISCARDED"),
        ({"statuses": "done"}, "tasks with status 'done' are not pruned"),
        ({"batch_size": 0}, "batch_size=0 must be a whole number of rows, at least 1"),
        ({"older_than": -1}, "older_than=-1 is out of range"),
    ],
)
async def test_a_prune_of_something_else_is_refused(ox: Oxpull, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        await ox.prune(**options)
    assert words in str(refused.value)


async def test_health_names_a_backlog_without_workers(ox: Oxpull) -> None:
    assert (await ox.health()).problems == []
    await ox.task(nothing).enqueue(1)
    health = await ox.health()
    assert not health.is_healthy
    assert health.oldest_due_seconds is not None
    [problem] = health.problems
    assert "no worker is alive, and a task has been due for" in problem


async def test_health_shows_a_living_worker_and_a_dead_ones_tasks(ox: Oxpull) -> None:
    worker = Worker(ox, queues=["other"], concurrency=7)
    working = asyncio.create_task(worker.run())
    workers = await eventually(lambda: _workers(ox), bool)
    assert (workers[0].is_alive, workers[0].queues, workers[0].concurrency) == (True, ("other",), 7)
    worker.stop()
    await working
    async with ox.database.connection() as conn:
        task = await make.running(conn)
        assert task.leased_by is not None
        await raw.forget_worker(conn, task.leased_by)
    health = await ox.health()
    assert (health.workers, health.orphans) == ([], 1)
    assert health.problems == ["1 task(s) run under workers that fell silent; a living worker will take them over"]


async def _workers(ox: Oxpull) -> list[WorkerState]:
    return (await ox.health()).workers


async def test_the_newest_tasks_can_be_listed(ox: Oxpull) -> None:
    task = ox.task(nothing)
    results = await ox.enqueue_many([task.using(queue_name=f"q{n % 2}").call(n) for n in range(6)])
    newest = await ox.list_results(TaskFilter(limit=2))
    assert [result.id for result in newest] == [results[5].id, results[4].id]
    odd = await ox.list_results(TaskFilter(queue_name="q1", status=READY, task_path=task.path))
    assert [result.args for result in odd] == [[5], [3], [1]]


async def test_a_schema_check_passes_where_it_is_current(ox: Oxpull) -> None:
    await ox.check_schema()
    assert await ox.migrate() == []
    async with open_oxpull(unmasked(ox)) as other:
        await other.check_schema()
