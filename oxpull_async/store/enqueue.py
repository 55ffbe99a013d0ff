"""Store new tasks, one or many, in whatever transaction is open on the connection."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from oxpull_async.db.contract import Connection, Scalar
from oxpull_async.domain.chunks import chunks
from oxpull_async.domain.record import NewTask, instant, task_id, wire_id, wire_instant
from oxpull_async.domain.values import rows_json

ROW_OVERHEAD = 300


@dataclass(frozen=True, slots=True)
class Stored:
    """When the database took a new task, and from when on it may be claimed."""

    enqueued_at: datetime
    available_at: datetime


async def enqueue(conn: Connection, task: NewTask) -> Stored:
    """Insert one task; it exists when the transaction around it commits."""
    if not conn.dialect.insert_returns_rows:
        await conn.execute("insert_task", **task_columns(task))
        return (await _read_back(conn, [task]))[0]
    row = (await conn.fetch("insert_task", **task_columns(task)))[0]
    return Stored(instant(row[0]), instant(row[1]))


async def enqueue_many(conn: Connection, tasks: Sequence[NewTask]) -> list[Stored]:
    """Insert tasks in one transaction, one statement per chunk.

    The answers stand in the order of `tasks`.
    """
    parts = list(chunks(((task, task_size(task)) for task in tasks), max_bytes=conn.max_batch_bytes))
    if len(parts) == 1 and conn.dialect.insert_returns_rows and not conn.in_transaction:
        return await _insert_chunk(conn, parts[0])
    stored: list[Stored] = []
    async with conn.transaction():
        for chunk in parts:
            stored += await _insert_chunk(conn, chunk)
    return stored


async def notify(conn: Connection, queue_name: str) -> None:
    """Wake the workers that listen for a queue when the transaction commits.

    Does nothing where the database cannot push.
    """
    if conn.dialect.has_listen:
        await conn.execute("notify", queue_name=queue_name)


async def _insert_chunk(conn: Connection, chunk: Sequence[NewTask]) -> list[Stored]:
    rows = rows_json([_given_columns(task) for task in chunk])
    if not conn.dialect.insert_returns_rows:
        await conn.execute("insert_tasks", tasks=rows)
        return await _read_back(conn, chunk)
    answers = {
        task_id(row[0]): Stored(instant(row[1]), instant(row[2]))
        for row in await conn.fetch("insert_tasks", tasks=rows)
    }
    return [answers[task.id] for task in chunk]


def _given_columns(task: NewTask) -> dict[str, Scalar]:
    """Return the values of a new task without the absent ones, which cost the database a third of the insert."""
    return {name: value for name, value in task_columns(task).items() if value is not None}


async def _read_back(conn: Connection, tasks: Sequence[NewTask]) -> list[Stored]:
    ids = json.dumps([wire_id(task.id) for task in tasks])
    answers = {
        task_id(row[0]): Stored(instant(row[1]), instant(row[2])) for row in await conn.fetch("inserted_tasks", ids=ids)
    }
    return [answers[task.id] for task in tasks]


def task_columns(task: NewTask) -> dict[str, Scalar]:
    """Return the values of a new task as the statements take them."""
    return {
        "id": wire_id(task.id),
        "backend_alias": task.backend_alias,
        "task_path": task.task_path,
        "queue_name": task.queue_name,
        "priority": task.priority,
        "args": task.args,
        "kwargs": task.kwargs,
        "run_after": wire_instant(task.run_after),
        "max_attempts": task.max_attempts,
        "timeout": task.timeout,
        "delay": task.delay,
        "unique_key": task.unique_key,
        "reruns": task.reruns,
        "waiting_for": task.waiting_for,
        "lock_key": task.lock_key,
        "lock_limit": task.lock_limit,
        "lock_conflict": task.lock_conflict,
        "batch_id": None if task.batch_id is None else wire_id(task.batch_id),
        "workflow_id": None if task.workflow_id is None else wire_id(task.workflow_id),
        "limit_keys": task.limit_keys,
    }


def task_size(task: NewTask) -> int:
    """Return about how many bytes a new task takes inside a statement."""
    return len(task.args) + len(task.kwargs) + ROW_OVERHEAD
