"""What a demo run came to, as tables for people and as JSON for machines."""

from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from oxpull_async.demo.modules import LARGEST, Totals

SHOWN = {
    "files": "files", "unreadable": "  unreadable", "lines": "lines", "definitions": "definitions",
    "functions": "  functions", "classes": "  classes", "imports": "imports",
}  # fmt: skip


class Killed(TypedDict):
    """A killed worker: after how many files, what it held, how much of that others ran."""

    pid: int
    after: int
    held: int
    taken_over: int


@dataclass(frozen=True, slots=True)
class Report:
    """The totals by tasks and by direct count, with what happened on the way."""

    root: str
    totals: Totals
    counted: Totals
    seconds: float
    tasks: int
    failures: list[str]
    killed: Killed | None

    @property
    def is_exact(self) -> bool:
        """Whether the tasks came to what the direct count came to, and none of them failed."""
        return self.totals == self.counted and not self.failures

    @property
    def rate(self) -> float:
        """Tasks per second."""
        return self.tasks / self.seconds if self.seconds else 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain values."""
        totals = asdict(self.totals) | {"definitions": self.totals.definitions}
        return {
            "root": self.root,
            "totals": totals,
            "largest": totals.pop("largest"),
            "seconds": round(self.seconds, 3),
            "tasks": self.tasks,
            "tasks_per_second": round(self.rate, 1),
            "killed": self.killed,
            "failures": self.failures,
            "exact": self.is_exact,
        }


def print_report(console: Console, report: Report) -> None:
    """Print the largest modules, the totals next to the direct count, and the verdict."""
    console.print()
    console.print(_largest(report.totals))
    console.print()
    console.print(_totals(report))
    console.print()
    console.print(
        f"  {report.tasks:,} tasks in {report.seconds:.1f} seconds: {report.rate:,.0f} tasks/s", highlight=False
    )
    for failure in report.failures:
        console.print(Text(f"  {failure}", "red"), soft_wrap=True)
    console.print(_verdict(report), soft_wrap=True)


def _largest(totals: Totals) -> Table:
    which = "ten largest" if len(totals.largest) == LARGEST else "largest"
    table = _table(f"The {which} modules", "module", "lines", "functions", "classes", "imports")
    for one in totals.largest:
        table.add_row(Text(one.name), *(f"{n:,}" for n in (one.lines, one.functions, one.classes, one.imports)))
    return table


def _totals(report: Report) -> Table:
    table = _table("Totals", "", "by tasks", "direct count", "")
    for name, label in SHOWN.items():
        ours, direct = getattr(report.totals, name), getattr(report.counted, name)
        same = Text("equal", "green") if ours == direct else Text(f"{ours - direct:+,}", "bold red")
        table.add_row(Text(label), f"{ours:,}", f"{direct:,}", same)
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=f"  {title}", title_justify="left", title_style="bold", box=None, padding=(0, 1, 0, 2))
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", header_style="dim", no_wrap=True)
    return table


def _verdict(report: Report) -> Text:
    if report.is_exact:
        return Text("  exact: the totals of the tasks are those of the direct count", "bold green")
    return Text("  NOT exact: the totals of the tasks differ from the direct count", "bold red")
