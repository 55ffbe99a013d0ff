"""Open Django connections of our own, for a short look at what is committed.

They stand outside any pool and are closed by whoever opened them; the project's own limits are not overridden.
"""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import load_backend

__all__ = ["LIMITS", "beside"]

# Lock waits of MySQL and MariaDB are whole seconds; /*M! is read by MariaDB only, /*!8 by MySQL only.
LIMITS: Mapping[str, tuple[str, ...]] = {
    "postgresql": (
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "SET LOCAL lock_timeout = '100ms'",
        "SET LOCAL statement_timeout = '2s'",
    ),
    "mysql": (
        "SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = 1",
        "SET SESSION /*M! max_statement_time = 2 */ /*!80000 max_execution_time = 2000 */",
    ),
    "sqlite": (),
}
_CONNECT_SECONDS = 2
_SQLITE_SECONDS = 0.1
_NAMED_ELSEWHERE = frozenset({"connect_timeout", "service", "read_default_file"})
_ENVIRONMENT = ("PGCONNECT_TIMEOUT", "PGSERVICE")


@contextmanager
def beside(django: BaseDatabaseWrapper) -> Generator[str]:
    """Let Django know a second connection to a database, under an alias of its own."""
    alias = f"{django.alias} (apart)"
    settings: Mapping[str, Any] = django.settings_dict
    options = _hurried(django.vendor, settings["OPTIONS"])
    entry = {**settings, "AUTOCOMMIT": True, "ATOMIC_REQUESTS": False, "OPTIONS": options}
    wrapper = load_backend(settings["ENGINE"]).DatabaseWrapper(entry, alias)
    connections[alias] = wrapper
    try:
        yield alias
    finally:
        del connections[alias]
        wrapper.close()


def _hurried(vendor: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a connection that is opened quickly or not at all."""
    ours = {name: value for name, value in options.items() if name != "pool"}
    if vendor == "sqlite":
        return ours | {"timeout": _SQLITE_SECONDS}
    if vendor == "mysql":
        ours["isolation_level"] = "read committed"
    limited = _NAMED_ELSEWHERE & ours.keys() or (vendor == "postgresql" and any(map(os.environ.get, _ENVIRONMENT)))
    return ours if limited else ours | {"connect_timeout": _CONNECT_SECONDS}
