"""The reaper: takes tasks from workers that fell silent."""

import asyncio
import json
import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import DatabaseTrouble, TaskAbandoned
from oxpull_async.domain.events import DatabaseDown, TasksReaped
from oxpull_async.domain.lease import ExpiredTask
from oxpull_async.domain.record import TaskStatus
from oxpull_async.runtime.attempts import Attempts
from oxpull_async.runtime.hub import Hub, nothing
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.lookout import Lookout
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.follow_ups import recheck
from oxpull_async.store.lease import bury_dead_workers, expired, reap
from oxpull_async.store.locks import hand_over_idle

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

AT_ONCE = 200
RECENT_SHARE = 0.2


class Reaper:
    """Looks for expired leases twice in a renewal interval, row by row."""

    def __init__(self, database: Database, attempts: Attempts, lease: LeaseState, lookout: Lookout, hub: Hub) -> None:
        self._database = database
        self._attempts = attempts
        self._lease = lease
        self._lookout = lookout
        self._hub = hub
        self._news = asyncio.Event()
        self.on_handed_over: Callable[[], Awaitable[None]] = nothing

    def wake(self) -> None:
        """Look at once: somebody saw that there is something to do."""
        self._news.set()

    async def run(self) -> None:
        """Reap until cancelled."""
        while True:
            self._news.clear()
            try:
                if self._may_sweep():
                    await self._look()
            except DatabaseTrouble as trouble:
                self._hub.emit(DatabaseDown("reaper", str(trouble), self._lease.interval))
            with suppress(TimeoutError):
                async with asyncio.timeout(self._lease.interval * random.uniform(0.4, 0.6)):  # noqa: S311 - spreading load
                    await self._news.wait()

    async def _look(self) -> None:
        """Sweep or reconcile where the lookout has seen a reason."""
        seen = await self._lookout.look(self._lease.interval * RECENT_SHARE)
        if seen.is_silent:
            await self.sweep()
        elif seen.rechecks or seen.parked:
            await self.reconcile()

    def _may_sweep(self) -> bool:
        """Whether this worker is sound itself, and has written what it owes from an earlier life.

        What it interrupted when it lost its lease it hands back; reaped, the attempt would be charged.
        """
        return self._lease.is_trusted(time.monotonic()) and not self._attempts.owes(self._lease.worker_id)

    async def sweep(self) -> int:
        """Mark workers dead whose lease has expired, and take over their tasks.

        Returns how many moved.
        Where one writer at a time may delay a renewal, an expired lease gets one interval of grace.
        """
        await repeat(self._database, lambda conn: bury_dead_workers(conn, self._lookout.grace))
        verdicts = []
        while rows := await repeat(self._database, lambda conn: expired(conn, AT_ONCE)):
            taken = [verdict for row in rows if (verdict := await self._take(row)) is not None]
            verdicts += taken
            if not taken:
                break
        await self.reconcile(moved=bool(verdicts))
        if verdicts:
            requeued = sum(verdict is TaskStatus.READY for verdict in verdicts)
            self._hub.emit(TasksReaped(requeued, len(verdicts) - requeued))
        return len(verdicts)

    async def reconcile(self, *, moved: bool = False) -> int:
        """Look at follow-ups that a settle had to leave, and wake waiters of free running locks.

        Returns how much was done. `moved`: something is free already.
        """
        released = await repeat(self._database, lambda conn: recheck(conn, AT_ONCE))
        woken = await repeat(self._database, lambda conn: hand_over_idle(conn, AT_ONCE))
        if moved or released or woken:
            await self.on_handed_over()
        return released + woken

    async def _take(self, row: ExpiredTask) -> TaskStatus | None:
        note = _abandoned(row)
        verdict = await repeat(self._database, lambda conn: reap(conn, row, note))
        return None if verdict is None else verdict.status


def _abandoned(row: ExpiredTask) -> str:
    kind = TaskAbandoned
    return json.dumps(
        {
            "exception_class_path": f"{kind.__module__}.{kind.__qualname__}",
            "traceback": f"the worker {row.worker_id} fell silent during attempt {row.attempts} of {row.max_attempts}",
            "attempt": row.attempts,
            "worker_id": row.worker_id,
        }
    )
