"""Batches as their makers see them: create, add members, seal, cancel."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.batch import BatchId, BatchRecord, BatchStatus, NewBatch
from oxpull_async.domain.errors import BatchDoesNotExist, BatchMemberExists, BatchSealed
from oxpull_async.domain.record import TaskId, TaskStatus, task_id, wire_id
from oxpull_async.store.batch_counts import get_batches, lock_counts, stored_callback, write_counts
from oxpull_async.store.operate import cancel
from oxpull_async.store.unique_at_once import Answers
from oxpull_async.store.unique_isolation import repeatable

MEMBERS_AT_ONCE = 10_000
CANCELLED_AT_ONCE = 1_000
MARKED, LATE = 1, 2
"""What stands beside members that were there before: no pass has looked yet; an attempt may not know of the batch."""


@dataclass(frozen=True, slots=True)
class Membership:
    """The batch that the tasks of an enqueue join.

    `alone`: it is one call, which refuses a task that is a member already.
    """

    batch_id: BatchId
    alone: bool


@dataclass(frozen=True, slots=True)
class ScannedMember:
    """A member as a walk over its batch finds it.

    What it is counted as, and its task's status (None: no task). A marked one is looked at anyway; the end of a late
    one is counted in a transaction of its own.
    """

    task_id: TaskId
    counted: str | None
    status: TaskStatus | None
    is_marked: bool
    is_late: bool


async def create_batch(conn: Connection, batch: NewBatch) -> BatchRecord:
    """Store a batch, open and empty."""
    callbacks = [stored_callback(callback.when, callback.task) for callback in batch.callbacks]
    async with conn.transaction():
        await conn.execute(
            "insert_batch",
            id=wire_id(batch.id),
            backend_alias=batch.backend_alias,
            name=batch.name,
            callbacks=json.dumps(callbacks),
            expire_after=batch.expire_after,
        )
        await conn.execute("insert_batch_counts", id=wire_id(batch.id))
        return await read_batch(conn, batch.id)


async def read_batch(conn: Connection, batch_id: BatchId) -> BatchRecord:
    """Return a batch as it is now; raises BatchDoesNotExist."""
    found = (await get_batches(conn, [batch_id])).get(batch_id)
    if found is None:
        raise BatchDoesNotExist(f"no batch has the id {batch_id}")
    return found


async def add_members(
    conn: Connection, membership: Membership, enqueue: Callable[[], Awaitable[Answers]], *, again: bool = False
) -> Answers:
    """Make what an enqueue stores or finds members of a batch, in one transaction.

    A task that was there already is a member too; its row is not locked, and the next pass looks at its end. `again`
    repeats an enqueue whose outcome is unknown: what is a member already was made one by it.

    Raises: BatchSealed, BatchDoesNotExist, BatchMemberExists; nothing is written then.
    """
    async with repeatable(conn), conn.transaction():
        answers = await enqueue()
        if any(answer.refused for answer in answers.values()):
            return answers
        ids = {answer.record.id: answer.created for answer in answers.values()}
        ids |= {answer.record.id: True for answer in answers.values() if answer.created}
        row = await _lock(conn, membership.batch_id)
        members = await _members_among(conn, membership.batch_id, ids)
        if again and members == ids.keys():
            return answers
        _require_open(membership.batch_id, row)
        if members and membership.alone and not again:
            raise BatchMemberExists(
                f"task {next(iter(members))} is pending under this call's unique key, and a member of batch "
                f"{membership.batch_id} ({row[2]!r}) already"
            )
        await _insert(conn, membership.batch_id, {id_: new for id_, new in ids.items() if id_ not in members})
    return answers


async def seal(conn: Connection, batch_id: BatchId) -> None:
    """Take no more members; the batch completes at once if all of them have ended.

    Raises: BatchSealed, BatchDoesNotExist.
    """
    async with conn.transaction():
        row = await _lock(conn, batch_id)
        _require_open(batch_id, row)
        await _seal(conn, batch_id, row[0], cancelled=False)


async def cancel_batch(conn: Connection, batch_id: BatchId) -> bool:
    """Cancel the members that have not ended, and seal the batch, which is then a failure.

    False when it is complete already. In short transactions unless one is open.

    Raises: BatchDoesNotExist.
    """
    if (await read_batch(conn, batch_id)).progress.status is BatchStatus.COMPLETE:
        return False
    cancelled = await cancel_members(conn, batch_id)
    async with conn.transaction():
        row = await _lock(conn, batch_id)
        if not row[1]:
            await _seal(conn, batch_id, row[0], cancelled=True)
        elif not await _mark_cancelled(conn, batch_id):
            return cancelled > 0
    await cancel_members(conn, batch_id)
    return True


async def expire_batch(conn: Connection, batch_id: BatchId) -> bool:
    """Cancel a batch that is still open; False when it was sealed in time.

    Sealing comes first, so that it may not be sealed by its maker meanwhile. Whoever dies before the members are
    cancelled leaves them to the next `cancel_members`.
    """
    async with conn.transaction():
        row = await conn.fetchrow("lock_batch", id=wire_id(batch_id))
        if row is None or row[1]:
            return False
        await _seal(conn, batch_id, row[0], cancelled=True)
    await cancel_members(conn, batch_id)
    return True


async def scan_members(conn: Connection, batch_id: BatchId, after: TaskId | None, limit: int) -> list[ScannedMember]:
    """Return the next members of a batch in order of their ids."""
    place = None if after is None else wire_id(after)
    rows = await conn.fetch("scan_members", batch_id=wire_id(batch_id), after=place, limit=limit)
    return [
        ScannedMember(
            task_id(row[0]), row[1], None if row[2] is None else TaskStatus(row[2]), row[3] == MARKED, row[3] == LATE
        )
        for row in rows
    ]


async def cancel_members(conn: Connection, batch_id: BatchId) -> int:
    """Cancel the members of a batch that have not ended; returns how many changed."""
    after: TaskId | None = None
    changed = 0
    while members := await scan_members(conn, batch_id, after, CANCELLED_AT_ONCE):
        pending = [member.task_id for member in members if member.counted is None and member.status is not None]
        if pending:
            changed += await cancel(conn, pending)
        after = members[-1].task_id
    return changed


async def _seal(conn: Connection, batch_id: BatchId, members: int, *, cancelled: bool) -> None:
    await conn.execute("seal_batch", id=wire_id(batch_id))
    counts = (await lock_counts(conn, [batch_id])).values()
    await write_counts(
        conn, [replace(one, status=BatchStatus.SEALED, total=members, cancelled=cancelled) for one in counts]
    )


async def _mark_cancelled(conn: Connection, batch_id: BatchId) -> bool:
    """Have a sealed batch fail when it completes; False when it is complete already."""
    counts = [one for one in (await lock_counts(conn, [batch_id])).values() if one.status is BatchStatus.SEALED]
    await write_counts(conn, [replace(one, cancelled=True) for one in counts])
    return bool(counts)


async def _lock(conn: Connection, batch_id: BatchId) -> Row:
    row = await conn.fetchrow("lock_batch", id=wire_id(batch_id))
    if row is None:
        raise BatchDoesNotExist(f"no batch has the id {batch_id}")
    return row


def _require_open(batch_id: BatchId, row: Row) -> None:
    if row[1]:
        raise BatchSealed(
            f"batch {batch_id} ({row[2]!r}) is sealed and takes no more members; nothing was written. Make a new batch"
        )


async def _members_among(conn: Connection, batch_id: BatchId, ids: dict[TaskId, bool]) -> set[TaskId]:
    """Return those of the tasks that are members; new ones are none, but for a repeated enqueue's."""
    found: set[TaskId] = set()
    for part in _parts(sorted(ids)):
        names = json.dumps([wire_id(id_) for id_ in part])
        rows = await conn.fetch("find_members", batch_id=wire_id(batch_id), ids=names)
        found |= {task_id(row[0]) for row in rows}
    return found


async def _insert(conn: Connection, batch_id: BatchId, ids: dict[TaskId, bool]) -> None:
    """Make tasks members, those that were there before with a mark."""
    for part in _parts(sorted(ids)):
        rows = [{"id": wire_id(id_), "recheck": None if ids[id_] else MARKED} for id_ in part]
        await conn.execute("insert_members", batch_id=wire_id(batch_id), members=json.dumps(rows))
    if ids:
        await conn.execute("grow_batch", id=wire_id(batch_id), count=len(ids))


def _parts(ids: Sequence[TaskId]) -> list[Sequence[TaskId]]:
    return [ids[start : start + MEMBERS_AT_ONCE] for start in range(0, len(ids), MEMBERS_AT_ONCE)]
