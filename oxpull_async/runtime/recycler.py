"""The recycler: what happens when a function does not stop after its timeout.

Runs on the lease thread.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import DatabaseTrouble, DataRefused
from oxpull_async.domain.events import DatabaseDown, TasksReleased
from oxpull_async.domain.outcome import Failed, Released
from oxpull_async.runtime.attempts import Attempt, Stop
from oxpull_async.runtime.crew import Crew
from oxpull_async.runtime.endings import Ended, announce, attempt_failed, count_ended, together, written_before
from oxpull_async.runtime.failures import failure, timed_out
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.pauses import Backoff
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.settle import Settled, settle

EXIT_CODE = 75
BLOCKED = 1.0
LAST_WRITES = 10.0


@dataclass(frozen=True, slots=True)
class Ending:
    """How the process ends.

    `recycle` has the worker stop, `drain_timeout` is how long its other tasks may run on.
    `exits` holds in processes that are the worker and nothing else: only they may end while their loop is blocked.
    """

    recycle: Callable[[str], None]
    drain_timeout: float
    exits: bool


class Recycler:
    """Records the timeout of attempts that do not stop, and has the process end.

    Their siblings are not hurt: they get the drain timeout, or are handed back.
    """

    def __init__(self, database: Database, crew: Crew, ending: Ending, hub: Hub) -> None:
        self._database = database
        self._crew = crew
        self._ending = ending
        self._hub = hub
        self._loop = asyncio.get_running_loop()
        self._records: list[asyncio.Task[None]] = []
        self._leaving: asyncio.Task[None] | None = None
        self.stuck: list[Attempt] = []
        self.settled = 0
        crew.watchdog.on_stuck = self._start

    def _start(self, stuck: list[Attempt]) -> None:
        """Take attempts that the watchdog found; the first ones have the process end, later ones are only recorded."""
        is_first = not self.stuck
        taken = [attempt for attempt in stuck if self._crew.attempts.end(attempt)]
        self.stuck += taken
        loop = asyncio.get_running_loop()
        self._records.append(loop.create_task(self._record(taken)))
        if is_first and taken:
            names = ", ".join(sorted({attempt.claimed.task_path for attempt in taken}))
            self._loop.call_soon_threadsafe(self._ending.recycle, f"{names} did not stop after the timeout")
            self._leaving = loop.create_task(self._leave())

    async def recorded(self) -> None:
        """Wait until the timeouts are written."""
        await asyncio.gather(*self._records)

    async def _record(self, stuck: Sequence[Attempt]) -> None:
        ended = [Ended(attempt, failure(attempt, timed_out(attempt))) for attempt in stuck]
        settled = await self._write(ended)
        for attempt in stuck:
            self._crew.attempts.forget(attempt)
        self._tell(ended, settled)

    def _tell(self, batch: Sequence[Ended], settled: Settled) -> None:
        """Count and tell what was written, as for any other attempt; here, since the worker's loop may be blocked."""
        self.settled += count_ended(batch, settled)
        for ended in batch:
            if isinstance(ended.outcome, Failed) and ended.attempt.lease in settled:
                self._hub.emit(attempt_failed(ended.attempt, timed_out(ended.attempt), ended.outcome))
        announce(self._hub, batch, settled)

    async def _leave(self) -> None:
        """Hand back what has not started, wait as long as a drain may take, and give up on a loop that is blocked."""
        crew = self._crew
        waiting = [attempt for attempt in crew.attempts.live() if crew.attempts.take_back(attempt)]
        if waiting:
            await crew.caretaker.hand_back(waiting, "the worker is recycled")
        await asyncio.sleep(self._ending.drain_timeout)
        if crew.watchdog.blocked_for > BLOCKED:
            await self._give_up()

    async def _give_up(self) -> None:
        """Write what a blocked loop has not, hand back what it still holds; a process that is only a worker ends.

        In any other the loop may go on one day: what was handed back is cancelled then.
        """
        crew = self._crew
        held = [attempt for attempt in crew.attempts.live() if crew.attempts.end(attempt)]
        for attempt in held:
            attempt.stop = attempt.stop or Stop.SHUTDOWN
            crew.caretaker.on_taken_back(attempt)
        pending = crew.settler.pending
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WRITES):
                settled = await self._write(pending + [Ended(attempt, Released()) for attempt in held])
                self._tell_last(pending, settled, sum(attempt.lease in settled for attempt in held))
        if self._ending.exits:
            os._exit(EXIT_CODE)

    def _tell_last(self, pending: Sequence[Ended], settled: Settled, released: int) -> None:
        """Tell what the settler never will, once this process ends; that attempts had failed was told before."""
        if released:
            self._hub.emit(TasksReleased(released, "the event loop is blocked"))
        if self._ending.exits:
            announce(self._hub, pending, settled)

    async def _write(self, batch: Sequence[Ended]) -> Settled:
        """Settle what may be settled at once, part after part."""
        settled: Settled = {}
        while batch:
            count = together(batch)
            settled |= await self._write_part(batch[:count])
            batch = batch[count:]
        return settled

    async def _write_part(self, batch: Sequence[Ended]) -> Settled:
        """Settle, again while the database is away, alone where a value is refused; the epoch fences all of it."""
        pause, uncertain = Backoff(), False
        rows = [ended.settlement for ended in batch]
        while rows:
            try:
                settled = await repeat(self._database, lambda conn: settle(conn, rows))
                missing = [ended for ended in batch if uncertain and ended.attempt.lease not in settled]
                return settled | (await written_before(self._database, missing) if missing else {})
            except DataRefused:
                return await self._write_alone(batch)
            except DatabaseTrouble as trouble:
                uncertain, wait = True, pause.next()
                self._hub.emit(DatabaseDown("recycler", str(trouble), wait))
                await asyncio.sleep(wait)
        return {}

    async def _write_alone(self, batch: Sequence[Ended]) -> Settled:
        settled: Settled = {}
        for ended in batch if len(batch) > 1 else ():
            settled |= await self._write_part([ended])
        return settled
