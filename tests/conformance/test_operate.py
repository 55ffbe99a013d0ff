"""What operators do: retry, discard, cancel and prune, each a compare-and-set that counts its rows."""

from dataclasses import replace

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Failed, Succeeded
from oxpull_async.domain.record import TaskId, TaskStatus
from oxpull_async.store.claim import claim
from oxpull_async.store.operate import Pruned, PruneRequest, cancel, discard, own_tasks, prune_step, retry
from oxpull_async.store.results import get_tasks
from tests.conformance.conftest import Clock
from tests.fixtures import make, raw

USUAL = PruneRequest(age_seconds=60, statuses=("SUCCESSFUL", "DISCARDED"), batch_size=100, dry_run=False)


async def one_of_each(conn: Connection) -> dict[TaskStatus, TaskId]:
    return {status: (await build(conn, queue_name=str(status))).id for status, build in make.BUILDERS.items()}


async def statuses(conn: Connection, ids: dict[TaskStatus, TaskId]) -> dict[TaskStatus, TaskStatus]:
    found = await get_tasks(conn, list(ids.values()))
    return {status: found[task_id].status for status, task_id in ids.items()}


async def test_A10_a_retry_moves_failed_and_lost_tasks(conn: Connection) -> None:
    ids = await one_of_each(conn)
    assert await retry(conn, list(ids.values()), include_discarded=False) == 2
    after = await statuses(conn, ids)
    assert {before for before, now in after.items() if before is not now} == {TaskStatus.FAILED, TaskStatus.LOST}
    assert after[TaskStatus.FAILED] is after[TaskStatus.LOST] is TaskStatus.READY


async def test_A10_a_retry_moves_discarded_tasks_on_request_only(conn: Connection) -> None:
    task = await make.discarded(conn)
    assert await retry(conn, [task.id], include_discarded=False) == 0
    assert await make.record(conn, task.id) == task
    assert await retry(conn, [task.id], include_discarded=True) == 1
    assert (await make.record(conn, task.id)).status is TaskStatus.READY


async def test_A10_a_retry_allows_one_more_attempt_and_moves_the_epoch(conn: Connection, clock: Clock) -> None:
    task = await make.failed(conn, max_attempts=7)
    clock.advance(100)
    await retry(conn, [task.id], include_discarded=False)
    again = await make.record(conn, task.id)
    assert (again.attempts, again.max_attempts, again.epoch) == (1, 2, task.epoch + 1)
    assert (again.finished_at, again.errors, again.cancel_requested) == (None, task.errors, False)
    assert again.available_at > task.available_at
    [claimed] = await make.claimed(conn, await make.worker(conn))
    assert (claimed.id, claimed.attempt) == (task.id, 2)


async def test_A9_a_retry_clears_the_cancel(conn: Connection) -> None:
    task = await make.running(conn)
    await cancel(conn, [task.id])
    await make.settled(conn, task, Failed(make.ERROR, None))
    await retry(conn, [task.id], include_discarded=True)
    [claimed] = await make.claimed(conn, await make.worker(conn))
    assert await make.settled(conn, claimed, Failed(make.ERROR, None)) is TaskStatus.FAILED


async def test_a_retried_task_ends_anew(conn: Connection) -> None:
    task = await make.failed(conn)
    await retry(conn, [task.id], include_discarded=False)
    [claimed] = await make.claimed(conn, await make.worker(conn))
    await make.settled(conn, claimed, Succeeded('"at last"'))
    done = await make.record(conn, task.id)
    assert (done.status, done.return_value, len(done.errors)) == (TaskStatus.SUCCESSFUL, "at last", 1)


async def test_a_discard_ends_whatever_does_not_run_and_has_not_succeeded(conn: Connection) -> None:
    ids = await one_of_each(conn)
    assert await discard(conn, list(ids.values())) == 4
    assert await statuses(conn, ids) == dict.fromkeys(ids, TaskStatus.DISCARDED) | {
        TaskStatus.RUNNING: TaskStatus.RUNNING,
        TaskStatus.SUCCESSFUL: TaskStatus.SUCCESSFUL,
    }


@pytest.mark.parametrize("status", [TaskStatus.READY, TaskStatus.WAITING])
async def test_a_discarded_task_has_ended_and_waits_for_nothing(conn: Connection, status: TaskStatus) -> None:
    task = await make.BUILDERS[status](conn)
    await discard(conn, [task.id])
    ended = await make.record(conn, task.id)
    assert (ended.status, ended.waiting_for) == (TaskStatus.DISCARDED, None)
    assert ended.finished_at is not None
    assert await make.claimed(conn, await make.worker(conn)) == []


async def test_A9_a_cancel_discards_what_does_not_run_yet_and_asks_what_runs(conn: Connection) -> None:
    ids = await one_of_each(conn)
    assert await cancel(conn, list(ids.values())) == 3
    after = await statuses(conn, ids)
    assert after[TaskStatus.READY] is after[TaskStatus.WAITING] is TaskStatus.DISCARDED
    assert after[TaskStatus.RUNNING] is TaskStatus.RUNNING
    assert (await make.record(conn, ids[TaskStatus.RUNNING])).cancel_requested
    settled = (TaskStatus.SUCCESSFUL, TaskStatus.FAILED, TaskStatus.LOST, TaskStatus.DISCARDED)
    assert [after[status] for status in settled] == list(settled)


async def test_A9_a_cancel_of_a_running_task_changes_nothing_else(conn: Connection) -> None:
    task = await make.running(conn)
    await cancel(conn, [task.id])
    assert await make.record(conn, task.id) == replace(task, cancel_requested=True)


async def test_A9_a_second_cancel_changes_nothing(conn: Connection) -> None:
    task = await make.running(conn)
    assert [await cancel(conn, [task.id]) for _ in range(2)] == [1, 0]


@pytest.mark.parametrize("operation", [discard, cancel, lambda conn, ids: retry(conn, ids, include_discarded=True)])
async def test_tasks_that_are_not_there_and_none_at_all_are_no_error(conn: Connection, operation: object) -> None:
    assert callable(operation)
    assert await operation(conn, [make.new_id(), make.new_id()]) == 0
    assert await operation(conn, []) == 0


async def test_each_of_many_is_counted_once(conn: Connection) -> None:
    ids = [(await make.ready(conn)).id for _ in range(5)]
    assert await discard(conn, [*ids, *ids]) == 5


async def test_a_prune_removes_what_ended_long_enough_ago(conn: Connection, clock: Clock) -> None:
    old = await one_of_each(conn)
    clock.advance(61)
    young = await one_of_each(conn)
    step = await prune_step(conn, USUAL, None)
    assert step == Pruned(scanned=14, removed=2, after=None)
    left = await get_tasks(conn, [*old.values(), *young.values()])
    gone = {old[TaskStatus.SUCCESSFUL], old[TaskStatus.DISCARDED]}
    assert set(left) == {*old.values(), *young.values()} - gone


async def test_a_prune_touches_the_statuses_asked_for_only(conn: Connection, clock: Clock) -> None:
    ids = await one_of_each(conn)
    clock.advance(61)
    step = await prune_step(conn, replace(USUAL, statuses=("FAILED", "LOST")), None)
    assert step.removed == 2
    assert set(await get_tasks(conn, list(ids.values()))) == set(ids.values()) - {
        ids[TaskStatus.FAILED], ids[TaskStatus.LOST]
    }  # fmt: skip


async def test_a_dry_run_counts_and_removes_nothing(conn: Connection, clock: Clock) -> None:
    await one_of_each(conn)
    clock.advance(61)
    step = await prune_step(conn, replace(USUAL, dry_run=True), None)
    assert step == Pruned(scanned=7, removed=2, after=None)
    assert await raw.count_tasks(conn) == 7


async def test_a_prune_goes_on_where_the_last_step_ended(conn: Connection, clock: Clock) -> None:
    ids = [(await make.discarded(conn)).id for _ in range(5)]
    clock.advance(61)
    steps: list[Pruned] = []
    after: TaskId | None = None
    while not steps or after is not None:
        steps.append(await prune_step(conn, replace(USUAL, batch_size=2), after))
        after = steps[-1].after
    assert [(step.scanned, step.removed, step.after) for step in steps] == [
        (2, 2, ids[1]), (2, 2, ids[3]), (1, 1, None)
    ]  # fmt: skip
    assert await raw.count_tasks(conn) == 0


async def test_a_prune_passes_over_rows_that_stay(conn: Connection, clock: Clock) -> None:
    for _ in range(3):
        await make.failed(conn)
    await make.discarded(conn)
    clock.advance(61)
    first = await prune_step(conn, replace(USUAL, batch_size=3), None)
    assert (first.scanned, first.removed) == (3, 0)
    assert first.after is not None
    second = await prune_step(conn, replace(USUAL, batch_size=3), first.after)
    assert (second.scanned, second.removed) == (1, 1)


async def test_a_prune_leaves_a_task_that_was_retried_meanwhile(conn: Connection, clock: Clock) -> None:
    task = await make.discarded(conn)
    clock.advance(61)
    dry = await prune_step(conn, replace(USUAL, dry_run=True), None)
    assert dry.removed == 1
    await retry(conn, [task.id], include_discarded=True)
    assert (await prune_step(conn, USUAL, None)).removed == 0


@pytest.mark.parametrize(("alias", "removed"), [(make.ALIAS, 1), ("elsewhere", 2), (None, 3)])
async def test_a_prune_keeps_to_the_alias_asked_for(
    conn: Connection, clock: Clock, alias: str | None, removed: int
) -> None:
    for owner in (make.ALIAS, "elsewhere", "elsewhere"):
        await make.discarded(conn, backend_alias=owner)
    clock.advance(61)
    request = replace(USUAL, backend_alias=alias)
    assert (await prune_step(conn, replace(request, dry_run=True), None)).removed == removed
    assert (await prune_step(conn, request, None)).removed == removed
    assert await raw.count_tasks(conn) == 3 - removed


async def test_the_tasks_of_an_alias_are_told_from_the_others(conn: Connection) -> None:
    mine, theirs = await make.ready(conn), await make.ready(conn, backend_alias="elsewhere")
    ids = [mine.id, theirs.id, make.new_id()]
    assert await own_tasks(conn, make.ALIAS, ids) == [mine.id]
    assert await own_tasks(conn, "elsewhere", ids) == [theirs.id]


async def test_a_discarded_task_is_gone_from_every_claim(conn: Connection) -> None:
    ids = [(await make.ready(conn, priority=n)).id for n in range(3)]
    await discard(conn, [ids[2]])
    claimed = await claim(conn, make.request(await make.worker(conn)))
    assert [task.id for task in claimed] == [ids[1], ids[0]]
