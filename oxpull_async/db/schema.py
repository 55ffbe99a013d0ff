"""The numbered migrations of a dialect, read from `sql/<dialect>/schema/`."""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

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
    folder = resources.files("oxpull_async") / "sql" / dialect / "schema"
    found = []
    for file in folder.iterdir():
        match = _NAME.fullmatch(file.name)
        if match:
            found.append(_migration(int(match[1]), match[2], file.read_text(encoding="utf-8"), uuid_type))
    return tuple(sorted(found, key=lambda migration: migration.version))


def _migration(version: int, name: str, text: str, uuid_type: str) -> Migration:
    body = _COMMENT.sub("", text).replace(":uuid_type", uuid_type)
    statements = (part.strip() for part in re.split(r";\s*$", body, flags=re.MULTILINE))
    return Migration(version, f"{version:04d}_{name}", tuple(part for part in statements if part))
