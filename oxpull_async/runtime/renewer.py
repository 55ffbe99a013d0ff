"""The renewer: keeps the worker's lease, and registers anew when it is lost.

Runs on the lease thread.
"""

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import uuid_utils

from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import DatabaseTrouble
from oxpull_async.domain.events import DatabaseDown, LeaseLost, WorkerStarted
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.pauses import Backoff
from oxpull_async.runtime.repeat import repeat_once
from oxpull_async.store.lease import WorkerCard, register, renew

if TYPE_CHECKING:
    from collections.abc import Callable

    from oxpull_async.domain.record import WorkerId

LEAST_PATIENCE = 1.0


class Renewer:
    """Renews one worker's lease three times in its length."""

    def __init__(self, database: Database, card: WorkerCard, lease: LeaseState, hub: Hub) -> None:
        self._database = database
        self._card = card
        self._lease = lease
        self._hub = hub
        self._doubts = asyncio.Event()
        self.notes: Callable[[], dict[str, Any]] = dict
        self.on_lost: Callable[[WorkerId], None] = lambda _: None

    def doubt(self) -> None:
        """Renew at once, since something looks as if the lease were over."""
        self._doubts.set()

    async def enter(self) -> None:
        """Register under a new id; a worker id dies once and is never used again."""
        self._card = replace(self._card, worker_id=str(uuid_utils.uuid7()))
        sent_at = time.monotonic()
        await repeat_once(self._database, lambda conn: register(conn, self._card))
        self._lease.granted(self._card.worker_id, sent_at)
        self._hub.emit(WorkerStarted(self._card.worker_id))

    async def run(self) -> None:
        """Renew until cancelled."""
        while True:
            await self._pause()
            if not await self._renew_in_time():
                worker_id = self._card.worker_id
                self._lease.lost()
                self._hub.emit(LeaseLost(worker_id))
                self.on_lost(worker_id)
                await self._enter_again()

    async def _pause(self) -> None:
        """Wait for the next renewal, or until there is a doubt."""
        self._doubts.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._lease.interval):
                await self._doubts.wait()

    async def _renew_in_time(self) -> bool:
        """Renew, trying again while the lease may still be relied on; False when it is lost."""
        pauses = Backoff()
        while True:
            sent_at = time.monotonic()
            left = self._lease.deadline - sent_at
            try:
                async with asyncio.timeout(self._patience(left)):
                    renewed = await self._renew()
            except (TimeoutError, DatabaseTrouble) as trouble:
                wait = pauses.next()
                self._hub.emit(DatabaseDown("renewer", str(trouble) or self._silence(), wait))
                if self._lease.deadline <= time.monotonic():
                    return False
                await asyncio.sleep(min(wait, max(self._lease.deadline - time.monotonic(), 0.0)))
                continue
            if renewed:
                self._lease.granted(self._card.worker_id, sent_at)
            return renewed

    def _silence(self) -> str:
        """Say why there may have been no answer."""
        if self._database.dialect.skips_locked:
            return "no answer in time"
        return (
            f"no answer in time: some writer may hold {self._database.label} for longer than the lease lasts, "
            "whatever busy_timeout says"
        )

    def _patience(self, left: float) -> float:
        """Return how long one try may take: half of what is left, so that a dead connection leaves time for another.

        Where writers queue for the whole database, giving up would only lose the place in that queue.
        """
        return max(left / 2 if self._database.dialect.skips_locked else left, LEAST_PATIENCE)

    async def _renew(self) -> bool:
        notes, card = json.dumps(self.notes()), self._card
        return await repeat_once(self._database, lambda conn: renew(conn, card.worker_id, card.lease_seconds, notes))

    async def _enter_again(self) -> None:
        backoff = Backoff()
        while True:
            try:
                await self.enter()
            except DatabaseTrouble as trouble:
                pause = backoff.next()
                self._hub.emit(DatabaseDown("renewer", str(trouble), pause))
                await asyncio.sleep(pause)
            else:
                return
