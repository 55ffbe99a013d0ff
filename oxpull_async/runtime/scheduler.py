"""The scheduler: enqueues what schedules call, each tick once over all workers."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Protocol

import uuid_utils

from oxpull_async.domain.errors import DatabaseTrouble, DataRefused, LockTimeout, UniqueEnqueueRace, UsageError
from oxpull_async.domain.events import DatabaseDown, ScheduleFailed, ScheduleTicked
from oxpull_async.domain.record import TaskRecord
from oxpull_async.domain.schedule import DeclaredSchedule, DueTicks, NewSchedule, StoredSchedule, due_ticks
from oxpull_async.runtime.host import Host
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.lookout import Lookout
from oxpull_async.runtime.lookup import Lookup
from oxpull_async.runtime.pauses import Backoff
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store import rate_windows, schedules, ticks

if TYPE_CHECKING:
    from oxpull_async.db.contract import Connection

LOOK, RECENT = 5.0, 2.0
SOONEST = 0.2
SPREAD = 0.05
LEFT_ALONE, LEFT_TO_OTHERS = 60.0, 5.0
UNSERVED = timedelta(minutes=5)
KEPT = 7 * 86400.0
PRUNE_EVERY, PRUNE_AT_ONCE, PRUNE_ROUNDS = 600.0, 1000, 10


class Operate(Protocol):
    """Runs a store operation on a connection."""

    def __call__[T](self, operation: "Callable[[Connection], Awaitable[T]]", /) -> Awaitable[T]:
        """Return what the operation returns."""


@dataclass(slots=True)
class Passing:
    """One host's look at its schedules, on whatever connection it is given.

    It waits for nothing but that connection. A schedule that this process does not know, or that failed, is left alone
    for a minute: another worker may know it. One whose locks could not be had is tried again after seconds.
    """

    host: Host
    lookup: Lookup
    operate: Operate
    emit: Callable[[ScheduleTicked | ScheduleFailed], None]
    announce: Callable[[Sequence[TaskRecord]], Awaitable[None]]
    declared: dict[str, DeclaredSchedule] = field(default_factory=dict)
    left_alone: dict[str, float] = field(default_factory=dict)

    async def look(self) -> float | None:
        """Enqueue what is due.

        Returns the seconds until the next tick that is served here, 0 where one is due already, None where none is.
        """
        await self._declare()
        alias = self.host.settings.alias
        upcoming = [one for one in await self.operate(lambda conn: ticks.outlook(conn, alias)) if self._serves(one.id)]
        wanted = {one.id: one for one in upcoming if one.is_due or one.is_ahead}
        if not wanted:
            return min((one.due_in for one in upcoming if one.due_in is not None), default=None)
        now, rows = await self.operate(partial(_read, list(wanted)))
        for row in rows:
            await self._serve(row, now, is_ahead=wanted[row.id].is_ahead)
        return 0.0

    @property
    def has_declared(self) -> bool:
        """Whether all of this process's own schedules were brought in line."""
        return all(self.declared.get(name) == one for name, one in self.host.schedules.items())

    async def _declare(self) -> None:
        """Bring the rows of this process's own schedules in line with their declarations, once for each.

        Where somebody was faster, the next look reads again what is there.
        """
        alias = self.host.settings.alias
        missing = {name: one for name, one in self.host.schedules.items() if self.declared.get(name) != one}
        if not missing:
            return
        known = {row.name: row for row in await self.operate(lambda conn: schedules.list_schedules(conn, alias))}
        for name, one in missing.items():
            row = known.get(name)
            if row is not None and not row.declared:
                self._fail(
                    name, "a stored schedule has this name, so the declared one does not run: rename one of them"
                )
                self.declared[name] = one
                continue
            new = NewSchedule(str(uuid_utils.uuid7()), alias, name, True, one.ticking, one.task_path)
            if await self.operate(lambda conn, new=new, row=row: schedules.declare(conn, new, row)):  # type: ignore[misc]
                self.declared[name] = one

    async def _serve(self, row: StoredSchedule, now: datetime, *, is_ahead: bool) -> None:
        """Do what is due of one schedule; what goes wrong with it concerns no other."""
        if not self._is_known(row):
            self.left_alone[row.id] = time.monotonic() + LEFT_ALONE
            if row.declared and row.next_at is not None and now - row.next_at > UNSERVED:
                self.declared.pop(row.name, None)  # declared otherwise by a worker that is gone
        elif is_ahead:
            await self.operate(lambda conn: schedules.rewind(conn, row))
        elif (due := due_ticks(row, now)) is None:
            await self.operate(lambda conn: schedules.look_again(conn, row))
        else:
            await self._try(row, due)

    async def _try(self, row: StoredSchedule, due: DueTicks) -> None:
        try:
            await self._fire(row, due)
        except (UsageError, DataRefused) as refused:
            self._leave(row, LEFT_ALONE, refused)
        except (UniqueEnqueueRace, LockTimeout) as contended:
            self._leave(row, LEFT_TO_OTHERS, contended)

    async def _fire(self, row: StoredSchedule, due: DueTicks) -> None:
        calls = self.host.scheduled_calls(row, len(due.ticks))
        fired = await self.operate(lambda conn: ticks.fire(conn, row, due, calls))
        if fired is None:
            return
        self.emit(ScheduleTicked(row.name, due.ticks, len(fired.records), due.skipped, fired.overlapped))
        if fired.records:
            await self.announce(fired.records)

    def _is_known(self, row: StoredSchedule) -> bool:
        """Whether this process has the declaration that the row has, or the task of a stored one."""
        if not row.declared:
            return self.lookup.find(row.task_path) is not None
        own = self.host.schedules.get(row.name)
        if own is None or (own.ticking, own.task_path) != (row.ticking, row.task_path):
            return False
        return not own.by_path or self.lookup.find(own.task_path) is not None

    def _serves(self, id_: str) -> bool:
        return self.left_alone.get(id_, 0.0) <= time.monotonic()

    def _leave(self, row: StoredSchedule, seconds: float, error: Exception) -> None:
        self.left_alone[row.id] = time.monotonic() + seconds
        self._fail(row.name, str(error))

    def _fail(self, name: str, error: str) -> None:
        self.emit(ScheduleFailed(name, error))


class Scheduler:
    """Looks at the schedules when the next one is due, and every few seconds for new ones."""

    def __init__(self, host: Host, lookup: Lookup, lookout: Lookout, hub: Hub) -> None:
        self._host = host
        self._lookout = lookout
        self._hub = hub
        self._wake = asyncio.Event()
        self._passing = Passing(host, lookup, partial(repeat, host.database), hub.emit, host.announce_scheduled)
        self._prune_at = time.monotonic() + _spread(PRUNE_EVERY)

    def wake(self, queue_name: str = "") -> None:
        """Look soon, since anything may have changed; a queue's name says that nothing has here."""
        if not queue_name:
            self._wake.set()

    async def run(self) -> None:
        """Look until cancelled."""
        backoff = Backoff()
        while True:
            was_woken = self._wake.is_set()
            self._wake.clear()
            try:
                due_in = await self._look_if_due(0.0 if was_woken else RECENT)
                await self._prune()
            except DatabaseTrouble as trouble:
                pause = backoff.next()
                self._hub.emit(DatabaseDown("scheduler", str(trouble), pause))
                await asyncio.sleep(pause)
            else:
                backoff.reset()
                await self._wait(due_in)

    async def _look_if_due(self, max_age: float) -> float | None:
        """Look at the schedules unless none of them is due before the next look."""
        if self._passing.has_declared:
            due_in = (await self._lookout.look(max_age)).schedule_in
            if due_in is None or due_in > LOOK * 2:
                return None
        return await self._passing.look()

    async def look(self) -> None:
        """Look until nothing is due any more."""
        while await self._passing.look() == 0.0:
            pass

    async def _wait(self, due_in: float | None) -> None:
        """Wait for the next tick or a wake-up.

        A little longer than for the tick, each worker for another while, so that they do not come all at once.
        """
        if due_in is not None and due_in <= 0.0:
            return
        await asyncio.sleep(min(SOONEST, LOOK if due_in is None else due_in))
        rest = LOOK if due_in is None else min(max(due_in - SOONEST, 0.0) + random.uniform(0, SPREAD), LOOK)  # noqa: S311
        try:
            async with asyncio.timeout(rest):
                await self._wake.wait()
        except TimeoutError:
            pass

    async def _prune(self) -> None:
        """Remove old ticks, schedules that nobody declares any more and rate windows, now and then."""
        if time.monotonic() < self._prune_at:
            return
        self._prune_at = time.monotonic() + _spread(PRUNE_EVERY)
        alias = self._host.settings.alias
        await repeat(self._host.database, lambda conn: schedules.forget_unserved(conn, alias, KEPT))
        for _ in range(PRUNE_ROUNDS):
            if await repeat(self._host.database, _prune_some) < PRUNE_AT_ONCE:
                return


async def _read(ids: list[str], conn: "Connection") -> tuple[datetime, list[StoredSchedule]]:
    """Read schedules, and the clock after them: what it says is not before what they say."""
    rows = await schedules.get_schedules(conn, ids)
    return await schedules.read_clock(conn), rows


async def _prune_some(conn: "Connection") -> int:
    removed = await ticks.prune_ticks(conn, KEPT, PRUNE_AT_ONCE)
    return max(removed, await rate_windows.prune_windows(conn, PRUNE_AT_ONCE))


def _spread(seconds: float) -> float:
    return seconds * random.uniform(0.8, 1.2)  # noqa: S311 - spreading load
