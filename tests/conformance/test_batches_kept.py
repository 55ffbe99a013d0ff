"""Batches beside the moves of their members: adopted tasks, deleted rows, cancels, expiry, pruning."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch import BatchId
from oxpull_async.domain.errors import BatchDoesNotExist, ConnectionLost
from oxpull_async.domain.record import TaskId, TaskStatus, wire_id
from oxpull_async.domain.unique import Unique
from oxpull_async.store import batch_care, batches, prune_groups
from oxpull_async.store.batch_care import open_batches, recheck_members, recount_members
from oxpull_async.store.batches import cancel_batch, seal
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_calls
from oxpull_async.store.operate import Pruned, PruneRequest, prune_step
from oxpull_async.store.results import get_tasks
from oxpull_async.store.settle import settle
from tests.conformance.batched import (
    BROKEN,
    COMPLETE,
    DONE,
    FAILURE,
    SEALED,
    SUCCESS,
    run,
    sealed,
    settlement,
)
from tests.conformance.conftest import Clock
from tests.conformance.meanwhile import Meanwhile
from tests.fixtures import batches as made
from tests.fixtures import make, raw
from tests.fixtures.faulty import Fault, FaultyConnection

type Step = Callable[[Connection, PruneRequest, str | None], Awaitable[Pruned]]


async def test_C5_a_holder_that_was_there_is_counted_in_both_batches(conn: Connection) -> None:
    first, second = await made.opened(conn), await made.opened(conn)
    for batch in (first, second):
        await made.add_unique(conn, batch.id, make.unique_call(batch_id=batch.id))
        await seal(conn, batch.id)
    assert await recheck_members(conn, 10) == 1
    assert await recheck_members(conn, 10) == 0
    await run(conn, DONE)
    for batch in (first, second):
        assert await made.counts(conn, batch.id) == (1, 0, 1, 0, 0, COMPLETE)
        assert await made.fired(conn, batch) == SUCCESS


async def test_C5_a_holder_that_was_of_no_batch_is_counted_from_the_next_pass_on(conn: Connection) -> None:
    batch, holder = await adopted(conn)
    [task] = await make.claimed(conn, await make.worker(conn))
    assert (task.id, task.batch_id) == (holder, None)
    await recheck_members(conn, 10)
    await settle(conn, [settlement(task, DONE)])
    assert await made.counts(conn, batch) == (1, 0, 1, 0, 0, COMPLETE)


async def test_C5_a_holder_that_ended_before_the_pass_is_counted_by_it(conn: Connection) -> None:
    batch, _ = await adopted(conn)
    await run(conn, BROKEN)
    assert await made.counts(conn, batch) == (1, 1, 0, 0, 0, SEALED)
    assert await prune(conn, TaskStatus.FAILED) == 0
    await recheck_members(conn, 10)
    assert await made.counts(conn, batch) == (1, 0, 0, 1, 0, COMPLETE)


async def test_C5_a_holder_that_was_deleted_before_the_pass_is_unattributed(conn: Connection) -> None:
    batch, holder = await adopted(conn)
    await raw.delete(conn, holder)
    await recheck_members(conn, 10)
    assert await made.counts(conn, batch) == (1, 0, 0, 0, 1, COMPLETE)


async def adopted(conn: Connection) -> tuple[BatchId, TaskId]:
    """Seal a batch whose member is a pending task of no batch."""
    call = make.unique_call()
    await enqueue_calls(conn, EnqueueCalls({}, [call]))
    batch = await made.opened(conn)
    await made.add_unique(conn, batch.id, make.unique_call(batch_id=batch.id))
    await seal(conn, batch.id)
    return batch.id, call.task.id


async def test_D2_a_row_deleted_by_hand_is_found_by_the_walk(conn: Connection) -> None:
    batch, ids = await sealed(conn, 3)
    await run(conn, DONE)
    for id_ in ids[:2]:
        await raw.delete(conn, id_)
    found = await recount_members(conn, batch.id, None, 10)
    assert (found.missing, found.unforeseen, found.after) == (2, 0, None)
    assert await made.counts(conn, batch.id) == (3, 1, 0, 0, 2, SEALED)
    await run(conn, DONE)
    assert await made.counts(conn, batch.id) == (3, 0, 1, 0, 2, COMPLETE)


async def test_a_move_that_nobody_counted_is_found_by_the_walk_in_steps(conn: Connection) -> None:
    batch, ids = await sealed(conn, 3)
    for id_ in ids:
        await raw.change(conn, id_, "status = 'FAILED', due = NULL")
    first = await recount_members(conn, batch.id, None, 2)
    assert (first.missing, first.unforeseen, first.after) == (0, 2, ids[1])
    last = await recount_members(conn, batch.id, first.after, 2)
    assert (last.unforeseen, last.after) == (1, None)
    assert await made.counts(conn, batch.id) == (3, 0, 0, 3, 0, COMPLETE)
    assert await made.fired(conn, batch) == FAILURE


async def test_a_batch_that_should_be_complete_is_found_and_completed_once(conn: Connection) -> None:
    batch, _ = await sealed(conn)
    await conn.run_script("UPDATE oxpull_batch_counts SET succeeded = 1")
    [found] = await open_batches(conn, None, 10)
    assert found.is_overdue
    assert [await batch_care.complete_overdue(conn, batch.id) for _ in range(2)] == [True, False]
    assert await open_batches(conn, None, 10) == []
    assert await made.fired(conn, batch) == SUCCESS


async def test_D5_a_cancelled_batch_is_sealed_and_fails_whatever_its_members_came_to(conn: Connection) -> None:
    batch = await made.opened(conn)
    await made.members(conn, batch.id, 1)
    await run(conn, DONE)
    assert await cancel_batch(conn, batch.id)
    assert await made.counts(conn, batch.id) == (1, 0, 1, 0, 0, COMPLETE)
    assert await made.fired(conn, batch) == FAILURE
    assert not await cancel_batch(conn, batch.id)


async def test_cancelling_a_batch_cancels_its_pending_members(conn: Connection) -> None:
    batch, ids = await sealed(conn, 3)
    [running] = await make.claimed(conn, await make.worker(conn), 1)
    assert await cancel_batch(conn, batch.id)
    records = await get_tasks(conn, ids)
    assert [records[id_].status for id_ in ids] == ["RUNNING", "DISCARDED", "DISCARDED"]
    assert records[running.id].cancel_requested
    await settle(conn, [settlement(running, DONE)])
    assert await made.counts(conn, batch.id) == (3, 0, 1, 0, 2, COMPLETE)


async def test_D5_an_open_batch_expires(conn: Connection, clock: Clock) -> None:
    batch = await made.opened(conn, expire_after=60)
    clock.advance(59)
    assert [one.is_expired for one in await open_batches(conn, None, 10)] == [False]
    clock.advance(2)
    [found] = await open_batches(conn, None, 10)
    assert (found.id, found.name, found.is_expired) == (batch.id, "nightly", True)
    assert abs(found.age - 61) < 10


async def test_D5_a_batch_that_was_sealed_in_time_does_not_expire(conn: Connection, clock: Clock) -> None:
    batch = await made.opened(conn, expire_after=60)
    await made.members(conn, batch.id)
    clock.advance(61)
    [found] = await open_batches(conn, None, 10)
    await seal(conn, batch.id)
    assert not (await batch_care.look_after(conn, found, None, 10)).expired
    assert await made.counts(conn, batch.id) == (1, 1, 0, 0, 0, SEALED)
    await run(conn, DONE)
    assert await made.fired(conn, batch) == SUCCESS


async def test_D5_the_next_walk_cancels_the_members_of_a_batch_whose_expiry_was_cut_short(
    conn: Connection, clock: Clock
) -> None:
    batch = await made.opened(conn, expire_after=60)
    await made.members(conn, batch.id, 2)
    clock.advance(61)
    [found] = await open_batches(conn, None, 10)
    with pytest.raises(ConnectionLost):
        await batch_care.look_after(FaultyConnection(conn, Fault("cancel_tasks", committed=False)), found, None, 10)
    assert await made.counts(conn, batch.id) == (2, 2, 0, 0, 0, SEALED)
    [found] = await open_batches(conn, None, 10)
    assert (await batch_care.look_after(conn, found, None, 10)).expired
    assert await made.counts(conn, batch.id) == (2, 0, 0, 0, 2, COMPLETE)
    assert await made.fired(conn, batch) == FAILURE


async def test_a_batch_that_completes_while_it_is_cancelled_was_not_cancelled(
    conn: Connection, other: Connection
) -> None:
    batch, _ = await sealed(conn)
    [running] = await make.claimed(conn, await make.worker(conn))

    async def ends(_: Connection) -> None:
        await settle(other, [settlement(running, DONE)])

    assert not await cancel_batch(Meanwhile(conn, "get_batches", ends), batch.id)
    assert await made.counts(conn, batch.id) == (1, 0, 1, 0, 0, COMPLETE)
    assert await made.fired(conn, batch) == SUCCESS


async def test_D2_prune_keeps_the_members_of_a_batch_that_is_not_complete(conn: Connection, clock: Clock) -> None:
    batch, ids = await sealed(conn, 2)
    await run(conn, DONE)
    clock.advance(10)
    assert await prune(conn, TaskStatus.SUCCESSFUL) == 0
    await run(conn, DONE)
    clock.advance(10)
    assert await prune(conn, TaskStatus.SUCCESSFUL) == 2
    assert await get_tasks(conn, ids) == {}
    assert await made.counts(conn, batch.id) == (2, 0, 2, 0, 0, COMPLETE)


async def test_a_batch_is_pruned_after_its_tasks_and_callbacks(conn: Connection, clock: Clock) -> None:
    batch, _ = await sealed(conn)
    await run(conn, DONE)
    clock.advance(10)
    request = make.pruning(10, age=5)
    assert await batches_pruned(conn, request) == 0
    await prune_step(conn, request, None)
    assert await batches_pruned(conn, request) == 0, "its callbacks have not ended"
    worker = await make.worker(conn)
    first, second = [await make.claimed_from(conn, worker, "callbacks") for _ in range(2)]
    await settle(conn, [settlement(first, DONE), settlement(second, BROKEN)])
    clock.advance(10)
    await prune_step(conn, request, None)
    assert await batches_pruned(conn, request) == 0, "a callback may be retried, and asks for its batch then"
    both = make.pruning(10, age=5, statuses="SUCCESSFUL,FAILED")
    assert await batches_pruned(conn, replace(both, dry_run=True)) == 1
    await prune_step(conn, both, None)
    assert await batches_pruned(conn, replace(both, dry_run=True)) == 1
    assert await batches_pruned(conn, both) == 1
    with pytest.raises(BatchDoesNotExist):
        await batches.read_batch(conn, batch.id)


async def batches_pruned(conn: Connection, request: PruneRequest) -> int:
    return (await prune_groups.prune_batches(conn, request, None)).removed


async def test_a_dry_run_counts_what_a_prune_would_remove_and_no_more(conn: Connection, clock: Clock) -> None:
    await sealed(conn, 3)
    await run(conn, DONE, 3)
    worker = await make.worker(conn)
    for _ in range(2):
        await settle(conn, [settlement(await make.claimed_from(conn, worker, "callbacks"), DONE)])
    await sealed(conn, 3)
    for outcome in (DONE, BROKEN):  # and one is pending, so the batch holds both
        await run(conn, outcome)
    call = make.unique_call(Unique(until="expired", ttl=1000), key="held", queue_name="held")
    await enqueue_calls(conn, EnqueueCalls({}, [call]))
    await settle(conn, [settlement(await make.claimed_from(conn, worker, "held"), DONE)])
    clock.advance(10)
    for statuses, expected in (("FAILED", (0, 0)), ("SUCCESSFUL", (5, 1)), ("SUCCESSFUL,FAILED", (0, 0))):
        real = make.pruning(2, age=5, statuses=statuses)
        dry = replace(real, dry_run=True)
        would = await everything(conn, dry, prune_step), await everything(conn, dry, prune_groups.prune_batches)
        did = await everything(conn, real, prune_step), await everything(conn, real, prune_groups.prune_batches)
        assert would == did == expected


async def everything(conn: Connection, request: PruneRequest, step: Step) -> int:
    """Go through all rows of one kind; returns how many went, or would."""
    done = await step(conn, request, None)
    removed = done.removed
    while done.after is not None:
        done = await step(conn, request, done.after)
        removed += done.removed
    return removed


async def test_a_task_that_somebody_has_locked_is_left_to_the_next_prune(
    conn: Connection, other: Connection, clock: Clock
) -> None:
    if not conn.dialect.skips_locked:
        return  # whoever writes is alone
    _, ids = await sealed(conn, 2)
    await run(conn, DONE, 2)
    clock.advance(10)
    await raw.hurry(other)
    async with conn.transaction():
        await get_locked(conn, ids[0])
        assert await prune(other, TaskStatus.SUCCESSFUL) == 1
    assert await prune(other, TaskStatus.SUCCESSFUL) == 1


async def get_locked(conn: Connection, id_: TaskId) -> None:
    """Lock a task's row as an operator's action does."""
    await conn.fetch("lock_followed_tasks", ids=f'["{wire_id(id_)}"]')


async def prune(conn: Connection, status: TaskStatus) -> int:
    return (await prune_step(conn, PruneRequest(5, (status,), 100, dry_run=False), None)).removed
