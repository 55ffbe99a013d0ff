"""What operators ask of an Oxpull: change tasks, pause queues, count, prune, check health."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from oxpull_async.app.changes import CHUNK, checked_id
from oxpull_async.app.schedules import ScheduleOperations
from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch import BatchStatus
from oxpull_async.domain.durations import Duration, seconds
from oxpull_async.domain.errors import TaskResultDoesNotExist, UsageError
from oxpull_async.domain.explanation import Explanation
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.task import checked_queue
from oxpull_async.store import batch_care, clean, health, operate, queues, rate_windows, ticks, workflow_care
from oxpull_async.store.explain import explain_task
from oxpull_async.store.queues import QueueStats

__all__ = ["CHUNK", "PRUNABLE", "Health", "Operations", "PruneReport", "checked_id"]

type _PruneGroups = Callable[[Connection, operate.PruneRequest, str | None], Awaitable[operate.Pruned]]

DAY, LOOKED_AT = 86_400.0, 1_000
PRUNABLE = (TaskStatus.SUCCESSFUL, TaskStatus.DISCARDED, TaskStatus.FAILED, TaskStatus.LOST)


@dataclass(frozen=True, slots=True)
class PruneReport:
    """How many rows a prune looked at, and how many it removed (or would remove, in a dry run).

    `batches` and `workflows`: how many of these it removed besides.
    """

    scanned: int
    removed: int
    dry_run: bool
    batches: int = 0
    workflows: int = 0


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


class Operations(ScheduleOperations):
    """The operator's half of Oxpull: each call joins the transaction open here, if one is."""

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
            problems = [
                *_problems(workers, backlog),
                *_open_too_long("batch", await batch_care.open_batches(conn, None, LOOKED_AT), alias),
                *_open_too_long("workflow", await workflow_care.open_workflows(conn, None, LOOKED_AT), alias),
                *_unserved(await ticks.overdue(conn, alias)),
            ]
            return Health(workers, backlog.oldest_due, backlog.orphans, paused, problems)

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
            report = replace(report, scanned=report.scanned + step.scanned, removed=report.removed + step.removed)
            if progress is not None:
                progress(report)
            after = step.after
            if after is None:
                await self._clean(batch_size, dry_run=dry_run)
                await self._prune_ticks(request.age_seconds, batch_size, dry_run=dry_run)
                batches = await self._prune_groups(batch_care.prune_batches, request)
                workflows = await self._prune_groups(workflow_care.prune_workflows, request)
                return replace(report, batches=batches, workflows=workflows)

    async def _prune_groups(self, prune: _PruneGroups, request: operate.PruneRequest) -> int:
        """Remove batches or workflows that completed long enough ago, in steps; those without a task."""
        removed, after = 0, None
        while True:
            step = await self.operate(lambda c, after=after: prune(c, request, after))  # type: ignore[misc]
            removed, after = removed + step.removed, step.after
            if after is None:
                return removed

    async def _clean(self, batch_size: int, *, dry_run: bool) -> None:
        """Remove stale unique keys, idle running locks and rate windows long over in steps of `batch_size`."""
        key: str | None = ""
        while key is not None:
            step = await self.operate(lambda c, key=key: clean.clean_keys(c, key, batch_size, dry_run=dry_run))  # type: ignore[misc]
            key = step.after
        while not dry_run and await self.operate(lambda c: clean.clean_locks(c, batch_size)) == batch_size:
            pass
        while not dry_run and await self.operate(lambda c: rate_windows.prune_windows(c, batch_size)) >= batch_size:
            pass

    async def _prune_ticks(self, age_seconds: float, batch_size: int, *, dry_run: bool) -> None:
        """Remove the notes of old ticks in steps of `batch_size`."""
        while not dry_run and await self._prune_some_ticks(age_seconds, batch_size) == batch_size:
            pass

    async def _prune_some_ticks(self, age_seconds: float, batch_size: int) -> int:
        return await self.operate(lambda c: ticks.prune_ticks(c, age_seconds, batch_size))


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


def _open_too_long(
    kind: str, groups: Sequence[batch_care.OpenBatch | workflow_care.OpenWorkflow], alias: str
) -> list[str]:
    return [
        f"{kind} {group.id} ({group.name!r}) has been open for {group.age / 3600:.0f} h: seal it, or cancel it"
        for group in groups
        if group.status is BatchStatus.OPEN and group.age >= DAY and group.backend_alias == alias
    ]


def _unserved(overdue: Mapping[str, float]) -> list[str]:
    return [
        f"the schedule {name!r} has been due for {due:.0f} s and no worker serves it: start one that declares it or "
        "knows its task, or delete the schedule"
        for name, due in overdue.items()
    ]


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
        if worker.notes.get("unforeseen"):
            found.append(
                f"worker {worker.worker_id} had to see to {worker.notes['unforeseen']} member(s) of batches or "
                "node(s) of workflows to which nobody had: a bug, or somebody changes tasks by hand"
            )
        found += [
            f"worker {worker.worker_id} found no task {path}: is the module imported there?"
            for path in worker.notes.get("unknown_tasks", ())
        ]
    return found
