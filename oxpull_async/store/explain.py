"""Gather what decides whether a task may be claimed."""

import json

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.explanation import (
    NAMED_EDGES,
    NAMED_HOLDERS,
    EdgeFacts,
    Explanation,
    Facts,
    LimitFacts,
    LockFacts,
    WorkerFacts,
    explain,
)
from oxpull_async.domain.rate_windows import windows_of
from oxpull_async.domain.record import TaskId, TaskRecord, TaskStatus, task_id, wire_id
from oxpull_async.domain.running_lock import OnConflict
from oxpull_async.domain.workflow import OnFailure
from oxpull_async.store.health import WorkerState, workers
from oxpull_async.store.rate_limits import declared_limits
from oxpull_async.store.rate_windows import read_rooms
from oxpull_async.store.results import get_task, get_tasks
from oxpull_async.store.unique import find


async def explain_task(conn: Connection, backend_alias: str, id_: TaskId) -> Explanation | None:
    """Say why a task does not run, by the claim's own conditions.

    None when no task of this alias has the id. It locks nothing, so the answer is about an instant that may be past.
    """
    record = await get_task(conn, id_)
    conditions = await conn.fetchrow("claim_conditions", id=wire_id(id_))
    if record is None or conditions is None or record.backend_alias != backend_alias:
        return None
    return explain(
        Facts(
            record=record,
            is_due=bool(conditions[0]),
            is_paused=bool(conditions[1]),
            workers=[_worker(worker) for worker in await workers(conn, backend_alias)],
            lock=await _lock(conn, record, conditions),
            key_holder=await _key_holder(conn, conditions[5]) if record.waiting_for == "follow_up" else None,
            limits=await _limits(conn, record, conditions[6]),
            edges=await _edges(conn, id_) if record.waiting_for == "edges" else (),
        )
    )


async def _lock(conn: Connection, record: TaskRecord, conditions: Row) -> LockFacts | None:
    """Read who holds the lock that a task needs; a task that has ended needs none.

    Who ended between the two reads holds none any more.
    """
    key, limit, on_conflict = conditions[2:5]
    if key is None or record.status.is_finished:
        return None
    slots = [task_id(row[1]) for row in await conn.fetch("taken_slots", keys=json.dumps([key]))]
    others = sorted(id_ for id_ in slots if id_ != record.id)
    named = others[:NAMED_HOLDERS]
    read = await get_tasks(conn, named) if named else {}
    holders = [read[id_] for id_ in named if id_ in read and read[id_].status is TaskStatus.RUNNING]
    taken = len(others) - len(named) + len(holders)
    return LockFacts(key, limit, OnConflict(on_conflict), taken, holders)


async def _limits(conn: Connection, record: TaskRecord, limit_keys: str | None) -> list[LimitFacts]:
    """Read the windows of the limits that cover a task which has not started."""
    if record.status not in {TaskStatus.READY, TaskStatus.WAITING}:
        return []
    limits = await declared_limits(conn, record.backend_alias)
    windows = windows_of(limits, record.task_path, record.queue_name, limit_keys or "")
    rooms = await read_rooms(conn, limits, windows)
    is_apart = limit_keys is not None or record.status is TaskStatus.WAITING
    return [LimitFacts(limits[window[0]], rooms[window] if is_apart else None) for window in windows]


async def _key_holder(conn: Connection, unique_key: str) -> TaskRecord | None:
    found = (await find(conn, [unique_key])).get(unique_key)
    return None if found is None else found.holder


async def _edges(conn: Connection, id_: TaskId) -> list[EdgeFacts]:
    rows = await conn.fetch("unmet_edges", task_id=wire_id(id_), limit=NAMED_EDGES)
    return [
        EdgeFacts(row[0], task_id(row[1]), None if row[2] is None else TaskStatus(row[2]), OnFailure(row[3]))
        for row in rows
    ]


def _worker(state: WorkerState) -> WorkerFacts:
    return WorkerFacts(
        worker_id=state.worker_id,
        queues=state.queues,
        is_alive=state.is_alive,
        unknown_tasks=tuple(state.notes.get("unknown_tasks", ())),
        concurrency=state.concurrency,
        running=state.running,
        renewed_at=state.renewed_at,
    )
