"""Gather what decides whether a task may be claimed."""

import json

from oxpull_async.db.contract import Connection
from oxpull_async.domain.explanation import Explanation, Facts, LivingWorker, explain
from oxpull_async.domain.record import TaskId, TaskRecord, task_id, wire_id
from oxpull_async.store.health import workers
from oxpull_async.store.results import get_task, get_tasks
from oxpull_async.store.unique import find


async def explain_task(conn: Connection, id_: TaskId) -> Explanation | None:
    """Say why a task does not run, by the claim's own conditions; None when no task has this id."""
    record = await get_task(conn, id_)
    rows = await conn.fetch("claim_conditions", id=wire_id(id_))
    if record is None or not rows:
        return None
    is_due, is_paused, lock_key, lock_limit, unique_key = rows[0]
    alive = [worker for worker in await workers(conn, record.backend_alias) if worker.is_alive]
    living = [
        LivingWorker(worker.worker_id, worker.queues, tuple(worker.notes.get("unknown_tasks", ()))) for worker in alive
    ]
    lock_holders = await _lock_holders(conn, lock_key)
    key_holder = await _key_holder(conn, unique_key) if record.waiting_for == "follow_up" else None
    return explain(Facts(record, bool(is_due), bool(is_paused), living, lock_holders, lock_limit, key_holder))


async def _lock_holders(conn: Connection, lock_key: str | None) -> list[TaskRecord]:
    if lock_key is None:
        return []
    ids = [task_id(row[1]) for row in await conn.fetch("taken_slots", keys=json.dumps([lock_key]))]
    return list((await get_tasks(conn, ids)).values()) if ids else []


async def _key_holder(conn: Connection, unique_key: str) -> TaskRecord | None:
    found = (await find(conn, [unique_key])).get(unique_key)
    return None if found is None else found.holder
