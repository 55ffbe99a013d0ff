"""What a caller may have open when it enqueues: a database, its settings, and a transaction at some level."""

from dataclasses import dataclass
from typing import Any

import psycopg

from oxpull_async.drivers.url_options import Family

LEVELS = {"rc": "READ COMMITTED", "rr": "REPEATABLE READ", "ser": "SERIALIZABLE"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A column of the matrix.

    `begin` opens the caller's transaction (None: there is none); `session` prepares its connection; `django` is what
    an alias needs in OPTIONS to be the same.
    """

    name: str
    family: Family
    begin: tuple[str, ...] | None
    session: tuple[str, ...] = ()
    django: dict[str, Any] | None = None
    journal: str = "wal"

    def __str__(self) -> str:
        return self.name


def _postgres(level: str) -> Setting:
    django = {"isolation_level": psycopg.IsolationLevel[LEVELS[level].replace(" ", "_")]}
    return Setting(f"pg-{level}", "postgres", (f"BEGIN ISOLATION LEVEL {LEVELS[level]}",), django=django)


def _mysql(level: str, *variables: str, suffix: str = "") -> Setting:
    session = f"SET SESSION {', '.join(('innodb_lock_wait_timeout = 1', *variables))}"
    return Setting(
        f"my-{level}{suffix}",
        "mysql",
        ("BEGIN",),
        (f"SET SESSION TRANSACTION ISOLATION LEVEL {LEVELS[level]}", session),
        {"isolation_level": LEVELS[level].lower(), "init_command": session},
    )


def _sqlite(journal: str, mode: str) -> Setting:
    return Setting(
        f"{journal}-{mode}", "sqlite", (f"BEGIN {mode}",), django={"transaction_mode": mode.upper()}, journal=journal
    )


SETTINGS = [
    Setting("pg-none", "postgres", None, django={}),
    *map(_postgres, LEVELS),
    Setting("my-none", "mysql", None, django={}),
    *map(_mysql, LEVELS),
    _mysql("rr", "innodb_snapshot_isolation = ON", suffix="-si"),
    Setting("wal-none", "sqlite", None, django={}),
    _sqlite("wal", "immediate"),
    _sqlite("wal", "deferred"),
    Setting("delete-none", "sqlite", None, django={}, journal="delete"),
    _sqlite("delete", "immediate"),
    _sqlite("delete", "deferred"),
]
