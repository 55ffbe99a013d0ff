"""Whether time zones, routers and the database of the tasks fit.

Only `schema_problems` asks the database.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, NotSupportedError, connections

from compat_sync.checks.catalog import Problem
from compat_sync.connection import DjangoConnection
from compat_sync.native import is_for_tests, missing_driver, unexpressible
from compat_sync.options import SESSION, read_options
from compat_sync.placement import check_placement, may_migrate, migrate_command
from compat_sync.shim import run_blocking
from oxpull_async.domain.errors import DatabaseTrouble, UsageError
from oxpull_async.store.schema import SchemaState, read_schema

__all__ = ["database_problems", "schema_problems", "time_problems"]

_UTC = frozenset({"UTC", "Etc/UTC"})


def time_problems() -> Iterator[Problem]:
    """Report USE_TZ when it is off."""
    if not settings.USE_TZ:
        yield Problem("E210", "USE_TZ is off, and instants of tasks are stored in UTC.")


def database_problems(aliases: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    """List what is wrong with the place of the tasks, for these entries of TASKS."""
    try:
        database = check_placement()
        may_make = may_migrate(database)
    except ImproperlyConfigured as split:
        yield Problem("E004", str(split))
        return
    except Exception as failure:  # noqa: BLE001 - a project's router may raise anything
        yield Problem("E004", f"A router of DATABASE_ROUTERS raised {type(failure).__name__}: {failure}.")
        return
    try:
        dialect = DjangoConnection(database).dialect
    except UsageError as foreign:
        yield Problem("E209", str(foreign))
        return
    if not may_make:
        yield Problem("W205", f"DATABASE_ROUTERS let no tables of tasks be made in DATABASES[{database!r}].")
    yield from _zone(database)
    if missing := missing_driver(database):
        yield Problem("W203", missing)
    if not is_for_tests(connections[database].settings_dict["NAME"]):
        yield from (Problem("W202", sentence) for sentence in unexpressible(database))
    if not dialect.has_listen:
        yield from _without_listen(database, aliases)


def schema_problems(databases: Collection[str]) -> Iterator[Problem]:
    """Ask the database of the tasks, where it is among `databases`, if this version fits it."""
    conn = _place()
    if conn is None or conn.alias not in databases:
        return
    where = f"DATABASES[{conn.alias!r}]"
    try:
        connections[conn.alias].ensure_connection()
        connections[conn.alias].check_database_version_supported()
        uuid_type = run_blocking(conn.uuid_type())
    except (NotSupportedError, DatabaseTrouble) as unfit:
        yield Problem("E212", f"{where}: {unfit}.")
        return
    except Error as failure:
        yield Problem("E214", f"{where} could not be asked: {failure}.")
        return
    try:
        state = run_blocking(read_schema(conn, uuid_type))
    except DatabaseTrouble as failure:
        yield Problem("E214", f"{where} could not be asked: {failure}.")
        return
    yield from _of_state(where, state)


def _of_state(where: str, state: SchemaState) -> Iterator[Problem]:
    if state.unknown:
        yield Problem("E213", f"{where} has version {max(state.unknown)} of the tables, which is newer than this code.")
    elif state.pending:
        names = ", ".join(migration.name for migration in state.pending)
        text = f"{where} lacks {len(state.pending)} version(s) of the tables of tasks ({names})."
        yield Problem("W204", text, f"Run {migrate_command()}.")


def _place() -> DjangoConnection | None:
    """Return the place of the tasks, or None where `database_problems` has an error to report."""
    try:
        conn = DjangoConnection(check_placement())
        _ = conn.dialect
    except Exception:  # noqa: BLE001 - a project's router may raise anything
        return None
    return conn


def _zone(database: str) -> Iterator[Problem]:
    django = connections[database]
    zone = django.settings_dict["TIME_ZONE"]
    if not django.features.supports_timezones and zone is not None and zone not in _UTC:
        text = f"DATABASES[{database!r}] has TIME_ZONE={zone!r}, and instants of tasks are stored in UTC."
        yield Problem("E211", text)


def _without_listen(database: str, aliases: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    for alias, params in aliases.items():
        try:
            options = read_options(alias, params)
        except ImproperlyConfigured:
            continue  # reported for the alias
        given = {"POOLER": options.pooler != SESSION, "LISTEN_URL": options.listen_url is not None}
        for key in (key for key, has_effect in given.items() if has_effect):
            yield Problem("E208", f"TASKS[{alias!r}]: {key} is given, and DATABASES[{database!r}] has no LISTEN.")
