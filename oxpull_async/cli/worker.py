"""`oxpull worker`: run tasks, in this process or in several under a supervisor."""

import asyncio
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console

from oxpull_async.app.oxpull import Oxpull
from oxpull_async.cli.display import live_line
from oxpull_async.cli.leave import PATIENCE, leave_within, on_end_of_input
from oxpull_async.cli.logs import LEVELS, configure_logging
from oxpull_async.cli.options import duration, json_option, names, size
from oxpull_async.cli.output import print_json
from oxpull_async.cli.target import load_app, run_with
from oxpull_async.domain.errors import UsageError, WorkerRecycled
from oxpull_async.domain.events import WorkerStopped
from oxpull_async.runtime.memory import resident_bytes
from oxpull_async.runtime.recycler import EXIT_CODE
from oxpull_async.runtime.signals import stop_signals
from oxpull_async.runtime.supervisor import Charge, Report, Supervisor
from oxpull_async.runtime.worker import INTERRUPT_GRACE, LAST_WRITES, Worker, WorkerKeywords

KILL_MARGIN = INTERRUPT_GRACE + 2 * LAST_WRITES + 5


@dataclass(frozen=True, slots=True)
class Job:
    """What the command line asked for."""

    app: str
    queues: tuple[str, ...] | None
    concurrency: int
    threads: int
    processes: int | None
    burst: bool
    max_tasks: int | None
    max_rss: int | None
    drain_timeout: float
    imports: tuple[str, ...]
    log_level: str
    as_json: bool
    supervised: bool

    def keywords(self) -> WorkerKeywords:
        """Return the options of the worker itself."""
        return WorkerKeywords(
            queues=self.queues,
            concurrency=self.concurrency,
            threads=self.threads,
            burst=self.burst,
            max_tasks=self.max_tasks,
            max_rss=self.max_rss,
            drain_timeout=self.drain_timeout,
            imports=self.imports,
            owns_process=True,
        )

    def child_command(self) -> list[str]:
        """Return the command of one of several processes."""
        command = [sys.executable, "-m", "oxpull_async", "worker", self.app, "--supervised"]
        command += [f"--{name}={getattr(self, name.replace('-', '_'))}" for name in _ALWAYS]
        command += [f"--import={name}" for name in self.imports]
        command += [f"--queues={','.join(self.queues)}"] if self.queues is not None else []
        command += [f"--max-tasks={self.max_tasks}"] if self.max_tasks is not None else []
        command += [f"--max-rss={self.max_rss}"] if self.max_rss is not None else []
        return [*command, "--burst"] if self.burst else command


_ALWAYS = ("concurrency", "threads", "drain-timeout", "log-level")
_COUNT = click.IntRange(min=1)


@click.command("worker", short_help="Run tasks.")
@click.argument("app", metavar="MODULE:OX")
@click.option("--queues", type=names, help="Serve these queues only; by default all.")
@click.option("--concurrency", type=_COUNT, default=100, show_default=True, help="Tasks at once in a process.")
@click.option("--threads", type=_COUNT, default=10, show_default=True, help="Plain functions at once in a process.")
@click.option("--processes", type=_COUNT, metavar="N", help="Run N processes and restart what dies.")
@click.option("--burst", is_flag=True, help="End when nothing is left to do now.")
@click.option("--max-tasks", type=_COUNT, metavar="N", help="End a process after N tasks (--processes restarts it).")
@click.option("--max-rss", type=size, help="End a process with exit code 75 above this memory, like 512M.")
@click.option(
    "--drain-timeout", type=duration, default="30s", show_default=True, help="How long a stop waits for tasks."
)
@click.option("--import", "imports", multiple=True, metavar="PACKAGE", help="Packages whose tasks may be imported.")
@click.option("--log-level", type=click.Choice(LEVELS, case_sensitive=False), default="INFO", show_default=True)
@click.option("--supervised", is_flag=True, hidden=True)
@json_option
def worker_command(**options: Any) -> None:
    """Run the tasks of an Oxpull: MODULE:OX names it, like shop.tasks:ox.

    With MODULE alone it is the only Oxpull in there. The first SIGTERM or Ctrl-C stops claiming and waits for running
    tasks; the second hands them back at once. Exit code 75 asks to be started anew (--max-rss, or a function that
    does not stop after its timeout).
    """
    job = Job(**options)
    console = Console(stderr=True)
    configure_logging(job.log_level.upper(), console)
    ox = load_app(job.app)
    if job.max_rss is not None and resident_bytes() > job.max_rss:
        used = resident_bytes() / (1 << 20)
        raise UsageError(f"--max-rss is less than the {used:.0f}M that a worker of {job.app} has at its start")
    code = _work(job, ox, console) if job.processes is None else _supervise(job, ox)
    leave_within(PATIENCE, code)
    raise click.exceptions.Exit(code)


def _work(job: Job, ox: Oxpull, console: Console) -> int:
    stopped: list[WorkerStopped] = []

    async def serve(ox: Oxpull) -> Worker:
        worker = Worker(ox, **job.keywords())
        worker.hub.subscribe(WorkerStopped, stopped.append)
        with ExitStack() as around:
            around.enter_context(stop_signals(worker.stop))
            if job.supervised:
                around.enter_context(on_end_of_input(worker.stop))
            else:
                around.enter_context(live_line(console, worker))
            try:
                await worker.run()
            except WorkerRecycled as recycled:
                worker.recycled = str(recycled)
        return worker

    worker = run_with(ox, serve)
    if job.as_json:
        done, remaining = (stopped[0].done, stopped[0].remaining) if stopped else (None, None)
        print_json({"done": done, "remaining": remaining, "recycled": worker.recycled})
    if worker.recycled is not None:
        click.echo(f"the worker asks to be started anew: {worker.recycled}", err=True)
        return EXIT_CODE
    return EXIT_CODE if job.supervised and worker.is_spent else 0


def _supervise(job: Job, ox: Oxpull) -> int:
    """Check once what would fail in every child, then keep the children running."""
    run_with(ox, Oxpull.check_schema)
    report = asyncio.run(_keep(job))
    if job.as_json:
        print_json({"processes": job.processes, "restarts": report.restarts, "gave_up": report.gave_up})
    if report.gave_up:
        click.echo(f"Error: {report.gave_up}; the lines above say why", err=True)
    return 0 if report.is_success else 1


async def _keep(job: Job) -> Report:
    output = sys.stderr.fileno() if job.as_json else None
    charge = Charge(job.child_command(), job.processes or 1, job.drain_timeout + KILL_MARGIN, output)
    supervisor = Supervisor(charge)
    with stop_signals(supervisor.stop):
        return await supervisor.run()
