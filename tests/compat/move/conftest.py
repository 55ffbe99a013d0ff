"""A database of each kind that the old packages have made, with our tables beside theirs."""

from collections.abc import Callable, Iterator

import pytest
from django.test import override_settings

from compat_sync.connection import DjangoConnection
from compat_sync.shim import run_blocking
from tests.compat import routing
from tests.compat.conftest import Kind
from tests.compat.django_aliases import add_alias, drop_alias
from tests.compat.move import shop
from tests.compat.move.project import NEW_TASKS, OldProcess, OldProject, make_old_project, make_our_tables
from tests.compat.projects import Project
from tests.fixtures import raw
from tests.fixtures.servers import MakeDatabase


@pytest.fixture(scope="module")
def old_database(
    make_database: MakeDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Kind], tuple[Project, str]]:
    """Make the old project of a kind once."""
    made: dict[Kind, tuple[Project, str]] = {}

    def find(kind: Kind) -> tuple[Project, str]:
        if kind not in made:
            url = make_database(kind)
            add_alias("preparing", url)
            run_blocking(raw.prepare(DjangoConnection("preparing")))
            if kind == "mysql":
                # The old tables may have another collation than texts of ours.
                run_blocking(DjangoConnection("preparing").run_script("ALTER DATABASE COLLATE utf8mb4_unicode_ci"))
            made[kind] = make_old_project(tmp_path_factory.mktemp("old"), url), url
            make_our_tables("preparing")
            drop_alias("preparing")
        return made[kind]

    return find


@pytest.fixture(scope="module")
def old_process(old_database: Callable[[Kind], tuple[Project, str]]) -> Iterator[Callable[[Kind], OldProcess]]:
    """Start a process of each kind's old project once."""
    started: dict[Kind, OldProcess] = {}

    def find(kind: Kind) -> OldProcess:
        if kind not in started:
            started[kind] = OldProcess(old_database(kind)[0])
        return started[kind]

    yield find
    for process in started.values():
        process.close()


@pytest.fixture
def old(
    old_database: Callable[[Kind], tuple[Project, str]], old_process: Callable[[Kind], OldProcess], kind: Kind
) -> Iterator[OldProject]:
    """Give the old project of each kind in turn, its tables and ours empty, and our settings in force."""
    project, url = old_database(kind)
    before = routing.current["alias"]
    add_alias("moving", url)
    routing.current["alias"] = "moving"
    found = OldProject(project, old_process(kind), "moving")
    found.empty()
    run_blocking(raw.empty(found.conn))
    shop.RAN.clear()
    with override_settings(TASKS=NEW_TASKS):
        yield found
    routing.current["alias"] = before
    drop_alias("moving")


@pytest.fixture
def set_callback(old: OldProject) -> Callable[[str], None]:
    """Give every old batch and workflow another task to complete with."""

    def change(path: str) -> None:
        for table in ("oxpull_oxpullbatch", "oxpull_oxpullworkflow"):
            run_blocking(old.conn.run_script(f"UPDATE {table} SET on_complete_path = '{path}'"))

    return change
