"""Bars of a comparison as one SVG that a person reads at a glance: a panel a workload, ours on top of it in colour."""

from collections.abc import Sequence
from html import escape

from benchmarks.comparison import Comparison, Row
from benchmarks.contestants import OURS, RAW

WIDTH, COLUMNS, GAP = 1080, 2, 36
NAMES, FIGURES, BAR, LINE, TITLE = 170, 84, 16, 24, 34
COLOURS = {"ours": "#0b6e4f", "raw": "#c9c9c9", "peer": "#8aa6c1"}
FONT = "font-family='system-ui, sans-serif'"


def plot(comparison: Comparison, title: str) -> str:
    """Return the picture of all workloads that somebody ran."""
    panel = (WIDTH - GAP * (COLUMNS + 1)) // COLUMNS
    heights, parts = [70] * COLUMNS, []
    for workload in comparison.workloads():
        rows = _sorted(comparison.of(workload))
        column = heights.index(min(heights))
        x, y = GAP + column * (panel + GAP), heights[column]
        parts.append(f"<g transform='translate({x},{y})'>{_panel(workload, rows, panel)}</g>")
        heights[column] += TITLE + LINE * len(rows) + GAP
    height = max(heights)
    head = f"<text x='{GAP}' y='40' {FONT} font-size='20' font-weight='600' fill='#222'>{escape(title)}</text>"
    note = (
        f"<text x='{GAP}' y='60' {FONT} font-size='12' fill='#666'>"
        "Bars: median of the rounds; thin line: least to most. Grey: raw SQL, which no queue can pass.</text>"
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' height='{height}'>"
        f"<rect width='100%' height='100%' fill='#fff'/>{head}{note}{''.join(parts)}</svg>\n"
    )


def figure(value: float) -> str:
    """Write a value with as many digits as say something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" if value >= 10 else f"{value:,.2f}"


def _sorted(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row.median, reverse=not rows[0].is_cost)


def _panel(workload: str, rows: Sequence[Row], width: int) -> str:
    most = max(max(row.values) for row in rows) or 1.0
    scale = (width - NAMES - FIGURES) / most
    better = "lower is better" if rows[0].is_cost else "higher is better"
    title = (
        f"<text y='14' {FONT} font-size='14' font-weight='600' fill='#222'>{escape(workload)}"
        f"<tspan font-weight='400' font-size='11' fill='#888' dx='8'>{rows[0].unit}, {better}</tspan></text>"
    )
    return title + "".join(_bar(row, TITLE + LINE * place, scale) for place, row in enumerate(rows))


def _bar(row: Row, y: int, scale: float) -> str:
    kind = "ours" if row.contestant.startswith(OURS) else "raw" if row.contestant == RAW else "peer"
    end, middle = NAMES + max(row.median * scale, 1), y + BAR / 2
    least, most = NAMES + min(row.values) * scale, NAMES + max(row.values) * scale
    weight = "600" if kind == "ours" else "400"
    return (
        f"<text x='{NAMES - 8}' y='{middle + 4}' {FONT} font-size='12' font-weight='{weight}' text-anchor='end' "
        f"fill='#222'>{escape(row.contestant)}</text>"
        f"<rect x='{NAMES}' y='{y}' width='{end - NAMES:.1f}' height='{BAR}' rx='2' fill='{COLOURS[kind]}'/>"
        f"<path d='M{least:.1f} {middle}H{most:.1f}' stroke='#222' stroke-width='1'/>"
        f"<text x='{max(end, most) + 6:.1f}' y='{middle + 4}' {FONT} font-size='12' font-weight='{weight}' "
        f"fill='#222'>{figure(row.median)}</text>"
    )
