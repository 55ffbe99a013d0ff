"""Batches and workflows of the oxpull app that are not complete, as their tables have them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from compat_sync.batches.callbacks import BatchKeywords
from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskId, TaskStatus, instant, instant_or_none, task_id, wire_id, wire_instant

__all__ = [
    "Kind",
    "OldEdge",
    "OldGroup",
    "OldNode",
    "date_moved",
    "edges",
    "forget",
    "lock_group",
    "members",
    "nodes",
    "open_groups",
    "shared_batches",
]

type Kind = Literal["batch", "workflow"]

_FORGET: dict[Kind, tuple[str, ...]] = {
    "batch": ("move_forget_members", "move_forget_batch"),
    "workflow": ("move_forget_edges", "move_forget_nodes", "move_forget_scan", "move_forget_workflow"),
}
_OPEN: dict[Kind, str] = {"batch": "move_open_batches", "workflow": "move_open_workflows"}


@dataclass(frozen=True, slots=True)
class OldGroup:
    """A batch or workflow; `callbacks` are what one may be created with here."""

    id: str
    name: str
    is_sealed: bool
    callbacks: BatchKeywords
    created_at: datetime
    sealed_at: datetime | None


@dataclass(frozen=True, slots=True)
class OldNode:
    """A node, and whether it is recorded there that it has succeeded."""

    id: TaskId
    name: str
    succeeded: bool


@dataclass(frozen=True, slots=True)
class OldEdge:
    """An edge; `id` is its row's, the others are those of tasks."""

    id: int
    upstream: TaskId
    downstream: TaskId
    is_met: bool


async def open_groups(conn: Connection, kind: Kind, after: str | None, limit: int) -> list[tuple[str, str]]:
    """Return the next ones by id, without a lock: id and name."""
    rows = await conn.fetch(_OPEN[kind], after=None if after is None else wire_id(after), limit=limit)
    return [(task_id(row[0]), row[1]) for row in rows]


async def shared_batches(conn: Connection) -> list[list[str]]:
    """Return the batches of each task that several of them count."""
    found: dict[TaskId, list[str]] = {}
    for row in await conn.fetch("move_shared_members"):
        found.setdefault(task_id(row[0]), []).append(task_id(row[1]))
    return list(found.values())


async def lock_group(conn: Connection, kind: Kind, id_: str) -> OldGroup | None:
    """Lock one and return it; None where somebody else has it locked, or it is complete."""
    row = await conn.fetchrow(f"move_lock_{kind}", id=wire_id(id_))
    if row is None:
        return None
    callbacks: Any = {}
    for when, (path, args, kwargs) in {"on_complete": row[2:5], "on_success": row[5:8]}.items():
        if path:
            said = {when: path, f"{when}_args": json.loads(args), f"{when}_kwargs": json.loads(kwargs)}
            callbacks.update(said)
    return OldGroup(id_, row[0], row[1] != "OPEN", callbacks, instant(row[8]), instant_or_none(row[9]))


async def members(conn: Connection, batch_id: str, after: TaskId | None, limit: int) -> Sequence[TaskId]:
    """Return the next tasks that a batch counts, by id."""
    place = None if after is None else wire_id(after)
    rows = await conn.fetch("move_batch_members", id=wire_id(batch_id), after=place, limit=limit)
    return [task_id(row[0]) for row in rows]


async def nodes(conn: Connection, workflow_id: str, after: TaskId | None, limit: int) -> list[OldNode]:
    """Return the next nodes of a workflow, by the ids of their tasks."""
    place = None if after is None else wire_id(after)
    rows = await conn.fetch("move_workflow_nodes", id=wire_id(workflow_id), after=place, limit=limit)
    return [OldNode(task_id(row[0]), row[1], row[2] == TaskStatus.SUCCESSFUL) for row in rows]


async def edges(conn: Connection, workflow_id: str, after: int | None, limit: int) -> list[OldEdge]:
    """Return the next edges of a workflow, by their ids."""
    rows = await conn.fetch("move_workflow_edges", id=wire_id(workflow_id), after=after, limit=limit)
    return [OldEdge(row[0], task_id(row[1]), task_id(row[2]), bool(row[3])) for row in rows]


async def forget(conn: Connection, kind: Kind, id_: str) -> None:
    """Delete one that this transaction has locked, with what belongs to it."""
    for statement in _FORGET[kind]:
        await conn.execute(statement, id=wire_id(id_))


async def date_moved(conn: Connection, kind: Kind, old: OldGroup) -> None:
    """Give what came over the dates that it had."""
    dates = {"created_at": wire_instant(old.created_at), "sealed_at": wire_instant(old.sealed_at)}
    await conn.execute(f"move_date_{kind}", id=wire_id(old.id), **dates)
