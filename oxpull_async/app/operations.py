"""What operators ask of an Oxpull: change tasks, pause queues, count, prune, check health."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from oxpull_async.app import ambient
from oxpull_async.app.wakeups import Wakeups
from oxpull_async.db.contract import Connection, Database
from oxpull_async.domain.durations import Duration, seconds
from oxpull_async.domain.errors import TaskResultDoesNotExist, UsageError
from oxpull_async.domain.explanation import Explanation
from oxpull_async.domain.record import TaskId, TaskStatus
from oxpull_async.domain.settings import Settings
from oxpull_async.domain.task import checked_queue
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store import clean, health, operate, queues
from oxpull_async.store.enqueue import notify
from oxpull_async.store.explain import explain_task
from oxpull_async.store.queues import QueueStats

PRUNABLE = (TaskStatus.SUCCESSFUL, TaskStatus.DISCARDED, TaskStatus.FAILED, TaskStatus.LOST)
CHUNK = 1000
ANY_QUEUE = ""


@dataclass(frozen=True, slots=True)
class PruneReport:
    """How many rows a prune looked at, and how many it removed (or would remove, in a dry run)."""

    scanned: int
    removed: int
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Health:
    """What is known about workers and the backlog, with a sentence for everything that is wrong."""

    workers: list[health.WorkerState]
    oldest_due_seconds: float | None
    orphans: int
    paused: list[str]
    problems: list[str]

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


class Operations:
    """The operator's half of Oxpull: each call joins the transaction open here, if one is."""

    settings: Settings
    database: Database
    wakeups: Wakeups

    async def retry(self, id_: str, *, include_discarded: bool = False) -> bool:
        """Make a failed or lost task ready once more, with one more attempt.

        False when it is in another status.

        Raises: TaskResultDoesNotExist when the id is malformed.
        """
        return (await self.retry_many([id_], include_discarded=include_discarded))[0] > 0

    async def discard(self, id_: str) -> bool:
        """End a task that is ready, waiting, failed or lost; False when it is in another status."""
        return (await self.discard_many([id_]))[0] > 0

    async def cancel(self, id_: str) -> bool:
        """End a task that does not run yet, or ask a running one to stop.

        A success that settles first wins; every other end of the running attempt becomes DISCARDED. False when the task
        has ended or was asked to stop already.
        """
        return (await self.cancel_many([id_]))[0] > 0

    async def retry_many(self, ids: Collection[str], *, include_discarded: bool = False) -> tuple[int, int]:
        """Retry many tasks; returns how many changed and how many were skipped."""
        retry = partial(operate.retry, include_discarded=include_discarded)
        changed, skipped = await _in_chunks(self, ids, retry)
        if changed:
            await self.wake(ANY_QUEUE)
        return changed, skipped

    async def discard_many(self, ids: Collection[str]) -> tuple[int, int]:
        """Discard many tasks; returns how many changed and how many were skipped."""
        return await _in_chunks(self, ids, operate.discard)

    async def cancel_many(self, ids: Collection[str]) -> tuple[int, int]:
        """Cancel many tasks; returns how many changed and how many were skipped."""
        return await _in_chunks(self, ids, operate.cancel)

    async def pause(self, queue_name: str) -> bool:
        """Stop every worker from claiming from a queue; False when it was paused already.

        What runs, runs on.
        """
        name, alias = checked_queue(queue_name), self.settings.alias
        return await self.operate(lambda c: queues.set_paused(c, alias, name, paused=True))

    async def resume(self, queue_name: str) -> bool:
        """Let workers claim from a queue again; False when it was not paused."""
        name, alias = checked_queue(queue_name), self.settings.alias
        changed = await self.operate(lambda c: queues.set_paused(c, alias, name, paused=False))
        await self.wake(name)
        return changed

    async def stats(self) -> list[QueueStats]:
        """Count the tasks of every queue by status, queues in order of name."""
        return await self.operate(lambda c: queues.stats(c, self.settings.alias))

    async def health(self) -> Health:
        """Look at workers and backlog, and say what is wrong."""

        async def look(conn: Connection) -> Health:
            alias = self.settings.alias
            workers, backlog = await health.workers(conn, alias), await health.backlog(conn, alias)
            paused = await queues.paused_queues(conn, alias)
            return Health(workers, backlog.oldest_due, backlog.orphans, paused, _problems(workers, backlog))

        return await self.operate(look)

    async def explain(self, id_: str) -> Explanation:
        """Say whether a worker may claim a task now, and if not, everything that keeps it.

        Raises: TaskResultDoesNotExist when there is no such task.
        """
        checked, alias = checked_id(id_), self.settings.alias
        explanation = await self.operate(lambda c: explain_task(c, alias, checked))
        if explanation is None:
            raise TaskResultDoesNotExist(f"no task has the id {checked}")
        return explanation

    async def prune(
        self,
        older_than: Duration = timedelta(days=7),
        statuses: Sequence[str] = (TaskStatus.SUCCESSFUL, TaskStatus.DISCARDED),
        *,
        batch_size: int = 1000,
        dry_run: bool = False,
        progress: Callable[[PruneReport], None] | None = None,
    ) -> PruneReport:
        """Remove ended tasks in short transactions of `batch_size` rows.

        `progress` is called after each with the report so far. READY, WAITING and RUNNING tasks are never removed.

        Raises: UsageError for another status, a batch size below 1 or a negative age.
        """
        asked = _prune_request(older_than, statuses, batch_size, dry_run=dry_run)
        request = replace(asked, backend_alias=self.settings.alias)
        report, after = PruneReport(0, 0, dry_run), None
        while True:
            step = await self.operate(lambda c, after=after: operate.prune_step(c, request, after))  # type: ignore[misc]
            report = PruneReport(report.scanned + step.scanned, report.removed + step.removed, dry_run)
            if progress is not None:
                progress(report)
            after = step.after
            if after is None:
                await self._clean(batch_size, dry_run=dry_run)
                return report

    async def _clean(self, batch_size: int, *, dry_run: bool) -> None:
        """Remove stale unique keys and idle running locks in steps of `batch_size`."""
        key: str | None = ""
        while key is not None:
            step = await self.operate(lambda c, key=key: clean.clean_keys(c, key, batch_size, dry_run=dry_run))  # type: ignore[misc]
            key = step.after
        while not dry_run and await self.operate(lambda c: clean.clean_locks(c, batch_size)) == batch_size:
            pass

    async def wake(self, queue_name: str) -> None:
        """Wake the workers of a queue ("": of all), by the commit where a transaction is open here."""
        transaction = ambient.current(self)
        if transaction is None:
            await self.wakeups.announce(queue_name)
        elif transaction.joined:
            await notify(transaction.conn, queue_name)
        else:
            transaction.conn.after_commit(partial(transaction.committed.__setitem__, queue_name, None))

    async def operate[T](self, operation: Callable[[Connection], Awaitable[T]]) -> T:
        """Run a store operation in the transaction that is open here, or in one of its own."""
        transaction = ambient.current(self)
        if transaction is not None:
            return await operation(transaction.conn)
        return await repeat(self.database, operation)


def checked_id(id_: Any) -> TaskId:
    """Return a task id in its usual text form; raises TaskResultDoesNotExist when it is no UUID."""
    try:
        return str(UUID(id_ if isinstance(id_, str) else str(id_)))
    except ValueError:
        raise TaskResultDoesNotExist(f"no task has the id {str(id_)[:60]!r}: ids are UUIDs") from None


async def _in_chunks(
    ox: Operations, ids: Collection[str], operation: Callable[[Connection, Sequence[TaskId]], Awaitable[int]]
) -> tuple[int, int]:
    if isinstance(ids, str):
        raise UsageError(f"ids={ids[:60]!r} must be a list of ids: [{ids[:60]!r}]")
    checked = sorted({checked_id(id_) for id_ in ids})
    changed = 0
    for start in range(0, len(checked), CHUNK):
        part = checked[start : start + CHUNK]
        changed += await ox.operate(partial(_operate_own, ox.settings.alias, part, operation))
    return changed, len(checked) - changed


async def _operate_own(
    alias: str,
    ids: Sequence[TaskId],
    operation: Callable[[Connection, Sequence[TaskId]], Awaitable[int]],
    conn: Connection,
) -> int:
    own = await operate.own_tasks(conn, alias, ids)
    return await operation(conn, own) if own else 0


def _prune_request(
    older_than: Duration, statuses: Sequence[str], batch_size: int, *, dry_run: bool
) -> operate.PruneRequest:
    names = (statuses,) if isinstance(statuses, str) else tuple(statuses)
    for name in names:
        if name not in PRUNABLE:
            raise UsageError(f"tasks with status {name!r} are not pruned: choose among {', '.join(PRUNABLE)}")
    if type(batch_size) is not int or batch_size < 1:
        raise UsageError(f"batch_size={batch_size!r} must be a whole number of rows, at least 1")
    return operate.PruneRequest(seconds(older_than, name="older_than"), names, batch_size, dry_run)


def _problems(workers: list[health.WorkerState], backlog: health.Backlog) -> list[str]:
    alive = [worker for worker in workers if worker.is_alive]
    found = []
    if not alive and backlog.oldest_due is not None:
        found.append(
            f"no worker is alive, and a task has been due for {backlog.oldest_due:.0f} s: start `oxpull worker`"
        )
    if backlog.orphans:
        found.append(
            f"{backlog.orphans} task(s) run under workers that fell silent; a living worker will take them over"
        )
    for worker in alive:
        if worker.notes.get("listener") == "lost":
            found.append(f"worker {worker.worker_id} lost its listener and polls instead")
        found += [
            f"worker {worker.worker_id} found no task {path}: is the module imported there?"
            for path in worker.notes.get("unknown_tasks", ())
        ]
    return found
