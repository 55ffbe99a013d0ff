"""Following the nodes of workflows, in the transaction that moves them.

A node row says what its task is counted as, an edge what it has come to. To follow is to compare them with the task's
status, and to write what differs: following twice is the same as following once.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import count

from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch_counts import Counts, complete_due, counted_as
from oxpull_async.domain.record import TaskId, TaskStatus, task_id, wire_id
from oxpull_async.domain.workflow import WorkflowId, WorkflowRecord, workflow_record
from oxpull_async.domain.workflow_moves import Moves, Node
from oxpull_async.store.batch_counts import Statuses, count_columns, fire_callbacks
from oxpull_async.store.enqueue import notify
from oxpull_async.store.node_reads import DEEP, NodeReader

AT_ONCE = 1_000
"""How many edges one transaction changes, and so how many nodes it releases or ends."""
UNBOUNDED = 1_000_000_000
"""A retry reopens all edges at once: one that is still failed would end a retried node again."""


async def follow_nodes(
    conn: Connection, statuses: Statuses, workflow_ids: Iterable[WorkflowId], *, again: Collection[TaskId] = ()
) -> int:
    """Count tasks that have moved to these statuses, and see to the nodes behind them.

    The caller has moved them in the same transaction, or locks nothing and repeats what somebody else has left undone.
    Nodes to be looked at `again` have their own edges looked at too, and lose their marks. What is too much for one
    transaction is marked. Returns how much was done.
    """
    counts = await lock_workflow_counts(conn, workflow_ids)
    is_retry = any(status is TaskStatus.WAITING for status in statuses.values())
    moves = Moves(counts, UNBOUNDED if is_retry and not again else AT_ONCE)
    nodes = [node for node in await lock_nodes(conn, {*statuses, *again}) if node.workflow_id in counts]
    moved = [
        node.task_id
        for node in nodes
        if node.task_id in statuses and moves.move(node, counted_as(statuses[node.task_id]))
    ]
    looked_at = again or [id_ for id_, status in statuses.items() if status is TaskStatus.WAITING]
    if not moved and not looked_at:
        return 0
    for node in [*nodes, *await _ended_upstreams(conn, looked_at)]:
        moves.know(node)
    moves.mark(again, recheck=False)
    written = await carry_on(conn, moves, [*moves.known], looked_at)
    return written if again else len(moved)


async def carry_on(conn: Connection, moves: Moves, ends: Collection[TaskId], looked_at: Collection[TaskId] = ()) -> int:
    """Let the edges out of nodes come to what these came to, and so on, and write all of it.

    Of nodes to be `looked_at` the stored edges count too. Returns how much was written.
    """
    reader = NodeReader(conn)
    for step in count():
        changed = await _change_edges(reader, moves, ends) if ends else []
        if looked_at:
            await _write_edges(conn, moves)
        ends, looked_at = await _act(conn, reader, moves, changed, looked_at), ()
        if not ends:
            break
        if step == DEEP and moves.room > 0:
            await reader.look_ahead(ends, moves.room)
    return await _write(conn, moves)


async def let_bad_ends_count(conn: Connection, moves: Moves, workflow_id: WorkflowId) -> None:
    """See to the nodes behind those that ended badly while that did not count.

    The caller has locked the counts.
    """
    rows = await conn.fetch("find_bad_ends", workflow_id=wire_id(workflow_id))
    bad = [moves.know(Node.from_row(row)).task_id for row in rows]
    moves.mark(bad[AT_ONCE:])
    await carry_on(conn, moves, bad[:AT_ONCE])


async def lock_workflow_counts(conn: Connection, workflow_ids: Iterable[WorkflowId]) -> dict[WorkflowId, Counts]:
    """Lock the counts of workflows in order, and return them as they are now."""
    rows = await conn.fetch("lock_workflow_counts", ids=_ids(set(workflow_ids)))
    return {counts.id: counts for counts in map(Counts.from_row, rows)}


async def lock_nodes(conn: Connection, ids: Collection[TaskId]) -> list[Node]:
    """Lock the node rows of tasks, whose workflows' counts the caller has locked."""
    return [Node.from_row(row) for row in await conn.fetch("lock_nodes", ids=_ids(ids))]


async def write_workflow_counts(conn: Connection, counts: Sequence[Counts]) -> None:
    """Write counts that the caller has locked, and complete the workflows that are due."""
    written, due = complete_due(counts)
    await conn.execute("write_workflow_counts", counts=json.dumps([count_columns(one) for one in written]))
    if due:
        await fire_callbacks(conn, (await get_workflows(conn, due)).values(), due)


async def get_workflows(conn: Connection, ids: Iterable[WorkflowId]) -> dict[WorkflowId, WorkflowRecord]:
    """Return the workflows that exist, by id."""
    rows = await conn.fetch("get_workflows", ids=_ids(ids))
    records = (workflow_record(row, json.loads(row[9])) for row in rows)
    return {record.id: record for record in records}


async def _ended_upstreams(conn: Connection, ids: Collection[TaskId]) -> list[Node]:
    rows = await conn.fetch("find_ended_upstreams", ids=_ids(ids)) if ids else []
    return [Node.from_row(row) for row in rows]


async def _change_edges(reader: NodeReader, moves: Moves, ends: Collection[TaskId]) -> list[TaskId]:
    """Take in the edges out of nodes that are not as they should be, and return the nodes behind them.

    Where there is no room for all of them the nodes are marked.
    """
    room = moves.room
    rows = await reader.edges(moves.wishes(ends), room + 1)
    if len(rows) > room:
        moves.mark(ends)
    return moves.change(rows[:room])


async def _act(
    conn: Connection, reader: NodeReader, moves: Moves, behind: Collection[TaskId], looked_at: Collection[TaskId]
) -> list[TaskId]:
    """Release and end nodes that wait; returns those that ended. One whose row is locked is marked."""
    ids = moves.may_act(behind, looked_at)
    if not ids:
        return []
    waiting = await reader.waiting(ids)
    missing = set(ids) - {one.task_id for one in waiting}
    if missing:
        found = await conn.fetch("find_statuses", ids=_ids(missing))
        moves.mark(task_id(row[0]) for row in found if row[2] == "edges")
    return [one.task_id for one in waiting if moves.act(one)]


async def _write_edges(conn: Connection, moves: Moves) -> None:
    edges = [
        {"upstream_id": wire_id(upstream), "downstream_id": wire_id(downstream), "state": state}
        for (upstream, downstream), state in moves.taken_edges()
    ]
    if edges:
        await conn.execute("set_edges", edges=json.dumps(edges))


async def _write(conn: Connection, moves: Moves) -> int:
    nodes, counts = moves.changed_nodes, moves.changed_counts
    if nodes:
        await conn.execute("write_nodes", nodes=json.dumps(nodes))
    await _write_edges(conn, moves)
    if moves.released:
        await conn.execute("release_nodes", ids=_ids(moves.released))
        for queue_name in sorted(set(moves.released.values())):
            await notify(conn, queue_name)
    if moves.discarded:
        rows = [{"id": wire_id(id_), "error": error} for id_, error in sorted(moves.discarded.items())]
        await conn.execute("discard_nodes", tasks=json.dumps(rows))
    if moves.members:
        await conn.execute("mark_members", ids=_ids(moves.members))
    if counts:
        await write_workflow_counts(conn, counts)
    return len(nodes) + len(moves.released)


def _ids(ids: Iterable[str]) -> str:
    return json.dumps(sorted(wire_id(id_) for id_ in ids))
