"""Moving workflows of the oxpull app, under their ids, with their nodes and edges."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import batched

from compat_sync.backend import OxpullBackend
from compat_sync.move import old_groups, rows
from compat_sync.move.groups import GroupMover
from compat_sync.move.old_groups import OldEdge, OldGroup, OldNode
from compat_sync.move.report import MoveReport
from compat_sync.move.rows import Place
from oxpull_async.domain.record import TaskId, TaskStatus, wire_id
from oxpull_async.domain.workflow import EdgeState, NewWorkflow, OnFailure
from oxpull_async.store import workflows as store
from oxpull_async.store.node_counts import follow_nodes, lock_nodes

__all__ = ["WorkflowMover"]


@dataclass(frozen=True, slots=True)
class _Graph:
    """What comes over of a workflow, and how its tasks stand there.

    A node that has succeeded and whose task was pruned does not, nor do its edges: nothing waits for it any more.
    """

    nodes: Sequence[OldNode]
    edges: Sequence[OldEdge]
    statuses: dict[TaskId, TaskStatus]

    @property
    def unmet(self) -> dict[TaskId, int]:
        """How many edges hold a node back."""
        found = {node.id: 0 for node in self.nodes}
        for edge in self.edges:
            found[edge.downstream] += not edge.is_met
        return found

    @property
    def waiting(self) -> frozenset[TaskId]:
        """The nodes that wait for others."""
        return frozenset(id_ for id_, count in self.unmet.items() if count)


class WorkflowMover(GroupMover):
    """Moves workflows.

    What has ended there is followed here, so that what it holds back is released or discarded.
    """

    kind = "workflow"

    async def bring(self, old: OldGroup, backend: OxpullBackend, done: MoveReport) -> set[TaskId]:
        """Store a workflow here with its nodes; a sealed one may complete by that."""
        await store.create_workflow(self.conn, NewWorkflow(old.id, backend.alias, old.name, self.callbacks(old)))
        graph = await self._graph(old.id)
        ended: dict[TaskId, TaskStatus | None] = {node.id: None for node in graph.nodes}
        place = Place(workflow_id=old.id, waiting=graph.waiting)
        for ids in self._parts(list(ended)):
            for task in (await self.carry(ids, place, done)).moved:
                ended[task.old.id] = task.status
        await self._insert(old.id, graph)
        ended = {id_: status for id_, status in ended.items() if status is None or status.is_finished}
        for ids in self._parts(list(ended)):
            await follow_nodes(self.conn, {id_: ended[id_] for id_ in ids}, [old.id])
        await self._mark_cascaded([id_ for id_, status in ended.items() if status is TaskStatus.DISCARDED])
        await old_groups.forget(self.conn, self.kind, old.id)
        if old.is_sealed:
            await store.seal_workflow(self.conn, old.id)
        await old_groups.date_moved(self.conn, self.kind, old)
        done.workflows += 1
        return set(graph.statuses)

    async def _graph(self, workflow_id: str) -> _Graph:
        nodes: list[OldNode] = []
        edges: list[OldEdge] = []
        statuses: dict[TaskId, TaskStatus] = {}
        limit = self.request.batch_size
        while found := await old_groups.nodes(self.conn, workflow_id, nodes[-1].id if nodes else None, limit):
            nodes += found
            statuses |= await rows.old_statuses(self.conn, {node.id for node in found})
        while more := await old_groups.edges(self.conn, workflow_id, edges[-1].id if edges else None, limit):
            edges += more
        over = {node.id for node in nodes if node.succeeded and node.id not in statuses}
        return _Graph(
            [node for node in nodes if node.id not in over],
            [edge for edge in edges if not {edge.upstream, edge.downstream} & over],
            statuses,
        )

    async def _insert(self, workflow_id: str, graph: _Graph) -> None:
        unmet = graph.unmet
        for nodes in batched(graph.nodes, self.request.batch_size):
            made = [{"id": wire_id(one.id), "name": one.name, "unmet": unmet[one.id], "recheck": None} for one in nodes]
            await self.conn.execute("insert_nodes", workflow_id=wire_id(workflow_id), nodes=json.dumps(made))
        for edges in batched(graph.edges, self.request.batch_size):
            await self.conn.execute("insert_edges", edges=json.dumps([_columns(edge) for edge in edges]))
        await self.conn.execute("grow_workflow", id=wire_id(workflow_id), count=len(graph.nodes))

    async def _mark_cascaded(self, discarded: Sequence[TaskId]) -> None:
        """Remember which nodes were discarded because of others: they may be revived with these."""
        for ids in self._parts(discarded):
            nodes = [replace(node, cascaded=True) for node in await lock_nodes(self.conn, ids) if node.unmet > 0]
            if nodes:
                await self.conn.execute("write_nodes", nodes=json.dumps([node.columns() for node in nodes]))

    def _parts(self, ids: Sequence[TaskId]) -> Iterator[Sequence[TaskId]]:
        return batched(ids, self.request.batch_size)


def _columns(edge: OldEdge) -> dict[str, str | None]:
    return {
        "upstream_id": wire_id(edge.upstream),
        "downstream_id": wire_id(edge.downstream),
        "on_failure": OnFailure.DISCARD,
        "state": EdgeState.MET if edge.is_met else None,
    }
