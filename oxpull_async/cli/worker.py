"""`oxpull worker`: run tasks, in this process or in several under a supervisor."""

import sys
from typing import Any

import click
from rich.console import Console

from oxpull_async.app.oxpull import Oxpull
from oxpull_async.cli.leave import PATIENCE, leave_within
from oxpull_async.cli.logs import LEVELS, configure_logging
from oxpull_async.cli.options import duration, json_option, names, size
from oxpull_async.cli.output import print_json
from oxpull_async.cli.serving import Ending, Job, require_memory, serve, supervise
from oxpull_async.cli.target import load_app, run_with
from oxpull_async.runtime.worker import Worker

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
def worker_command(app: str, **options: Any) -> None:
    """Run the tasks of an Oxpull: MODULE:OX names it, like shop.tasks:ox.

    With MODULE alone it is the only Oxpull in there. The first SIGTERM or Ctrl-C stops claiming and waits for running
    tasks; the second hands them back at once. Exit code 75 asks to be started anew (--max-rss, or a function that
    does not stop after its timeout).
    """
    job = Job(**options)
    console = Console(stderr=True)
    configure_logging(job.log_level.upper(), console)
    ox = load_app(app)
    require_memory(job, app)
    ending = _work(job, ox, console) if job.processes is None else _supervise(job, ox, app)
    if job.as_json:
        print_json(ending.document)
    if ending.complaint is not None:
        click.echo(ending.complaint, err=True)
    leave_within(PATIENCE, ending.code)
    raise click.exceptions.Exit(ending.code)


def _work(job: Job, ox: Oxpull, console: Console) -> Ending:
    async def work(ox: Oxpull) -> Ending:
        return await serve(Worker(ox, **job.keywords()), job, console)

    return run_with(ox, work)


def _supervise(job: Job, ox: Oxpull, app: str) -> Ending:
    """Check once what would fail in every child, then keep the children running."""
    run_with(ox, Oxpull.check_schema)
    return supervise(job, [sys.executable, "-m", "oxpull_async", "worker", app, *job.child_options()])
