"""Take tasks over from the tables of django-ox and its oxpull app, in the same database.

A row is taken by the rules that its own workers follow: it is locked as it is now, and whoever has it locked keeps it.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from oxpull_async.db.contract import Connection, Row, Scalar
from oxpull_async.domain.chunks import chunks
from oxpull_async.domain.record import (
    NewTask,
    TaskId,
    TaskStatus,
    instant,
    instant_or_none,
    task_id,
    wire_id,
    wire_instant,
)
from oxpull_async.store.enqueue import ROW_OVERHEAD
from oxpull_async.store.holders import lock_keys

__all__ = [
    "MovedTask",
    "OldTask",
    "Place",
    "count_stale_old_keys",
    "hold_keys",
    "insert_moved",
    "lock_old",
    "old_keys",
    "old_members",
    "old_statuses",
    "remove_old",
    "scan_old",
]

_UNDASHED = 32


@dataclass(frozen=True, slots=True)
class OldTask:
    """One row of the old task table; `args`, `kwargs` and `return_value` are JSON text."""

    id: TaskId
    backend_alias: str
    task_path: str
    queue_name: str
    priority: int
    status: TaskStatus
    args: str
    kwargs: str
    run_after: datetime | None
    enqueued_at: datetime
    started_at: datetime | None
    last_attempted_at: datetime | None
    finished_at: datetime | None
    attempts: int
    max_attempts: int
    epoch: int
    worker_ids: tuple[str, ...]
    errors: tuple[dict[str, Any], ...]
    return_value: str | None

    @classmethod
    def from_row(cls, row: Row) -> "OldTask":
        """Read one row of the statement `move_lock`."""
        return cls(
            task_id(row[0]), row[1], row[2], row[3], row[4], TaskStatus(row[5]), row[6], row[7],
            instant_or_none(row[8]), instant(row[9]), instant_or_none(row[10]), instant_or_none(row[11]),
            instant_or_none(row[12]), row[13], row[14], row[15], tuple(json.loads(row[16])),
            tuple(json.loads(row[17])), row[18],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Where tasks belong here: a batch, or a workflow in which some of them wait for others."""

    batch_id: str | None = None
    workflow_id: str | None = None
    waiting: frozenset[TaskId] = frozenset()


@dataclass(frozen=True, slots=True)
class MovedTask:
    """An old task with what this library stores beside it.

    `plan` is the same call as an enqueue would store it now, None for a task that has ended.
    """

    old: OldTask
    plan: NewTask | None
    unique_key: str | None = None
    place: Place | None = None

    @property
    def waits(self) -> bool:
        """Whether it waits for other nodes of its workflow."""
        return self.plan is not None and self.place is not None and self.old.id in self.place.waiting

    @property
    def status(self) -> TaskStatus:
        """The status that it has here."""
        if self.old.status.is_finished:
            return self.old.status
        return TaskStatus.WAITING if self.waits else TaskStatus.READY


async def scan_old(
    conn: Connection, after: TaskId | None, limit: int, *, settled: bool
) -> list[tuple[TaskId, TaskStatus]]:
    """Return the next old tasks by id, without a lock; ended ones only if `settled`."""
    start = None if after is None else wire_id(after)
    rows = await conn.fetch("move_scan", after=start, limit=limit, settled=settled)
    return [(task_id(row[0]), TaskStatus(row[1])) for row in rows]


async def lock_old(conn: Connection, ids: Collection[TaskId]) -> list[OldTask]:
    """Lock old tasks that nobody else has locked; returns them as they are now."""
    return [OldTask.from_row(row) for row in await conn.fetch("move_lock", ids=_ids(ids))]


async def old_statuses(conn: Connection, ids: Collection[TaskId]) -> dict[TaskId, TaskStatus]:
    """Return the statuses of those of the old tasks that are there, without a lock."""
    rows = await conn.fetch("move_statuses", ids=_ids(ids)) if ids else []
    return {task_id(row[0]): TaskStatus(row[1]) for row in rows}


async def old_members(conn: Connection, first: TaskId, last: TaskId) -> dict[TaskId, tuple[str, str]]:
    """Return which old tasks of a range an open batch or workflow counts: its kind and name."""
    rows = await conn.fetch("move_members", first=wire_id(first), last=wire_id(last))
    return {task_id(row[0]): (row[1], row[2]) for row in rows}


async def old_keys(conn: Connection, first: TaskId, last: TaskId) -> dict[TaskId, str]:
    """Return the unique keys that old tasks of a range hold."""
    rows = await conn.fetch("move_keys", first=wire_id(first), last=wire_id(last))
    return {task_id(row[0]): row[1] for row in rows}


async def count_stale_old_keys(conn: Connection) -> int:
    """Count the old lock rows whose task has ended or is gone: they hold nothing."""
    row = await conn.fetchrow("move_stale_keys")
    return 0 if row is None else int(row[0])


async def hold_keys(conn: Connection, holders: Mapping[str, TaskId]) -> set[str]:
    """Make tasks the holders of their unique keys here; returns the keys that were free."""
    if not holders:
        return set()
    keys = sorted(holders)
    if await lock_keys(conn, keys):
        await conn.execute("delete_stale_keys", keys=json.dumps(keys))
    rows = json.dumps([{"unique_key": key, "holder_id": wire_id(holders[key]), "ttl": None} for key in keys])
    if conn.dialect.insert_returns_rows:
        await conn.fetch("insert_keys", keys=rows)
    else:
        await conn.execute("insert_keys", keys=rows)
    return {row[0] for row in await lock_keys(conn, keys) if task_id(row[1]) == holders[row[0]]}


async def insert_moved(conn: Connection, tasks: Sequence[MovedTask]) -> None:
    """Store moved tasks with their ids, attempts and failures."""
    rows = (_columns(task) for task in sorted(tasks, key=lambda task: task.old.id))
    for chunk in chunks(((row, _size(row)) for row in rows), max_bytes=conn.max_batch_bytes):
        await conn.execute("move_insert", tasks=json.dumps(chunk))


async def remove_old(conn: Connection, ids: Collection[TaskId], keys: Collection[str]) -> None:
    """Delete old tasks that this transaction has locked, and the old lock rows of these keys."""
    if not ids:
        return
    if keys:
        await conn.execute("move_free_keys", keys=json.dumps(sorted(keys)))
    await conn.execute("move_unlink", ids=_ids(ids))
    await conn.execute("move_delete", ids=_ids(ids))


def _ids(ids: Collection[TaskId]) -> str:
    return json.dumps(sorted(wire_id(id_) for id_ in ids))


def _columns(task: MovedTask) -> dict[str, Scalar]:
    old, plan, place = task.old, task.plan, task.place or Place()
    return {
        "id": wire_id(old.id),
        "backend_alias": old.backend_alias,
        "task_path": old.task_path,
        "queue_name": old.queue_name,
        "priority": old.priority,
        "status": task.status,
        "args": old.args if plan is None else plan.args,
        "kwargs": old.kwargs if plan is None else plan.kwargs,
        "run_after": wire_instant(old.run_after),
        "enqueued_at": wire_instant(old.enqueued_at),
        "started_at": wire_instant(old.started_at),
        "last_attempted_at": wire_instant(old.last_attempted_at),
        "finished_at": wire_instant(old.finished_at),
        "attempts": old.attempts,
        "max_attempts": old.max_attempts,
        "epoch": old.epoch,
        "timeout": None if plan is None else plan.timeout,
        "worker_ids": json.dumps([_worker(name) for name in old.worker_ids]),
        "errors": json.dumps(_errors(old)),
        "return_value": old.return_value,
        "unique_key": task.unique_key,
        "reruns": plan is not None and plan.reruns and task.unique_key is not None,
        "lock_key": None if plan is None else plan.lock_key,
        "lock_limit": None if plan is None else plan.lock_limit,
        "lock_conflict": None if plan is None else plan.lock_conflict,
        "waiting_for": "edges" if task.waits else None,
        "batch_id": None if place.batch_id is None else wire_id(place.batch_id),
        "workflow_id": None if place.workflow_id is None else wire_id(place.workflow_id),
        "limit_keys": None if plan is None else plan.limit_keys,
    }


def _errors(old: OldTask) -> list[dict[str, Any]]:
    """Say of each failure which attempt it was, where there is one for each; the old rows do not say when."""
    if not len(old.errors) == len(old.worker_ids) == old.attempts:
        return list(old.errors)
    pairs = zip(old.errors, old.worker_ids, strict=True)
    return [{**error, "attempt": at, "worker_id": name} for at, (error, name) in enumerate(pairs, 1)]


def _worker(name: str) -> str:
    """Keep a worker's name; one that has the length of an id without dashes would be read as one."""
    return f"ox:{name}" if len(name) == _UNDASHED else name


def _size(row: Mapping[str, Scalar]) -> int:
    return ROW_OVERHEAD + sum(len(value) for value in row.values() if isinstance(value, str))
