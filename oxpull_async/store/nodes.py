"""Adding nodes to workflows, in the transaction that stores their tasks."""

import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.batch_counts import Counted
from oxpull_async.domain.chunks import chunks
from oxpull_async.domain.errors import AlreadyEnqueued, UnknownWorkflowNode, WorkflowNodeExists
from oxpull_async.domain.record import TaskId, task_id, wire_id
from oxpull_async.domain.workflow import EdgeState, OnFailure, PlannedNode, WorkflowId, WorkflowStatus
from oxpull_async.store.unique_at_once import Answers, UniqueAnswer
from oxpull_async.store.unique_isolation import repeatable
from oxpull_async.store.workflows import lock_workflow, read_workflow, require_open

NODES_AT_ONCE = 10_000
NODE_SIZE, EDGE_SIZE = 600, 120

type Enqueue = Callable[[Collection[int]], Awaitable[Answers]]
"""Stores the tasks of an enqueue, those at these positions to wait for edges."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the tasks of an enqueue stand in a workflow, by their positions."""

    workflow_id: WorkflowId
    nodes: Sequence[PlannedNode]


@dataclass(frozen=True, slots=True)
class _Edge:
    """An edge into a node: from a task that is stored, or from the node at a position of the same call."""

    upstream: TaskId | int
    on_failure: OnFailure
    is_met: bool


class _TakenError(Exception):
    """Carries the answer of a refused call out of a transaction that must not write anything."""

    def __init__(self, answers: Answers) -> None:
        super().__init__()
        self.answers = answers


async def add_nodes(conn: Connection, place: Placement, enqueue: Enqueue, *, again: bool = False) -> Answers:
    """Make what an enqueue stores nodes of a workflow, in one transaction.

    No row of an upstream is locked: one that ends meanwhile is seen by the next pass. A unique root whose key is held
    makes the holder a node, unless it is one; else the call is refused. `again` repeats an enqueue whose outcome is
    unknown.

    Raises: WorkflowSealed, WorkflowDoesNotExist, WorkflowNodeExists, UnknownWorkflowNode; nothing is written then.
    """
    edges = await _edges(conn, place)
    waiting = [position for position, into in enumerate(edges) if not all(edge.is_met for edge in into)]
    try:
        async with repeatable(conn), conn.transaction():
            answers = await enqueue(waiting)
            if not any(answer.refused for answer in answers.values()):
                await _place(conn, place, edges, answers, again=again)
            return answers
    except _TakenError as taken:
        return taken.answers


async def _edges(conn: Connection, place: Placement) -> list[list[_Edge]]:
    """Find the upstreams of each node among those before it in the call and those stored.

    An upstream that has succeeded stays so, whatever the snapshot's age; of others nothing is believed.
    """
    before: dict[str, int] = {}
    wanted = {name for node in place.nodes for name in node.upstreams}
    stored = {row[0]: (task_id(row[1]), row[2]) for row in await _named(conn, place, wanted)}
    edges: list[list[_Edge]] = []
    for position, node in enumerate(place.nodes):
        if node.name in before:
            raise WorkflowNodeExists(
                f"the calls {before[node.name]} and {position} would both be node {node.name!r}; nothing was written"
            )
        unknown = [name for name in node.upstreams if name not in before and name not in stored]
        if unknown:
            await _raise_unknown(conn, place, node.name, unknown)
        edges.append([_edge(before.get(name), stored.get(name), wish) for name, wish in node.upstreams.items()])
        before[node.name] = position
    return edges


def _edge(position: int | None, stored: tuple[TaskId, str | None] | None, on_failure: OnFailure) -> _Edge:
    if position is not None or stored is None:
        return _Edge(position or 0, on_failure, is_met=False)
    return _Edge(stored[0], on_failure, is_met=stored[1] == Counted.SUCCEEDED)


async def _raise_unknown(conn: Connection, place: Placement, name: str, unknown: Sequence[str]) -> None:
    record = await read_workflow(conn, place.workflow_id)
    require_open(record.id, (0, record.progress.status is not WorkflowStatus.OPEN, record.name))
    raise UnknownWorkflowNode(
        f"node {name!r} of workflow {record.id} ({record.name!r}) depends on {', '.join(map(repr, unknown[:9]))}, "
        "which is no node of it yet; nothing was written. Add what comes first before what depends on it"
    )


async def _place(
    conn: Connection, place: Placement, edges: Sequence[Sequence[_Edge]], answers: Answers, *, again: bool
) -> None:
    _refuse_held(edges, answers)
    row = await lock_workflow(conn, place.workflow_id)
    names = {node.name: answers[position].record.id for position, node in enumerate(place.nodes)}
    taken = {row[0]: task_id(row[1]) for row in await _named(conn, place, names)}
    if again and taken == names:
        return
    require_open(place.workflow_id, row)
    if taken:
        raise WorkflowNodeExists(
            f"workflow {place.workflow_id} ({row[2]!r}) has a node {min(taken)!r} already; nothing was written"
        )
    if await _insert_nodes(conn, place, edges, answers) < len(place.nodes):
        await _refuse_nodes(conn, place, answers)
    await _insert_edges(conn, edges, answers)
    await conn.execute("grow_workflow", id=wire_id(place.workflow_id), count=len(place.nodes))


def _refuse_held(edges: Sequence[Sequence[_Edge]], answers: Answers) -> None:
    """Refuse a call whose key is held where it has upstreams, or where a call before it holds it."""
    made: dict[TaskId, int] = {}
    for position, answer in sorted(answers.items()):
        first = made.setdefault(answer.record.id, position)
        if first != position:
            raise AlreadyEnqueued(
                f"call {position} has the unique key of call {first} in the same enqueue, and a task is one node; "
                "nothing was written. Leave one of them out", existing=None, position=position,
            )  # fmt: skip
        if edges[position] and not answer.created:
            raise _TakenError({position: UniqueAnswer(answer.record, refused=True)})


async def _refuse_nodes(conn: Connection, place: Placement, answers: Answers) -> None:
    """Refuse the first call whose key is held by a task that is a node already.

    Where there is none, the transaction's snapshot does not show whose name it is.
    """
    adopted = {answer.record.id: position for position, answer in answers.items() if not answer.created}
    if not adopted:
        raise WorkflowNodeExists(
            f"workflow {place.workflow_id} has a node of one of these names already, made after this transaction's "
            "snapshot began; nothing was written"
        )
    rows = await conn.fetch("find_nodes", ids=json.dumps(sorted(wire_id(id_) for id_ in adopted)))
    before = [
        at for row in rows
        if (task_id(row[1]), row[2]) != (place.workflow_id, place.nodes[at := adopted[task_id(row[0])]].name)
    ]  # fmt: skip
    position = min(before or adopted.values())
    raise _TakenError({position: UniqueAnswer(answers[position].record, refused=True)})


async def _insert_nodes(conn: Connection, place: Placement, edges: Sequence[Sequence[_Edge]], answers: Answers) -> int:
    """Insert node rows; returns of how many.

    Those have a mark of which something may have ended already: tasks and upstreams that were there before.
    """
    adopted = {position for position, answer in answers.items() if not answer.created}
    rows = [
        {
            "id": wire_id(answers[position].record.id),
            "name": node.name,
            "unmet": sum(not edge.is_met for edge in edges[position]),
            "recheck": 1 if position in adopted or any(_may_end(edge, adopted) for edge in edges[position]) else None,
        }
        for position, node in enumerate(place.nodes)
    ]
    inserted = 0
    for part in chunks(((row, NODE_SIZE) for row in rows), max_bytes=conn.max_batch_bytes, max_rows=NODES_AT_ONCE):
        nodes = json.dumps(part)
        inserted += await conn.execute("insert_nodes", workflow_id=wire_id(place.workflow_id), nodes=nodes)
    return inserted


def _may_end(edge: _Edge, adopted: Collection[int]) -> bool:
    return not edge.is_met and (isinstance(edge.upstream, str) or edge.upstream in adopted)


async def _insert_edges(conn: Connection, edges: Sequence[Sequence[_Edge]], answers: Answers) -> None:
    rows = [
        {
            "upstream_id": wire_id(
                edge.upstream if isinstance(edge.upstream, str) else answers[edge.upstream].record.id
            ),
            "downstream_id": wire_id(answers[position].record.id),
            "on_failure": edge.on_failure,
            "state": EdgeState.MET if edge.is_met else None,
        }
        for position, into in enumerate(edges)
        for edge in into
    ]
    for part in chunks(((row, EDGE_SIZE) for row in rows), max_bytes=conn.max_batch_bytes, max_rows=NODES_AT_ONCE):
        await conn.execute("insert_edges", edges=json.dumps(part))


async def _named(conn: Connection, place: Placement, names: Collection[str]) -> list[Row]:
    """Look names up among the nodes of a workflow: name, task, what it is counted as."""
    found: list[Row] = []
    sized = ((name, len(name) * 6 + 4) for name in sorted(names))
    for part in chunks(sized, max_bytes=conn.max_batch_bytes, max_rows=NODES_AT_ONCE):
        found += await conn.fetch("find_named_nodes", workflow_id=wire_id(place.workflow_id), names=json.dumps(part))
    return found
