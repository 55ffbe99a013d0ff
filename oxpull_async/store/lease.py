"""Workers and their leases: register, renew, and take over from those that fell silent."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from oxpull_async.db.contract import Connection
from oxpull_async.domain.lease import ExpiredTask, HeldTask, ReapVerdict, judge_expired
from oxpull_async.domain.rate_limit import LimitRule
from oxpull_async.domain.record import TaskStatus, WorkerId, wire_id
from oxpull_async.store.follow_ups import follow_ends, lock_free_keys
from oxpull_async.store.locks import hand_over
from oxpull_async.store.moved import follow_stored
from oxpull_async.store.rate_limits import declare_limits, drop_limits, drop_orphaned_limits


@dataclass(frozen=True, slots=True)
class WorkerCard:
    """How a worker enters itself; `queues` is None where it serves every queue."""

    worker_id: WorkerId
    backend_alias: str
    hostname: str
    pid: int
    queues: tuple[str, ...] | None
    concurrency: int
    lease_seconds: float
    limits: tuple[LimitRule, ...] = ()


async def register(conn: Connection, card: WorkerCard) -> None:
    """Enter a worker with a fresh lease, and the rate limits that it declares."""
    if not card.limits:
        await _enter(conn, card)
        return
    async with conn.transaction():
        await _enter(conn, card)
        await declare_limits(conn, card.worker_id, card.backend_alias, card.limits)


async def _enter(conn: Connection, card: WorkerCard) -> None:
    await conn.execute(
        "register_worker",
        worker_id=wire_id(card.worker_id),
        backend_alias=card.backend_alias,
        hostname=card.hostname[:255],
        pid=card.pid,
        queues=None if card.queues is None else json.dumps(card.queues),
        concurrency=card.concurrency,
        lease_seconds=card.lease_seconds,
    )


async def renew(conn: Connection, worker_id: WorkerId, lease_seconds: float, notes: str = "{}") -> bool:
    """Move the worker's expiry to `lease_seconds` from now.

    False when the lease has ended and the worker is dead.
    """
    matched = await conn.execute("renew_lease", worker_id=wire_id(worker_id), lease_seconds=lease_seconds, notes=notes)
    return matched > 0


async def held(conn: Connection, worker_id: WorkerId) -> list[HeldTask]:
    """Return the attempts that run under this worker's id according to the database."""
    return [HeldTask.from_row(row) for row in await conn.fetch("held_tasks", worker_id=wire_id(worker_id))]


async def remove(conn: Connection, worker_id: WorkerId) -> None:
    """Forget a worker that stopped in order, and the rate limits that it declared."""
    await drop_limits(conn, worker_id)
    await conn.execute("remove_worker", worker_id=wire_id(worker_id))


async def bury_dead_workers(conn: Connection, grace: float) -> int:
    """Mark workers dead whose lease expired over `grace` seconds ago; forget those long dead."""
    buried = await conn.execute("mark_dead_workers", grace=grace)
    await drop_orphaned_limits(conn)
    await conn.execute("remove_dead_workers")
    return buried


async def expired(conn: Connection, limit: int) -> list[ExpiredTask]:
    """Return up to `limit` running rows whose worker is dead or gone."""
    return [ExpiredTask.from_row(row) for row in await conn.fetch("expired_tasks", limit=limit)]


async def reap(conn: Connection, row: ExpiredTask, abandoned: str) -> ReapVerdict | None:
    """Take one row from its silent worker; None when someone was faster or the row has changed.

    `abandoned` is the error entry, as JSON text, that a row gets which becomes LOST or DISCARDED.
    """
    verdict = judge_expired(row)
    keys = {} if row.rerun_key is None or verdict.status is TaskStatus.READY else {row.task_id: row.rerun_key}
    ends = verdict.status is not TaskStatus.READY
    if not keys and row.lock_key is None and not ends:
        return verdict if await _write_verdict(conn, row, verdict, abandoned) else None
    async with conn.transaction():
        free = await lock_free_keys(conn, list(keys.values()))
        if not await _write_verdict(conn, row, verdict, abandoned):
            return None
        await hand_over(conn, [] if row.lock_key is None else [row.lock_key])
        await follow_stored(conn, [row.task_id] if ends else [])  # looks again: it may be a member by now
        await follow_ends(conn, keys, free)
    return verdict


async def _write_verdict(conn: Connection, row: ExpiredTask, verdict: ReapVerdict, abandoned: str) -> int:
    ended = verdict.status is not TaskStatus.READY
    return await conn.execute(
        "reap_task",
        id=wire_id(row.task_id),
        epoch=row.epoch,
        begun=row.begun,
        cancel_requested=row.cancel_requested,
        status=verdict.status,
        refund=verdict.refund,
        error=abandoned if ended else None,
    )


def unknown_attempts(held_rows: Sequence[HeldTask], known: set[tuple[str, int]]) -> list[HeldTask]:
    """Return the attempts that run here in the database's view only."""
    return [row for row in held_rows if (row.task_id, row.epoch) not in known]
