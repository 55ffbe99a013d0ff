"""`manage.py oxpull_worker`: run the tasks of a backend, in one process or in several."""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import BaseCommand, CommandError, CommandParser
from rich.console import Console

from compat_sync import native
from compat_sync.management.running import answered
from compat_sync.worker.host import DjangoHost, installed_packages, register
from compat_sync.worker.logs import show_logs
from compat_sync.worker.reloading import restarting
from compat_sync.worker.threads import TidyThreads
from oxpull_async import Worker
from oxpull_async.cli.leave import PATIENCE, leave_within
from oxpull_async.cli.logs import LEVELS
from oxpull_async.cli.options import duration, names, size
from oxpull_async.cli.serving import Ending, Job, require_memory, serve, supervise
from oxpull_async.domain.errors import InvalidTask
from oxpull_async.domain.task import checked_queue

__all__ = ["Command"]


class Command(BaseCommand):
    """Runs until it is stopped.

    The first SIGTERM or Ctrl-C waits for running tasks, the second hands them back.
    """

    help = "Run the tasks of a backend. Exit code 75 asks to be started anew (--max-rss, or a function that hangs)."
    launcher: tuple[str, ...] = (sys.executable, "-m", "django")

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        count = _reading(_count)
        add = parser.add_argument
        add("--backend", default="default", metavar="ALIAS", help="The alias in TASKS whose tasks to run.")
        add("--queues", type=_reading(names), help="Serve these queues only; by default those of QUEUES, else all.")
        add("--concurrency", type=count, default=100, help="Tasks at once in a process (100).")
        add("--threads", type=count, default=10, help="Plain functions at once in a process (10).")
        add("--processes", type=count, metavar="N", help="Run N processes and restart what dies.")
        add("--burst", action="store_true", help="End when nothing is left to do now.")
        add("--max-tasks", type=count, metavar="N", help="End a process after N tasks (--processes restarts it).")
        add("--max-rss", type=_reading(size), help="End a process with exit code 75 above this memory, like 512M.")
        add("--drain-timeout", type=_reading(duration), default=30.0, help="How long a stop waits for tasks (30s).")
        add("--import", dest="imports", action="append", default=[], metavar="PACKAGE",
            help="Packages beside the installed apps whose tasks may be imported.")  # fmt: skip
        add("--database", metavar="ALIAS", help="Refuse to start unless the tasks are in this database.")
        add("--reload", action="store_true", help="Restart when a file of the project changes; needs DEBUG.")
        add("--json", dest="as_json", action="store_true", help="Print one JSON document at the end.")
        add("--log-level", type=str.upper, choices=LEVELS, default="INFO", help="INFO by default.")
        add("--supervised", action="store_true", help=argparse.SUPPRESS)

    def get_check_kwargs(self, options: dict[str, Any]) -> Any:
        """Leave the checks that ask databases to `manage.py check --database`."""
        asked: Any = super().get_check_kwargs(options)
        return asked | {"databases": []}

    def run_from_argv(self, argv: list[str]) -> None:
        """Run from a command line; the process ends soon after, also where threads do not."""
        self.launcher = _launcher(argv[0])
        code: Any = 0
        try:
            super().run_from_argv(argv)
        except SystemExit as ending:
            code = ending.code
            raise
        finally:
            leave_within(PATIENCE, code if isinstance(code, int) else 1)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Work until stopped.

        Raises: CommandError where the worker must not start, SystemExit with a code other than 0 at its end.
        """
        if options["reload"] and not settings.DEBUG:
            raise CommandError("--reload is for development: it needs DEBUG = True")
        host = _host(options["backend"], options["database"])
        with answered():
            job = _job(host, options)
            require_memory(job, "this project")
            console = Console(stderr=True)
            is_ours = show_logs(job.log_level, console)
            if job.processes is not None or (options["reload"] and not job.supervised):
                ending = self._supervise(host, job, options)
            else:
                live = console if is_ours else None
                ending = asyncio.run(_work(host, job, live, reload=options["reload"]))
        self._conclude(job, ending)

    def _supervise(self, host: DjangoHost, job: Job, options: dict[str, Any]) -> Ending:
        """Check once what would fail in every child, then keep the children running."""
        asyncio.run(_check(host))
        command = [*self.launcher, "oxpull_worker", "--skip-checks", f"--backend={options['backend']}"]
        command += [f"--pythonpath={options['pythonpath']}"] if options.get("pythonpath") else []
        command += ["--reload"] if options["reload"] else []
        return supervise(job, [*command, *job.child_options()], tireless=options["reload"])

    def _conclude(self, job: Job, ending: Ending) -> None:
        if job.as_json:
            self.stdout.write(json.dumps(ending.document, indent=2))
        if ending.complaint is not None:
            self.stderr.write(ending.complaint)
        if ending.code:
            raise SystemExit(ending.code)


async def _check(host: DjangoHost) -> None:
    async with host.ox:
        await host.check_schema()


async def _work(host: DjangoHost, job: Job, console: Console | None, *, reload: bool) -> Ending:
    register()
    asyncio.get_running_loop().set_default_executor(TidyThreads())
    async with host.ox:
        worker = Worker(host, **job.keywords())
        worker.grace = host.setup.timeout_grace
        with restarting(worker) if reload else nullcontext():
            return await serve(worker, job, console)


def _host(alias: str, database: str | None) -> DjangoHost:
    """Return what is to be served.

    Raises: CommandError for a backend that is not ours or wrong, and a database that cannot be used.
    """
    try:
        host = DjangoHost.of(alias)
    except ImproperlyConfigured as wrong:
        raise CommandError(str(wrong)) from wrong
    if database not in {None, host.placed_in}:
        raise CommandError(
            f"--database {database}: the tables of tasks are in DATABASES[{host.placed_in!r}], where the routers put "
            "them; leave the option out, or change DATABASE_ROUTERS"
        )
    obstacles = native.unexpressible(host.placed_in) or list(filter(None, [native.missing_driver(host.placed_in)]))
    if obstacles:
        raise CommandError("\n".join(obstacles))
    return host


def _job(host: DjangoHost, options: dict[str, Any]) -> Job:
    allowed = host.settings.queues
    queues = [_served(name, allowed) for name in options["queues"] or sorted(allowed)]
    imports = installed_packages() | set(options["imports"])
    taken = ("concurrency", "threads", "processes", "burst", "max_tasks", "max_rss", "drain_timeout", "as_json")
    return Job(
        queues=tuple(queues) or None,
        imports=tuple(sorted(imports)),
        log_level=options["log_level"],
        supervised=options["supervised"],
        **{name: options[name] for name in taken},
    )


def _served(name: str, allowed: frozenset[str]) -> str:
    try:
        return checked_queue(name, allowed)
    except InvalidTask as wrong:
        raise CommandError(str(wrong).replace("queue_name=", "--queues: ", 1)) from None


def _launcher(program: str) -> tuple[str, ...]:
    """Return how this project's commands are started: by its own manage.py if that is how this one was."""
    if program.endswith("__main__.py") or not Path(program).is_file():
        return Command.launcher
    return sys.executable, program


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise click.BadParameter(f"{text!r} is no whole number of at least 1")
    return int(text)


def _reading[T](read: Callable[[str], T]) -> Callable[[str], T]:
    """Return a reader of option values whose complaint argparse understands."""

    def convert(text: str) -> T:
        try:
            return read(text)
        except click.BadParameter as wrong:
            raise argparse.ArgumentTypeError(wrong.message) from None

    return convert
