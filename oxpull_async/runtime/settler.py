"""The settler: writes outcomes, all that are ready at once, until they are stored."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import ConnectionLost, DatabaseTrouble, DataRefused
from oxpull_async.domain.events import DatabaseDown
from oxpull_async.domain.outcome import Outcome
from oxpull_async.runtime.attempts import Attempt, Attempts
from oxpull_async.runtime.endings import Ended, announce, count_ended, together, written_before
from oxpull_async.runtime.failures import unstorable
from oxpull_async.runtime.hub import Hub, nothing
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.pauses import Backoff
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.settle import Settled, settle

MOST_AT_ONCE, MOST_PATIENCE = 1000, 1.0


class Settler:
    """Collects outcomes on the event loop and settles them in batches."""

    def __init__(self, database: Database, attempts: Attempts, lease: LeaseState, hub: Hub) -> None:
        self._database = database
        self._attempts = attempts
        self._lease = lease
        self._hub = hub
        self._ended: list[Ended] = []
        self._ready = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._uncertain = False
        self.settled = 0
        self.on_handed_over: Callable[[], Awaitable[None]] = nothing
        self.on_counted: Callable[[], None] = lambda: None

    @property
    def pending(self) -> list[Ended]:
        """What is not known to be written yet.

        The lease thread writes it when the loop does not answer any more.
        """
        return list(self._ended)

    def add(self, attempt: Attempt, outcome: Outcome) -> None:
        """Take an outcome.

        It is written with all others that are there when the statement under way returns.
        """
        self._ended.append(Ended(attempt, outcome))
        if len(self._ended) == 1:
            self._ready.set()
            self._idle.clear()

    async def flush(self) -> None:
        """Wait until everything taken so far is written."""
        await self._idle.wait()

    async def run(self) -> None:
        """Write outcomes until cancelled."""
        pause = Backoff()
        while True:
            await self._ready.wait()
            batch = self._ended[:MOST_AT_ONCE]
            batch = batch[: together(batch)]
            try:
                await self._write(batch)
            except asyncio.CancelledError:
                self._uncertain = True
                raise
            except DatabaseTrouble as trouble:
                wait = pause.next()
                self._hub.emit(DatabaseDown("settler", str(trouble), wait))
                await asyncio.sleep(wait)
                continue
            pause.reset()
            self._done(len(batch))

    def _done(self, count: int) -> None:
        del self._ended[:count]
        if not self._ended:
            self._ready.clear()
            self._idle.set()

    async def _write(self, batch: Sequence[Ended]) -> None:
        """Write a batch: whole, whole again after a lost connection, then one by one; the same for a refused value."""
        if not self._lease.is_trusted(time.monotonic()):
            await self._wait_for_lease()
        try:
            settled = await (self._settle_after_loss(batch) if self._uncertain else self._settle(batch))
        except ConnectionLost:
            self._uncertain = True
            settled = await self._settle_after_loss(batch)
        except DataRefused:
            settled = await self._settle_alone(batch)
        self._uncertain = False
        self._announce(batch, settled)
        tied = [ended.attempt for ended in batch if not ended.attempt.claimed.stands_alone]
        if any(attempt.is_followed for attempt in tied):
            self.on_counted()
        if any(attempt.hands_over for attempt in tied):
            await self.on_handed_over()

    async def _wait_for_lease(self) -> None:
        """Give the lease thread the time to renew, or to find that the lease is lost, before anything is written."""
        ends = time.monotonic() + min(self._lease.interval, MOST_PATIENCE)
        while not self._lease.is_trusted(now := time.monotonic()) and now < ends:  # noqa: ASYNC110 - set in other threads
            await asyncio.sleep(0.05)

    async def _settle(self, batch: Sequence[Ended]) -> Settled:
        rows = [ended.settlement for ended in batch]
        return await repeat(self._database, lambda conn: settle(conn, rows))

    async def _settle_after_loss(self, batch: Sequence[Ended]) -> Settled:
        try:
            settled = await self._settle(batch)
        except (ConnectionLost, DataRefused):
            settled = await self._settle_alone(batch)
        missing = [ended for ended in batch if ended.attempt.lease not in settled]
        return settled | (await written_before(self._database, missing) if missing else {})

    async def _settle_alone(self, batch: Sequence[Ended]) -> Settled:
        settled: Settled = {}
        for ended in batch:
            try:
                settled |= await self._settle([ended])
            except DataRefused as refused:
                settled |= await self._settle_refused(ended, refused)
        return settled

    async def _settle_refused(self, ended: Ended, refused: DataRefused) -> Settled:
        """Write the refusal instead; where even that is refused, nothing can be written and the others go on."""
        try:
            return await self._settle([Ended(ended.attempt, unstorable(ended.attempt, refused))])
        except DataRefused as again:
            self._hub.emit(DatabaseDown("settler", f"task {ended.attempt.claimed.id} cannot be settled: {again}", 0.0))
            return {}

    def _announce(self, batch: Sequence[Ended], settled: Settled) -> None:
        self.settled += count_ended(batch, settled)
        self._attempts.forget(*[ended.attempt for ended in batch])
        announce(self._hub, batch, settled)
