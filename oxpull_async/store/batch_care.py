"""What is done for batches beside the moves of their members: marks, recounts, pruning."""

import json
from dataclasses import dataclass, replace

from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch import BatchId, BatchStatus
from oxpull_async.domain.batch_counts import counted_as
from oxpull_async.domain.record import TaskId, TaskStatus, task_id, wire_id
from oxpull_async.store.batch_counts import count_members, lock_counts, write_counts
from oxpull_async.store.batches import LATE, cancel_members, expire_batch, scan_members
from oxpull_async.store.results import get_tasks


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """A batch that is not complete.

    `age` is in seconds, `counted` how many members have been counted.
    """

    id: BatchId
    name: str
    backend_alias: str
    status: BatchStatus
    age: float
    is_expired: bool
    is_cancelled: bool
    total: int | None
    counted: int

    @property
    def is_overdue(self) -> bool:
        """Whether it should have completed when its last member was counted."""
        return self.status is BatchStatus.SEALED and self.total is not None and self.counted >= self.total


@dataclass(frozen=True, slots=True)
class Recounted:
    """What one step of a walk put right, and after which member the next one starts.

    `missing`: members whose rows had been deleted by hand; `late`: those that a worker ran without knowing their batch
    and died before it counted them; `unforeseen`: others, whose move nobody had counted; `expired`: the batch itself
    was cancelled, being open for too long.
    """

    missing: int
    unforeseen: int
    after: TaskId | None
    expired: bool = False
    late: int = 0

    @property
    def put_right(self) -> int:
        """How much of it was not as it should have been."""
        return self.missing + self.unforeseen + self.late + self.expired


async def open_batches(conn: Connection, after: BatchId | None, limit: int) -> list[OpenBatch]:
    """Return the next batches that are not complete, oldest first."""
    rows = await conn.fetch("open_batches", after=None if after is None else wire_id(after), limit=limit)
    return [
        OpenBatch(
            task_id(row[0]),
            row[1],
            row[2],
            BatchStatus(row[3]),
            float(row[4]),
            bool(row[5]),
            bool(row[6]),
            row[7],
            int(row[8]),
        )
        for row in rows
    ]


async def recheck_members(conn: Connection, limit: int) -> int:
    """Look at members that were there before they were added; returns how many.

    From then on whatever ends such a task counts it. An attempt that runs already does not know of it and counts in a
    transaction of its own: that member is late until then.
    """
    rows = await conn.fetch("find_marked_members", limit=limit)
    if not rows:
        return 0
    first = dict(sorted(((task_id(row[0]), task_id(row[1])) for row in rows), reverse=True))
    ids = sorted(first)
    names = json.dumps([wire_id(id_) for id_ in ids])
    declared = [{"task_id": wire_id(id_), "batch_id": wire_id(first[id_])} for id_ in ids]
    async with conn.transaction():
        await conn.execute("declare_members", members=json.dumps(declared))
        found = await conn.fetch("lock_followed_tasks", ids=names)
        statuses: dict[TaskId, TaskStatus | None] = dict.fromkeys(ids)
        statuses |= {task_id(row[0]): TaskStatus(row[1]) for row in found}
        members = [(task_id(row[0]), task_id(row[1])) for row in await conn.fetch("lock_members", ids=names)]
        marks = [
            {
                "task_id": wire_id(id_),
                "batch_id": wire_id(batch),
                "mark": LATE if statuses[id_] is TaskStatus.RUNNING else None,
            }
            for id_, batch in members  # and not what others commit meanwhile: that is not counted below
        ]
        await conn.execute("clear_member_marks", members=json.dumps(marks))
        await count_members(conn, statuses)
    return len(ids)


async def recount_members(conn: Connection, batch_id: BatchId, after: TaskId | None, limit: int) -> Recounted:
    """Compare the next members of a batch with their tasks, and count those that differ.

    A short transaction. Locks no task: whoever moves one counts it afterwards, under the same lock.
    """
    members = await scan_members(conn, batch_id, after, limit)
    last = members[-1].task_id if len(members) == limit else None
    doubtful = [member for member in members if not member.is_marked and member.counted != counted_as(member.status)]
    if not doubtful:
        return Recounted(0, 0, last)
    ids = [member.task_id for member in doubtful]
    async with conn.transaction():
        await conn.fetch("lock_members", ids=json.dumps([wire_id(id_) for id_ in ids]))
        records = await get_tasks(conn, ids)
        missing = await count_members(conn, {id_: None for id_ in ids if id_ not in records})
        late_ids = {member.task_id for member in doubtful if member.is_late}
        late = await count_members(conn, {id_: one.status for id_, one in records.items() if id_ in late_ids})
        unforeseen = await count_members(conn, {id_: one.status for id_, one in records.items() if id_ not in late_ids})
    return Recounted(missing, unforeseen, last, late=late)


async def look_after(conn: Connection, batch: OpenBatch, after: TaskId | None, limit: int) -> Recounted:
    """Recount the next members of a batch; after the last one, see to the batch's own end."""
    step = await recount_members(conn, batch.id, after, limit)
    if step.after is not None:
        return step
    if batch.is_overdue and await complete_overdue(conn, batch.id):
        step = replace(step, unforeseen=step.unforeseen + 1)
    if batch.is_expired and batch.status is BatchStatus.OPEN:
        return replace(step, expired=await expire_batch(conn, batch.id))
    if batch.is_expired and batch.is_cancelled:  # whoever did that may have died before the members were cancelled
        return replace(step, expired=await cancel_members(conn, batch.id) > 0)
    return step


async def complete_overdue(conn: Connection, batch_id: BatchId) -> bool:
    """Complete a sealed batch without pending members; False when it is not due any more."""
    async with conn.transaction():
        due = [counts for counts in (await lock_counts(conn, [batch_id])).values() if counts.is_due]
        await write_counts(conn, due)
    return bool(due)
