"""`manage.py oxpull_move`: bring the waiting tasks of django-ox and its oxpull app over."""

from argparse import ArgumentParser
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError

from compat_sync.move import MoveReport, MoveRequest, move
from compat_sync.move.report import by_reason
from compat_sync.move.tables import shared_database
from oxpull_async.domain.errors import DatabaseTrouble

__all__ = ["Command"]

MOST_ROWS = 10_000
SHOWN = 10


class Command(BaseCommand):
    """Moves tasks, and says what it left and why."""

    help = (
        "Move what waits in django-ox and its oxpull app into compat_sync's tables: READY tasks with their unique "
        "locks, open batches and workflows, stored schedules. Safe to stop anywhere and to repeat, beside workers of "
        "either kind. What cannot be moved stays where it is and is listed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--dry-run", action="store_true", help="Say what would be moved, and write nothing.")
        parser.add_argument("--batch-size", type=int, default=500, help="Rows in one transaction (default 500).")
        parser.add_argument("--with-results", action="store_true", help="Move ended tasks too: results stay readable.")
        parser.add_argument("--database", help="Alias of the database with both apps' tables (default: by routers).")
        parser.add_argument(
            "--import",
            dest="modules",
            action="append",
            default=[],
            metavar="MODULE",
            help="Import a module with tasks that belongs to no installed app; may be repeated.",
        )

    def handle(self, **options: Any) -> None:
        """Carry the move out."""
        if not 1 <= options["batch_size"] <= MOST_ROWS:
            raise CommandError(f"--batch-size is {options['batch_size']}, and must be 1 to {MOST_ROWS}")
        request = MoveRequest(options["batch_size"], options["dry_run"], options["with_results"])
        try:
            for module in options["modules"]:
                import_module(module)
            report = move(shared_database(options["database"]), request)
        except (ImproperlyConfigured, ImportError) as refused:
            raise CommandError(str(refused)) from refused
        except DatabaseTrouble as trouble:
            raise CommandError(f"{trouble}. What was moved stays moved: run this again") from trouble
        self._tell(report, request, everything=options["verbosity"] > 1)

    def _tell(self, report: MoveReport, request: MoveRequest, *, everything: bool) -> None:
        verb = "Would move" if request.dry_run else "Moved"
        self.stdout.write(f"{verb} {_count(report.ready, 'task')}, {report.keys} with a unique key.")
        if request.with_results or report.results:
            self.stdout.write(f"{verb} {_count(report.results, 'result')}.")
        for number, noun in ((report.batches, "batch"), (report.workflows, "workflow"), (report.schedules, "schedule")):
            if number:
                self.stdout.write(f"{verb} {_count(number, noun)}.")
        self._tell_left("task", report.left, everything=everything)
        self._tell_left("batch", report.left_batches, everything=everything)
        self._tell_left("workflow", report.left_workflows, everything=everything)
        self._tell_left("schedule", report.left_schedules, everything=everything)
        if report.stale_keys:
            self.stdout.write(
                f"Left {_count(report.stale_keys, 'unique lock')} whose task has ended or is gone: nothing holds them."
            )

    def _tell_left(self, noun: str, left: Mapping[str, str], *, everything: bool) -> None:
        for reason, names in by_reason(left):
            self.stdout.write(f"Left {_count(len(names), noun)}: {reason}.")
            most = len(names) if everything else SHOWN
            for name in names[:most]:
                self.stdout.write(f"  {name}")
            if len(names) > most:
                self.stdout.write(f"  and {len(names) - most} more: -v 2 lists them all")


def _count(number: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"
