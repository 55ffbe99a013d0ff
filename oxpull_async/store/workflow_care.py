"""What is done for workflows beside the moves of their nodes: marks, recounts, pruning."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch_counts import counted_as
from oxpull_async.domain.record import TaskId, TaskStatus, task_id, wire_id
from oxpull_async.domain.workflow import WorkflowId, WorkflowStatus
from oxpull_async.store.batch_care import Recounted
from oxpull_async.store.batch_counts import Statuses
from oxpull_async.store.node_counts import follow_nodes, lock_workflow_counts, write_workflow_counts
from oxpull_async.store.node_scan import scan_nodes
from oxpull_async.store.workflows import cancel_nodes, cancel_workflow


@dataclass(frozen=True, slots=True)
class OpenWorkflow:
    """A workflow that is not complete.

    `age` is in seconds, `counted` how many nodes have been counted.
    """

    id: WorkflowId
    name: str
    backend_alias: str
    status: WorkflowStatus
    age: float
    is_expired: bool
    is_cancelled: bool
    total: int | None
    counted: int

    @property
    def is_overdue(self) -> bool:
        """Whether it should have completed when its last node was counted."""
        return self.status is WorkflowStatus.SEALED and self.total is not None and self.counted >= self.total


async def open_workflows(conn: Connection, after: WorkflowId | None, limit: int) -> list[OpenWorkflow]:
    """Return the next workflows that are not complete, oldest first."""
    rows = await conn.fetch("open_workflows", after=None if after is None else wire_id(after), limit=limit)
    return [
        OpenWorkflow(
            task_id(row[0]), row[1], row[2], WorkflowStatus(row[3]), float(row[4]), bool(row[5]), bool(row[6]), row[7],
            int(row[8]),
        )
        for row in rows
    ]  # fmt: skip


async def recheck_nodes(conn: Connection, limit: int) -> int:
    """Look at marked nodes: their ends, their edges, and what is behind them.

    Returns how much was done: while it is not 0 there may be more. A task that somebody has locked keeps its node's
    mark; from then on whatever ends the others is followed.
    """
    rows = await conn.fetch("find_marked_nodes", limit=limit)
    if not rows:
        return 0
    workflows = {task_id(row[0]): task_id(row[1]) for row in rows}
    async with conn.transaction():
        statuses = await _lock_tasks(conn, workflows)
        if not statuses:
            return 0
        await conn.execute("declare_nodes", ids=_ids(statuses))
        return await follow_nodes(conn, statuses, {workflows[id_] for id_ in statuses}, again=statuses.keys())


async def recount_nodes(conn: Connection, workflow_id: WorkflowId, after: str | None, limit: int) -> Recounted:
    """Compare the next nodes of a workflow with tasks and edges, and follow what differs.

    A short transaction; places are names. Locks no task: whoever moves one follows it afterwards, under the same lock.
    """
    nodes = await scan_nodes(conn, workflow_id, after, limit)
    last = nodes[-1].name if len(nodes) == limit else None
    looked_at = [node for node in nodes if not node.is_marked]
    doubtful = [node.task_id for node in looked_at if node.counted != counted_as(node.status)]
    stuck = [node.task_id for node in looked_at if node.is_stuck]
    if not doubtful and not stuck:
        return Recounted(0, 0, last)
    async with conn.transaction():
        await lock_workflow_counts(conn, [workflow_id])
        found = await _find_statuses(conn, doubtful)
        gone: dict[TaskId, TaskStatus | None] = {id_: None for id_ in doubtful if id_ not in found}
        missing = await follow_nodes(conn, gone, [workflow_id]) if gone else 0
        unforeseen = await follow_nodes(conn, found, [workflow_id]) if found else 0
        if stuck and await follow_nodes(conn, {}, [workflow_id], again=stuck):
            unforeseen += len(stuck)
    return Recounted(missing, unforeseen, last)


async def look_after_workflow(conn: Connection, workflow: OpenWorkflow, after: str | None, limit: int) -> Recounted:
    """Recount the next nodes of a workflow; after the last one, see to the workflow's own end."""
    step = await recount_nodes(conn, workflow.id, after, limit)
    if step.after is not None:
        return step
    if workflow.is_overdue and await complete_overdue_workflow(conn, workflow.id):
        step = replace(step, unforeseen=step.unforeseen + 1)
    if workflow.status is WorkflowStatus.OPEN and workflow.is_expired:
        step = replace(step, expired=await cancel_workflow(conn, workflow.id))
    elif workflow.is_cancelled:
        await cancel_nodes(conn, workflow.id)
    return step


async def complete_overdue_workflow(conn: Connection, workflow_id: WorkflowId) -> bool:
    """Complete a sealed workflow without pending nodes; False when it is not due any more."""
    async with conn.transaction():
        due = [counts for counts in (await lock_workflow_counts(conn, [workflow_id])).values() if counts.is_due]
        if due:
            await write_workflow_counts(conn, due)
    return bool(due)


async def _lock_tasks(conn: Connection, ids: Collection[TaskId]) -> Statuses:
    """Lock tasks that nobody else has locked; returns their statuses, and None of those that are gone."""
    rows = await conn.fetch("lock_node_tasks", ids=_ids(ids))
    statuses: dict[TaskId, TaskStatus | None] = {task_id(row[0]): TaskStatus(row[1]) for row in rows}
    left = [id_ for id_ in ids if id_ not in statuses]
    if left:
        present = await _find_statuses(conn, left)
        statuses |= {id_: None for id_ in left if id_ not in present}
    return statuses


async def _find_statuses(conn: Connection, ids: Collection[TaskId]) -> dict[TaskId, TaskStatus]:
    if not ids:
        return {}
    return {task_id(row[0]): TaskStatus(row[1]) for row in await conn.fetch("find_statuses", ids=_ids(ids))}


def _ids(ids: Iterable[TaskId]) -> str:
    return json.dumps(sorted(wire_id(id_) for id_ in ids))
