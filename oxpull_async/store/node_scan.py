"""Walking over the nodes of a workflow."""

from dataclasses import dataclass

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskId, TaskStatus, task_id, wire_id
from oxpull_async.domain.workflow import WorkflowId


@dataclass(frozen=True, slots=True)
class ScannedNode:
    """A node as a walk over its workflow finds it.

    What it is counted as, and its task's status (None: no task). A marked one is looked at anyway; one that is stuck
    waits although its edges say otherwise.
    """

    name: str
    task_id: TaskId
    counted: str | None
    status: TaskStatus | None
    is_marked: bool
    is_stuck: bool


async def scan_nodes(conn: Connection, workflow_id: WorkflowId, after: str | None, limit: int) -> list[ScannedNode]:
    """Return the next nodes of a workflow in order of their names."""
    rows = await conn.fetch("scan_nodes", workflow_id=wire_id(workflow_id), after=after, limit=limit)
    return [
        ScannedNode(
            row[0], task_id(row[1]), row[2], None if row[3] is None else TaskStatus(row[3]), row[4] == 1, bool(row[5])
        )
        for row in rows
    ]
