"""What the queues hold: due rows, deferred rows whose time comes, pauses and counts."""

import json
from dataclasses import dataclass
from decimal import Decimal

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskStatus


@dataclass(frozen=True, slots=True)
class Outlook:
    """Which queues have due rows, and in how many seconds the next deferred row is due.

    `limited` queues have due rows with limit keys; those without are in `queues`. `has_limits`: some worker declares a
    rate limit.
    """

    queues: tuple[str, ...]
    next_due_in: float | None
    meets_locks: bool = False
    limited: tuple[str, ...] = ()
    has_limits: bool = False


@dataclass(frozen=True, slots=True)
class QueueStats:
    """How many tasks a queue has in each status."""

    queue_name: str
    ready: int = 0
    waiting: int = 0
    running: int = 0
    successful: int = 0
    failed: int = 0
    lost: int = 0
    discarded: int = 0


async def peek(conn: Connection, backend_alias: str) -> Outlook:
    """Look which queues have due rows (not the paused ones) and when the next row is due."""
    if not conn.dialect.steps_through_indexes:
        return await _peek_queue_by_queue(conn, backend_alias)
    rows = await conn.fetch("peek", backend_alias=backend_alias)
    due_in, meets_locks, has_limits = next((row[1:4] for row in rows if row[0] is None), (None, False, False))
    names = tuple(row[0] for row in rows if row[0] is not None and not row[3])
    limited = tuple(row[0] for row in rows if row[0] is not None and row[3])
    return Outlook(names, _seconds(due_in), bool(meets_locks), limited, bool(has_limits))


async def _peek_queue_by_queue(conn: Connection, backend_alias: str) -> Outlook:
    found: list[str] = []
    limited: list[str] = []
    after: str | None = ""
    meets_locks = False
    while True:
        [[after, is_paused, due_in, is_locked, is_limited, is_free, has_limits]] = await conn.fetch(
            "peek_queue", backend_alias=backend_alias, after=after
        )
        meets_locks |= bool(is_locked)
        if after is None:
            return Outlook(tuple(found), _seconds(due_in), meets_locks, tuple(limited), bool(has_limits))
        if is_free and not is_paused:
            found.append(after)
        if is_limited and not is_paused:
            limited.append(after)


def _seconds(value: Decimal | float | None) -> float | None:
    return None if value is None else float(value)


async def promote(conn: Connection, limit: int) -> int:
    """Let deferred rows whose time has come be claimed; returns how many, at most `limit`."""
    return await conn.execute("promote", limit=limit)


async def set_paused(conn: Connection, backend_alias: str, queue_name: str, *, paused: bool) -> bool:
    """Pause or resume a queue; False when it already was so."""
    async with conn.transaction():
        if (queue_name in await paused_queues(conn, backend_alias)) == paused:
            return False
        await conn.execute("set_queue_paused", backend_alias=backend_alias, queue_name=queue_name, paused=paused)
    return True


async def paused_queues(conn: Connection, backend_alias: str) -> list[str]:
    """Return the names of the paused queues, in order."""
    return [row[0] for row in await conn.fetch("paused_queues", backend_alias=backend_alias)]


async def stats(conn: Connection, backend_alias: str) -> list[QueueStats]:
    """Count the tasks of every queue by status, queues in order of name."""
    counts: dict[str, dict[str, int]] = {}
    for queue_name, status, count in await conn.fetch("stats", backend_alias=backend_alias):
        counts.setdefault(queue_name, {})[TaskStatus(status).value.lower()] = count
    return [QueueStats(name, **by_status) for name, by_status in sorted(counts.items())]


def json_list(values: list[str] | tuple[str, ...] | frozenset[str]) -> str:
    """Return names as the one JSON text in which a list travels to a statement."""
    return json.dumps(sorted(values))
