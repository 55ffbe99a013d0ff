"""Take due tasks for a worker: which shape depends on what the database can say."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from oxpull_async.db.contract import Connection, Row, Scalar
from oxpull_async.domain.record import ClaimedTask, TaskId, WorkerId, task_id, wire_id
from oxpull_async.store.locks import admit_locked, locked_candidate, turn_away
from oxpull_async.store.queues import json_list

MOST_PASSES = 50


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """What a worker asks for: at most `limit` tasks of these queues.

    Attempts at `later_paths` will not start at once and are not marked as begun; `excluded_paths` are left alone.
    Without `meets_locks` rows that have a running lock may be left for a later claim.
    """

    worker_id: WorkerId
    backend_alias: str
    queues: tuple[str, ...]
    limit: int
    later_paths: frozenset[str] = frozenset()
    excluded_paths: frozenset[str] = frozenset()
    meets_locks: bool = False


async def claim(conn: Connection, request: ClaimRequest) -> list[ClaimedTask]:
    """Lease up to `limit` due tasks to the worker, by priority, then `available_at`, then id.

    Returns nothing when there is nothing, and when the worker's own lease has ended.
    """
    if request.limit < 1 or not request.queues:
        return []
    if conn.dialect.update_returns_rows and not request.meets_locks:
        rows = await conn.fetch("claim", **_where(request), **_what(request), queues=json_list(request.queues))
    else:
        rows = await _claim_past_the_locked(conn, request)
    return sorted((ClaimedTask.from_row(row) for row in rows), key=_claim_order)


async def _claim_past_the_locked(conn: Connection, request: ClaimRequest) -> Sequence[Row]:
    """Claim, once more where all that stood in front was turned away; each pass is a transaction of its own."""
    for _ in range(MOST_PASSES):
        rows, turned_away = await _claim_by_locking_first(conn, request)
        if rows or not turned_away:
            return rows
    return []


async def _claim_by_locking_first(conn: Connection, request: ClaimRequest) -> tuple[Sequence[Row], int]:
    """Lock the best rows, lease those that have no running lock or are admitted, and turn the rest away."""
    async with conn.transaction():
        best = await _candidates(conn, request)
        admission = await admit_locked(conn, [locked_candidate(row) for row in best if row[3] is not None])
        ids = [task_id(row[0]) for row in best if row[3] is None] + [row.task_id for row in admission.admitted]
        rows = await _lease(conn, request, ids) if ids else []
        turned_away = await turn_away(conn, admission, may_be_more=len(best) == request.limit)
    return rows, turned_away


async def _candidates(conn: Connection, request: ClaimRequest) -> Sequence[Row]:
    if conn.dialect.update_returns_rows:
        return await conn.fetch("claim_candidates", **_where(request), queues=json_list(request.queues))
    rows: list[Row] = []
    for queue_name in request.queues:
        rows += await conn.fetch("claim_candidates", **_where(request), queue_name=queue_name)
    return sorted(rows, key=lambda row: (row[1], row[2], task_id(row[0])))[: request.limit]


async def _lease(conn: Connection, request: ClaimRequest, ids: Sequence[TaskId]) -> Sequence[Row]:
    names = json.dumps([wire_id(id_) for id_ in ids])
    if conn.dialect.update_returns_rows:
        return await conn.fetch("claim_ids", ids=names, **_what(request))
    await conn.execute("claim", ids=names, **_what(request))
    return await conn.fetch("claimed_tasks", ids=names, worker_id=wire_id(request.worker_id))


def _where(request: ClaimRequest) -> dict[str, Scalar]:
    return {
        "backend_alias": request.backend_alias,
        "limit": request.limit,
        "excluded_paths": json_list(request.excluded_paths),
    }


def _what(request: ClaimRequest) -> dict[str, Scalar]:
    return {"worker_id": wire_id(request.worker_id), "later_paths": json_list(request.later_paths)}


def _claim_order(task: ClaimedTask) -> tuple[int, object, str]:
    return (-task.priority, task.available_at, task.id)
