"""The starter: makes attempts of claimed rows and has them executed."""

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oxpull_async.domain.events import TaskUnknown
from oxpull_async.domain.record import ClaimedTask, TaskId, TaskRecord, WorkerId
from oxpull_async.runtime.attempts import Attempt
from oxpull_async.runtime.executor import Executor
from oxpull_async.runtime.host import Host
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.lookup import NOT_DECLARED, Lookup, Runnable
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.batch_counts import get_batches
from oxpull_async.store.results import get_tasks

AT_ONCE = 0.1


class Refused(NamedTuple):
    """Claimed rows that are not started here, and why."""

    rows: Sequence[ClaimedTask]
    why: str


class Starter:
    """Starts claimed rows for one worker on its event loop.

    `met_functions`: the last ones that it was given had plain functions. `saw_them_end`: all of them had ended when the
    last was started, and the loop was not held up by that.
    """

    def __init__(self, host: Host, threads: int, executor: Executor, lookup: Lookup, hub: Hub) -> None:
        self._host = host
        self._threads = threads
        self._executor = executor
        self._hub = hub
        self.lookup = lookup
        self.met_functions = False
        self.saw_them_end = False

    async def start(
        self, rows: Sequence[ClaimedTask], worker_id: WorkerId, stamps: Mapping[TaskId, float]
    ) -> list[Refused]:
        """Start rows; returns those that are to be handed back.

        `stamps` say since when rows count as claimed, of those not in it that is now.
        """
        found = {path: self.lookup.find(path) for path in {row.task_path for row in rows}}
        has_functions = any(known is not None and not known.body.is_coroutine for known in found.values())
        late = self._beyond_the_threads(rows, found) if has_functions else {}
        now = time.monotonic()
        attempts = [
            Attempt(row, worker_id, known, stamps.get(row.id, now))
            for row in rows
            if (known := found[row.task_path]) is not None and row.id not in late
        ]
        self._executor.attempts.add(*attempts)
        self.met_functions = has_functions and any(not attempt.body.is_coroutine for attempt in attempts)
        await self._execute(attempts, [known for known in found.values() if known is not None])
        refused = []
        if late:
            why = "they would hold their locks and permits while they wait for a thread"
            refused.append(Refused(list(late.values()), why))
        strangers = sorted(path for path, known in found.items() if known is None)
        for path in strangers:
            self._hub.emit(TaskUnknown(path, NOT_DECLARED))
        if strangers:
            unknown = [row for row in rows if found[row.task_path] is None]
            refused.append(Refused(unknown, "their tasks are not known here"))
        return refused

    async def _execute(self, attempts: Sequence[Attempt], found: Sequence[Runnable]) -> None:
        """Give attempts what they need and hand them to the executor."""
        wants_record = any(known.body.wants_record for known in found)
        records = await self._records(attempts) if wants_record else {}
        if any(known.body.takes_batch for known in found):
            await self._show_batches(attempts)
        began = time.monotonic()
        for attempt in attempts:
            record = records.get(attempt.claimed.id) if wants_record else None
            if record is None and attempt.runnable.body.takes_context:
                self._executor.attempts.forget(attempt)  # somebody deleted the row since the claim
            else:
                self._executor.start(attempt, record)
        if attempts:
            is_quick = time.monotonic() - began < AT_ONCE
            self.saw_them_end = is_quick and not any(attempt.is_live for attempt in attempts)

    def _beyond_the_threads(
        self, rows: Sequence[ClaimedTask], found: Mapping[str, Runnable | None]
    ) -> dict[TaskId, ClaimedTask]:
        """Return the functions with running locks or limits for which no thread is free, if rows start in order."""
        functions = [row for row in rows if (known := found[row.task_path]) is not None and not known.body.is_coroutine]
        free = self._threads - self._executor.threads.statistics().borrowed_tokens
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
