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
from oxpull_async.domain.events import DatabaseDown
from oxpull_async.domain.outcome import Released, Settlement
from oxpull_async.runtime.attempts import Attempt, Stop
from oxpull_async.runtime.crew import Crew
from oxpull_async.runtime.failures import failure, timed_out
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.pauses import Backoff
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.settle import settle

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
        await self._write([attempt.settlement(failure(attempt, timed_out(attempt))) for attempt in stuck])
        for attempt in stuck:
            self._crew.attempts.forget(attempt)

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
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WRITES):
                await self._write(crew.settler.pending + [attempt.settlement(Released()) for attempt in held])
        if self._ending.exits:
            os._exit(EXIT_CODE)

    async def _write(self, rows: Sequence[Settlement]) -> None:
        """Settle, again while the database is away, alone where a value is refused; the epoch fences all of it."""
        pause = Backoff()
        while rows:
            try:
                await repeat(self._database, lambda conn: settle(conn, rows))
            except DataRefused:
                await self._write_alone(rows)
                return
            except DatabaseTrouble as trouble:
                wait = pause.next()
                self._hub.emit(DatabaseDown("recycler", str(trouble), wait))
                await asyncio.sleep(wait)
            else:
                return

    async def _write_alone(self, rows: Sequence[Settlement]) -> None:
        for row in rows if len(rows) > 1 else ():
            await self._write([row])
