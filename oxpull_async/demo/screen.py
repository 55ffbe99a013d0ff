"""Show a demo run: bars that move on a terminal, plain lines elsewhere."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn


class Shown(Protocol):
    """One bar's worth of news."""

    @property
    def label(self) -> str:
        """What the bar counts."""
