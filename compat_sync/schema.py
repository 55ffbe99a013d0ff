"""Run the core's own schema files as Django migrations.

The table of schema versions is the one truth: an operation skips what it names and notes what it applies, so
`oxpull migrate` and `manage.py migrate` may follow each other in any order. All tables go at once, by
`migrate compat_sync zero`.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from django.core.management import CommandError
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import Migration
from django.db.migrations.exceptions import IrreversibleError
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation, OperationCategory
from django.db.migrations.state import ProjectState

from compat_sync.connection import DjangoConnection
from compat_sync.placement import APP, may_migrate
from compat_sync.shim import run_blocking
from oxpull_async.db.schema import as_script, drop_statements, migrations
from oxpull_async.domain.errors import OxpullError
from oxpull_async.store import schema

__all__ = ["CoreSchema", "SchemaRefused", "before_migrate"]

_FIRST = 1


class SchemaRefused(CommandError, IrreversibleError):
    """The schema cannot be changed as asked; nothing was changed."""


class CoreSchema(Operation):
    """Bring the tables to a version of the core's schema.

    The first version's reverse drops them all; a later one's leaves them alone, since the first one's follows.
    """

    category = OperationCategory.SQL
    reduces_to_sql = True
    reversible = True

    def __init__(self, version: int) -> None:
        self.version = version

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Declare nothing: the models are declared beside this."""

    def database_forwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, *_states: ProjectState
    ) -> None:
        """Apply what the database lacks up to this version, where the routers want our tables.

        Raises: SchemaRefused.
        """
        conn = DjangoConnection(schema_editor.connection.alias)
        if not may_migrate(conn.alias):
            return
        with _refusals():
            if schema_editor.collect_sql:
                _print(schema_editor, _script(conn, self.version), f"-- Skipped where version {self.version} is noted.")
            else:
                run_blocking(schema.migrate(conn, run_blocking(conn.uuid_type()), up_to=self.version))

    def database_backwards(
        self, _app_label: str, schema_editor: BaseDatabaseSchemaEditor, *_states: ProjectState
    ) -> None:
        """Drop every table of ours if this is the first version.

        Raises: SchemaRefused while a worker lives.
        """
        conn = DjangoConnection(schema_editor.connection.alias)
        if not may_migrate(conn.alias):
            return
        with _refusals():
            if schema_editor.collect_sql:
                statements = drop_statements(conn.dialect.name) if self.version == _FIRST else ()
                _print(schema_editor, statements, "-- Refused while a worker lives.")
            elif self.version == _FIRST:
                run_blocking(schema.drop(conn))
            else:
                run_blocking(schema.require_no_workers(conn))

    def describe(self) -> str:
        """Say what this does, for `migrate --plan` and `sqlmigrate`."""
        return f"Bring the tables of tasks to schema version {self.version}"

    @property
    def migration_name_fragment(self) -> str:
        """The part of a migration's name that stands for this."""
        return f"core_schema_{self.version}"


def before_migrate(*, using: str, plan: Sequence[tuple[Migration, bool]], **_: Any) -> None:
    """Refuse to undo some of our migrations only.

    Where a project runs no migrations of ours (MIGRATION_MODULES), the tables are made here.

    Raises: SchemaRefused.
    """
    undone = {version for migration, backwards in plan if backwards for version in _versions(migration)}
    if undone and _FIRST not in undone:
        raise SchemaRefused(
            f"schema versions {sorted(undone)} of {APP} cannot be undone alone: `migrate {APP} zero` drops all of its "
            "tables with the tasks in them"
        )
    if MigrationLoader.migrations_module(APP)[0] is None and may_migrate(using):
        conn = DjangoConnection(using)
        with _refusals():
            run_blocking(schema.migrate(conn, run_blocking(conn.uuid_type())))


def _versions(migration: Migration) -> list[int]:
    if migration.app_label != APP:
        return []
    return [operation.version for operation in migration.operations if isinstance(operation, CoreSchema)]


def _script(conn: DjangoConnection, version: int) -> list[str]:
    known = migrations(conn.dialect.name, run_blocking(conn.uuid_type()))
    return next(as_script(conn.dialect.name, migration) for migration in known if migration.version == version)


def _print(schema_editor: BaseDatabaseSchemaEditor, statements: Sequence[str], note: str) -> None:
    schema_editor.collected_sql.append(note)
    for statement in statements:
        schema_editor.execute(statement, None)


@contextmanager
def _refusals() -> Generator[None]:
    """Let what the core refuses leave a command as one clear line."""
    try:
        yield
    except OxpullError as error:
        raise SchemaRefused(str(error)) from error
