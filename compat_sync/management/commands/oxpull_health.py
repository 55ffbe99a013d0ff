"""`manage.py oxpull_health`: say what is wrong with workers and backlog, for a monitor."""

import sys
from argparse import ArgumentParser
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click
from django.core.management.base import BaseCommand, CommandError

from compat_sync.actions.selection import DEFAULT
from compat_sync.management.running import answered
from compat_sync.operations import BlockingOperations, backend_of, operations_of
from compat_sync.shim import run_blocking
from oxpull_async.app.operations import Health
from oxpull_async.cli.options import duration
from oxpull_async.cli.output import json_text
from oxpull_async.cli.report import health_document, health_lines
from oxpull_async.store.overview import QueueOverview

__all__ = ["Command"]


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What a monitor allows: due tasks and seconds of waiting per queue, of one queue or of all."""

    queue: str | None
    max_backlog: int | None
    max_age: float | None

    def exceeded(self, queues: Sequence[QueueOverview]) -> Iterator[str]:
        """Say of every queue which of the bounds it exceeds."""
        for found in queues:
            if self.queue not in {None, found.queue_name}:
                continue
            due, age = found.counts.get("due", 0), found.oldest_due
            if self.max_backlog is not None and due > self.max_backlog:
                yield f"queue {found.queue_name!r} has more than {self.max_backlog} due tasks (--max-backlog)"
            if self.max_age is not None and age is not None and age > self.max_age:
                yield (
                    f"a task of queue {found.queue_name!r} has been due for {age:.0f} s, "
                    f"and --max-age allows {self.max_age:g} s"
                )


class Command(BaseCommand):
    """Exit code 0 when nothing is wrong, 1 when something is."""

    help = (
        "Say what is wrong with workers and backlog, and exit with 1 if anything is: no living worker while tasks are "
        "due, tasks under workers that fell silent, a lost listener, a task whose code is missing, or a bound exceeded."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--queue", help="The bounds are for this queue only (default: for each).")
        parser.add_argument("--max-backlog", type=int, help="More due tasks than this in a queue are wrong.")
        parser.add_argument("--max-age", help="A task that has been due for longer is wrong: 90s, 15m, 12h, 7d.")
        parser.add_argument("--backend", default=DEFAULT, help="The alias of TASKS that is meant.")
        parser.add_argument("--json", action="store_true", help="Print one JSON document.")

    def handle(self, **options: Any) -> None:
        """Look, say what is wrong, and exit accordingly."""
        bounds = _bounds(options)
        with answered():
            _require_queue(bounds.queue, backend_of(options["backend"]).queues)
            health = run_blocking(_look(operations_of(options["backend"]), bounds))
        if options["json"]:
            self.stdout.write(json_text(health_document(health)))
        else:
            for line in health_lines(health):
                self.stdout.write(line)
        if not health.is_healthy:
            sys.exit(1)


def _bounds(options: dict[str, Any]) -> _Bounds:
    backlog, age = options["max_backlog"], options["max_age"]
    if options["queue"] is not None and backlog is None and age is None:
        raise CommandError("--queue says which queue --max-age and --max-backlog are for: give one of these as well")
    if backlog is not None and backlog < 0:
        raise CommandError(f"--max-backlog is {backlog}, and a number of tasks is 0 or more")
    try:
        return _Bounds(options["queue"], backlog, None if age is None else duration(str(age)))
    except click.BadParameter as wrong:
        raise CommandError(f"--max-age: {wrong.message}") from None


def _require_queue(name: str | None, declared: Collection[str]) -> None:
    if name is not None and declared and name not in declared:
        known = ", ".join(map(repr, sorted(declared)))
        raise CommandError(f"--queue is {name!r}, which QUEUES of the backend does not name: there is {known}")


async def _look(operations: BlockingOperations, bounds: _Bounds) -> Health:
    health = await operations.health()
    if bounds.max_backlog is None and bounds.max_age is None:
        return health
    found = await operations.overview((bounds.max_backlog or 0) + 1)
    return replace(health, problems=[*health.problems, *bounds.exceeded(found.queues)])
