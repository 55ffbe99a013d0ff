"""A comparison as tables for people and as one document for machines."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from benchmarks.comparison import Comparison, Row
from benchmarks.contestants import OURS, RAW
from benchmarks.plot import figure

TITLES = ("contestant", "median", "least", "most", "of raw", "ours is")


def tables(comparison: Comparison) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """Give a title and rows for each workload, the best first.

    `of raw` is a contestant's share of what raw SQL does, `ours is` how many times as fast oxpull-async was: medians of
    the ratios within the rounds.
    """
    for workload in comparison.workloads():
        rows = comparison.of(workload)
        rows.sort(key=lambda row: row.median, reverse=not rows[0].is_cost)
        yield f"{workload} ({rows[0].unit})", [_cells(comparison, row) for row in rows]


def document(comparison: Comparison, circumstances: dict[str, Any]) -> dict[str, Any]:
    """Return every sample with all that is needed to judge it later."""
    results = [asdict(row) | {"median": row.median} for row in comparison.rows if row.values]
    return {
        **circumstances, "contestants": comparison.packages, "not_run": comparison.not_run, "results": results,
    }  # fmt: skip


def _cells(comparison: Comparison, row: Row) -> tuple[str, ...]:
    raw, ours = comparison.ahead(row, of=RAW), comparison.ahead(row)
    return (
        row.contestant,
        *map(figure, (row.median, min(row.values), max(row.values))),
        "" if raw is None or row.contestant == RAW else f"{1 / raw:.2f}",
        "" if ours is None or row.contestant == OURS else f"x {ours:.2f}",
    )
