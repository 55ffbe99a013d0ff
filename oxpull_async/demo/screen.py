"""Show how far a demo run is: bars that move on a terminal, plain lines elsewhere."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

STEPS = 4


class Bars:
    """Several counts up to one total; the first of them is the whole."""

    def __init__(self, progress: Progress, labels: Sequence[str], total: int) -> None:
        self._console = progress.console
        self._progress = progress
        self._rows = [progress.add_task(f"{label:<10}", total=total, note="") for label in labels]
        self._label, self._total = labels[0], total
        self._told = 0

    def show(self, done: Sequence[int], notes: Sequence[str]) -> None:
        """Move every bar; without a terminal, tell each quarter of the whole once."""
        for row, count, note in zip(self._rows, done, notes, strict=True):
            self._progress.update(row, completed=count, note=note)
        step = STEPS * done[0] // self._total if self._total else STEPS
        if not self._console.is_terminal and step > self._told:
            self._told = step
            self._console.print(f"  {self._label}: {done[0]:,} of {self._total:,}", soft_wrap=True)


class Screen:
    """Where the demo tells its story."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def say(self, label: str, text: str) -> None:
        """Tell one thing on a line of its own; bars stay below it."""
        self.console.print(f"  [bold cyan]{label:<10}[/] {text}", soft_wrap=True, highlight=False)

    @contextmanager
    def bars(self, labels: Sequence[str], total: int) -> Iterator[Bars]:
        """Show bars while the block runs; their last state stays."""
        columns = (
            TextColumn("  {task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(),
            TextColumn("[dim]{task.fields[note]}"),
        )  # fmt: skip
        with Progress(*columns, console=self.console, disable=not self.console.is_terminal) as progress:
            yield Bars(progress, labels, total)
