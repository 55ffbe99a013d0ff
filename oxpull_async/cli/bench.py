"""`oxpull bench`: measure throughput and latency on a database of one's own."""

import asyncio
import importlib
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from rich.console import Console

from oxpull_async.cli.output import Column, print_json, print_table


@click.command("bench", short_help="Measure throughput and latency.")
@click.option("--url", metavar="URL", help="A database that holds no tasks; by default a SQLite file made for it.")
@click.option("--quick", is_flag=True, help="About a tenth of the work, for a first look.")
@click.option("--only", metavar="TEXT", default="", help="Only the workloads that have this in their names.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with every sample.")
def bench_command(*, url: str | None, quick: bool, only: str, as_json: bool) -> None:
    """Measure how fast tasks are stored, claimed and run on a database.

    The database must hold no tasks; what the benchmark stores there, it removes. Compare figures of one run only.
    """
    workloads, measure = _benchmarks("benchmarks"), _benchmarks("benchmarks.measure")
    scales: Any = _benchmarks("benchmarks.workload").Scale
    scale = scales.quick() if quick else scales()
    chosen = [workload for workload in workloads.WORKLOADS if only in workload.name]
    if not chosen:
        names = "; ".join(workload.name for workload in workloads.WORKLOADS)
        raise click.UsageError(f"no workload has {only!r} in its name: there are {names}")
    with tempfile.TemporaryDirectory() as folder:
        where = url or f"sqlite:///{Path(folder) / 'bench.db'}"
        results = asyncio.run(_run(measure, where, scale, chosen))
        _show(asyncio.run(measure.circumstances(where, scale)), results, as_json=as_json)


async def _run(measure: ModuleType, url: str, scale: Any, workloads: list[Any]) -> list[Any]:
    with Console(stderr=True).status("") as status:
        results: list[Any] = []
        status.update(f"measuring {workloads[0].name}")
        async for measured in measure.measure(url, scale, workloads):
            results.append(measured)
            following = workloads[len(results) : len(results) + 1]
            status.update(f"measuring {following[0].name}" if following else "")
    return results


def _show(circumstances: dict[str, Any], results: list[Any], *, as_json: bool) -> None:
    if as_json:
        print_json({**circumstances, "results": [_as_json(result) for result in results]})
        return
    server, python = circumstances["server"], circumstances["python"]
    click.echo(f"{circumstances['database']} ({server}), Python {python}, {circumstances['cpus']} CPUs")
    columns = [Column("workload"), *(Column(title, is_number=True) for title in ("median", "least", "most"))]
    rows = [
        (result.name, *map(_figure, (result.median, min(result.samples), max(result.samples))), result.unit)
        for result in results
    ]
    print_table([*columns, Column("unit")], rows)


def _as_json(result: Any) -> dict[str, Any]:
    return {"name": result.name, "unit": result.unit, "median": result.median, "samples": result.samples}


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"  # noqa: PLR2004 - three digits say enough


def _benchmarks(name: str) -> ModuleType:
    """Import the workloads, which stand beside the package in its repository and are not installed with it."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        raise click.ClickException(
            f"the workloads are not installed with the package ({missing.name}): run `make bench` in its repository"
        ) from missing
