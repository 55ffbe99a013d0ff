"""Running a part of a workflow once more."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.batch_counts import Counts
from oxpull_async.domain.errors import UnknownWorkflowNode
from oxpull_async.domain.record import TaskId, TaskStatus, task_id, wire_id
from oxpull_async.domain.revival import revivable
from oxpull_async.domain.workflow import WorkflowId, WorkflowStatus, reopened_callbacks
from oxpull_async.domain.workflow_moves import Moves, Node
from oxpull_async.store.node_counts import (
    AT_ONCE,
    UNBOUNDED,
    carry_on,
    let_bad_ends_count,
    lock_nodes,
    lock_workflow_counts,
)
from oxpull_async.store.workflows import lock_workflow, read_workflow

_BAD_ENDS = frozenset({TaskStatus.FAILED, TaskStatus.LOST, TaskStatus.DISCARDED})


async def retry_from(conn: Connection, workflow_id: WorkflowId, name: str, *, callbacks: bool) -> int:
    """Retry a node that ended badly, with all that was discarded because of it.

    What another upstream keeps from running stays as it is. A complete workflow is sealed once more; its callbacks come
    again on request only. Returns how many nodes are revived: none where the node did not end badly, or what
    is before it keeps it from running. One transaction, whatever the size.

    Raises: UnknownWorkflowNode, WorkflowDoesNotExist.
    """
    async with conn.transaction():
        start = await _start(conn, workflow_id, name)
        statuses = await _lock_cone(conn, start)
        row = await lock_workflow(conn, workflow_id)
        counts = await lock_workflow_counts(conn, [workflow_id])
        nodes = await _revived(conn, start, statuses)
        if start not in {node.task_id for node in nodes}:
            return 0
        await _reopen_callbacks(conn, row, counts[workflow_id], again=callbacks)
        await conn.execute("retry_tasks", ids=_ids(node.task_id for node in nodes), include_discarded=True)
        await _reopen(conn, counts[workflow_id], nodes)
        return len(nodes)


async def _start(conn: Connection, workflow_id: WorkflowId, name: str) -> TaskId:
    rows = await conn.fetch("find_named_nodes", workflow_id=wire_id(workflow_id), names=json.dumps([name]))
    if not rows:
        record = await read_workflow(conn, workflow_id)
        raise UnknownWorkflowNode(f"workflow {record.id} ({record.name!r}) has no node {name!r:.140}")
    return task_id(rows[0][1])


async def _lock_cone(conn: Connection, start: TaskId) -> dict[TaskId, TaskStatus]:
    """Lock a node's task and those behind it that a cascade ended, in order; returns their statuses."""
    ids = [task_id(row[0]) for row in await conn.fetch("find_cone", id=wire_id(start))]
    rows = await conn.fetch("lock_followed_tasks", ids=_ids(ids))
    return {task_id(row[0]): TaskStatus(row[1]) for row in rows}


async def _revived(conn: Connection, start: TaskId, statuses: Mapping[TaskId, TaskStatus]) -> list[Node]:
    """Return the nodes to be revived, whose workflow's counts the caller has locked; none if the first cannot be."""
    if statuses.get(start) not in _BAD_ENDS:
        return []
    nodes = [
        node
        for node in await lock_nodes(conn, statuses)
        if node.task_id == start or (node.cascaded and statuses[node.task_id] is TaskStatus.DISCARDED)
    ]
    rows = await conn.fetch("find_dooming_edges", ids=_ids(node.task_id for node in nodes))
    left = revivable({node.task_id for node in nodes}, [(task_id(row[0]), task_id(row[1]), row[2]) for row in rows])
    return [node for node in nodes if node.task_id in left]


async def _reopen_callbacks(conn: Connection, row: Row, counts: Counts, *, again: bool) -> None:
    stored = json.loads(row[3])
    callbacks = reopened_callbacks(stored, were_due=counts.status is WorkflowStatus.COMPLETE, again=again)
    if callbacks != stored:
        await conn.execute("set_callbacks", id=wire_id(counts.id), callbacks=json.dumps(callbacks))


async def _reopen(conn: Connection, counts: Counts, nodes: Sequence[Node]) -> None:
    """Count revived nodes as pending, and reopen the edges out of them; what they wait for is looked at last."""
    is_complete = counts.status is WorkflowStatus.COMPLETE
    moves = Moves({counts.id: counts}, UNBOUNDED)
    moves.set_counts(replace(counts, status=WorkflowStatus.SEALED if is_complete else counts.status, cancelled=False))
    for node in nodes:
        moves.move(node, None)
    ids = [node.task_id for node in nodes]
    await carry_on(conn, moves, ids, ids)
    if counts.cancelled:
        await let_bad_ends_count(conn, Moves(await lock_workflow_counts(conn, [counts.id]), AT_ONCE), counts.id)


def _ids(ids: Iterable[TaskId]) -> str:
    return json.dumps(sorted(wire_id(id_) for id_ in ids))
