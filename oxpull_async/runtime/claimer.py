"""The claimer: takes as many tasks as there is room for and has them started."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from oxpull_async.domain.capacity import Allowance, Load, allowance
from oxpull_async.domain.events import TasksClaimed, TasksReleased
from oxpull_async.domain.outcome import Released, Settlement
from oxpull_async.domain.record import ClaimedTask
from oxpull_async.runtime.executor import Executor
from oxpull_async.runtime.host import Host
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.limit_watch import LimitWatch
from oxpull_async.runtime.lock_watch import LockWatch
from oxpull_async.runtime.lookup import Lookup
from oxpull_async.runtime.low_water import Marks
from oxpull_async.runtime.repeat import repeat
from oxpull_async.runtime.starter import Starter
from oxpull_async.store.claim import ClaimRequest
from oxpull_async.store.settle import settle

SPELL = 0.05
OVERLAPPING = 1000


@dataclass(frozen=True, slots=True)
class Plan:
    """What a worker serves, and how much of it.

    `queues` None means all of them, `max_tasks` None no end.
    `imports` are top packages whose modules may be imported to find a task.
    """

    queues: tuple[str, ...] | None
    concurrency: int
    threads: int
    burst: bool
    max_tasks: int | None
    imports: tuple[str, ...] = ()


class _Asked(NamedTuple):
    """A claim that is on its way, and since when."""

    request: ClaimRequest
    began: float
    rows: asyncio.Task[Sequence[ClaimedTask]]

    def drop(self) -> None:
        """Leave its rows to whoever looks for those that no claim delivered."""
        self.rows.cancel()
        self.rows.add_done_callback(lambda rows: rows.cancelled() or rows.exception())


class Claimer:
    """Claims for one worker on its event loop."""

    def __init__(self, host: Host, plan: Plan, executor: Executor, lease: LeaseState, hub: Hub) -> None:
        self._host = host
        self._plan = plan
        self._executor = executor
        self._lease = lease
        self._hub = hub
        self._starter = Starter(host, plan.threads, executor, Lookup(host, plan.imports), hub)
        self.claimed = 0
        self.goes_ahead = True
        self.locks = LockWatch(host.database)
        self.limits = LimitWatch(host.database, host.settings.alias)
        self.marks = Marks(host.database.dialect)

    @property
    def is_spent(self) -> bool:
        """Whether `max_tasks` have been claimed that were not given back before they started."""
        return self._plan.max_tasks is not None and self._kept >= self._plan.max_tasks

    @property
    def _kept(self) -> int:
        return self.claimed - self._executor.attempts.unbegun

    @property
    def lookup(self) -> Lookup:
        """What finds the tasks that rows name."""
        return self._starter.lookup

    def room(self, coming: int = 0) -> Allowance:
        """Return what the next claim may take, while `coming` rows are about to start.

        Where claims overlap it leaves room for the next one.
        """
        threads = self._executor.threads.statistics()
        budget = self._plan.max_tasks
        load = Load(
            concurrency=self._plan.concurrency,
            busy=len(self._executor.attempts) + coming,
            unsettled=self._executor.attempts.unsettled,
            threads=self._plan.threads,
            free_threads=self._plan.threads - threads.borrowed_tokens,
            queued=threads.tasks_waiting,
            met_functions=self._starter.met_functions,
            must_begin=self.locks.meets_locks or self.limits.meets_limits,
            budget=None if budget is None else budget - self._kept,
        )
        room = allowance(load)
        return replace(room, limit=min(room.limit, self._plan.concurrency // 2)) if self._may_overlap else room

    @property
    def is_trusted(self) -> bool:
        """Whether the worker's lease may be relied on, without which nothing is claimed."""
        return self._lease.is_trusted(time.monotonic())

    @property
    def confirmed_at(self) -> float:
        """When the statement was sent that last granted or renewed the lease, in monotonic seconds."""
        return self._lease.confirmed_at

    @property
    def _may_overlap(self) -> bool:
        """Whether half of the places are enough for a claim, and the tasks claimed last ended as they were started.

        Not where starts are counted, or hang on locks or limits.
        """
        if not (self.goes_ahead and self._starter.saw_them_end) or self._plan.concurrency < OVERLAPPING:
            return False
        return self._plan.max_tasks is None and not (self.locks.meets_locks or self.limits.meets_limits)

    async def claim(self, queues: Sequence[str]) -> int:
        """Claim from these queues and start what came.

        Where tasks end as they are started, it goes on for a short while: before the rows of one claim are started, the
        next is on its way, for other places. Returns how many rows came, 0 where there is no room.
        """
        room = self.room()
        if room.limit < 1 or not self.is_trusted:
            return 0
        request = await self.limits.looked(self._request(tuple(queues), room))
        total, until = 0, time.monotonic() + SPELL
        asked: _Asked | None = self._ask(request)
        while asked is not None:
            came, asked = await self._answered(asked, until)
            total += came
        await self.locks.make_way(request)
        return total

    def _ask(self, request: ClaimRequest) -> _Asked:
        """Send a claim off; it is on its way when this returns."""
        began = time.monotonic()
        self._executor.attempts.claims_begun += 1
        loop = asyncio.get_running_loop()
        return _Asked(
            request, began, asyncio.Task(self.marks.claim(request, self.locks.claim), loop=loop, eager_start=True)
        )

    async def _answered(self, asked: _Asked, until: float) -> tuple[int, _Asked | None]:
        """Start what a claim brings; returns how many rows came, and the claim that is on its way meanwhile."""
        ahead: _Asked | None = None
        try:
            rows = await asked.rows
            if len(rows) == asked.request.limit and time.monotonic() < until:
                ahead = self._ask_ahead(asked.request.queues, len(rows))
            await self._take(rows, asked)
        except BaseException:
            self._executor.attempts.claim_in_doubt = True
            if ahead is not None:
                ahead.drop()
                self._executor.attempts.claims_ended += 1
            raise
        finally:
            self._executor.attempts.claims_ended += 1
        self.claimed += len(rows)
        self.limits.claimed(rows)
        if rows and self._hub.wants(TasksClaimed):
            self._hub.emit(TasksClaimed(len(rows)))
        return len(rows), ahead

    def _ask_ahead(self, queues: tuple[str, ...], coming: int) -> _Asked | None:
        """Send the next claim off if there will be room for as many rows again."""
        if not self._may_overlap or not self.is_trusted:
            return None
        room = self.room(coming)
        return self._ask(self._request(queues, room)) if room.limit >= coming else None

    async def _take(self, rows: Sequence[ClaimedTask], asked: _Asked) -> None:
        """Start what was claimed, unless the answer came so late that the lease may be over meanwhile."""
        worker_id = asked.request.worker_id
        if worker_id == self._lease.worker_id and self._lease.is_trusted(time.monotonic()):
            stamps = await self.limits.stamps(rows, asked.began)
            for refused in await self._starter.start(rows, worker_id, stamps):
                await self._hand_back(refused.rows, refused.why)
        elif rows:
            await self._hand_back(rows, "the lease may have ended during the claim")

    def _request(self, queues: tuple[str, ...], room: Allowance) -> ClaimRequest:
        functions = self.lookup.functions
        return ClaimRequest(
            worker_id=self._lease.worker_id,
            backend_alias=self._host.settings.alias,
            queues=queues,
            limit=room.limit,
            later_paths=frozenset() if room.at_once else functions,
            excluded_paths=self.lookup.unknown if room.functions else self.lookup.unknown | functions,
            meets_locks=self.locks.meets_locks,
        )

    async def _hand_back(self, rows: Sequence[ClaimedTask], why: str) -> None:
        """Give back rows that are not started here, at once."""
        back = [Settlement.of(row, Released(), row.permits) for row in rows]
        await repeat(self._host.database, lambda conn: settle(conn, back))
        self.marks.hurry()
        self.claimed -= len(back)
        self._hub.emit(TasksReleased(len(back), why))
