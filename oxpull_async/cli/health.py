"""`oxpull status` and `oxpull health`: what is queued, who works, and what is wrong."""

import click

from oxpull_async.app.operations import Health
from oxpull_async.app.oxpull import Oxpull
from oxpull_async.cli import report
from oxpull_async.cli.options import database_options
from oxpull_async.cli.output import print_json, print_table
from oxpull_async.cli.target import Target
from oxpull_async.store.queues import QueueStats


@click.command("status", short_help="Show queues and workers.")
@database_options
def status_command(target: Target) -> None:
    """Show how many tasks each queue has in each status, what is paused, and who works."""
    stats, health = target.run(_look)
    shown = report.with_paused(stats, health.paused)
    if target.as_json:
        queues = report.queue_documents(shown, health.paused)
        print_json({"queues": queues, "workers": report.worker_documents(health.workers)})
        return
    if shown:
        print_table(report.QUEUE_COLUMNS, report.queue_rows(shown, health.paused))
    else:
        click.echo("no tasks")
    click.echo()
    if health.workers:
        print_table(report.WORKER_COLUMNS, report.worker_rows(health.workers))
    else:
        click.echo("no workers")


@click.command("health", short_help="Exit 1 when something is wrong.")
@database_options
def health_command(target: Target) -> None:
    """Say what is wrong with workers and backlog, for a monitor: exit code 0 when nothing is."""
    health = target.run(lambda ox: ox.health())
    if target.as_json:
        print_json(report.health_document(health))
    else:
        for line in report.health_lines(health):
            click.echo(line)
    if not health.is_healthy:
        raise click.exceptions.Exit(1)


async def _look(ox: Oxpull) -> tuple[list[QueueStats], Health]:
    return await ox.stats(), await ox.health()
