"""The open transaction of the running asyncio task, which enqueues inside it join.

A transaction belongs to the asyncio task that entered it. Child tasks inherit the context but not the right to use
the connection: while the block is open they get an error that says so, afterwards they enqueue by themselves.
"""

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import TransactionElsewhere
from oxpull_async.domain.record import TaskId


@dataclass(slots=True)
class Ambient:
    """One open transaction: whose it is, its connection, and what was enqueued in it."""

    owner: object
    task: asyncio.Task[Any] | None
    conn: Connection
    joined: bool
    is_open: bool = True
    created: set[TaskId] = field(default_factory=set)
    committed: dict[str, None] = field(default_factory=dict)
    """The queues to wake workers of when the block has ended; filled by the commit."""


_stack: ContextVar[tuple[Ambient, ...]] = ContextVar("oxpull_transactions", default=())


def current(owner: object) -> Ambient | None:
    """Return the transaction of `owner` that this asyncio task has open, or None.

    Raises: TransactionElsewhere when a parent task's transaction is open in this context.
    """
    stack = _stack.get()
    if not stack:
        return None
    ambient = next((entry for entry in reversed(stack) if entry.owner is owner and entry.is_open), None)
    if ambient is not None and ambient.task is not asyncio.current_task():
        name = "another task" if ambient.task is None else repr(ambient.task.get_name())
        raise TransactionElsewhere(
            f"the transaction that is open here belongs to the asyncio task {name}: enqueue and read in that task, "
            "or in this one after the transaction's block has ended"
        )
    return ambient


def has_created(owner: object, id_: TaskId) -> bool:
    """Whether a transaction that is open here enqueued the task; raises what `current` raises."""
    if current(owner) is None:
        return False
    return any(entry.is_open and entry.owner is owner and id_ in entry.created for entry in _stack.get())


def push(ambient: Ambient) -> None:
    """Make a transaction the current one of this task."""
    _stack.set((*(entry for entry in _stack.get() if entry.is_open), ambient))


def pop(ambient: Ambient) -> None:
    """End a transaction, here and for every child task that inherited it."""
    ambient.is_open = False
    _stack.set(tuple(entry for entry in _stack.get() if entry is not ambient))
