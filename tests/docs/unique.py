"""Reads the tables of docs/unique.md, which tests run cell by cell."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "unique.md"


@dataclass(frozen=True, slots=True)
class Cell:
    """What the page says an enqueue gets."""

    until: str
    mode: str
    holder: str
    word: str


def cells(name: str) -> Iterator[Cell]:
    """List the cells of a table of outcomes; a dash is a combination that cannot be."""
    head, *rows = table(name)
    for until, mode, *words in rows:
        for holder, word in zip(head[2:], words, strict=True):
            if word != "-":
                yield Cell(until, mode, holder, word)


def table(name: str) -> list[list[str]]:
    """Return the rows of a marked table, its head first."""
    text = PAGE.read_text(encoding="utf-8").partition(f"<!-- {name}: begin -->\n")[2]
    lines = text.partition(f"<!-- {name}: end -->")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [rows[0], *rows[2:]]
