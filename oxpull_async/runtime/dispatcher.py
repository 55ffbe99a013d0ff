"""The dispatcher: decides when to look and when to claim, and notices when nothing is left."""

import asyncio
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oxpull_async.domain.errors import DatabaseTrouble
from oxpull_async.domain.events import DatabaseDown
from oxpull_async.runtime.attempts import Attempts
from oxpull_async.runtime.claimer import Claimer, Plan
from oxpull_async.runtime.host import Host
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.pauses import Backoff
from oxpull_async.runtime.repeat import repeat
from oxpull_async.runtime.rest import Rest
from oxpull_async.store.queues import Outlook, peek, promote

if TYPE_CHECKING:
    from collections.abc import Callable

PROMOTE_AT_ONCE, PROMOTE_ROUNDS = 1000, 10
LOOK_WHILE_BUSY, LOOK_WHILE_FULL = 0.05, 0.5
LOOK_SHARE = 40
DOUBTFUL_CLAIMS = 3
GATHER_PAUSE, GATHER_SHARE = 0.002, 4


@dataclass(slots=True)
class Streak:
    """Claims in a row that brought nothing although rows were due, and since when."""

    length: int = 0
    since: float = 0.0

    def grow(self, now: float) -> None:
        """Count one more."""
        self.since = self.since if self.length else now
        self.length += 1


class Dispatcher:
    """Keeps one worker supplied, on its event loop."""

    def __init__(self, host: Host, plan: Plan, claimer: Claimer, attempts: Attempts, rest: Rest, hub: Hub) -> None:
        self._host = host
        self._plan = plan
        self._claimer = claimer
        self._attempts = attempts
        self._rest = rest
        self._hub = hub
        self._wake = asyncio.Event()
        self._hints: dict[str, None] = {}
        self._stopping = False
        self._fruitless = Streak()
        self.on_doubt: Callable[[], None] = lambda: None

    def wake(self, queue_name: str = "") -> None:
        """Look at once.

        `queue_name` says where something was enqueued, "" that anything may have changed.
        """
        if queue_name:
            self._hints[queue_name] = None
        self._wake.set()

    def stop(self) -> None:
        """Claim nothing more; `run` returns."""
        self._stopping = True
        self._claimer.goes_ahead = False
        self._wake.set()

    async def run(self) -> bool:
        """Claim until stopped (False), until `max_tasks` have run, or until a burst is over."""
        backoff = Backoff()
        while not self._stopping:
            self._wake.clear()
            try:
                pause = await self._pass() if not self._claimer.is_spent else self._last_pause()
            except DatabaseTrouble as trouble:
                pause = backoff.next()
                self._hub.emit(DatabaseDown("dispatcher", str(trouble), pause))
            else:
                backoff.reset()
                if pause is None:
                    return True
            await self._wait(pause)
        return False

    async def _pass(self) -> float | None:
        """Claim what there is room for; returns the seconds until the next look, or None when a burst is over."""
        confirmed_at = self._claimer.confirmed_at
        if not self._claimer.is_trusted:
            return LOOK_WHILE_BUSY
        if len(self._attempts) >= self._plan.concurrency:
            return LOOK_WHILE_FULL
        hints, self._hints = tuple(self._hints), {}
        served = [name for name in hints if self._plan.queues is None or name in self._plan.queues]
        if served:
            await self._claim_all(tuple(served))
        was_idle = not self._attempts.busy  # what ended during the look may have become due after it
        outlook = await self._look()
        self._note(outlook, was_idle=was_idle)
        brought = await self._serve(outlook)
        if brought is not None:
            return self._more() if brought else self._after_claim(confirmed_at, was_idle=was_idle)
        self._fruitless.length = 0
        if self._plan.burst and was_idle:
            return None
        return self._idle_pause(outlook)

    async def _serve(self, outlook: Outlook) -> int | None:
        """Claim what is due; returns how many rows moved, None where nothing is due but what limits hold up."""
        limits = self._claimer.limits
        limited = outlook.limited if not limits.due_in else ()
        if not outlook.queues and not limited:
            return None
        moved = await self._claim_all(tuple(sorted({*outlook.queues, *limited})))
        moved = moved or await limits.sort(outlook, now=True)
        return None if not moved and not outlook.queues and limits.is_throttled else moved

    def _note(self, outlook: Outlook, *, was_idle: bool) -> None:
        """Note what due rows depend on; a burst ends only after a look at all that limits may hold up."""
        self._claimer.locks.note(meets_locks=outlook.meets_locks)
        self._claimer.limits.note(outlook.limited)
        if self._plan.burst and was_idle:
            self._claimer.limits.look_now()

    def _last_pause(self) -> float | None:
        return LOOK_WHILE_FULL if self._attempts.live() else None

    def _more(self) -> float:
        self._fruitless.length = 0
        return 0.0 if self._claimer.room().limit else LOOK_WHILE_BUSY

    def _after_claim(self, confirmed_at: float, *, was_idle: bool) -> float | None:
        """Judge a claim that brought nothing although rows are due.

        Others took them, or they are not for us, or there is no room, or our lease is over: that is asked for, and
        only a claim under a lease confirmed since then ends a burst.
        """
        if not self._claimer.room().limit:
            return LOOK_WHILE_BUSY
        if self._claimer.locks.unfinished:
            return self._more()
        self._fruitless.grow(time.monotonic())
        if self._fruitless.length == DOUBTFUL_CLAIMS:
            self.on_doubt()
        if self._plan.burst:
            is_over = was_idle and confirmed_at > self._fruitless.since
            return None if is_over else LOOK_WHILE_BUSY
        return self._claimer.limits.shortened(
            min(LOOK_WHILE_BUSY * 2.0 ** min(self._fruitless.length, 10), LOOK_WHILE_FULL)
        )

    def _idle_pause(self, outlook: Outlook) -> float:
        if self._attempts.busy:
            self._rest.end()
        pause = self._rest.pause()
        if self._plan.burst:
            pause = min(pause, LOOK_WHILE_BUSY)
        pause = self._claimer.limits.shortened(pause)
        return pause if outlook.next_due_in is None else min(pause, max(outlook.next_due_in, 0.0))

    async def _look(self) -> Outlook:
        """Let rows whose time has come be claimed, and say which served queues have due rows."""
        alias = self._host.settings.alias
        if not self._plan.burst and not self._attempts.busy and (quiet := await self._rest.quiet()) is not None:
            return quiet
        began = time.monotonic()
        outlook = await repeat(self._host.database, lambda conn: peek(conn, alias))
        self._claimer.marks.look_took = time.monotonic() - began
        if outlook.next_due_in is not None and outlook.next_due_in <= 0:
            await self._promote()
            outlook = await repeat(self._host.database, lambda conn: peek(conn, alias))
        if await self._claimer.limits.sort(outlook):
            outlook = await repeat(self._host.database, lambda conn: peek(conn, alias))
        self._rest.note(outlook)
        served = self._plan.queues
        if served is None:
            return outlook
        queues, limited = ([name for name in names if name in served] for names in (outlook.queues, outlook.limited))
        return replace(outlook, queues=tuple(queues), limited=tuple(limited))

    async def _promote(self) -> None:
        for _ in range(PROMOTE_ROUNDS):
            moved = await repeat(self._host.database, lambda conn: promote(conn, PROMOTE_AT_ONCE))
            if moved:
                self._claimer.marks.hurry()
            if moved < PROMOTE_AT_ONCE:
                return

    async def _claim_all(self, queues: tuple[str, ...]) -> int:
        """Claim from these queues while there is room and they fill it, but look around again after a short while.

        Looks take at most a fortieth of the time; in between rows whose time has come are let in, and hints are heard.
        """
        total, promotes_at = 0, time.monotonic() + LOOK_WHILE_BUSY
        until = max(promotes_at, time.monotonic() + LOOK_SHARE * self._claimer.marks.look_took)
        while not self._stopping and time.monotonic() < until and self._hints.keys() <= set(queues):
            if time.monotonic() >= promotes_at:
                await self._promote()
                promotes_at = time.monotonic() + LOOK_WHILE_BUSY
            asked = self._claimer.room().limit
            count = await self._claimer.claim(queues)
            total += count
            if count:
                self._rest.end()
            if count < max(asked, 1):
                break
            await asyncio.sleep(0 if self._has_much_room() else GATHER_PAUSE)
        return total

    def _has_much_room(self) -> bool:
        return self._claimer.room().limit * GATHER_SHARE >= self._plan.concurrency

    async def _wait(self, pause: float) -> None:
        if pause <= 0 or self._stopping:
            await asyncio.sleep(0)
            return
        try:
            async with asyncio.timeout(pause):
                await self._wake.wait()
        except TimeoutError:
            pass
