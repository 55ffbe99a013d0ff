"""`manage.py oxpull_prune`: remove ended tasks that are old enough."""

from argparse import ArgumentParser
from typing import Any

import click
from django.core.management.base import BaseCommand, CommandError

from compat_sync.actions.selection import DEFAULT
from compat_sync.management.running import answered
from compat_sync.operations import operations_of
from compat_sync.shim import run_blocking
from oxpull_async.app.pruning import PRUNABLE, PruneReport
from oxpull_async.cli.options import duration, names
from oxpull_async.cli.output import json_text
from oxpull_async.cli.prune import prune_line, prune_progress

__all__ = ["Command"]


class Command(BaseCommand):
    """Prunes in short transactions; it can be stopped anywhere and started again."""

    help = (
        "Remove tasks that ended long enough ago, in short transactions, and what nothing hangs on any more: unique "
        "keys, running locks, notes of ticks, batches. READY, WAITING and RUNNING tasks are never removed. Safe to "
        "stop anywhere and to repeat."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--older-than", default="7d", help="Ended longer ago than this: 90s, 15m, 12h, 7d (default), 2w."
        )
        parser.add_argument(
            "--status",
            default="SUCCESSFUL,DISCARDED",
            help=f"In these statuses, among {', '.join(PRUNABLE)} (default SUCCESSFUL,DISCARDED).",
        )
        parser.add_argument("--batch-size", type=int, default=1000, help="Rows in one transaction (default 1000).")
        parser.add_argument("--dry-run", action="store_true", help="Count, and remove nothing.")
        parser.add_argument("--backend", default=DEFAULT, help="The alias of TASKS whose tasks are meant.")
        parser.add_argument("--json", action="store_true", help="Print one JSON document.")

    def handle(self, **options: Any) -> None:
        """Prune, and say what is gone."""
        try:
            older_than, statuses = duration(str(options["older_than"])), names(str(options["status"]))
        except click.BadParameter as wrong:
            raise CommandError(f"--older-than or --status: {wrong.message}") from None
        with answered("what was removed stays removed: run this again"), prune_progress() as show:
            report: PruneReport = run_blocking(
                operations_of(options["backend"]).prune(
                    older_than,
                    [name.upper() for name in statuses],
                    batch_size=options["batch_size"],
                    dry_run=options["dry_run"],
                    progress=show,
                )
            )
        self.stdout.write(json_text(report) if options["json"] else prune_line(report))
