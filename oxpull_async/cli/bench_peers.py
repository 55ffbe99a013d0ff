"""`oxpull bench --peers`: measure oxpull-async beside other task queues, in one run."""

import asyncio
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from oxpull_async.cli.output import Column, json_text, print_table


@dataclass(frozen=True, slots=True, kw_only=True)
class Peers:
    """What a command line asked of a comparison."""

    redis: str | None
    names: tuple[str, ...]
    svg: Path | None
    samples: Path | None


def run_beside_peers(url: str, scale: Any, only: Sequence[str], peers: Peers) -> dict[str, Any]:
    """Measure, write the files that were asked for, and return the document with its tables."""
    contestants, compare = _module("contestants"), _module("compare")
    store = {"postgresql": "postgres", "postgres": "postgres", "mysql": "mysql"}.get(url.partition(":")[0], "sqlite")
    there = contestants.beside(store)
    chosen = [one for one in there if not peers.names or one.name in peers.names or one.name == contestants.OURS]
    workloads = chosen_names(contestants.measured_on(store), only)
    unknown = sorted(set(peers.names) - {one.name for one in there})
    if unknown:
        names = ", ".join(one.name for one in there)
        raise click.UsageError(f"nobody of the name {', '.join(unknown)} runs on this database: there are {names}")
    redis = peers.redis or _module("places").REDIS
    with Console(stderr=True).status("") as status:
        comparison = asyncio.run(compare.compare(url, redis, scale, (chosen, workloads), status.update))
    return _written(url, scale, comparison, peers)


def chosen_names(names: Sequence[str], only: Sequence[str]) -> list[str]:
    """Return the workloads that have one of some texts in their names, all where there is none.

    Raises: UsageError for a text that is in no name.
    """
    for text in only:
        if not any(text in name for name in names):
            raise click.UsageError(f"no workload has {text!r} in its name: there are {'; '.join(names)}")
    return [name for name in names if not only or any(text in name for text in only)]


def show_comparison(document: dict[str, Any]) -> None:
    """Print a table for each workload, and who did not run and why."""
    server, machine = "{dialect} {server}", "{cpus} x {processor}, {memory}"
    line = f"{server}, Python {{python}}, {machine}; medians of {{scale[repeats]}} interleaved rounds"
    click.echo(line.format_map(document))
    titles = _module("report").TITLES
    for title, rows in document["tables"]:
        click.echo(f"\n{title}")
        print_table([Column(title, is_number=place > 0) for place, title in enumerate(titles)], rows)
    click.echo()
    for name, reason in document["not_run"].items():
        click.echo(f"not run: {name}: {reason}")


def _written(url: str, scale: Any, comparison: Any, peers: Peers) -> dict[str, Any]:
    circumstances = asyncio.run(_module("measure").circumstances(url, scale))
    report = _module("report")
    document: dict[str, Any] = report.document(comparison, circumstances)
    if peers.samples is not None:
        peers.samples.write_text(json_text(document) + "\n", encoding="utf-8")
    if peers.svg is not None:
        title = f"oxpull-async beside its peers: {document['dialect']} {document['server']}, {document['at'][:10]}"
        peers.svg.write_text(_module("plot").plot(comparison, title), encoding="utf-8")
    return document | {"tables": list(report.tables(comparison))}


def _module(name: str) -> Any:
    return importlib.import_module(f"benchmarks.{name}")
