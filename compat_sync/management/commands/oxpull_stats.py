"""`manage.py oxpull_stats`: how many tasks each queue has in each status."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from compat_sync.actions.selection import DEFAULT
from compat_sync.management.running import answered
from compat_sync.operations import BlockingOperations, operations_of
from compat_sync.shim import run_blocking
from oxpull_async.cli import report
from oxpull_async.cli.output import json_text, table_lines
from oxpull_async.store.queues import QueueStats

__all__ = ["Command"]


class Command(BaseCommand):
    """Counts every row of an alias, so it takes as long as the table is big."""

    help = (
        "Count the tasks of every queue by status, exactly: every row is read. To look often, take the queue page of "
        "the admin, which looks at the unfinished ones only."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--backend", default=DEFAULT, help="The alias of TASKS whose tasks are meant.")
        parser.add_argument("--json", action="store_true", help="Print one JSON document.")

    def handle(self, **options: Any) -> None:
        """Count."""
        with answered():
            stats, paused = run_blocking(_look(operations_of(options["backend"])))
        shown = report.with_paused(stats, paused)
        if options["json"]:
            self.stdout.write(json_text({"queues": report.queue_documents(shown, paused)}))
        elif not shown:
            self.stdout.write("no tasks")
        else:
            for line in table_lines(report.QUEUE_COLUMNS, report.queue_rows(shown, paused)):
                self.stdout.write(line)


async def _look(operations: BlockingOperations) -> tuple[list[QueueStats], list[str]]:
    return await operations.stats(), (await operations.health()).paused
