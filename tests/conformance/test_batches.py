"""Batches: members are counted in the transaction that moves them, and the last one completes the batch, once."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as replaced

from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch import Callback, NewBatch
from oxpull_async.domain.errors import BatchDoesNotExist, BatchMemberExists, BatchSealed
from oxpull_async.domain.outcome import Cancelled, Failed, Released, Settlement, Snoozed
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.unique import Unique
from oxpull_async.store import batches
from oxpull_async.store.batches import Membership, cancel_batch, seal
from oxpull_async.store.claim import claim
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_again, enqueue_calls
from oxpull_async.store.operate import cancel, discard, retry
from oxpull_async.store.results import get_tasks
from oxpull_async.store.settle import settle
from tests.conformance.batched import (
    BROKEN,
    COMPLETE,
    DONE,
    FAILURE,
    OPEN,
    SEALED,
    SUCCESS,
    lose,
    run,
    sealed,
    settlement,
)
from tests.conformance.spy import Spy
from tests.fixtures import batches as made
from tests.fixtures import make, raw


async def test_a_batch_is_open_until_it_is_sealed(conn: Connection) -> None:
    batch = await made.opened(conn)
    assert (batch.name, batch.sealed_at, batch.completed_at) == ("nightly", None, None)
    await made.members(conn, batch.id, 3)
    assert await made.counts(conn, batch.id) == (3, 3, 0, 0, 0, OPEN)
    await seal(conn, batch.id)
    assert await made.counts(conn, batch.id) == (3, 3, 0, 0, 0, SEALED)


async def test_a_batch_completes_in_the_settle_of_its_last_member(conn: Connection) -> None:
    batch, _ = await sealed(conn, 2)
    await run(conn, DONE)
    assert await made.counts(conn, batch.id) == (2, 1, 1, 0, 0, SEALED)
    assert await made.fired(conn, batch) == []
    await run(conn, DONE)
    assert await made.counts(conn, batch.id) == (2, 0, 2, 0, 0, COMPLETE)
    assert await made.fired(conn, batch) == SUCCESS
    assert (await batches.read_batch(conn, batch.id)).completed_at is not None


async def test_members_that_end_in_one_settle_are_counted_at_once(conn: Connection) -> None:
    batch, _ = await sealed(conn, 5)
    other, _ = await sealed(conn, 2)
    spy = Spy(conn)
    claimed = await make.claimed(conn, await make.worker(conn), 10)
    await settle(spy, [settlement(task, DONE) for task in claimed])
    assert [name for name, _ in spy.sent].count("write_counts") == 1
    assert await made.counts(conn, batch.id) == (5, 0, 5, 0, 0, COMPLETE)
    assert await made.counts(conn, other.id) == (2, 0, 2, 0, 0, COMPLETE)


async def test_a_settle_without_batches_asks_for_none(conn: Connection) -> None:
    await make.ready(conn)
    [task] = await make.claimed(conn, await make.worker(conn))
    spy = Spy(conn)
    await settle(spy, [settlement(task, DONE)])
    assert {name for name, _ in spy.sent} <= {"settle", "settle_successes", "lock_outcomes", "settle_locked"}


async def test_a_member_that_comes_back_is_pending(conn: Connection) -> None:
    batch, _ = await sealed(conn)
    for outcome in (Failed(make.ERROR, 0.0), Snoozed(0.0), Released()):
        await run(conn, outcome)
        assert await made.counts(conn, batch.id) == (1, 1, 0, 0, 0, SEALED)


async def test_D2_a_failed_member_makes_it_a_failure(conn: Connection) -> None:
    batch, _ = await sealed(conn, 2)
    await run(conn, DONE)
    await run(conn, BROKEN)
    assert await made.counts(conn, batch.id) == (2, 0, 1, 1, 0, COMPLETE)
    assert await made.fired(conn, batch) == FAILURE


async def test_D2_a_lost_member_is_unattributed_and_its_late_success_is_counted(conn: Connection) -> None:
    batch, ids = await sealed(conn, 2)
    await lose(conn)
    assert await made.counts(conn, batch.id) == (2, 1, 0, 0, 1, SEALED)
    record = (await get_tasks(conn, ids[:1]))[ids[0]]
    assert record.status is TaskStatus.LOST
    await settle(conn, [Settlement(make.lease(record), DONE)])
    assert await made.counts(conn, batch.id) == (2, 1, 1, 0, 0, SEALED)
    await run(conn, DONE)
    assert await made.fired(conn, batch) == SUCCESS


async def test_D2_a_late_success_after_completion_corrects_the_counts_only(conn: Connection) -> None:
    batch, ids = await sealed(conn)
    await lose(conn)
    assert await made.counts(conn, batch.id) == (1, 0, 0, 0, 1, COMPLETE)
    record = (await get_tasks(conn, ids))[ids[0]]
    await settle(conn, [Settlement(make.lease(record), DONE, batch_id=batch.id)])
    assert await made.counts(conn, batch.id) == (1, 0, 1, 0, 0, COMPLETE)
    assert await made.fired(conn, batch) == FAILURE


async def test_a_discarded_member_is_unattributed(conn: Connection) -> None:
    batch, ids = await sealed(conn, 2)
    assert await discard(conn, ids) == 2
    assert await made.counts(conn, batch.id) == (2, 0, 0, 0, 2, COMPLETE)
    assert await made.fired(conn, batch) == FAILURE


async def test_A9_a_cancelled_member_is_unattributed_once_it_has_ended(conn: Connection) -> None:
    batch, ids = await sealed(conn, 2)
    [running] = await make.claimed(conn, await make.worker(conn), 1)
    assert await cancel(conn, ids) == 2
    assert await made.counts(conn, batch.id) == (2, 1, 0, 0, 1, SEALED)
    await settle(conn, [settlement(running, Cancelled(make.ERROR))])
    assert await made.counts(conn, batch.id) == (2, 0, 0, 0, 2, COMPLETE)


async def test_B2_a_member_refused_by_its_running_lock_is_unattributed(conn: Connection) -> None:
    lock: make.Options = {"lock_key": "lock", "lock_limit": 1, "lock_conflict": "discard"}
    await make.running(conn, **lock)
    batch = await made.opened(conn)
    await made.add(conn, batch.id, replaced(make.new_task(**lock), batch_id=batch.id))
    await seal(conn, batch.id)
    request = replace(make.request(await make.worker(conn)), meets_locks=True)
    assert await claim(conn, request) == []
    assert await made.counts(conn, batch.id) == (1, 0, 0, 0, 1, COMPLETE)
    assert await made.fired(conn, batch) == FAILURE


async def test_D2_a_retry_before_completion_makes_the_member_pending_again(conn: Connection) -> None:
    batch, ids = await sealed(conn, 2)
    await run(conn, BROKEN)
    assert await retry(conn, ids[:1], include_discarded=False) == 1
    assert await made.counts(conn, batch.id) == (2, 2, 0, 0, 0, SEALED)
    await run(conn, DONE, 2)
    assert await made.counts(conn, batch.id) == (2, 0, 2, 0, 0, COMPLETE)
    assert await made.fired(conn, batch) == SUCCESS


async def test_D2_a_retry_after_completion_moves_the_counts_and_fires_nothing_again(conn: Connection) -> None:
    batch, ids = await sealed(conn)
    await run(conn, BROKEN)
    callbacks = await make.claimed_from(conn, await make.worker(conn), "callbacks")
    assert await retry(conn, ids, include_discarded=False) == 1
    assert await made.counts(conn, batch.id) == (1, 1, 0, 0, 0, COMPLETE)
    await run(conn, DONE)
    assert await made.counts(conn, batch.id) == (1, 0, 1, 0, 0, COMPLETE)
    assert await made.fired(conn, batch) == FAILURE
    assert callbacks.attempt == 1


async def test_an_empty_batch_completes_when_it_is_sealed(conn: Connection) -> None:
    batch, _ = await sealed(conn, 0)
    assert await made.counts(conn, batch.id) == (0, 0, 0, 0, 0, COMPLETE)
    assert await made.fired(conn, batch) == SUCCESS


async def test_members_that_ended_before_the_seal_complete_the_batch_in_it(conn: Connection) -> None:
    batch = await made.opened(conn)
    await made.members(conn, batch.id, 2)
    await run(conn, DONE, 2)
    assert await made.counts(conn, batch.id) == (2, 0, 2, 0, 0, OPEN)
    await seal(conn, batch.id)
    assert await made.fired(conn, batch) == SUCCESS


async def test_a_sealed_batch_takes_no_member_and_stores_no_task(conn: Connection) -> None:
    batch, _ = await sealed(conn)
    task = make.new_task(batch_id=batch.id)
    with pytest.raises(BatchSealed):
        await made.add(conn, batch.id, task)
    assert await get_tasks(conn, [task.id]) == {}
    with pytest.raises(BatchSealed):
        await seal(conn, batch.id)


async def test_a_batch_that_is_not_there_is_said_to_be_missing(conn: Connection) -> None:
    missing, task = make.new_id(), make.new_task()
    with pytest.raises(BatchDoesNotExist):
        await made.add(conn, missing, task)
    for operation in (seal, cancel_batch, batches.read_batch):
        with pytest.raises(BatchDoesNotExist):
            await operation(conn, missing)
    assert await get_tasks(conn, [task.id]) == {}


async def test_what_is_rolled_back_was_never_added(conn: Connection) -> None:
    batch = await made.opened(conn)
    async with raw.taken_back(conn):
        await made.members(conn, batch.id, 2)
        await seal(conn, batch.id)
    assert await made.counts(conn, batch.id) == (0, 0, 0, 0, 0, OPEN)


async def test_a_pending_unique_task_is_a_member_once(conn: Connection) -> None:
    batch = await made.opened(conn)
    await made.add_unique(conn, batch.id, make.unique_call(batch_id=batch.id))
    async with conn.transaction():
        with pytest.raises(BatchMemberExists):
            await made.add_unique(conn, batch.id, make.unique_call(batch_id=batch.id))
        await made.members(conn, batch.id)
    assert (await made.counts(conn, batch.id))[0] == 2
    answers = await made.add_unique(conn, batch.id, make.unique_call(batch_id=batch.id), alone=False)
    assert [answer.created for answer in answers.values()] == [False]
    assert (await made.counts(conn, batch.id))[0] == 2


async def test_equal_unique_calls_of_one_bulk_call_are_one_member(conn: Connection) -> None:
    batch = await made.opened(conn)
    calls = [make.unique_call(position=at, batch_id=batch.id) for at in (0, 1)]
    task = make.new_task(batch_id=batch.id)
    answers = await enqueue_calls(conn, EnqueueCalls({2: task}, calls, Membership(batch.id, alone=False)))
    assert [answers[at].created for at in range(3)] == [True, False, True]
    assert await made.counts(conn, batch.id) == (2, 2, 0, 0, 0, OPEN)


async def test_a_refused_unique_call_writes_nothing(conn: Connection) -> None:
    rule = Unique(on_duplicate="raise")
    await made.add_unique(conn, (await made.opened(conn)).id, make.unique_call(rule))
    batch = await made.opened(conn)
    answers = await made.add_unique(conn, batch.id, make.unique_call(rule, batch_id=batch.id))
    assert [answer.refused for answer in answers.values()] == [True]
    assert (await made.counts(conn, batch.id))[0] == 0


async def test_an_enqueue_into_a_batch_may_be_repeated_after_a_lost_answer(conn: Connection) -> None:
    batch = await made.opened(conn)
    calls = EnqueueCalls({0: make.new_task(batch_id=batch.id)}, (), Membership(batch.id, alone=True))
    await enqueue_again(conn, calls)
    await seal(conn, batch.id)
    answers = await enqueue_again(conn, calls)
    assert answers[0].created
    assert await made.counts(conn, batch.id) == (1, 1, 0, 0, 0, SEALED)


async def test_a_callback_is_stored_as_it_was_given(conn: Connection) -> None:
    batch_id = make.new_id()
    task = make.new_task(
        queue_name="reports", priority=7, args='["ü", 1.5]', kwargs='{"a": null}', timeout=3.0, max_attempts=9,
        batch_id=batch_id,
    )  # fmt: skip
    batch = NewBatch(batch_id, make.ALIAS, "", [Callback("complete", task)])
    await batches.create_batch(conn, batch)
    await seal(conn, batch_id)
    record = await make.record(conn, task.id)
    assert (record.queue_name, record.priority, record.args, record.kwargs) == ("reports", 7, ["ü", 1.5], {"a": None})
    assert (record.timeout, record.max_attempts, record.status) == (3.0, 9, TaskStatus.READY)
    claimed = await make.claimed_from(conn, await make.worker(conn), "reports")
    assert claimed.batch_id == batch_id
