"""What operators ask of an Oxpull: change tasks, pause queues, count, prune, check health."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from oxpull_async.app.changes import CHUNK, checked_id
from oxpull_async.app.pruning import PRUNABLE, PruneReport, prune, prune_request
from oxpull_async.app.schedules import ScheduleOperations
from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch import BatchStatus
from oxpull_async.domain.durations import Duration
from oxpull_async.domain.errors import TaskResultDoesNotExist
from oxpull_async.domain.explanation import Explanation
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.task import checked_queue
from oxpull_async.store import batch_care, health, queues, ticks, workflow_care
from oxpull_async.store.explain import explain_task
from oxpull_async.store.queues import QueueStats

__all__ = ["CHUNK", "PRUNABLE", "Health", "Operations", "PruneReport", "checked_id"]

DAY, LOOKED_AT = 86_400.0, 1_000


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
                *(await health.kept(conn)).problems(),
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
        """Remove ended tasks and what nothing hangs on any more, in short transactions.

        Each is of `batch_size` rows; `progress` is called after each with the report so far. READY, WAITING and RUNNING
        tasks are never removed, nor members of a batch that is not complete. A dry run counts what would go.

        Raises: UsageError for another status, a batch size below 1 or a negative age.
        """
        asked = prune_request(older_than, statuses, batch_size, dry_run=dry_run)
        return await prune(self.operate, replace(asked, backend_alias=self.settings.alias), progress)


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
