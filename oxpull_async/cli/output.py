"""What commands print: one JSON document for machines; tables or aligned text for people."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from oxpull_async.drivers.url import mask

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+]*://\S+")
_RULE = 3  # what a boxed column needs beside its text: a line and two blanks
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; figures stand on the right."""

    title: str
    is_number: bool = False


def print_json(document: Any) -> None:
    """Print one JSON document and nothing else."""
    click.echo(json_text(document))


def json_text(document: Any) -> str:
    """Return a document as JSON for machines that people can read."""
    return json.dumps(document, default=plain, ensure_ascii=False, indent=2)


def plain(value: Any) -> Any:
    """Return a dataclass as a dict and an instant as ISO text, for JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{value!r} has no JSON form")


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under titles: a table on a terminal that is wide enough, else aligned columns."""
    cells = [[cell(value) for value in row] for row in rows]
    widths = _widths(columns, cells)
    if sys.stdout.isatty() and sum(widths) + _RULE * len(widths) + 1 <= Console().width:
        _print_boxed(columns, cells)
        return
    for line in table_lines(columns, cells):
        click.echo(line)


def table_lines(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return rows under titles as aligned columns."""
    cells = [[cell(value) for value in row] for row in rows]
    widths = _widths(columns, cells)
    lines = [[column.title for column in columns], *cells]
    return ["  ".join(_aligned(line, widths, columns)).rstrip() for line in lines]


def _widths(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> list[int]:
    lines = [[column.title for column in columns], *cells]
    return [max(len(line[place]) for line in lines) for place in range(len(columns))]


def _aligned(line: Sequence[str], widths: Sequence[int], columns: Sequence[Column]) -> Iterator[str]:
    for text, width, column in zip(line, widths, columns, strict=True):
        yield text.rjust(width) if column.is_number else text.ljust(width)


def _print_boxed(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> None:
    table = Table(header_style="bold")
    for column in columns:
        table.add_column(column.title, justify="right" if column.is_number else "left", no_wrap=True)
    for row in cells:
        table.add_row(*(Text(text) for text in row))
    Console().print(table)


def cell(value: object) -> str:
    """Return a value as it stands in a table: one line, no control characters, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return when(value)
    return printable(str(value)).replace("\n", " ").replace("\t", " ")


def when(moment: datetime | None) -> str:
    """Return an instant in UTC to the second."""
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}Z"


def printable(text: str) -> str:
    """Return text with control characters made visible: stored text must not steer a terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def masked(text: str) -> str:
    """Return text with the passwords of all URLs in it hidden."""
    return _URL.sub(lambda found: mask(found[0]), text)
