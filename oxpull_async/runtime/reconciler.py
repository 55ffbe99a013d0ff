"""The reconciler: looks at what marks ask for, and for what no mark told of."""

import asyncio
import random
import time
from functools import partial
from typing import TYPE_CHECKING

from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import DatabaseTrouble
from oxpull_async.domain.events import BatchesReconciled, DatabaseDown
from oxpull_async.runtime.hub import Hub, nothing
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.batch_care import OpenBatch, look_after, open_batches, recheck_members

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from oxpull_async.domain.batch import BatchId
    from oxpull_async.domain.record import TaskId

PAUSE = 1.0
MARKS_AT_ONCE, BATCHES_AT_ONCE, MEMBERS_AT_ONCE = 500, 20, 1_000
MOST_TIME = 0.25


class Reconciler:
    """Follows marks once a second, and walks over open batches.

    It looks at a bounded piece of them twice in a renewal interval. `unforeseen` counts what it had to put right that
    no mark asked for: more than none means a bug elsewhere.
    """

    def __init__(self, database: Database, lease: LeaseState, hub: Hub) -> None:
        self._database = database
        self._lease = lease
        self._hub = hub
        self._walked_at = 0.0
        self._batch: BatchId | None = None
        self._member: tuple[BatchId, TaskId] | None = None
        self.unforeseen = 0
        self.on_moved: Callable[[], Awaitable[None]] = nothing

    async def run(self) -> None:
        """Reconcile until cancelled."""
        while True:
            await asyncio.sleep(PAUSE * random.uniform(0.8, 1.2))  # noqa: S311 - spreading load
            try:
                if self._lease.is_trusted(time.monotonic()):
                    await self._look()
            except DatabaseTrouble as trouble:
                self._hub.emit(DatabaseDown("reconciler", str(trouble), PAUSE))

    async def _look(self) -> None:
        ends, moved = time.monotonic() + MOST_TIME, 0
        while looked := await repeat(self._database, lambda conn: recheck_members(conn, MARKS_AT_ONCE)):
            moved += looked
            if time.monotonic() >= ends:
                break
        if time.monotonic() - self._walked_at >= self._lease.interval / 2:
            self._walked_at = time.monotonic()
            moved += await self.walk()
        if moved:
            await self.on_moved()

    async def walk(self) -> int:
        """Look at the next piece of the open batches; returns how much was put right.

        Ends after a quarter of a second, or so many batches; the next walk goes on from there.
        """
        ends, put_right = time.monotonic() + MOST_TIME, 0
        after = self._batch
        found = await repeat(self._database, lambda conn: open_batches(conn, after, BATCHES_AT_ONCE))
        for batch in found:
            put_right += await self._look_at(batch, ends)
            if self._member is None:
                self._batch = batch.id
            if time.monotonic() >= ends:
                return put_right
        if len(found) < BATCHES_AT_ONCE:
            self._batch = None
        return put_right

    async def _look_at(self, batch: OpenBatch, ends: float) -> int:
        """Recount a batch's members as far as time allows, and see to its end."""
        put_right = 0
        after = self._member[1] if self._member is not None and self._member[0] == batch.id else None
        while True:
            look = partial(look_after, batch=batch, after=after, limit=MEMBERS_AT_ONCE)
            step = await repeat(self._database, look)
            if step.missing or step.unforeseen:
                self.unforeseen += step.unforeseen
                self._hub.emit(BatchesReconciled(batch.id, step.missing, step.unforeseen))
            put_right += step.put_right
            after = step.after
            self._member = None if after is None else (batch.id, after)
            if after is None or time.monotonic() >= ends:
                return put_right
