"""A walk over the open groups of one kind, batches or workflows, a bounded piece at a time."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from oxpull_async.db.contract import Connection, Database
from oxpull_async.domain.events import Event
from oxpull_async.domain.record import TaskId
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.repeat import repeat

GROUPS_AT_ONCE, ROWS_AT_ONCE = 20, 1_000


class Group(Protocol):
    """A batch or workflow that is not complete."""

    @property
    def id(self) -> str:
        """Its id."""


class Step(Protocol):
    """What one step put right, and after which task the next one starts."""

    @property
    def missing(self) -> int:
        """How many rows had been deleted by hand."""

    @property
    def unforeseen(self) -> int:
        """How many moves nobody had followed."""

    @property
    def after(self) -> TaskId | None:
        """The last task of this step, None when it reached the end."""

    @property
    def put_right(self) -> int:
        """How much of it was not as it should have been."""


@dataclass(frozen=True, slots=True)
class Kind[G: Group]:
    """How groups of one kind are found and looked after, and what is told of what was put right."""

    find: Callable[[Connection, str | None, int], Awaitable[Sequence[G]]]
    look_after: Callable[[Connection, G, TaskId | None, int], Awaitable[Step]]
    told: Callable[[str, int, int], Event]


class Walk[G: Group]:
    """Goes over the open groups of a kind, again and again, from where it left off.

    `unforeseen` counts what it had to put right that no mark asked for: more than none means a bug elsewhere.
    """

    def __init__(self, kind: Kind[G], database: Database, hub: Hub) -> None:
        self._kind = kind
        self._database = database
        self._hub = hub
        self._group: str | None = None
        self._row: tuple[str, TaskId] | None = None
        self.unforeseen = 0

    async def go_on(self, ends: float) -> int:
        """Look at the next groups; returns how much was put right.

        Ends at this instant of `time.monotonic()`, or after so many groups; the next call goes on from there.
        """
        put_right, after = 0, self._group
        found = await repeat(self._database, lambda conn: self._kind.find(conn, after, GROUPS_AT_ONCE))
        for group in found:
            put_right += await self._look_at(group, ends)
            if self._row is None:
                self._group = group.id
            if time.monotonic() >= ends:
                return put_right
        if len(found) < GROUPS_AT_ONCE:
            self._group = None
        return put_right

    async def _look_at(self, group: G, ends: float) -> int:
        """Look at a group's tasks as far as time allows, and see to its end."""
        put_right = 0
        after = self._row[1] if self._row is not None and self._row[0] == group.id else None
        while True:
            step = await repeat(self._database, partial(self._step, group, after))
            if step.missing or step.unforeseen:
                self.unforeseen += step.unforeseen
                self._hub.emit(self._kind.told(group.id, step.missing, step.unforeseen))
            put_right += step.put_right
            after = step.after
            self._row = None if after is None else (group.id, after)
            if after is None or time.monotonic() >= ends:
                return put_right

    async def _step(self, group: G, after: TaskId | None, conn: Connection) -> Step:
        return await self._kind.look_after(conn, group, after, ROWS_AT_ONCE)
