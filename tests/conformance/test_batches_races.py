"""Two connections at one batch: whoever commits second sees the first, and the batch completes once."""

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch import BatchRecord
from oxpull_async.domain.errors import BatchSealed, LockTimeout
from oxpull_async.domain.record import ClaimedTask
from oxpull_async.store.batch_care import recheck_members, recount_members
from oxpull_async.store.batches import seal
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_calls
from oxpull_async.store.operate import discard, retry
from oxpull_async.store.settle import settle
from tests.conformance.batched import BROKEN, COMPLETE, DONE, FAILURE, OPEN, SEALED, SUCCESS, run, sealed, settlement
from tests.conformance.meanwhile import Meanwhile
from tests.conformance.spy import Spy
from tests.fixtures import batches as made
from tests.fixtures import make, raw


async def holder_and_batch(conn: Connection) -> tuple[ClaimedTask, BatchRecord]:
    """Have a unique task of no batch run, and open a batch."""
    await enqueue_calls(conn, EnqueueCalls({}, [make.unique_call()]))
    [running] = await make.claimed(conn, await make.worker(conn))
    return running, await made.opened(conn)


async def test_C5_a_holder_that_settles_between_write_and_commit_is_counted(
    conn: Connection, other: Connection
) -> None:
    running, batch = await holder_and_batch(conn)
    async with conn.transaction():
        await made.add_unique(conn, batch.id, make.unique_call(batch_id=batch.id))
        if other.dialect.skips_locked:  # else nobody else writes meanwhile
            await settle(other, [settlement(running, DONE)])
    await settle(other, [settlement(running, DONE)])
    await seal(conn, batch.id)
    await recheck_members(other, 10)
    assert await made.counts(conn, batch.id) == (1, 0, 1, 0, 0, COMPLETE)
    assert await made.fired(conn, batch) == SUCCESS


async def test_C5_a_holder_that_is_discarded_between_write_and_commit_is_counted(
    conn: Connection, other: Connection
) -> None:
    call = make.unique_call()
    await enqueue_calls(conn, EnqueueCalls({}, [call]))
    batch = await made.opened(conn)
    async with conn.transaction():
        await made.add_unique(conn, batch.id, make.unique_call(batch_id=batch.id))
        if other.dialect.skips_locked:
            await discard(other, [call.task.id])
    await discard(other, [call.task.id])
    await seal(conn, batch.id)
    await recheck_members(other, 10)
    assert await made.counts(conn, batch.id) == (1, 0, 0, 0, 1, COMPLETE)


async def test_C5_taking_a_holder_as_a_member_locks_no_task(conn: Connection) -> None:
    _, batch = await holder_and_batch(conn)
    spy = Spy(conn)
    await made.add_unique(spy, batch.id, make.unique_call(batch_id=batch.id))
    assert not {"lock_tasks", "lock_followed_tasks", "declare_members"} & {name for name, _ in spy.sent}


async def test_D1_a_settle_beside_an_open_seal_waits_and_then_completes_the_batch_once(
    conn: Connection, other: Connection
) -> None:
    batch = await made.opened(conn)
    await made.members(conn, batch.id)
    [running] = await make.claimed(conn, await make.worker(conn))
    await raw.hurry(other)
    async with conn.transaction():
        await seal(conn, batch.id)
        with pytest.raises(LockTimeout):
            await settle(other, [settlement(running, DONE)])
    assert await made.counts(conn, batch.id) == (1, 1, 0, 0, 0, SEALED)
    await settle(other, [settlement(running, DONE)])
    assert await made.counts(conn, batch.id) == (1, 0, 1, 0, 0, COMPLETE)
    assert await made.fired(conn, batch) == SUCCESS


async def test_D1_a_seal_beside_an_open_settle_waits_and_then_sees_it(conn: Connection, other: Connection) -> None:
    batch = await made.opened(conn)
    await made.members(conn, batch.id)
    [running] = await make.claimed(conn, await make.worker(conn))
    await raw.hurry(other)
    async with conn.transaction():
        await settle(conn, [settlement(running, BROKEN)])
        with pytest.raises(LockTimeout):
            await seal(other, batch.id)
    assert await made.counts(conn, batch.id) == (1, 0, 0, 1, 0, OPEN)
    await seal(other, batch.id)
    assert await made.fired(conn, batch) == FAILURE


async def test_D1_an_add_beside_an_open_seal_waits_and_is_refused(conn: Connection, other: Connection) -> None:
    batch = await made.opened(conn)
    await raw.hurry(other)
    async with conn.transaction():
        await seal(conn, batch.id)
        with pytest.raises(LockTimeout):
            await made.members(other, batch.id)
    with pytest.raises(BatchSealed):
        await made.members(other, batch.id)
    assert await made.counts(conn, batch.id) == (0, 0, 0, 0, 0, COMPLETE)


async def test_D1_an_open_add_keeps_no_settle_of_the_batch_waiting(conn: Connection, other: Connection) -> None:
    batch = await made.opened(conn)
    await made.members(conn, batch.id)
    [running] = await make.claimed(conn, await make.worker(conn))
    async with conn.transaction():
        await made.members(conn, batch.id)
        if other.dialect.skips_locked:
            await settle(other, [settlement(running, DONE)])
    await settle(other, [settlement(running, DONE)])
    assert await made.counts(conn, batch.id) == (2, 1, 1, 0, 0, OPEN)


async def test_the_last_two_members_settled_side_by_side_complete_the_batch_once(
    conn: Connection, other: Connection
) -> None:
    batch, _ = await sealed(conn, 2)
    first, second = await make.claimed(conn, await make.worker(conn))
    await raw.hurry(other)
    async with conn.transaction():
        await settle(conn, [settlement(first, DONE)])
        with pytest.raises(LockTimeout):
            await settle(other, [settlement(second, DONE)])
    await settle(other, [settlement(second, DONE)])
    assert await made.counts(conn, batch.id) == (2, 0, 2, 0, 0, COMPLETE)
    assert await made.fired(conn, batch) == SUCCESS


async def test_a_member_that_settles_while_it_is_looked_at_is_counted_once(conn: Connection, other: Connection) -> None:
    batch, ids = await sealed(conn, 2)
    first, _ = await make.claimed(conn, await make.worker(conn))
    await raw.change(conn, ids[1], "status = 'FAILED', leased_by = NULL")

    async def ends(_: Connection) -> None:
        await settle(other, [settlement(first, DONE)])

    found = await recount_members(Meanwhile(conn, "scan_members", ends), batch.id, None, 10)
    assert (found.missing, found.unforeseen) == (0, 1)
    assert await made.counts(conn, batch.id) == (2, 0, 1, 1, 0, COMPLETE)


async def test_a_member_that_is_retried_while_it_is_looked_at_stays_pending(
    conn: Connection, other: Connection
) -> None:
    batch, ids = await sealed(conn, 2)
    await run(conn, BROKEN)
    await conn.run_script("UPDATE oxpull_batch_member SET counted = NULL")
    await conn.run_script("UPDATE oxpull_batch_counts SET failed = 0")

    async def again(_: Connection) -> None:
        await retry(other, ids, include_discarded=False)

    found = await recount_members(Meanwhile(conn, "scan_members", again), batch.id, None, 10)
    assert (found.missing, found.unforeseen) == (0, 0)
    assert await made.counts(conn, batch.id) == (2, 2, 0, 0, 0, SEALED)
