"""The recycler: what happens when a function does not stop after its timeout. Runs on the lease thread."""

import asyncio
import os
from collections.abc import Callable, Sequence

from oxpull_async.db.contract import Database
from oxpull_async.domain.outcome import Outcome, Released, Settlement
from oxpull_async.runtime.attempts import Attempt
from oxpull_async.runtime.crew import Crew
from oxpull_async.runtime.failures import failure, timed_out
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.settle import settle

EXIT_CODE = 75


class Recycler:
    """Records the timeout of attempts that do not stop, and has the process end without hurting their siblings.

    `exits` holds in processes that are the worker and nothing else: only they may end while their loop is blocked.
    """

    def __init__(
        self, database: Database, crew: Crew, drain_timeout: float, recycle: Callable[[str], None], *, exits: bool
    ) -> None:
        self._database = database
        self._crew = crew
        self._drain_timeout = drain_timeout
        self._recycle = recycle
        self._exits = exits
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self.stuck: list[Attempt] = []
        crew.watchdog.on_stuck = self._start

    def _start(self, stuck: list[Attempt]) -> None:
        self.stuck = stuck
        names = ", ".join(sorted({attempt.claimed.task_path for attempt in stuck}))
        reason = f"{names} did not stop after the timeout"
        self._loop.call_soon_threadsafe(self._recycle, reason)
        self._task = asyncio.get_running_loop().create_task(self._settle(stuck))

    async def _settle(self, stuck: Sequence[Attempt]) -> None:
        crew = self._crew
        rows = [Settlement(attempt.lease, self._timeout_of(attempt)) for attempt in stuck if crew.attempts.end(attempt)]
        await repeat(self._database, lambda conn: settle(conn, rows))
        for attempt in stuck:
            crew.attempts.forget(attempt)
        waiting = [attempt for attempt in crew.attempts.live() if crew.attempts.take_back(attempt)]
        if waiting:
            await crew.caretaker.hand_back(waiting, "the worker is recycled")
        await asyncio.sleep(self._drain_timeout)
        if crew.watchdog.blocked_for > 1:
            await self._give_up()

    async def _give_up(self) -> None:
        """Hand back what a blocked loop still holds; a process that is only a worker then ends."""
        crew = self._crew
        held = [attempt for attempt in crew.attempts.live() if crew.attempts.end(attempt)]
        rows = [Settlement(attempt.lease, Released()) for attempt in held]
        if rows:
            await repeat(self._database, lambda conn: settle(conn, rows))
        if self._exits:
            os._exit(EXIT_CODE)

    def _timeout_of(self, attempt: Attempt) -> Outcome:
        return failure(attempt, timed_out(attempt), self._crew.lease.worker_id)
