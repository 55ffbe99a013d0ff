"""The reconciler: looks at what marks ask for, and for what no mark told of."""

import asyncio
import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import DatabaseTrouble
from oxpull_async.domain.events import BatchesReconciled, DatabaseDown, WorkflowsReconciled
from oxpull_async.runtime.hub import Hub, nothing
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.lookout import Lookout
from oxpull_async.runtime.repeat import repeat
from oxpull_async.runtime.walk import Kind, Walk
from oxpull_async.store import batch_care, workflow_care
from oxpull_async.store.glance import Glance

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

PAUSE, IDLE_PAUSE = 1.0, 2.0
RECENT = 1.25
MARKS_AT_ONCE, ROUNDS = 500, 20
MOST_TIME = 0.25

BATCHES = Kind(batch_care.open_batches, batch_care.look_after, BatchesReconciled)
WORKFLOWS = Kind(workflow_care.open_workflows, workflow_care.look_after_workflow, WorkflowsReconciled)


class Reconciler:
    """Follows marks once a second while anything happens, and walks over what is open.

    It looks at a bounded piece of the open batches and workflows twice in a renewal interval.
    """

    def __init__(self, database: Database, lease: LeaseState, lookout: Lookout, hub: Hub) -> None:
        self._database = database
        self._lease = lease
        self._lookout = lookout
        self._hub = hub
        self._news = asyncio.Event()
        self._walked_at = 0.0
        self._walks = (Walk(BATCHES, database, hub), Walk(WORKFLOWS, database, hub))
        self.on_moved: Callable[[], Awaitable[None]] = nothing

    @property
    def unforeseen(self) -> int:
        """How much it had to put right that no mark asked for: more than none means a bug elsewhere."""
        return sum(walk.unforeseen for walk in self._walks)

    def wake(self, queue_name: str = "") -> None:  # noqa: ARG002 - whatever was written may have left a mark
        """Look within a second."""
        self._news.set()

    async def run(self) -> None:
        """Reconcile until cancelled, without a pause while there are marks of nodes."""
        has_more = False
        while True:
            await self._pause(has_more=has_more)
            has_more = False
            try:
                if self._lease.is_trusted(time.monotonic()):
                    has_more = await self._look()
            except DatabaseTrouble as trouble:
                self._hub.emit(DatabaseDown("reconciler", str(trouble), PAUSE))

    async def _pause(self, *, has_more: bool) -> None:
        """Wait a second, and where nothing is heard of another one."""
        if has_more:
            await asyncio.sleep(0)
            return
        await asyncio.sleep(PAUSE * random.uniform(0.8, 1.2))  # noqa: S311 - spreading load
        with suppress(TimeoutError):
            async with asyncio.timeout(IDLE_PAUSE - PAUSE):
                await self._news.wait()
        self._news.clear()

    async def follow_marks(self) -> int:
        """Follow marks of members and nodes once, a bounded number; returns how much was done."""
        members = await repeat(self._database, lambda conn: batch_care.recheck_members(conn, MARKS_AT_ONCE))
        return members + await repeat(self._database, lambda conn: workflow_care.recheck_nodes(conn, MARKS_AT_ONCE))

    async def _look(self) -> bool:
        """Follow marks, and walk from time to time; returns whether there may be more marks."""
        seen, moved, rounds = await self._lookout.look(RECENT), 0, 0
        if seen.marked_members:
            moved += await self._follow_members(time.monotonic() + MOST_TIME)
        if seen.marked_nodes or moved:
            while rounds < ROUNDS and await self._follow_nodes():
                rounds += 1
        if time.monotonic() - self._walked_at >= self._lease.interval / 2:
            self._walked_at = time.monotonic()
            moved += await self._walk_over_open(seen)
        if moved:
            await self.on_moved()
        return rounds == ROUNDS

    async def _follow_members(self, ends: float) -> int:
        """Follow marks of members while there are some, but not for long; returns how many."""
        moved = 0
        while looked := await repeat(self._database, lambda conn: batch_care.recheck_members(conn, MARKS_AT_ONCE)):
            moved += looked
            if time.monotonic() >= ends:
                break
        return moved

    async def _follow_nodes(self) -> bool:
        """Follow marks of nodes once; what that releases may start at once."""
        followed = await repeat(self._database, lambda conn: workflow_care.recheck_nodes(conn, MARKS_AT_ONCE))
        if followed:
            await self.on_moved()
        return followed > 0

    async def _walk_over_open(self, seen: Glance) -> int:
        batches, workflows = self._walks
        put_right = await batches.go_on(time.monotonic() + MOST_TIME) if seen.open_batches else 0
        return put_right + (await workflows.go_on(time.monotonic() + MOST_TIME) if seen.open_workflows else 0)

    async def walk(self) -> int:
        """Look at the next piece of what is open; returns how much was put right."""
        return sum([await walk.go_on(time.monotonic() + MOST_TIME) for walk in self._walks])
