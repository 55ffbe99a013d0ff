"""Pruning what counts on tasks: batches and workflows, each when no task of it is left."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch import callback_ids
from oxpull_async.domain.record import TaskId, task_id, wire_id
from oxpull_async.store.batches import scan_members
from oxpull_async.store.node_scan import scan_nodes
from oxpull_async.store.operate import Pruned, PruneRequest, prunable
from oxpull_async.store.results import get_tasks

type Place = str | None
type Page = tuple[list[TaskId], Place, bool]


@dataclass(frozen=True, slots=True)
class _Kind:
    """The statements that find groups of a kind and delete them, and what pages through the tasks of one."""

    scan: str
    deletes: tuple[str, ...]
    page: Callable[[Connection, str, Place, int], Awaitable[Page]]


async def prune_batches(conn: Connection, request: PruneRequest, after: str | None) -> Pruned:
    """Look at the next batches and remove those that completed long enough ago.

    One short transaction. A batch stays while any task of it does, a callback included: that may be retried, and asks
    for its batch then. A dry run takes what it would prune for gone.
    """
    return await _prune(conn, request, after, _BATCHES)


async def prune_workflows(conn: Connection, request: PruneRequest, after: str | None) -> Pruned:
    """Look at the next workflows and remove them as `prune_batches` does batches."""
    return await _prune(conn, request, after, _WORKFLOWS)


async def _prune(conn: Connection, request: PruneRequest, after: str | None, kind: _Kind) -> Pruned:
    rows = await conn.fetch(
        kind.scan,
        age=request.age_seconds,
        backend_alias=request.backend_alias,
        after=None if after is None else wire_id(after),
        limit=request.batch_size,
    )
    last = task_id(rows[-1][0]) if len(rows) == request.batch_size else None
    doomed = {task_id(row[0]): json.loads(row[3]) for row in rows if row[1] and (request.dry_run or not row[2])}
    called = await _callbacks_left(conn, doomed)
    if request.dry_run:
        ids = [id_ for id_ in doomed if await _would_go(conn, request, kind, id_, called.get(id_, []))]
    else:
        ids = [id_ for id_ in doomed if id_ not in called]
    if ids and not request.dry_run:
        names = json.dumps(sorted(wire_id(id_) for id_ in ids))
        async with conn.transaction():
            for statement in kind.deletes:
                await conn.execute(statement, ids=names)
    return Pruned(len(rows), len(ids), last)


async def _callbacks_left(
    conn: Connection, doomed: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, list[TaskId]]:
    """Return the callbacks of groups that are still stored as tasks."""
    tasks = {id_: group for group, callbacks in doomed.items() for id_ in callback_ids(callbacks)}
    found: dict[str, list[TaskId]] = {}
    for id_ in await get_tasks(conn, sorted(tasks)) if tasks else ():
        found.setdefault(tasks[id_], []).append(id_)
    return found


async def _would_go(conn: Connection, request: PruneRequest, kind: _Kind, id_: str, called: Sequence[TaskId]) -> bool:
    """Say whether a prune would have removed every task of a complete group before it comes to the group."""
    left, place, has_more = list(called), None, True
    while True:
        if len(await prunable(conn, request, left)) < len(left):
            return False
        if not has_more:
            return True
        left, place, has_more = await kind.page(conn, id_, place, request.batch_size)


async def _members(conn: Connection, batch_id: str, place: Place, limit: int) -> Page:
    found = await scan_members(conn, batch_id, place, limit)
    left = [member.task_id for member in found if member.status is not None]
    return left, found[-1].task_id if found else None, len(found) == limit


async def _nodes(conn: Connection, workflow_id: str, place: Place, limit: int) -> Page:
    found = await scan_nodes(conn, workflow_id, place, limit)
    left = [node.task_id for node in found if node.status is not None]
    return left, found[-1].name if found else None, len(found) == limit


_BATCHES = _Kind("prune_batches_scan", ("delete_batches", "delete_batch_counts", "delete_batch_members"), _members)
_WORKFLOWS = _Kind(
    "prune_workflows_scan",
    ("delete_workflows", "delete_workflow_counts", "delete_workflow_edges", "delete_workflow_nodes"),
    _nodes,
)
