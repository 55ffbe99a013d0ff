"""What came out, as a page."""

import platform
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from os import cpu_count

from tests.servers import FACTS, Session

TITLES = {"postgres": "PostgreSQL", "mysql": "MariaDB", "sqlite": "SQLite"}
PACKAGES = ("asyncpg", "aiomysql", "aiosqlite", "anyio", "msgspec")
INTRODUCTION = """# Proofs

Written by `make proof`, which runs every promise at full size on all three databases; do not edit.
The same code runs at about a tenth of the size in `make test`.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one proof went on one database."""

    title: str
    rule: str
    database: str
    seconds: float
    figures: str
    failure: str


@dataclass(frozen=True, slots=True)
class Report:
    """All outcomes of a run."""

    outcomes: Sequence[Outcome]
    session: Session
    seconds: float

    def text(self) -> str:
        """Write the page."""
        failed = sum(bool(outcome.failure) for outcome in self.outcomes)
        verdict = f"{len(self.outcomes)} proofs, {failed} failed, {self.seconds:.0f} s."
        titles = dict.fromkeys(outcome.title for outcome in self.outcomes)
        return "\n".join([INTRODUCTION, *self._circumstances(), "", verdict, *map(self._section, titles), ""])

    def _section(self, title: str) -> str:
        ours = sorted(
            (one for one in self.outcomes if one.title == title), key=lambda one: list(TITLES).index(one.database)
        )
        rows = [f"| {TITLES[one.database]} | {_verdict(one)} | {one.seconds:.1f} |" for one in ours]
        heading = f"\n## {title[:1].upper()}{title[1:]}\n\nRule: {ours[0].rule}\n"
        return "\n".join([heading, "| database | figures | seconds |", "| --- | --- | ---: |", *rows])

    def _circumstances(self) -> list[str]:
        libraries = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
        return [
            f"- {datetime.now(UTC):%Y-%m-%d}, oxpull-async {version('oxpull-async')}",
            f"- Python {platform.python_version()} on {platform.system()}, {cpu_count()} CPUs",
            f"- {', '.join([*self._servers(), f'SQLite {sqlite3.sqlite_version}'])}",
            f"- {libraries}",
        ]

    def _servers(self) -> list[str]:
        notes = (self.session.known(kind) for kind in FACTS)
        return [
            note.note.partition(",")[0] if not isinstance(note, str) else note for note in notes if note is not None
        ]


def figures(result: object) -> str:
    """Write a scenario's figures in one line."""
    if not is_dataclass(result) or isinstance(result, type):
        return str(result)
    return ", ".join(
        f"{field.name.replace('_', ' ')} {_figure(getattr(result, field.name))}" for field in fields(result)
    )


def _figure(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return " / ".join(map(_figure, value)) if isinstance(value, tuple | list) else str(value)


def _verdict(outcome: Outcome) -> str:
    text = f"**failed**: {outcome.failure}" if outcome.failure else outcome.figures
    return " ".join(text.replace("|", "\\|").split())[:500]
