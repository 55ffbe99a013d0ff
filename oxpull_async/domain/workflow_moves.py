"""What the moves of nodes come to: counts, edges, releases and ends.

Decided before anything is written.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from oxpull_async.domain.batch import BatchStatus
from oxpull_async.domain.batch_counts import Counted, Counts
from oxpull_async.domain.errors import UpstreamFailed
from oxpull_async.domain.failure_text import class_path
from oxpull_async.domain.record import TaskId, task_id, wire_id
from oxpull_async.domain.workflow import EdgeState, OnFailure, WorkflowId


@dataclass(frozen=True, slots=True)
class Node:
    """A node row as it is under the lock of its workflow's counts.

    `unmet` is how many of its edges are not met, `counted` what it is counted as; `cascaded`: it was discarded because
    an upstream ended badly; `recheck`: the next pass looks at it.
    """

    task_id: TaskId
    workflow_id: WorkflowId
    name: str
    unmet: int
    counted: str | None
    cascaded: bool
    recheck: bool

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> "Node":
        """Read one row of the statement `lock_nodes`."""
        return cls(task_id(row[0]), task_id(row[1]), row[2], row[3], row[4], bool(row[5]), row[6] == 1)

    def columns(self) -> dict[str, object]:
        """Return what the statement `write_nodes` takes."""
        return {
            "id": wire_id(self.task_id),
            "unmet": self.unmet,
            "counted": self.counted,
            "cascaded": self.cascaded,
            "recheck": 1 if self.recheck else None,
        }


@dataclass(frozen=True, slots=True)
class WaitingNode:
    """A task that waits for edges, locked.

    `failed` names an upstream whose edge is stored as failed.
    """

    task_id: TaskId
    queue_name: str
    is_member: bool
    failed: str | None

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> "WaitingNode":
        """Read one row of the statement `lock_waiting_nodes`."""
        return cls(task_id(row[0]), row[1], bool(row[2]), row[3])


def edge_state(counts: Counts, counted: str | None, on_failure: OnFailure) -> EdgeState | None:
    """Return what an edge comes to by what its upstream is counted as.

    A bad end leaves it open until the workflow is sealed, and while a cancelled one is being stopped.
    """
    if counted == Counted.SUCCEEDED:
        return EdgeState.MET
    if counted is None or counts.status is BatchStatus.OPEN or counts.is_stopping:
        return None
    match on_failure:
        case OnFailure.DISCARD:
            return EdgeState.FAILED
        case OnFailure.RUN:
            return EdgeState.MET
        case _ as never:
            assert_never(never)


class Moves:
    """What is to be written about the nodes of workflows whose counts are locked.

    Holds the truth while it is worked out: what it knows of a node is newer than the row. `room` is how many more edges
    may be changed.
    """

    def __init__(self, counts: Mapping[WorkflowId, Counts], room: int) -> None:
        self._stored_counts = counts
        self._counts = dict(counts)
        self._stored: dict[TaskId, Node] = {}
        self._nodes: dict[TaskId, Node] = {}
        self._failed: dict[TaskId, str] = {}
        self._edges: dict[tuple[TaskId, TaskId], str | None] = {}
        self.room = room
        self.released: dict[TaskId, str] = {}
        self.discarded: dict[TaskId, str] = {}
        self.members: list[TaskId] = []

    def set_counts(self, counts: Counts) -> None:
        """Change what is known of a workflow."""
        self._counts[counts.id] = counts

    def know(self, node: Node) -> Node:
        """Take a node row in; returns what is known about the node by now."""
        self._stored.setdefault(node.task_id, node)
        return self._nodes.setdefault(node.task_id, node)

    def move(self, node: Node, counted: str | None) -> bool:
        """Count a node as what its task has come to; False where that was known."""
        known = self.know(node)
        if known.counted == counted:
            return False
        self._nodes[known.task_id] = replace(known, counted=counted, cascaded=False)
        self._counts[known.workflow_id] = self._counts[known.workflow_id].moved(known.counted, counted)
        return True

    def mark(self, ids: Iterable[TaskId], *, recheck: bool = True) -> None:
        """Have the next pass look at nodes, or no pass any more."""
        self._nodes |= {id_: replace(self._nodes[id_], recheck=recheck) for id_ in ids if id_ in self._nodes}

    def wishes(self, ids: Iterable[TaskId]) -> list[dict[str, str | None]]:
        """Return what the edges out of nodes come to, as the statement `find_edges` takes it."""
        found = [self._nodes[id_] for id_ in ids]
        return [
            {
                "id": wire_id(node.task_id),
                "on_discard": edge_state(self._counts[node.workflow_id], node.counted, OnFailure.DISCARD),
                "on_run": edge_state(self._counts[node.workflow_id], node.counted, OnFailure.RUN),
            }
            for node in found
        ]

    def change(self, rows: Sequence[Sequence[Any]]) -> list[TaskId]:
        """Take rows of `find_edges` in; returns the nodes behind these edges."""
        self.room -= len(rows)
        behind: dict[TaskId, None] = {}
        for row in rows:
            upstream, downstream, state = task_id(row[0]), task_id(row[1]), row[2]
            node = self.know(Node.from_row(row[4:]))
            was_met = row[3] == EdgeState.MET
            unmet = node.unmet + was_met - (state == EdgeState.MET)
            self._nodes[downstream] = replace(node, unmet=unmet)
            self._edges[upstream, downstream] = state
            if state == EdgeState.FAILED:
                self._failed.setdefault(downstream, self._nodes[upstream].name)
            behind[downstream] = None
        return list(behind)

    def may_act(self, ids: Collection[TaskId], looked_at: Collection[TaskId]) -> list[TaskId]:
        """Return those nodes that may be released or ended, if they wait.

        Of those to be `looked_at` only their rows can tell.
        """
        nodes = [self._nodes[id_] for id_ in sorted({*ids, *looked_at}) if id_ in self._nodes]
        return [
            node.task_id
            for node in nodes
            if node.counted is None
            and not self._counts[node.workflow_id].is_stopping
            and (node.unmet == 0 or node.task_id in self._failed or node.task_id in looked_at)
        ]

    def act(self, waiting: WaitingNode) -> bool:
        """Release a waiting node whose edges are met, or end one of whose edges has failed.

        True where it ended.
        """
        node = self._nodes[waiting.task_id]
        if node.unmet == 0:
            self.released[node.task_id] = waiting.queue_name
            return False
        upstream = self._failed.get(node.task_id, waiting.failed)
        if upstream is None or self._counts[node.workflow_id].status is BatchStatus.OPEN:
            return False
        self.discarded[node.task_id] = _upstream_failed(upstream)
        if waiting.is_member:
            self.members.append(node.task_id)
        self.move(node, Counted.UNATTRIBUTED)
        self._nodes[node.task_id] = replace(self._nodes[node.task_id], cascaded=True)
        return True

    def taken_edges(self) -> list[tuple[tuple[TaskId, TaskId], str | None]]:
        """Return the edges that have changed, once each: upstream, downstream and state."""
        edges, self._edges = self._edges, {}
        return sorted(edges.items(), key=lambda edge: edge[0])

    @property
    def known(self) -> Collection[TaskId]:
        """The nodes that were taken in."""
        return self._nodes.keys()

    @property
    def changed_nodes(self) -> list[dict[str, object]]:
        """The node rows to be written, as the statement `write_nodes` takes them."""
        changed = [node for id_, node in sorted(self._nodes.items()) if node != self._stored[id_]]
        return [node.columns() for node in changed]

    @property
    def changed_counts(self) -> list[Counts]:
        """The counts to be written."""
        return [counts for id_, counts in self._counts.items() if counts != self._stored_counts[id_] or counts.is_due]


def _upstream_failed(name: str) -> str:
    return json.dumps(
        {
            "exception_class_path": class_path(UpstreamFailed),
            "traceback": f"node {name!r}, which comes before it, did not succeed",
            "attempt": 0,
            "worker_id": "",
        }
    )
