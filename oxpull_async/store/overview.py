"""What the queues hold, at a cost that does not grow with what has ended.

Unfinished rows are found by the small indexes that hold no others.
"""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskId, TaskStatus, task_id
from oxpull_async.store.queues import paused_queues


@dataclass(frozen=True, slots=True)
class QueueOverview:
    """One queue now.

    `oldest_due` is for how many seconds its oldest due task has waited, None where none is due.
    `counts` has due, deferred, running and waiting tasks and, among the newest of the table, those that ended
    successful, failed, lost or discarded; what is not named is none.
    """

    queue_name: str
    paused: bool
    oldest_due: float | None
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Overview:
    """All queues in order of name.

    Counting ends at `limit`: due tasks of one queue, tasks of all queues in the other states. `capped` names the
    states whose figures may be too low for that. Ended tasks are looked for among the newest `limit`.
    """

    queues: list[QueueOverview]
    limit: int
    capped: frozenset[str]


async def overview(conn: Connection, backend_alias: str, limit: int) -> Overview:
    """Look at the queues of an alias, at most at `limit` rows of each kind."""
    oldest: dict[str, float] = {}
    counts: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for queue_name, due, age in await _backlogs(conn, backend_alias, limit):
        counts[queue_name]["due"], oldest[queue_name] = due, age
    for queue_name, state, count in await conn.fetch("unfinished_by_queue", backend_alias=backend_alias, limit=limit):
        counts[queue_name][state] = count
    for _, queue_name in await _follow_ups(conn, backend_alias, limit):
        counts[queue_name]["waiting"] = counts[queue_name].get("waiting", 0) + 1
    totals = _totals(counts)
    for queue_name, status, count in await conn.fetch("recent_outcomes", backend_alias=backend_alias, limit=limit):
        counts[queue_name][TaskStatus(status).value.lower()] = count
    paused = await paused_queues(conn, backend_alias)
    names = sorted(counts.keys() | set(paused))
    queues = [QueueOverview(name, name in paused, oldest.get(name), counts[name]) for name in names]
    return Overview(queues, limit, frozenset(state for state, total in totals.items() if total >= limit))


async def unfinished_tasks(
    conn: Connection, backend_alias: str, status: TaskStatus, queue_name: str | None, limit: int
) -> list[TaskId]:
    """Return ids of READY, RUNNING or WAITING tasks, in no order.

    Of each kind of row that leads to them `limit` are looked at.
    """
    rows = await conn.fetch(
        "unfinished_tasks", backend_alias=backend_alias, status=status, queue_name=queue_name, limit=limit
    )
    found = [task_id(row[0]) for row in rows]
    if status is TaskStatus.WAITING:
        followers = await _follow_ups(conn, backend_alias, limit)
        found += [id_ for id_, place in followers if queue_name in {None, place}]
    return found


async def lock_holders(conn: Connection, lock_key: str) -> list[TaskId]:
    """Return ids of the running tasks that hold slots of a running lock, in order."""
    return sorted(task_id(row[1]) for row in await conn.fetch("taken_slots", keys=json.dumps([lock_key])))


async def _backlogs(conn: Connection, backend_alias: str, limit: int) -> list[tuple[str, int, float]]:
    """Step from queue to queue through the ready index."""
    found: list[tuple[str, int, float]] = []
    while rows := await conn.fetch(
        "queue_backlog", backend_alias=backend_alias, after=found[-1][0] if found else "", limit=limit
    ):
        found.append((rows[0][0], rows[0][1], float(rows[0][2])))
    return found


async def _follow_ups(conn: Connection, backend_alias: str, limit: int) -> list[tuple[TaskId, str]]:
    rows = await conn.fetch("pending_follow_ups", backend_alias=backend_alias, limit=limit)
    return [(task_id(row[0]), row[1]) for row in rows]


def _totals(counts: dict[str, dict[str, int]]) -> Counter[str]:
    """Add up a state over all queues; due tasks are counted, and end, queue by queue."""
    totals: Counter[str] = Counter()
    for found in counts.values():
        totals.update({state: count for state, count in found.items() if state != "due"})
        totals["due"] = max(totals["due"], found.get("due", 0))
    return totals
