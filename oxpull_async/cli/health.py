"""`oxpull status` and `oxpull health`: what is queued, who works, and what is wrong."""

import click

from oxpull_async.app.operations import Health
from oxpull_async.app.oxpull import Oxpull
from oxpull_async.cli.options import database_options
from oxpull_async.cli.output import Column, plain, print_json, print_table, printable
from oxpull_async.cli.target import Target
from oxpull_async.store.health import WorkerState
from oxpull_async.store.queues import QueueStats

COUNTS = ("ready", "waiting", "running", "successful", "failed", "lost", "discarded")
_QUEUE_COLUMNS = (Column("queue"), *(Column(name, is_number=True) for name in COUNTS), Column("paused"))
_WORKER_COLUMNS = (
    Column("worker"), Column("host"), Column("pid", is_number=True), Column("queues"),
    Column("running", is_number=True), Column("of", is_number=True), Column("started"), Column("state"),
)  # fmt: skip


@click.command("status", short_help="Show queues and workers.")
@database_options
def status_command(target: Target) -> None:
    """Show how many tasks each queue has in each status, what is paused, and who works."""
    stats, health = target.run(_look)
    if target.as_json:
        queues = [{**plain(row), "paused": row.queue_name in health.paused} for row in _with_paused(stats, health)]
        print_json({"queues": queues, "workers": [_worker(state) for state in health.workers]})
        return
    _print_queues(_with_paused(stats, health), health)
    click.echo()
    _print_workers(health.workers)


@click.command("health", short_help="Exit 1 when something is wrong.")
@database_options
def health_command(target: Target) -> None:
    """Say what is wrong with workers and backlog, for a monitor: exit code 0 when nothing is."""
    health = target.run(lambda ox: ox.health())
    if target.as_json:
        print_json(
            {
                "healthy": health.is_healthy,
                "problems": health.problems,
                "workers": [_worker(state) for state in health.workers],
                "oldest_due_seconds": health.oldest_due_seconds,
                "orphans": health.orphans,
                "paused": health.paused,
            }
        )
    else:
        _print_health(health)
    if not health.is_healthy:
        raise click.exceptions.Exit(1)


async def _look(ox: Oxpull) -> tuple[list[QueueStats], Health]:
    return await ox.stats(), await ox.health()


def _with_paused(stats: list[QueueStats], health: Health) -> list[QueueStats]:
    """Return the queues that have tasks, and those that are paused without any."""
    known = {row.queue_name for row in stats}
    return sorted(
        [*stats, *(QueueStats(name) for name in health.paused if name not in known)], key=lambda row: row.queue_name
    )


def _worker(state: WorkerState) -> dict[str, object]:
    return {**plain(state), "alive": state.is_alive}


def _print_queues(stats: list[QueueStats], health: Health) -> None:
    if not stats:
        click.echo("no tasks")
        return
    rows = [
        (row.queue_name, *(getattr(row, name) for name in COUNTS), "paused" if row.queue_name in health.paused else "")
        for row in stats
    ]
    print_table(_QUEUE_COLUMNS, rows)


def _print_workers(workers: list[WorkerState]) -> None:
    if not workers:
        click.echo("no workers")
        return
    rows = [
        (
            state.worker_id, state.hostname, state.pid, "all" if state.queues is None else ", ".join(state.queues),
            state.running, state.concurrency, state.started_at, _state_of(state),
        )
        for state in workers
    ]  # fmt: skip
    print_table(_WORKER_COLUMNS, rows)


def _state_of(state: WorkerState) -> str:
    return f"alive, lease {state.lease_left:.0f} s" if state.is_alive else f"silent for {-state.lease_left:.0f} s"


def _print_health(health: Health) -> None:
    alive = sum(state.is_alive for state in health.workers)
    for problem in health.problems:
        click.echo(printable(problem))
    if health.is_healthy:
        waited = health.oldest_due_seconds
        backlog = "nothing is due" if waited is None else f"the oldest due task has waited {waited:.1f} s"
        click.echo(f"healthy: {alive} workers alive, {backlog}")
    if health.paused:
        click.echo(printable(f"paused: {', '.join(health.paused)}"))
