"""Rate limits as living workers declare them: rows that every claim reads."""

import json
from collections.abc import Sequence

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.rate_limit import LimitRule
from oxpull_async.domain.rate_windows import Declaration, Limit, limits_of
from oxpull_async.domain.record import WorkerId, task_id, wire_id

LEAST_PER = 0.001


async def declare_limits(conn: Connection, worker_id: WorkerId, backend_alias: str, rules: Sequence[LimitRule]) -> None:
    """Write what a worker declares; it goes when the worker's row does, or is marked dead."""
    if rules:
        limits = json.dumps([_columns(rule) for rule in rules])
        await conn.execute("declare_limits", worker_id=wire_id(worker_id), backend_alias=backend_alias, limits=limits)


async def drop_limits(conn: Connection, worker_id: WorkerId) -> None:
    """Take back what a worker declared."""
    await conn.execute("drop_limits", worker_id=wire_id(worker_id))


async def drop_orphaned_limits(conn: Connection) -> None:
    """Take back what workers declared that are dead or gone."""
    await conn.execute("drop_orphaned_limits")


async def declared_limits(conn: Connection, backend_alias: str) -> dict[str, Limit]:
    """Return, by name, the limits that hold now and cover something of this alias."""
    return limits_of([_declaration(row) for row in await conn.fetch("rate_limits")], backend_alias)


async def sort_limited(conn: Connection, backend_alias: str, limit: int) -> int:
    """Set due rows apart that a limit covers; returns how many.

    They are those whose enqueue knew of none. Until then no claim takes them.
    """
    found = await conn.fetch("find_unsorted", backend_alias=backend_alias, limit=limit)
    ids = [wire_id(task_id(row[0])) for row in found[:limit]]
    return await conn.execute("set_apart", ids=json.dumps(ids)) if ids else 0


def _columns(rule: LimitRule) -> dict[str, object]:
    """Return the values of one declaration; time is counted in milliseconds, the finest that every database tells."""
    return {
        "name": rule.name,
        "most": rule.limit,
        "per": max(round(rule.per, 3), LEAST_PER),
        "sliding": rule.sliding,
        "tasks": json.dumps(sorted(rule.tasks)),
        "queues": json.dumps(sorted(rule.queues)),
    }


def _declaration(row: Row) -> Declaration:
    tasks, queues = frozenset(json.loads(row[5])), frozenset(json.loads(row[6]))
    return Declaration(row[0], row[1], row[2], float(row[3]), bool(row[4]), tasks, queues)
