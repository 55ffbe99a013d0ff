"""C5, D2: nobody's end goes uncounted, whatever happens between looking at a task, moving it and counting it."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch import BatchId
from oxpull_async.domain.errors import ConnectionLost, Contended
from oxpull_async.domain.record import TaskId
from oxpull_async.store.batch_care import recheck_members, recount_members
from oxpull_async.store.batches import seal
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_calls
from oxpull_async.store.lease import expired, reap
from oxpull_async.store.operate import cancel, discard, retry
from oxpull_async.store.settle import settle
from tests.conformance.batched import BROKEN, COMPLETE, DONE, FAILURE, OPEN, SEALED, run, sealed, settlement
from tests.conformance.meanwhile import Meanwhile
from tests.fixtures import batches as made
from tests.fixtures import make, raw
from tests.fixtures.faulty import Fault, FaultyConnection

type Move = Callable[[Connection, list[TaskId]], Awaitable[int]]


async def adopted(conn: Connection) -> tuple[BatchId, TaskId]:
    """Open a batch whose member is a pending task of no batch, at which no pass has looked yet."""
    call = make.unique_call(max_attempts=1)
    await enqueue_calls(conn, EnqueueCalls({}, [call]))
    batch = await made.opened(conn)
    await made.add_unique(conn, batch.id, make.unique_call(batch_id=batch.id))
    return batch.id, call.task.id


async def again(conn: Connection, ids: list[TaskId]) -> int:
    return await retry(conn, ids, include_discarded=False)


@pytest.mark.parametrize("move", [discard, cancel], ids=["discard", "cancel"])
async def test_an_end_that_was_decided_on_before_the_pass_is_counted(
    conn: Connection, other: Connection, move: Move
) -> None:
    batch, holder = await adopted(conn)
    assert await move(Meanwhile(conn, "keys_of_tasks", look(other)), [holder]) == 1
    assert await made.counts(conn, batch) == (1, 0, 0, 0, 1, OPEN)


async def test_a_retry_that_was_decided_on_before_the_pass_is_counted(conn: Connection, other: Connection) -> None:
    batch, holder = await adopted(conn)
    await run(conn, BROKEN)
    assert await again(Meanwhile(conn, "keys_of_tasks", look(other)), [holder]) == 1
    assert await made.counts(conn, batch) == (1, 1, 0, 0, 0, OPEN)


async def test_a_loss_that_was_found_before_the_pass_is_counted(conn: Connection, other: Connection) -> None:
    batch, _ = await adopted(conn)
    worker = await make.worker(conn)
    assert await make.claimed(conn, worker)
    await raw.forget_worker(conn, worker)
    [row] = await expired(conn, 10)
    await recheck_members(other, 10)
    assert await reap(conn, row, make.ERROR) is not None
    assert await made.counts(conn, batch) == (1, 0, 0, 0, 1, OPEN)


def look(conn: Connection) -> Callable[[Connection], Awaitable[object]]:
    """Have another worker's pass look at the marks."""

    async def happens(_: Connection) -> None:
        await recheck_members(conn, 10)

    return happens


async def test_a_mark_that_is_committed_while_another_of_its_task_is_followed_is_followed_too(
    conn: Connection, other: Connection
) -> None:
    first, _ = await adopted(conn)
    [running] = await make.claimed(conn, await make.worker(conn))
    second = (await made.opened(conn)).id
    await raw.hurry(other)
    async with AsyncExitStack() as uncommitted:
        await uncommitted.enter_async_context(conn.transaction())
        await made.add_unique(conn, second, make.unique_call(batch_id=second))
        if other.dialect.skips_locked:  # else nobody else writes meanwhile
            await settle(other, [settlement(running, DONE)])
            await recheck_members(Meanwhile(other, "lock_members", lambda _: uncommitted.aclose()), 10)
    await settle(other, [settlement(running, DONE)])
    await recheck_members(other, 10)
    for batch in (first, second):
        assert await made.counts(conn, batch) == (1, 0, 1, 0, 0, OPEN)


async def test_a_crash_between_an_end_and_its_late_count_is_repaired_and_no_alarm(
    conn: Connection, other: Connection
) -> None:
    batch, _ = await adopted(conn)
    await seal(conn, batch)
    [running] = await make.claimed(conn, await make.worker(conn))
    await recheck_members(conn, 10)
    with pytest.raises(ConnectionLost):
        await settle(FaultyConnection(conn, Fault("lock_followed_tasks", committed=False)), [settlement(running, DONE)])
    assert await made.counts(other, batch) == (1, 1, 0, 0, 0, SEALED)
    found = await recount_members(other, batch, None, 10)
    assert (found.missing, found.late, found.unforeseen) == (0, 1, 0)
    assert await made.counts(other, batch) == (1, 0, 1, 0, 0, COMPLETE)


async def test_once_its_end_is_counted_a_late_member_is_looked_at_like_any_other(conn: Connection) -> None:
    batch, holder = await adopted(conn)
    await made.members(conn, batch)
    await seal(conn, batch)
    [running] = await make.claimed(conn, await make.worker(conn), 1)
    await recheck_members(conn, 10)
    await settle(conn, [settlement(running, BROKEN)])
    await raw.change(conn, holder, "status = 'SUCCESSFUL'")
    found = await recount_members(conn, batch, None, 10)
    assert (found.missing, found.late, found.unforeseen) == (0, 0, 1)


async def test_a_late_member_that_the_walk_counts_before_its_worker_does_is_counted_once_and_no_alarm(
    conn: Connection, other: Connection
) -> None:
    batch, _ = await adopted(conn)
    await seal(conn, batch)
    [running] = await make.claimed(conn, await make.worker(conn))
    await recheck_members(conn, 10)

    async def walked(_: Connection) -> None:
        found = await recount_members(other, batch, None, 10)
        assert (found.late, found.unforeseen) == (1, 0)

    if conn.dialect.update_returns_rows:  # else the first transaction is still open then
        written_by = "settle_successes" if conn.dialect.has_arrays else "settle"
        await settle(Meanwhile(conn, written_by, walked), [settlement(running, DONE)])
    await settle(conn, [settlement(running, DONE)])
    assert await made.counts(conn, batch) == (1, 0, 1, 0, 0, COMPLETE)


async def test_a_snapshot_older_than_a_batch_completes_it_with_its_callbacks_or_not_at_all(
    conn: Connection, other: Connection
) -> None:
    later = None
    with suppress(Contended):
        async with raw.snapshot(conn):
            later = await sealed(other)
            await discard(conn, later[1])
    if later is None:  # the snapshot belongs to the only writer
        return
    batch, ids = later
    await discard(other, ids)
    assert await made.counts(other, batch.id) == (1, 0, 0, 0, 1, COMPLETE)
    assert await made.fired(other, batch) == FAILURE
