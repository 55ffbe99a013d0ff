"""Reading what lies behind nodes that have ended, far ahead where a cascade goes deep."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.record import TaskId, task_id, wire_id
from oxpull_async.domain.workflow import EdgeState
from oxpull_async.domain.workflow_moves import WaitingNode

DEEP = 3
"""How many steps a cascade takes before what is behind it is read at once."""
MOST_EDGES = 5_000


class NodeReader:
    """Reads edges and locks waiting tasks, whose workflows' counts the caller has locked.

    What was read ahead stays true until it is written.
    """

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._edges: dict[TaskId, list[Row]] = {}
        self._waiting: dict[TaskId, WaitingNode] = {}
        self._ahead: set[TaskId] = set()

    async def edges(self, wishes: Sequence[Mapping[str, str | None]], limit: int) -> Sequence[Row]:
        """Return edges out of nodes that are not as they should be, `limit` at most."""
        ids = [task_id(wish["id"]) for wish in wishes]
        if self._ahead.issuperset(ids):
            return [row for id_ in ids for row in self._edges.get(id_, ())][:limit]
        return await self._conn.fetch("find_edges", nodes=json.dumps(wishes), limit=limit)

    async def waiting(self, ids: Collection[TaskId]) -> list[WaitingNode]:
        """Lock those of these tasks that wait for edges and that nobody else has locked."""
        if self._ahead.issuperset(ids):
            return [self._waiting[id_] for id_ in ids if id_ in self._waiting]
        rows = await self._conn.fetch("lock_waiting_nodes", ids=_ids(ids))
        return [WaitingNode.from_row(row) for row in rows]

    async def look_ahead(self, ends: Collection[TaskId], limit: int) -> None:
        """Read what is doomed behind nodes that have ended badly, unless it is too much."""
        doomed = {task_id(row[0]) for row in await self._conn.fetch("find_doomed", ids=_ids(ends), limit=limit)}
        wishes = [
            {"id": wire_id(id_), "on_discard": EdgeState.FAILED, "on_run": EdgeState.MET} for id_ in sorted(doomed)
        ]
        rows = await self._conn.fetch("find_edges", nodes=json.dumps(wishes), limit=MOST_EDGES + 1)
        if len(rows) > MOST_EDGES:
            return
        self._waiting = {one.task_id: one for one in await self.waiting(doomed)}
        for row in rows:
            self._edges.setdefault(task_id(row[0]), []).append(row)
        self._ahead = doomed


def _ids(ids: Iterable[TaskId]) -> str:
    return json.dumps(sorted(wire_id(id_) for id_ in ids))
