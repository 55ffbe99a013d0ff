"""The whole table of `domain/transitions.py`: each move from each status leads where it says, or changes nothing."""

from collections.abc import Awaitable, Callable, Mapping

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.lease import ExpiredTask
from oxpull_async.domain.outcome import Cancelled, Failed, Outcome, Released, Snoozed, Succeeded
from oxpull_async.domain.record import TaskRecord, TaskStatus
from oxpull_async.domain.transitions import Move, allowed
from oxpull_async.domain.unique import Unique
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.follow_ups import follow_ends, lock_free_keys
from oxpull_async.store.lease import reap
from oxpull_async.store.locks import hand_over
from oxpull_async.store.node_counts import follow_nodes
from oxpull_async.store.operate import cancel, discard, retry, run_now
from oxpull_async.store.unique import enqueue_unique
from oxpull_async.store.workflows import seal_workflow
from tests.fixtures import make, raw
from tests.fixtures import workflows as flows

KEY = "a key"
LOCKED = f"lock_key = '{KEY}', lock_limit = 1, lock_conflict = 'wait'"
NEED_A_LOCK = (Move.PARK, Move.REFUSE, Move.HAND_OVER)
REPLACE = Unique(on_duplicate="replace")

type Mover = Callable[[Connection, TaskRecord], Awaitable[bool]]


async def claims(conn: Connection, task: TaskRecord) -> bool:
    return task.id in [one.id for one in await make.claimed(conn, await make.worker(conn))]


def settles(outcome: Outcome) -> Mover:
    async def move(conn: Connection, task: TaskRecord) -> bool:
        return await make.settled(conn, task, outcome) is not None

    return move


def reaps(max_attempts: int) -> Mover:
    async def move(conn: Connection, task: TaskRecord) -> bool:
        row = ExpiredTask(
            task_id=task.id, epoch=task.epoch, attempts=1, max_attempts=max_attempts,
            begun=task.status is TaskStatus.RUNNING, refunds=2, cancel_requested=False, worker_id=make.new_id(),
        )  # fmt: skip
        return await reap(conn, row, make.ERROR) is not None

    return move


async def retries(conn: Connection, task: TaskRecord) -> bool:
    return await retry(conn, [task.id], include_discarded=False) == 1


async def retries_discarded(conn: Connection, task: TaskRecord) -> bool:
    return await retry(conn, [task.id], include_discarded=True) == 1


async def discards(conn: Connection, task: TaskRecord) -> bool:
    return await discard(conn, [task.id]) == 1


async def cancels(conn: Connection, task: TaskRecord) -> bool:
    return await cancel(conn, [task.id]) == 1


async def runs_now(conn: Connection, task: TaskRecord) -> bool:
    """Run a task now that was to run in a while."""
    if task.status is TaskStatus.READY:
        later = "'2999-01-01 00:00:00.000000'"
        await raw.change(conn, task.id, f"run_after = {later}, available_at = {later}, due = 0")
    return await run_now(conn, [task.id]) == 1


async def parks(conn: Connection, task: TaskRecord) -> bool:
    """Claim while an attempt of another queue holds the lock."""
    await raw.change(conn, (await make.running(conn, queue_name="elsewhere", priority=9)).id, LOCKED)
    request = ClaimRequest(await make.worker(conn), make.ALIAS, (make.QUEUE,), 10, meets_locks=True)
    return task.id not in [one.id for one in await claim(conn, request)] and await has_changed(conn, task)


async def refuses(conn: Connection, task: TaskRecord) -> bool:
    await raw.change(conn, task.id, "lock_conflict = 'discard'")
    return await parks(conn, task)


async def hands_over(conn: Connection, task: TaskRecord) -> bool:
    if task.status is TaskStatus.WAITING:
        await raw.change(conn, task.id, "waiting_for = 'lock'")
    async with conn.transaction():
        return await hand_over(conn, [KEY]) == 1


async def follows(conn: Connection, task: TaskRecord) -> bool:
    """End the holder of a key whose follow-up the task is."""
    if task.status is TaskStatus.WAITING:
        await raw.change(conn, task.id, "waiting_for = 'follow_up'")
    await raw.hold_key(conn, KEY, make.new_id(), task.id)
    async with conn.transaction():
        await follow_ends(conn, {task.id: KEY}, await lock_free_keys(conn, [KEY]))
    return await has_changed(conn, task)


async def rewrites(conn: Connection, task: TaskRecord) -> bool:
    if task.status is TaskStatus.WAITING:
        await raw.change(conn, task.id, "waiting_for = 'lock'")
    await raw.hold_key(conn, KEY, task.id)
    return (await enqueue_unique(conn, make.unique_call(REPLACE, key=KEY, args="[2]"))).record.id == task.id and (
        await has_changed(conn, task)
    )


async def unblocks(conn: Connection, task: TaskRecord) -> bool:
    workflow = await flows.opened(conn)
    await raw.make_node(conn, workflow.id, task.id, unmet=0)
    return await looks_again(conn, workflow.id, task)


async def cascades(conn: Connection, task: TaskRecord) -> bool:
    """Look at a node behind one that was discarded."""
    workflow = await flows.opened(conn)
    [upstream] = await flows.add(conn, workflow.id, flows.node("first"))
    await discard(conn, [upstream])
    await seal_workflow(conn, workflow.id)
    await raw.make_node(conn, workflow.id, task.id, unmet=1, failed=upstream)
    return await looks_again(conn, workflow.id, task)


async def looks_again(conn: Connection, workflow_id: str, task: TaskRecord) -> bool:
    async with conn.transaction():
        await follow_nodes(conn, {}, [workflow_id], again=[task.id])
    return await has_changed(conn, task)


async def retries_node(conn: Connection, task: TaskRecord) -> bool:
    await raw.make_node(conn, (await flows.opened(conn)).id, task.id, unmet=1)
    return await retry(conn, [task.id], include_discarded=True) == 1


async def has_changed(conn: Connection, task: TaskRecord) -> bool:
    return await make.record(conn, task.id) != task


MOVES: Mapping[Move, Mover] = {
    Move.CLAIM: claims,
    Move.PARK: parks,
    Move.REFUSE: refuses,
    Move.HAND_OVER: hands_over,
    Move.FOLLOW: follows,
    Move.REWRITE: rewrites,
    Move.SUCCEED: settles(Succeeded("1")),
    Move.FAIL: settles(Failed(make.ERROR, None)),
    Move.RETRY_LATER: settles(Failed(make.ERROR, 5.0)),
    Move.SNOOZE: settles(Snoozed(5.0)),
    Move.ACKNOWLEDGE_CANCEL: settles(Cancelled(make.ERROR)),
    Move.RELEASE: settles(Released()),
    Move.REAP: reaps(max_attempts=3),
    Move.REAP_LAST: reaps(max_attempts=1),
    Move.RETRY: retries,
    Move.RETRY_DISCARDED: retries_discarded,
    Move.DISCARD: discards,
    Move.CANCEL: cancels,
    Move.RUN_NOW: runs_now,
    Move.UNBLOCK: unblocks,
    Move.CASCADE: cascades,
    Move.RETRY_NODE: retries_node,
}


@pytest.mark.parametrize("move", Move, ids=lambda move: move.name)
@pytest.mark.parametrize("status", TaskStatus, ids=str)
async def test_a_move_leads_where_the_table_says_or_changes_nothing(
    conn: Connection, status: TaskStatus, move: Move
) -> None:
    before = await make.BUILDERS[status](conn)
    if move in NEED_A_LOCK:
        await raw.change(conn, before.id, LOCKED)
    moved = await MOVES[move](conn, before)
    after = await make.record(conn, before.id)
    target = allowed(status, move)
    assert moved == (target is not None)
    if target is None:
        assert after == before
    else:
        assert after.status is target
        assert after != before
