"""Django's migrations run the core's schema files; both ways of migrating may follow each other."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import resources
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ModelState
from django.test import override_settings

from compat_sync.connection import DjangoConnection
from compat_sync.migrations import __name__ as migrations_package
from compat_sync.schema import CoreSchema, SchemaRefused
from compat_sync.shim import run_blocking
from oxpull_async.db.schema import drop_statements, migrations
from oxpull_async.store import schema
from tests.compat import routing
from tests.compat.conftest import Kind
from tests.compat.described import describe, our_tables
from tests.compat.django_aliases import add_alias, configure, drop_alias
from tests.compat.projects import make_project
from tests.fixtures import make
from tests.fixtures.servers import MakeDatabase

configure()
DIALECTS = ("postgres", "mysql", "sqlite")
KNOWN = migrations("sqlite", "")
NAMES, VERSIONS = [migration.name for migration in KNOWN], tuple(migration.version for migration in KNOWN)
TARGETS, ZERO = [("compat_sync", name) for name in NAMES], ("compat_sync", None)
TWO_VERSIONS = override_settings(MIGRATION_MODULES={"compat_sync": "tests.compat.two_versions.migrations"})


@pytest.fixture
def url(make_database: MakeDatabase, kind: Kind) -> str:
    """Name an empty database of each kind in turn."""
    return make_database(kind)


@pytest.fixture
def empty(url: str) -> Iterator[str]:
    """Reach an empty database, which the routers give to our models, under an alias."""
    add_alias("empty", url)
    before, routing.current["alias"] = routing.current["alias"], "empty"
    yield "empty"
    routing.current["alias"] = before
    drop_alias("empty")


def migrate(alias: str, target: tuple[str, str | None] = TARGETS[-1]) -> None:
    executor = MigrationExecutor(connections[alias])
    executor.migrate([target])


def recorded(alias: str) -> list[str]:
    done = MigrationRecorder(connections[alias]).applied_migrations()
    return sorted(name for app, name in done if app == "compat_sync")


def applied(alias: str) -> tuple[int, ...]:
    conn = DjangoConnection(alias)
    return run_blocking(schema.read_schema(conn, run_blocking(conn.uuid_type()))).applied


def versions_of(name: str) -> list[int]:
    migration = MigrationLoader(None).get_migration("compat_sync", name)
    return [one.version for one in migration.operations if isinstance(one, CoreSchema)]


def oxpull_migrate(url: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = (sys.executable, "-m", "oxpull_async", "migrate", "--url", url, *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


class Killed(BaseException):
    """The process of the migration died here."""


class Life:
    """Lets a connection run so many statements; whatever comes later finds the process dead."""

    def __init__(self, statements: int) -> None:
        self.left = statements

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        if self.left == 0:
            raise Killed
        self.left -= 1
        return execute(*arguments)


def dies(alias: str, target: tuple[str, str | None], statements: int) -> bool:
    """Migrate in a process that dies after some statements; False if it came to its end before."""
    django = connections[alias]
    try:
        with suppress(Killed), django.execute_wrapper(Life(statements)):
            migrate(alias, target)
            return False
        return True
    finally:
        django.close()


def deaths_until_done(alias: str, target: tuple[str, str | None]) -> int:
    """Migrate in processes that die, each one statement later, until one lives; answers how many died."""
    return next(statements for statements in count() if not dies(alias, target, statements))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_schema_version_of_the_core_has_exactly_one_migration_of_its_name(dialect: str) -> None:
    files = resources.files(migrations_package).iterdir()
    names = sorted(file.name.removesuffix(".py") for file in files if re.match(r"\d{4}_", file.name))
    known = migrations(dialect, "uuid")
    assert names == [migration.name for migration in known]
    assert [versions_of(name) for name in names] == [[migration.version] for migration in known]


def test_the_migrations_declare_the_models_as_they_are() -> None:
    """The autodetector looks at no field of an unmanaged model, so this does."""
    state = MigrationLoader(None).project_state()
    for model in apps.get_app_config("compat_sync").get_models():
        declared, actual = state.models["compat_sync", model.__name__.lower()], ModelState.from_model(model)
        assert list(declared.fields) == list(actual.fields)
        for name, field in actual.fields.items():
            assert declared.get_field(name).deconstruct()[1:] == field.deconstruct()[1:], f"{model.__name__}.{name}"
        assert {**declared.options, "indexes": [], "constraints": []} == actual.options


def test_a_project_needs_no_new_migrations(tmp_path: Path, url: str) -> None:
    done = make_project(tmp_path, url).manage("makemigrations", "--check", "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr


def test_E7_both_commands_skip_what_the_other_has_applied(tmp_path: Path, url: str, empty: str) -> None:
    project = make_project(tmp_path, url)
    assert "applied 0001_tasks" in oxpull_migrate(url).stdout
    first = describe(empty)
    done = project.manage("migrate")
    assert done.returncode == 0, done.stderr
    assert describe(empty) == first
    assert recorded(empty) == NAMES
    assert "nothing to do" in oxpull_migrate(url).stdout
    assert project.manage("migrate", "compat_sync", "zero").returncode == 0
    assert our_tables(empty) == []
    assert project.manage("migrate").returncode == 0
    assert describe(empty) == first
    assert "nothing to do" in oxpull_migrate(url).stdout
    assert oxpull_migrate(url, "--check").returncode == 0


def test_E7_a_migration_cut_off_after_any_statement_is_finished_by_the_next(empty: str) -> None:
    """Each one dies a statement later than the one before, and goes on from what that left behind."""
    migrate(empty)
    whole = describe(empty)
    migrate(empty, ZERO)
    deaths = sum(deaths_until_done(empty, target) for target in TARGETS)
    assert (describe(empty), applied(empty), recorded(empty)) == (whole, VERSIONS, NAMES)
    assert deaths > sum(len(migration.statements) for migration in KNOWN)


def test_E7_a_reverse_cut_off_after_any_statement_is_finished_by_the_next(empty: str) -> None:
    migrate(empty)
    whole = describe(empty)
    deaths = sum(deaths_until_done(empty, target) for target in [*reversed(TARGETS[:-1]), ZERO])
    assert (our_tables(empty), recorded(empty)) == ([], [])
    assert deaths > len(whole)


def test_E7_a_reverse_cut_off_after_some_statement_is_undone_by_the_core(empty: str) -> None:
    migrate(empty)
    whole = describe(empty)
    migrate(empty, TARGETS[0])
    conn = DjangoConnection(empty)
    for statements in count(step=4):
        if not dies(empty, ZERO, statements):
            break
        run_blocking(schema.migrate(conn, run_blocking(conn.uuid_type())))
        assert describe(empty) == whole, f"after a death behind statement {statements}"
        migrate(empty, TARGETS[0])
    assert our_tables(empty) == []
    assert statements > len(drop_statements(conn.dialect.name))


def test_E7_the_reverse_refuses_while_a_worker_lives_and_undoes_nothing(empty: str) -> None:
    migrate(empty)
    conn = DjangoConnection(empty)
    worker = run_blocking(make.worker(conn))
    task = run_blocking(make.ready(conn))
    with pytest.raises(SchemaRefused, match=r"1 worker\(s\) still live .*: stop them first"):
        migrate(empty, ZERO)
    assert recorded(empty) == NAMES
    assert run_blocking(make.record(conn, task.id)) == task
    with conn_of(empty).cursor() as cursor:
        cursor.execute("DELETE FROM oxpull_worker")
    run_blocking(make.dead_worker(conn))
    migrate(empty, ZERO)
    assert (our_tables(empty), recorded(empty)) == ([], [])
    assert worker


def test_a_refusal_is_one_clear_line_of_the_command(tmp_path: Path, url: str, empty: str) -> None:
    project = make_project(tmp_path, url)
    migrate(empty)
    run_blocking(make.worker(DjangoConnection(empty)))
    done = project.manage("migrate", "compat_sync", "zero")
    assert done.returncode == 1
    assert "SchemaRefused: 1 worker(s) still live" in done.stderr
    assert "Traceback" not in done.stderr


@TWO_VERSIONS
def test_a_partial_reverse_is_refused_and_undoes_nothing(empty: str) -> None:
    call_command("migrate", "compat_sync", database=empty, verbosity=0)
    whole = describe(empty)
    assert recorded(empty) == ["0001_tasks", "0002_later"]
    with pytest.raises(SchemaRefused, match=r"versions \[2\] .* zero` drops all"):
        call_command("migrate", "compat_sync", "0001", database=empty, verbosity=0)
    assert (describe(empty), recorded(empty)) == (whole, ["0001_tasks", "0002_later"])
    run_blocking(make.worker(DjangoConnection(empty)))
    with pytest.raises(SchemaRefused, match="still live"):
        call_command("migrate", "compat_sync", "zero", database=empty, verbosity=0)
    assert recorded(empty) == ["0001_tasks", "0002_later"]
    with conn_of(empty).cursor() as cursor:
        cursor.execute("DELETE FROM oxpull_worker")
    call_command("migrate", "compat_sync", "zero", database=empty, verbosity=0)
    assert (our_tables(empty), recorded(empty)) == ([], [])


def test_sqlmigrate_prints_what_makes_and_what_drops_the_tables(empty: str) -> None:
    migrate(empty)
    whole = describe(empty)
    making = [printed("sqlmigrate", "compat_sync", name, database=empty) for name in NAMES]
    dropping = printed("sqlmigrate", "compat_sync", "0001", database=empty, backwards=True)
    run_script(empty, dropping)
    assert our_tables(empty) == []
    for script in making:
        run_script(empty, script)
    assert describe(empty) == whole
    assert applied(empty) == VERSIONS


def test_nothing_is_made_or_dropped_where_the_routers_do_not_want_our_tables(empty: str) -> None:
    class Elsewhere:
        def allow_migrate(self, _alias: str, _app: str, **_hints: Any) -> bool:
            return False

    with override_settings(DATABASE_ROUTERS=[Elsewhere()]):
        call_command("migrate", "compat_sync", database=empty, verbosity=0)
        assert our_tables(empty) == []
    run_blocking(schema.migrate(DjangoConnection(empty), run_blocking(DjangoConnection(empty).uuid_type())))
    with override_settings(DATABASE_ROUTERS=[Elsewhere()]):
        call_command("migrate", "compat_sync", "zero", database=empty, verbosity=0)
    assert our_tables(empty) != []


def test_routers_that_want_some_of_our_tables_are_refused(empty: str) -> None:
    class Splitting:
        def allow_migrate(self, _alias: str, _app: str, model_name: str | None = None, **_hints: Any) -> bool:
            return model_name != "oxpullworker"

    with override_settings(DATABASE_ROUTERS=[Splitting()]), pytest.raises(ImproperlyConfigured, match="OxpullWorker"):
        migrate(empty)
    assert our_tables(empty) == []


@override_settings(MIGRATION_MODULES={"compat_sync": None})
def test_a_project_that_runs_no_migrations_of_ours_gets_the_tables_all_the_same(empty: str) -> None:
    call_command("migrate", database=empty, run_syncdb=True, verbosity=0, app_label=None)
    assert applied(empty) == VERSIONS


def test_F4_a_mariadb_whose_uuid_does_not_sort_is_refused_with_the_reason(make_database: MakeDatabase) -> None:
    add_alias("old", make_database("mysql"))
    vars(connections["old"])["mysql_version"] = (10, 11, 4)
    with pytest.raises(SchemaRefused, match=r"10\.11\.4 .* upgrade it to 10\.11\.5"):
        migrate("old")
    drop_alias("old")


def conn_of(alias: str) -> Any:
    return connections[alias]


def printed(command: str, *arguments: str, **options: object) -> str:
    out = StringIO()
    call_command(command, *arguments, stdout=out, **options)
    return out.getvalue()


def run_script(alias: str, text: str) -> None:
    body = re.sub(r"^--.*$", "", text, flags=re.MULTILINE)
    with connections[alias].cursor() as cursor:
        for statement in re.findall(r"(?:\$\$.*?\$\$|[^;])+;", body, flags=re.DOTALL):
            cursor.execute(statement)
