"""Queues, workers and health as tables, lines and documents, whoever prints them."""

from collections.abc import Collection, Iterable, Sequence

from oxpull_async.app.operations import Health
from oxpull_async.cli.output import Column, plain, printable
from oxpull_async.domain.sentences import counted
from oxpull_async.store.health import WorkerState
from oxpull_async.store.queues import QueueStats

COUNTS = ("ready", "waiting", "running", "successful", "failed", "lost", "discarded")
QUEUE_COLUMNS = (Column("queue"), *(Column(name, is_number=True) for name in COUNTS), Column("paused"))
WORKER_COLUMNS = (
    Column("worker"), Column("host"), Column("pid", is_number=True), Column("queues"),
    Column("running", is_number=True), Column("of", is_number=True), Column("started"), Column("state"),
)  # fmt: skip


def with_paused(stats: Sequence[QueueStats], paused: Collection[str]) -> list[QueueStats]:
    """Return the queues that have tasks, and those that are paused without any."""
    known = {row.queue_name for row in stats}
    return sorted([*stats, *(QueueStats(name) for name in paused if name not in known)], key=lambda row: row.queue_name)


def queue_rows(stats: Iterable[QueueStats], paused: Collection[str]) -> list[tuple[object, ...]]:
    """Return the queues as rows of QUEUE_COLUMNS."""
    return [
        (row.queue_name, *(getattr(row, name) for name in COUNTS), "paused" if row.queue_name in paused else "")
        for row in stats
    ]


def queue_documents(stats: Iterable[QueueStats], paused: Collection[str]) -> list[dict[str, object]]:
    """Return the queues for JSON."""
    return [{**plain(row), "paused": row.queue_name in paused} for row in stats]


def worker_rows(workers: Iterable[WorkerState]) -> list[tuple[object, ...]]:
    """Return workers as rows of WORKER_COLUMNS."""
    return [
        (
            state.worker_id, state.hostname, state.pid, "all" if state.queues is None else ", ".join(state.queues),
            state.running, state.concurrency, state.started_at, state_of(state),
        )
        for state in workers
    ]  # fmt: skip


def worker_documents(workers: Iterable[WorkerState]) -> list[dict[str, object]]:
    """Return workers for JSON."""
    return [{**plain(state), "alive": state.is_alive} for state in workers]


def state_of(state: WorkerState) -> str:
    """Say whether a worker lives, and how long its lease is good or was over."""
    return f"alive, lease {state.lease_left:.0f} s" if state.is_alive else f"silent for {-state.lease_left:.0f} s"


def health_document(health: Health) -> dict[str, object]:
    """Return what is known of workers and backlog for JSON."""
    return {
        "healthy": health.is_healthy,
        "problems": health.problems,
        "workers": worker_documents(health.workers),
        "oldest_due_seconds": health.oldest_due_seconds,
        "orphans": health.orphans,
        "paused": health.paused,
    }


def health_lines(health: Health) -> list[str]:
    """Say what is wrong, or that nothing is, and what is paused."""
    lines = [printable(problem) for problem in health.problems]
    if health.is_healthy:
        alive, waited = sum(state.is_alive for state in health.workers), health.oldest_due_seconds
        backlog = "nothing is due" if waited is None else f"the oldest due task has waited {waited:.1f} s"
        lines.append(f"healthy: {counted(alive, 'worker')} alive, {backlog}")
    if health.paused:
        lines.append(printable(f"paused: {', '.join(health.paused)}"))
    return lines
