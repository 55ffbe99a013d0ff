"""The `demo` command: its options, its surroundings, and its exit code."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import click
from rich.console import Console

from oxpull_async.app.open_database import ENVIRONMENT
from oxpull_async.demo.failed import DemoFailed
from oxpull_async.demo.modules import find_sources, standard_library
from oxpull_async.demo.plan import Plan
from oxpull_async.demo.report import Report, print_report
from oxpull_async.demo.screen import Screen
from oxpull_async.errors import OxpullError
from oxpull_async.runtime.signals import stop_signals

NEEDED = ("starlette", "uvicorn", "httpx")
INTERRUPTED = 130


@click.command("demo")
@click.option("--url", help="Database: postgresql://…, mysql://… or sqlite:///…  [default: a temporary file]")
@click.option("--kill", "kills", is_flag=True, help="Kill a worker with SIGKILL half-way; the totals stay exact.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Worker processes.")
@click.option(
    "--path", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder to index.  [default: the standard library]",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(1), help="Index only so many files.")
@click.option("--pace", type=click.FloatRange(0, 60), default=0.0, help="Seconds that every task takes longer.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Port of the server.  [default: a free one]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def demo_command(*, url: str | None, path: Path | None, as_json: bool, **options: object) -> None:
    """Index the Python standard library with tasks and show the totals.

    A Starlette application gets one request and stores a task for each source file and one that adds them up; worker
    processes run them; a direct count checks the totals. Exit code 0 only when they are exact.
    """
    plan = Plan(root=(path or standard_library()).resolve(), **options)  # type: ignore[arg-type]
    _check(plan)
    console = Console(quiet=as_json)
    what = str(plan.root) if path else f"the standard library of Python {sys.version.split()[0]}"
    console.print(f"[bold]oxpull demo[/]: index {what}", soft_wrap=True, highlight=False)
    try:
        with _surroundings(url, plan.lease_seconds) as folder:
            report = asyncio.run(_until_stopped(plan, Screen(console), folder))
    except (DemoFailed, OxpullError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(report.as_json(), indent=2))
    print_report(console, report)
    sys.exit(0 if report.is_exact else 1)


def _check(plan: Plan) -> None:
    """Refuse what cannot be played, before anything is started."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise click.ClickException(f"The demo needs {', '.join(missing)}: pip install 'oxpull-async[demo]'")
    if plan.kills and plan.workers < 2:  # noqa: PLR2004 - one to kill and one to go on
        raise click.UsageError("--kill needs --workers 2 or more: one is killed, another finishes its tasks.")
    if not find_sources(plan.root, 1):
        raise click.ClickException(f"There is no Python source file below {plan.root}.")


async def _until_stopped(plan: Plan, screen: Screen, folder: Path) -> Report:
    """Play; SIGINT and SIGTERM end it in order, so that no process and no row stays."""
    # Imported here: it needs the extras, and the surroundings that were set a moment ago.
    from oxpull_async.demo.stage import play

    playing = asyncio.ensure_future(play(plan, screen, folder))

    def stop() -> None:
        playing.cancel()

    with stop_signals(stop):
        try:
            return await playing
        except asyncio.CancelledError:
            screen.say("stopped", "the workers have ended, the tasks are removed")
            sys.exit(INTERRUPTED)


@contextmanager
def _surroundings(url: str | None, lease_seconds: int) -> Iterator[Path]:
    """Tell the demo's modules, here and in the workers, which database, alias and lease are this run's."""
    with tempfile.TemporaryDirectory(prefix="oxpull-demo-") as folder:
        os.environ |= {
            ENVIRONMENT: url or f"sqlite:///{folder}/demo.db",
            "OXPULL_DEMO_ALIAS": f"demo-{uuid4().hex[:12]}",
            "OXPULL_DEMO_LEASE": str(lease_seconds),
        }
        yield Path(folder)
