"""The renewer: keeps the worker's lease, and registers anew when it is lost. Runs on the lease thread."""

import asyncio
import json
import time
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

RETRY_PAUSE = 0.2


class Renewer:
    """Renews one worker's lease three times in its length."""

    def __init__(self, database: Database, card: WorkerCard, lease: LeaseState, hub: Hub) -> None:
        self._database = database
        self._card = card
        self._lease = lease
        self._hub = hub
        self.notes: Callable[[], dict[str, Any]] = dict
        self.on_lost: Callable[[], None] = lambda: None

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
            await asyncio.sleep(self._lease.interval)
            if not await self._renew_in_time():
                self._lease.lost()
                self._hub.emit(LeaseLost(self._card.worker_id))
                self.on_lost()
                await self._enter_again()

    async def _renew_in_time(self) -> bool:
        """Renew, trying again while the lease may still be relied on; False when it is lost."""
        while True:
            sent_at = time.monotonic()
            left = self._lease.deadline - sent_at
            try:
                async with asyncio.timeout(max(left, RETRY_PAUSE)):
                    renewed = await self._renew()
            except TimeoutError:
                return False
            except DatabaseTrouble as trouble:
                self._hub.emit(DatabaseDown("renewer", str(trouble), RETRY_PAUSE))
                if left <= 0:
                    return False
                await asyncio.sleep(min(RETRY_PAUSE, left))
                continue
            if renewed:
                self._lease.granted(self._card.worker_id, sent_at)
            return renewed

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
