"""Counting the members of batches, in the transaction that moves them.

A member row says what its task is counted as. To count is to compare that with the task's status and to write the
difference, so counting twice is the same as counting once.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch import BatchId, BatchRecord, batch_record
from oxpull_async.domain.batch_counts import Counts, complete_due, counted_as
from oxpull_async.domain.errors import Conflict
from oxpull_async.domain.record import NewTask, TaskId, TaskStatus, instant_or_none, task_id, wire_id
from oxpull_async.domain.workflow import WorkflowRecord
from oxpull_async.store.enqueue import enqueue_many, notify, task_columns

type Statuses = Mapping[TaskId, TaskStatus | None]


async def count_members(conn: Connection, statuses: Statuses) -> int:
    """Count tasks that have moved to these statuses in all their batches.

    No status: the row is gone. The caller has moved them in the same transaction, or locks nothing and repeats what
    somebody else has left undone.
    Completes the batches that are due. Returns how many members had to be counted anew.
    """
    if not statuses:
        return 0
    members = await conn.fetch("lock_members", ids=_ids(statuses))
    moves = [
        (task_id(row[0]), task_id(row[1]), row[2], new)
        for row in members
        if row[2] != (new := counted_as(statuses[task_id(row[0])]))
    ]
    if not moves:
        return 0
    counts = await lock_counts(conn, {batch_id for _, batch_id, _, _ in moves})
    for _, batch_id, old, new in moves:
        if batch_id in counts:
            counts[batch_id] = counts[batch_id].moved(old, new)
    rows = [{"task_id": wire_id(id_), "batch_id": wire_id(batch), "counted": new} for id_, batch, _, new in moves]
    await conn.execute("set_counted", members=json.dumps(rows))
    await write_counts(conn, list(counts.values()))
    return len(moves)


async def lock_counts(conn: Connection, batch_ids: Iterable[BatchId]) -> dict[BatchId, Counts]:
    """Lock the counts of batches in order, and return them as they are now."""
    rows = await conn.fetch("lock_counts", ids=_ids(batch_ids))
    return {counts.id: counts for counts in map(Counts.from_row, rows)}


async def write_counts(conn: Connection, counts: Sequence[Counts]) -> None:
    """Write counts that the caller has locked, and complete the batches that are due."""
    written, due = complete_due(counts)
    await conn.execute("write_counts", counts=json.dumps([count_columns(one) for one in written]))
    if due:
        records = await get_batches(conn, due)
        for hidden in sorted(due.keys() - records.keys()):
            await _require_deleted(conn, hidden)
        await fire_callbacks(conn, records.values(), due)


async def get_batches(conn: Connection, ids: Iterable[BatchId]) -> dict[BatchId, BatchRecord]:
    """Return the batches that exist, by id."""
    rows = await conn.fetch("get_batches", ids=_ids(ids))
    records = (batch_record(row, json.loads(row[8])) for row in rows)
    return {record.id: record for record in records}


def stored_callback(when: str, task: NewTask) -> dict[str, Any]:
    """Return a callback as it is stored with its batch or workflow."""
    return {"when": when, "task": task_columns(task)}


async def fire_callbacks(
    conn: Connection, records: Iterable[BatchRecord | WorkflowRecord], due: Mapping[str, frozenset[str]]
) -> None:
    """Store the callbacks of what completes now.

    Their ids are stored with it, so none comes twice.
    """
    tasks = [
        _callback_task(callback["task"])
        for record in records
        for callback in record.callbacks
        if callback["when"] in due[record.id] and not callback.get("spent")
    ]
    if not tasks:
        return
    await enqueue_many(conn, sorted(tasks, key=lambda task: task.id))
    for queue_name in sorted({task.queue_name for task in tasks}):
        await notify(conn, queue_name)


async def _require_deleted(conn: Connection, batch_id: BatchId) -> None:
    """Raise Conflict for a batch that is there, though not in the snapshot that this transaction reads."""
    if await conn.fetchrow("lock_batch", id=wire_id(batch_id)) is not None:
        raise Conflict(f"batch {batch_id} is newer than what this transaction may read: repeat the transaction")


def _callback_task(columns: Mapping[str, Any]) -> NewTask:
    return NewTask(
        **{
            **columns,
            "id": task_id(columns["id"]),
            "batch_id": _id_or_none(columns["batch_id"]),
            "workflow_id": _id_or_none(columns.get("workflow_id")),
            "run_after": instant_or_none(columns["run_after"]),
        }
    )


def _id_or_none(wired: str | None) -> str | None:
    return None if wired is None else task_id(wired)


def count_columns(counts: Counts) -> dict[str, object]:
    """Return counts as the statements take them that write them."""
    return {
        "id": wire_id(counts.id),
        "status": counts.status,
        "total": counts.total,
        "succeeded": counts.succeeded,
        "failed": counts.failed,
        "unattributed": counts.unattributed,
        "cancelled": counts.cancelled,
    }


def _ids(ids: Iterable[str]) -> str:
    return json.dumps(sorted(wire_id(id_) for id_ in ids))
