"""Reads docs/coming-from-oxpull.md: its tables and the steps of its walk-through."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "coming-from-oxpull.md"
_BLOCK = re.compile(r"^```(py|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_OURS = re.compile(r"`(compat_sync(?:\.\w+)+)`")


@dataclass(frozen=True, slots=True)
class File:
    """A file that the reader writes."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command that the reader types, and what it prints."""

    line: str
    output: str


def steps() -> Iterator[File | Command]:
    """List what the walk-through does, in order."""
    for kind, text in _BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "py":
            head, _, body = text.partition("\n")
            yield File(head.removeprefix("# "), body)
        else:
            for part in text.removeprefix("$ ").split("\n$ "):
                line, _, output = part.partition("\n")
                yield Command(line, output.strip("\n"))


def our_names() -> list[str]:
    """List the dotted names of ours that the page gives; check ids are not names."""
    found = set(_OURS.findall(PAGE.read_text(encoding="utf-8")))
    return sorted(name for name in found if not re.search(r"\.[EWI]\d+$", name))
