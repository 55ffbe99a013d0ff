"""Read stored tasks."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskId, TaskRecord, TaskStatus, wire_id


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks to list; None means any."""

    status: TaskStatus | None = None
    queue_name: str | None = None
    task_path: str | None = None
    limit: int = 50


async def get_task(conn: Connection, task_id: TaskId) -> TaskRecord | None:
    """Return one record, or None when no task has this id."""
    row = await conn.fetchrow("get_tasks", ids=json.dumps([wire_id(task_id)]))
    return None if row is None else TaskRecord.from_row(row)


async def get_tasks(conn: Connection, task_ids: Sequence[TaskId]) -> dict[TaskId, TaskRecord]:
    """Return the records that exist, by id."""
    rows = await conn.fetch("get_tasks", ids=json.dumps([wire_id(id_) for id_ in task_ids]))
    records = (TaskRecord.from_row(row) for row in rows)
    return {record.id: record for record in records}


async def list_tasks(conn: Connection, backend_alias: str, wanted: TaskFilter) -> list[TaskRecord]:
    """Return the newest records that match, newest first."""
    rows = await conn.fetch(
        "list_tasks",
        backend_alias=backend_alias,
        status=wanted.status,
        queue_name=wanted.queue_name,
        task_path=wanted.task_path,
        limit=wanted.limit,
    )
    return [TaskRecord.from_row(row) for row in rows]
