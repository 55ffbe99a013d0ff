"""`oxpull prune`: remove ended tasks that are old enough."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console

from oxpull_async.app.oxpull import Oxpull
from oxpull_async.app.pruning import PRUNABLE, PruneReport
from oxpull_async.cli.options import database_options, duration, names
from oxpull_async.cli.output import print_json
from oxpull_async.cli.target import Target


@click.command("prune", short_help="Remove old ended tasks.")
@click.option("--older-than", type=duration, default="7d", show_default=True, help="Ended longer ago than this.")
@click.option(
    "--status", "statuses", type=names, default="SUCCESSFUL,DISCARDED", show_default=True,
    help=f"In these statuses, among {', '.join(PRUNABLE)}.",
)  # fmt: skip
@click.option("--batch-size", type=click.IntRange(min=1), default=1000, show_default=True, help="Rows a transaction.")
@click.option("--dry-run", is_flag=True, help="Count, and remove nothing.")
@database_options
def prune_command(
    target: Target, *, older_than: float, statuses: tuple[str, ...], batch_size: int, dry_run: bool
) -> None:
    """Remove tasks that ended long enough ago, in short transactions.

    And what nothing hangs on any more: unique keys, running locks, notes of old ticks, batches without tasks.
    It can be stopped at any time and started again.
    """

    async def prune(ox: Oxpull) -> PruneReport:
        with prune_progress() as show:
            return await ox.prune(
                older_than,
                [name.upper() for name in statuses],
                batch_size=batch_size,
                dry_run=dry_run,
                progress=show,
            )

    report = target.run(prune)
    if target.as_json:
        print_json(report)
    else:
        click.echo(prune_line(report))


@contextmanager
def prune_progress() -> Iterator[Callable[[PruneReport], None]]:
    """Show how far a prune is, where stderr is a terminal; gives what it is to call."""
    with Console(stderr=True).status("pruning") as live:
        yield lambda report: live.update(prune_line(report))


def prune_line(report: PruneReport) -> str:
    """Say what a prune has done."""
    verb = "would remove" if report.dry_run else "removed"
    counts = {
        "unique keys": report.keys, "running locks": report.locks, "ticks": report.ticks,
        "rate windows": report.windows, "batches": report.batches, "workflows": report.workflows,
    }  # fmt: skip
    besides = ", ".join(f"{name}: {count:,}" for name, count in counts.items() if count)
    return f"{verb} {report.removed:,} of {report.scanned:,} tasks looked at{besides and f'; {besides}'}"
