"""The claimer: takes as many tasks as there is room for and has them started."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oxpull_async.domain.capacity import Allowance, Load, allowance
from oxpull_async.domain.events import TasksClaimed, TasksReleased, TaskUnknown
from oxpull_async.domain.outcome import Released, Settlement
from oxpull_async.domain.record import ClaimedTask, TaskId, TaskRecord, WorkerId
from oxpull_async.runtime.attempts import Attempt, Attempts
from oxpull_async.runtime.executor import Executor
from oxpull_async.runtime.host import Host
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.limit_watch import LimitWatch
from oxpull_async.runtime.lock_watch import LockWatch
from oxpull_async.runtime.lookup import NOT_DECLARED, Lookup, Runnable
from oxpull_async.runtime.low_water import Marks
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.batch_counts import get_batches
from oxpull_async.store.claim import ClaimRequest
from oxpull_async.store.results import get_tasks
from oxpull_async.store.settle import settle


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


class Claimer:
    """Claims for one worker on its event loop."""

    def __init__(self, host: Host, plan: Plan, executor: Executor, lease: LeaseState, hub: Hub) -> None:
        self._host = host
        self._plan = plan
        self._executor = executor
        self._attempts: Attempts = executor.attempts
        self._lease = lease
        self._hub = hub
        self._met_functions = False
        self.lookup = Lookup(host, plan.imports)
        self.claimed = 0
        self.locks = LockWatch(host.database)
        self.limits = LimitWatch(host.database, host.settings.alias)
        self.marks = Marks(host.database.dialect)

    @property
    def is_spent(self) -> bool:
        """Whether `max_tasks` have been claimed that were not given back before they started."""
        return self._plan.max_tasks is not None and self._kept >= self._plan.max_tasks

    @property
    def _kept(self) -> int:
        return self.claimed - self._attempts.unbegun

    def room(self) -> Allowance:
        """Return what the next claim may take."""
        threads = self._executor.threads.statistics()
        budget = self._plan.max_tasks
        load = Load(
            concurrency=self._plan.concurrency,
            busy=len(self._attempts),
            unsettled=self._attempts.unsettled,
            threads=self._plan.threads,
            free_threads=self._plan.threads - threads.borrowed_tokens,
            queued=threads.tasks_waiting,
            met_functions=self._met_functions,
            must_begin=self.locks.meets_locks or self.limits.meets_limits,
            budget=None if budget is None else budget - self._kept,
        )
        return allowance(load)

    @property
    def is_trusted(self) -> bool:
        """Whether the worker's lease may be relied on, without which nothing is claimed."""
        return self._lease.is_trusted(time.monotonic())

    @property
    def confirmed_at(self) -> float:
        """When the statement was sent that last granted or renewed the lease, in monotonic seconds."""
        return self._lease.confirmed_at

    async def claim(self, queues: Sequence[str]) -> int:
        """Claim from these queues and start what came.

        Returns how many rows came, 0 where there is no room.
        """
        room = self.room()
        if room.limit < 1 or not self.is_trusted:
            return 0
        request = await self.limits.looked(self._request(tuple(queues), room))
        began = time.monotonic()
        self._attempts.claims_begun += 1
        try:
            rows = await self.marks.claim(request, self.locks.claim)
            await self._take(rows, request.worker_id, began)
        except BaseException:
            self._attempts.claim_in_doubt = True
            raise
        finally:
            self._attempts.claims_ended += 1
        self.claimed += len(rows)
        self.limits.claimed(rows)
        if rows and self._hub.wants(TasksClaimed):
            self._hub.emit(TasksClaimed(len(rows)))
        await self.locks.make_way(request)
        return len(rows)

    async def _take(self, rows: Sequence[ClaimedTask], worker_id: WorkerId, began: float) -> None:
        """Start what was claimed, unless the answer came so late that the lease may be over meanwhile."""
        if worker_id == self._lease.worker_id and self._lease.is_trusted(time.monotonic()):
            await self._start(rows, worker_id, await self.limits.stamps(rows, began))
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

    async def _start(self, rows: Sequence[ClaimedTask], worker_id: WorkerId, stamps: Mapping[TaskId, float]) -> None:
        found = {row.id: self.lookup.find(row.task_path) for row in rows}
        strangers = [row for row in rows if found[row.id] is None]
        late = self._beyond_the_threads(rows, found)
        attempts = [
            Attempt(row, worker_id, runnable, stamps.get(row.id, time.monotonic()))
            for row in rows
            if (runnable := found[row.id]) is not None and row.id not in late
        ]
        for attempt in attempts:
            self._attempts.add(attempt)
        self._met_functions = any(not attempt.body.is_coroutine for attempt in attempts)
        records = await self._records(attempts)
        await self._show_batches(attempts)
        for attempt in attempts:
            record = records.get(attempt.claimed.id)
            if record is None and attempt.body.takes_context:
                self._attempts.forget(attempt)  # somebody deleted the row since the claim
            else:
                self._executor.start(attempt, record)
        if late:
            await self._hand_back(
                list(late.values()), "they would hold their locks and permits while they wait for a thread"
            )
        if strangers:
            await self._hand_back(strangers, "their tasks are not known here")
            for path in sorted({row.task_path for row in strangers}):
                self._hub.emit(TaskUnknown(path, NOT_DECLARED))

    def _beyond_the_threads(
        self, rows: Sequence[ClaimedTask], found: Mapping[str, Runnable | None]
    ) -> dict[TaskId, ClaimedTask]:
        """Return the functions with running locks or limits for which no thread is free, if rows start in order."""
        functions = [row for row in rows if (known := found[row.id]) is not None and not known.body.is_coroutine]
        free = self._plan.threads - self._executor.threads.statistics().borrowed_tokens
        return {row.id: row for row in functions[max(free, 0) :] if row.lock_key is not None or row.permits}

    async def _records(self, attempts: Sequence[Attempt]) -> dict[str, TaskRecord]:
        """Read the whole rows of attempts that need them."""
        wanted = [attempt.claimed.id for attempt in attempts if attempt.body.wants_record]
        if not wanted:
            return {}
        return await repeat(self._host.database, lambda conn: get_tasks(conn, wanted))

    async def _show_batches(self, attempts: Sequence[Attempt]) -> None:
        """Read the batches of attempts whose bodies take theirs."""
        wanted = {
            attempt: attempt.claimed.batch_id
            for attempt in attempts
            if attempt.body.takes_batch and attempt.claimed.batch_id is not None
        }
        if not wanted:
            return
        found = await repeat(self._host.database, lambda conn: get_batches(conn, set(wanted.values())))
        for attempt, batch_id in wanted.items():
            attempt.batch = found[batch_id].info if batch_id in found else None

    async def _hand_back(self, rows: Sequence[ClaimedTask], why: str) -> None:
        """Give back rows that are not started here, at once."""
        back = [Settlement.of(row, Released(), row.permits) for row in rows]
        await repeat(self._host.database, lambda conn: settle(conn, back))
        self.marks.hurry()
        self.claimed -= len(back)
        self._hub.emit(TasksReleased(len(back), why))
