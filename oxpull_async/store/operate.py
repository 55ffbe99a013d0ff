"""What operators do to stored tasks: retry, discard, cancel, run now, prune.

Each is a compare-and-set and counts its rows.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskId, task_id, wire_id
from oxpull_async.store.follow_ups import follow_ends, lock_free_keys, what_hangs_on
from oxpull_async.store.locks import due_locks, pass_on
from oxpull_async.store.moved import follow_stored


@dataclass(frozen=True, slots=True)
class Pruned:
    """What one step of a prune looked at and removed (a dry run: would remove).

    `after`: where the next step starts; None when there is nothing more to look at.
    """

    scanned: int
    removed: int
    after: str | None


@dataclass(frozen=True, slots=True)
class PruneRequest:
    """Which rows to remove: these statuses, ended over `age_seconds` ago, of one alias or all."""

    age_seconds: float
    statuses: tuple[str, ...]
    batch_size: int
    dry_run: bool
    backend_alias: str | None = None


async def own_tasks(conn: Connection, backend_alias: str, ids: Sequence[TaskId]) -> list[TaskId]:
    """Return those of these tasks that belong to an alias."""
    rows = await conn.fetch("own_tasks", ids=_ids(ids), backend_alias=backend_alias)
    return [task_id(row[0]) for row in rows]


async def retry(conn: Connection, ids: Sequence[TaskId], *, include_discarded: bool) -> int:
    """Make failed and lost tasks (discarded ones on request) ready once more.

    A node of a workflow waits until its edges are met. Returns how many moved.
    """
    async with conn.transaction():
        matched = await conn.execute("retry_tasks", ids=_ids(ids), include_discarded=include_discarded)
        await follow_stored(conn, ids)
    return matched


async def discard(conn: Connection, ids: Sequence[TaskId]) -> int:
    """End tasks that are ready, waiting, failed or lost; returns how many moved."""
    return await _end(conn, "discard_tasks", ids)


async def cancel(conn: Connection, ids: Sequence[TaskId]) -> int:
    """End tasks that do not run yet and ask running ones to stop; returns how many changed."""
    return await _end(conn, "cancel_tasks", ids)


async def run_now(conn: Connection, ids: Sequence[TaskId]) -> int:
    """Let ready tasks that are due later be claimed at once; returns how many moved.

    `run_after` stays what the caller asked.
    """
    return await conn.execute("run_tasks_now", ids=_ids(ids))


async def prune_step(conn: Connection, request: PruneRequest, after: str | None) -> Pruned:
    """Look at the next rows by id and remove those that may go; one short transaction."""
    rows = await conn.fetch(
        "prune_scan",
        statuses=json.dumps(request.statuses),
        age=request.age_seconds,
        backend_alias=request.backend_alias,
        after=None if after is None else wire_id(after),
        limit=request.batch_size,
    )
    doomed = [task_id(row[0]) for row in rows if row[1]]
    last = task_id(rows[-1][0]) if len(rows) == request.batch_size else None
    return Pruned(len(rows), await prune_tasks(conn, request, doomed), last)


async def prune_tasks(conn: Connection, request: PruneRequest, ids: Sequence[TaskId]) -> int:
    """Remove those of these tasks that may go, a dry run only looks; returns how many."""
    if request.dry_run or not ids:
        return len(await prunable(conn, request, ids))
    async with conn.transaction():
        found = await prunable(conn, request, ids)
        if found:
            for statement in ("prune_tasks", "prune_members", "prune_edges", "prune_nodes"):
                await conn.execute(statement, ids=_ids(found))
    return len(found)


async def prunable(conn: Connection, request: PruneRequest, ids: Sequence[TaskId]) -> list[TaskId]:
    """Lock those of these tasks that a prune may remove, and return them.

    None that somebody else has locked.
    """
    if not ids:
        return []
    rows = await conn.fetch(
        "prunable_tasks",
        ids=_ids(ids),
        statuses=json.dumps(request.statuses),
        age=request.age_seconds,
        backend_alias=request.backend_alias,
    )
    return [task_id(row[0]) for row in rows]


async def _end(conn: Connection, statement: str, ids: Sequence[TaskId]) -> int:
    """Run a statement that may end tasks, with what hangs on their unique keys in the same transaction."""
    hanging = await what_hangs_on(conn, ids)
    async with conn.transaction():
        free = await lock_free_keys(conn, sorted(set(hanging.keys.values())))
        leaving = await due_locks(conn, ids) if hanging.has_locks else []
        matched = await conn.execute(statement, ids=_ids(ids))
        await follow_stored(conn, ids)  # looks again: a pass may have made one a member meanwhile
        await pass_on(conn, leaving)
        await follow_ends(conn, hanging.keys, free)
    return matched


def _ids(ids: Sequence[TaskId]) -> str:
    return json.dumps(sorted(wire_id(id_) for id_ in ids))
