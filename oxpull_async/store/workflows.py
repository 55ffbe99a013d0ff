"""Workflows as their makers see them: create, read, seal, cancel."""

import json
from collections.abc import Mapping
from dataclasses import replace

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.batch_counts import Counted
from oxpull_async.domain.errors import UniqueEnqueueRace, WorkflowDoesNotExist, WorkflowSealed
from oxpull_async.domain.record import TaskId, TaskStatus, task_id, wire_id
from oxpull_async.domain.workflow import (
    NewWorkflow,
    NodeRecord,
    OnFailure,
    Upstream,
    WorkflowId,
    WorkflowRecord,
    WorkflowStatus,
)
from oxpull_async.domain.workflow_moves import Moves
from oxpull_async.store.batch_counts import stored_callback
from oxpull_async.store.node_counts import AT_ONCE, get_workflows, let_bad_ends_count, lock_nodes, lock_workflow_counts
from oxpull_async.store.node_scan import scan_nodes
from oxpull_async.store.operate import cancel
from oxpull_async.store.unique_isolation import racing, repeatable

CANCELLED_AT_ONCE = 1_000


async def create_workflow(conn: Connection, workflow: NewWorkflow) -> tuple[WorkflowRecord, bool]:
    """Store a workflow, open and empty, or find the one that holds its unique key.

    Says whether it was stored.

    Raises: UniqueEnqueueRace where another transaction has just taken the key or given it up; nothing was written.
    """
    async with repeatable(conn), racing(conn):
        if workflow.unique_key is not None and (holder := await _holder(conn, workflow.unique_key)) is not None:
            return holder, False
        async with conn.transaction():
            if await _insert(conn, workflow):
                return await read_workflow(conn, workflow.id), True
        holder = await _holder(conn, str(workflow.unique_key))
        if holder is not None:
            return holder, False
        raise UniqueEnqueueRace(
            "whether a workflow holds the unique key could not be known, and nothing was written: one held it a moment "
            "ago, which has completed since, or which the snapshot of the transaction that is open here does not show. "
            "Try again in a new transaction",
            transaction_survived=True,
        )


async def read_workflow(conn: Connection, workflow_id: WorkflowId) -> WorkflowRecord:
    """Return a workflow as it is now; raises WorkflowDoesNotExist."""
    found = (await get_workflows(conn, [workflow_id])).get(workflow_id)
    if found is None:
        raise WorkflowDoesNotExist(f"no workflow has the id {workflow_id}")
    return found


async def seal_workflow(conn: Connection, workflow_id: WorkflowId) -> None:
    """Take no more nodes, and let bad ends count from now on.

    It completes at once if all nodes have ended. What is behind nodes that have ended badly is discarded, or released,
    in the same transaction; what is too much for one is marked.

    Raises: WorkflowSealed, WorkflowDoesNotExist.
    """
    async with conn.transaction():
        row = await lock_workflow(conn, workflow_id)
        require_open(workflow_id, row)
        await _seal(conn, workflow_id, row[0], cancelled=False)


async def cancel_workflow(conn: Connection, workflow_id: WorkflowId) -> bool:
    """Cancel the nodes that have not ended, and seal the workflow, which is then a failure.

    Nothing is released any more. False when it is complete already. In short transactions unless one is open.

    Raises: WorkflowDoesNotExist.
    """
    async with conn.transaction():
        row = await lock_workflow(conn, workflow_id)
        if not await _seal(conn, workflow_id, row[0], cancelled=True):
            return False
    await cancel_nodes(conn, workflow_id)
    return True


async def cancel_nodes(conn: Connection, workflow_id: WorkflowId) -> None:
    """Cancel the nodes of a cancelled workflow that have not ended.

    Those that waited count as ended by a cascade, so that a retry from before them revives them.
    """
    after: str | None = None
    while nodes := await scan_nodes(conn, workflow_id, after, CANCELLED_AT_ONCE):
        pending = [node.task_id for node in nodes if node.counted is None and node.status is not None]
        if pending:
            async with conn.transaction():
                await cancel(conn, pending)
                await _mark_cascaded(conn, workflow_id, pending)
        after = nodes[-1].name


async def node_ids(conn: Connection, workflow_id: WorkflowId) -> dict[str, TaskId]:
    """Return the ids of a workflow's tasks by the names of its nodes."""
    return {row[0]: task_id(row[1]) for row in await conn.fetch("list_nodes", workflow_id=wire_id(workflow_id))}


async def list_nodes(conn: Connection, workflow_id: WorkflowId) -> list[NodeRecord]:
    """Return the nodes of a workflow with their edges, in the order of their tasks' ids."""
    upstreams: dict[TaskId, dict[str, OnFailure]] = {}
    for row in await conn.fetch("list_edges", workflow_id=wire_id(workflow_id)):
        upstreams.setdefault(task_id(row[0]), {})[row[1]] = OnFailure(row[2])
    nodes = [
        NodeRecord(
            row[0], id_ := task_id(row[1]), row[2], None if row[3] is None else TaskStatus(row[3]),
            upstreams.get(id_, {}),
        )
        for row in await conn.fetch("list_nodes", workflow_id=wire_id(workflow_id))
    ]  # fmt: skip
    return sorted(nodes, key=lambda node: node.task_id)


async def upstream_results(conn: Connection, id_: TaskId) -> Mapping[str, Upstream]:
    """Return how the direct upstreams of a node ended, by name; none for a task that is no node."""
    rows = await conn.fetch("upstream_results", task_id=wire_id(id_))
    return {row[0]: _upstream(row) for row in rows}


async def lock_workflow(conn: Connection, workflow_id: WorkflowId) -> Row:
    """Lock a workflow's own row: its number of nodes, whether it is sealed, name, callbacks."""
    row = await conn.fetchrow("lock_workflow", id=wire_id(workflow_id))
    if row is None:
        raise WorkflowDoesNotExist(f"no workflow has the id {workflow_id}")
    return row


def require_open(workflow_id: WorkflowId, row: Row) -> None:
    """Raise WorkflowSealed where a locked workflow is sealed."""
    if row[1]:
        raise WorkflowSealed(
            f"workflow {workflow_id} ({row[2]!r}) is sealed and takes no more nodes; nothing was written. "
            "Make a new one"
        )


async def _insert(conn: Connection, workflow: NewWorkflow) -> bool:
    id_ = wire_id(workflow.id)
    if not await conn.execute("insert_workflow_counts", id=id_, unique_key=workflow.unique_key):
        return False
    callbacks = [stored_callback(callback.when, callback.task) for callback in workflow.callbacks]
    await conn.execute(
        "insert_workflow",
        id=id_,
        backend_alias=workflow.backend_alias,
        name=workflow.name,
        callbacks=json.dumps(callbacks),
        expire_after=workflow.expire_after,
    )
    return True


async def _holder(conn: Connection, unique_key: str) -> WorkflowRecord | None:
    row = await conn.fetchrow("find_workflow_of_key", unique_key=unique_key)
    return None if row is None else (await get_workflows(conn, [task_id(row[0])])).get(task_id(row[0]))


async def _seal(conn: Connection, workflow_id: WorkflowId, nodes: int, *, cancelled: bool) -> bool:
    """Seal a workflow whose row is locked, unless it is, and cancel it on request; False where it is complete."""
    counts = await lock_workflow_counts(conn, [workflow_id])
    if any(one.status is WorkflowStatus.COMPLETE for one in counts.values()):
        return False
    if any(one.status is WorkflowStatus.OPEN for one in counts.values()):
        await conn.execute("seal_workflow", id=wire_id(workflow_id))
    moves = Moves(counts, AT_ONCE)
    for one in counts.values():
        total = nodes if one.total is None else one.total
        moves.set_counts(replace(one, status=WorkflowStatus.SEALED, total=total, cancelled=one.cancelled or cancelled))
    await let_bad_ends_count(conn, moves, workflow_id)
    return True


async def _mark_cascaded(conn: Connection, workflow_id: WorkflowId, ids: list[TaskId]) -> None:
    await lock_workflow_counts(conn, [workflow_id])
    waited = [node for node in await lock_nodes(conn, ids) if node.counted == Counted.UNATTRIBUTED and node.unmet > 0]
    if waited:
        await conn.execute("write_nodes", nodes=json.dumps([replace(node, cascaded=True).columns() for node in waited]))


def _upstream(row: Row) -> Upstream:
    """Read one row of `upstream_results`; what has been deleted is known by what it was counted as."""
    status = _GONE.get(row[1], TaskStatus.DISCARDED) if row[2] is None else TaskStatus(row[2])
    is_known = status is TaskStatus.SUCCESSFUL and row[3] is not None
    return Upstream(status, json.loads(row[3]) if is_known else None, row[4] or "")


_GONE = {Counted.SUCCEEDED: TaskStatus.SUCCESSFUL, Counted.FAILED: TaskStatus.FAILED}
