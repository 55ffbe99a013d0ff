"""Take due tasks for a worker: which shape depends on what the database can say."""

import json
from dataclasses import dataclass

from oxpull_async.db.contract import Connection, Row, Scalar
from oxpull_async.domain.record import ClaimedTask, WorkerId, task_id, wire_id
from oxpull_async.store.queues import json_list


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """What a worker asks for: at most `limit` tasks of these queues.

    Attempts at `later_paths` will not start at once and are not marked as begun; `excluded_paths` are left alone.
    """

    worker_id: WorkerId
    backend_alias: str
    queues: tuple[str, ...]
    limit: int
    later_paths: frozenset[str] = frozenset()
    excluded_paths: frozenset[str] = frozenset()


async def claim(conn: Connection, request: ClaimRequest) -> list[ClaimedTask]:
    """Lease up to `limit` due tasks to the worker, by priority, then `available_at`, then id.

    Returns nothing when there is nothing, and when the worker's own lease has ended.
    """
    if request.limit < 1 or not request.queues:
        return []
    if conn.dialect.update_returns_rows:
        rows = await conn.fetch("claim", **_where(request), **_what(request), queues=json_list(request.queues))
    else:
        rows = await _claim_by_locking_first(conn, request)
    return sorted((ClaimedTask.from_row(row) for row in rows), key=_claim_order)


async def _claim_by_locking_first(conn: Connection, request: ClaimRequest) -> list[Row]:
    async with conn.transaction():
        candidates: list[Row] = []
        for queue_name in request.queues:
            candidates += await conn.fetch("claim_candidates", **_where(request), queue_name=queue_name)
        best = sorted(candidates, key=lambda row: (row[1], row[2], task_id(row[0])))[: request.limit]
        if not best:
            return []
        ids = json.dumps([wire_id(task_id(row[0])) for row in best])
        await conn.execute("claim", ids=ids, **_what(request))
        return list(await conn.fetch("claimed_tasks", ids=ids, worker_id=wire_id(request.worker_id)))


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
