"""What counts on tasks that have moved: their batches, then their workflows."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskId, TaskStatus, task_id, wire_id
from oxpull_async.domain.workflow import WorkflowId
from oxpull_async.store.batch_counts import count_members
from oxpull_async.store.node_counts import follow_nodes


@dataclass(frozen=True, slots=True)
class Moved:
    """Where a task has moved to, whether it is of a batch, and of which workflow it is a node."""

    status: TaskStatus
    is_member: bool
    workflow_id: WorkflowId | None


async def follow_moved(conn: Connection, moved: Mapping[TaskId, Moved]) -> None:
    """Count tasks in their batches and workflows.

    The caller has moved them in the same transaction.
    """
    await count_members(conn, {id_: one.status for id_, one in moved.items() if one.is_member})
    nodes = {id_: one.status for id_, one in moved.items() if one.workflow_id is not None}
    if nodes:
        await follow_nodes(conn, nodes, {one.workflow_id for one in moved.values() if one.workflow_id is not None})


async def follow_stored(conn: Connection, ids: Sequence[TaskId]) -> None:
    """Count those of these tasks that are of a batch or a workflow as what they are now."""
    names = json.dumps(sorted(wire_id(id_) for id_ in ids))
    rows = await conn.fetch("lock_followed_tasks", ids=names) if ids else []
    await follow_moved(
        conn,
        {
            task_id(row[0]): Moved(TaskStatus(row[1]), bool(row[2]), None if row[3] is None else task_id(row[3]))
            for row in rows
        },
    )
