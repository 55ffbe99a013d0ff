"""`oxpull bench`: measure throughput and latency on a database of one's own."""

import asyncio
import importlib
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypedDict, Unpack

import click
from rich.console import Console

from oxpull_async.cli.bench_peers import Peers, chosen_names, run_beside_peers, show_comparison
from oxpull_async.cli.output import Column, print_json, print_table


class Asked(TypedDict):
    """The options of the command line."""

    url: str | None
    quick: bool
    only: tuple[str, ...]
    as_json: bool
    rounds: int | None
    peers: bool
    names: tuple[str, ...]
    redis: str | None
    svg: Path | None
    samples: Path | None


@click.command("bench", short_help="Measure throughput and latency.")
@click.option("--url", metavar="URL", help="A database that holds no tasks; by default a SQLite file made for it.")
@click.option("--quick", is_flag=True, help="About a tenth of the work, for a first look.")
@click.option(
    "--only", multiple=True, metavar="TEXT", help="Only the workloads that have this in their names; may be repeated."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with every sample.")
@click.option("--rounds", type=click.IntRange(1), metavar="N", help="How often each sample is taken, by default 5.")
@click.option(
    "--peers", is_flag=True, help="Measure other task queues and raw SQL beside it, in databases of their own."
)
@click.option("--with", "names", multiple=True, metavar="NAME", help="With --peers: only this one; may be repeated.")
@click.option("--redis", metavar="URL", help="With --peers: an empty Redis database for those that use one.")
@click.option("--svg", type=click.Path(path_type=Path), help="With --peers: write a plot to this file.")
@click.option("--samples", type=click.Path(path_type=Path), help="With --peers: write every sample to this JSON file.")
def bench_command(**asked: Unpack[Asked]) -> None:
    """Measure how fast tasks are stored, claimed and run on a database.

    The database must hold no tasks; what the benchmark stores there, it removes. Compare figures of one run only. With
    --peers each queue is installed into an environment in the user's cache, and gets a database that is made for it.
    """
    url, only, as_json = asked["url"], asked["only"], asked["as_json"]
    workloads, measure = _benchmarks("benchmarks"), _benchmarks("benchmarks.measure")
    scales: Any = _benchmarks("benchmarks.workload").Scale
    scale = scales.quick() if asked["quick"] else scales()
    if asked["rounds"]:
        scale = replace(scale, repeats=asked["rounds"])
    if asked["peers"]:
        _beside_peers(asked, scale)
        return
    names = chosen_names([workload.name for workload in workloads.WORKLOADS], only)
    chosen = [workload for workload in workloads.WORKLOADS if workload.name in names]
    with tempfile.TemporaryDirectory() as folder:
        where = url or f"sqlite:///{Path(folder) / 'bench.db'}"
        results = asyncio.run(_run(measure, where, scale, chosen))
        _show(asyncio.run(measure.circumstances(where, scale)), results, as_json=as_json)


def _beside_peers(asked: Asked, scale: Any) -> None:
    peers = Peers(redis=asked["redis"], names=asked["names"], svg=asked["svg"], samples=asked["samples"])
    with tempfile.TemporaryDirectory() as folder:
        where = asked["url"] or f"sqlite:///{Path(folder) / 'bench.db'}"
        document = run_beside_peers(where, scale, asked["only"], peers)
    if asked["as_json"]:
        print_json({name: part for name, part in document.items() if name != "tables"})
    else:
        show_comparison(document)


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
