"""A dialect's numbered migrations and what undoes them all, from `sql/<dialect>/schema/`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from oxpull_async.db.statements import QMARK, load_statement

_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_NAME = re.compile(r"(\d{4})_(\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One forward step of the schema.

    Each statement can be run again after a crash at any point.
    """

    version: int
    name: str
    statements: tuple[str, ...]


@cache
def migrations(dialect: str, uuid_type: str) -> tuple[Migration, ...]:
    """Return a dialect's migrations in order; `uuid_type` is the server's column type for ids."""
    found = []
    for file in _folder(dialect).iterdir():
        match = _NAME.fullmatch(file.name)
        if match:
            found.append(_migration(int(match[1]), match[2], file.read_text(encoding="utf-8"), uuid_type))
    return tuple(sorted(found, key=lambda migration: migration.version))


def drop_statements(dialect: str) -> tuple[str, ...]:
    """Return what drops every table of ours; cut off anywhere, it can be begun again."""
    return tuple(_split((_folder(dialect) / "drop.sql").read_text(encoding="utf-8")))


def as_script(dialect: str, migration: Migration) -> list[str]:
    """Return what applies a migration and notes it, as SQL that needs no values."""
    record = _as_text(dialect, "record_migration", version=migration.version, name=migration.name)
    return [_as_text(dialect, "create_schema_table"), *migration.statements, record]


def _migration(version: int, name: str, text: str, uuid_type: str) -> Migration:
    return Migration(version, f"{version:04d}_{name}", tuple(_split(text.replace(":uuid_type", uuid_type))))


def _folder(dialect: str) -> Traversable:
    return resources.files("oxpull_async") / "sql" / dialect / "schema"


def _split(text: str) -> Iterator[str]:
    statements = (part.strip() for part in re.split(r";\s*$", _COMMENT.sub("", text), flags=re.MULTILINE))
    return (part for part in statements if part)


def _as_text(dialect: str, statement_name: str, /, **values: int | str) -> str:
    statement = load_statement(dialect, statement_name, QMARK)
    bound = (f"'{value}'" if isinstance(value, str) else str(value) for value in statement.bind({**values}))
    return "".join(piece + next(bound, "") for piece in statement.sql.split(QMARK.mark))
