"""Finds the Python examples that the documentation prints."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """One printed block of Python, and where it stands."""

    page: str
    number: int
    code: str


def examples() -> Iterator[Example]:
    """List every Python block of README and docs."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for number, match in enumerate(_BLOCK.finditer(page.read_text(encoding="utf-8")), 1):
            yield Example(str(page.relative_to(ROOT)), number, match[1])
