"""What `oxpull_move` says where it cannot move a task, or anything at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.management import CommandError
from django.test import override_settings

from compat_sync.shim import run_blocking
from tests.compat import routing
from tests.compat.conftest import Kind
from tests.compat.django_aliases import add_alias, drop_alias
from tests.compat.move.project import NEW_TASKS, OldProject, make_our_tables, oxpull_move
from tests.fixtures.servers import MakeDatabase


def tasks_setting(**changed: Any) -> dict[str, Any]:
    return {"default": {**NEW_TASKS["default"], **changed}}


@contextmanager
def another_database(url: str) -> Iterator[str]:
    """Keep the tasks in a database of this URL for the block."""
    before = routing.current["alias"]
    add_alias("another", url)
    routing.current["alias"] = "another"
    try:
        yield "another"
    finally:
        routing.current["alias"] = before
        drop_alias("another")


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ({"other": NEW_TASKS["default"]}, "TASKS has no alias 'default'. Add it"),
        (
            {"default": {"BACKEND": "django.tasks.backends.dummy.DummyBackend"}},
            "TASKS['default'] is no compat_sync.backend.OxpullBackend. Change its BACKEND",
        ),
        (tasks_setting(QUEUES=["default"]), "'mail'"),
    ],
)
@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_task_whose_alias_or_queue_the_settings_lack_stays(
    old: OldProject, kind: Kind, setting: dict[str, Any], reason: str
) -> None:
    ids = old.run("enqueue_waiting")
    with override_settings(TASKS=setting):
        printed = oxpull_move()
    assert reason in printed
    assert ids["mail"] in old.rows()
    assert oxpull_move().count("Left") == 0


def test_tasks_whose_code_is_not_here_stay_and_are_listed(old: OldProject) -> None:
    ids = old.run("enqueue_many_plain", 12)
    run_blocking(old.conn.run_script("UPDATE django_ox_oxtask SET task_path = 'gone.tasks.send'"))
    printed = oxpull_move()
    assert "Left 12 tasks: no task of this path is found" in printed
    assert "  and 2 more: -v 2 lists them all\n" in printed
    assert all(id_ in oxpull_move("-v", "2") for id_ in ids)
    assert old.rows().keys() == set(ids)


@pytest.mark.parametrize("arguments", [("--batch-size", "0"), ("--batch-size", "10001")])
@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_batch_size_out_of_range_is_refused(old: OldProject, kind: Kind, arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="must be 1 to 10000"):
        oxpull_move(*arguments)


def test_tables_in_two_databases_are_refused(old: OldProject, kind: Kind) -> None:
    with pytest.raises(CommandError, match="both must be in one database"):
        oxpull_move("--database", "default")


def test_a_database_without_the_old_tables_is_refused(kind: Kind, make_database: MakeDatabase) -> None:
    with another_database(make_database(kind)) as alias:
        with pytest.raises(CommandError, match="has no table oxpull_task: run `manage"):
            oxpull_move()
        make_our_tables(alias)
        with pytest.raises(CommandError, match="has no table django_ox_oxtask"):
            oxpull_move("--database", alias)


def test_a_project_that_had_no_oxpull_app_moves_too(old: OldProject) -> None:
    old.run("enqueue_many_plain", 3)
    with without_oxpull_tables(old):
        assert oxpull_move() == "Moved 3 tasks, 0 with a unique key.\n"


def test_half_of_the_old_tables_is_refused(kind: Kind, old: OldProject) -> None:
    with without_oxpull_tables(old, ("oxpull_oxpulluniquelock",)), pytest.raises(CommandError, match=r"django-ox 1\.9"):
        oxpull_move()


OXPULL_TABLES = (
    "oxpull_oxpulluniquelock",
    "oxpull_oxpullbatchmember",
    "oxpull_oxpullbatch",
    "oxpull_oxpullworkflowedge",
    "oxpull_oxpullworkflownode",
    "oxpull_oxpullworkflowscan",
    "oxpull_oxpullworkflow",
)


@contextmanager
def without_oxpull_tables(old: OldProject, tables: tuple[str, ...] = OXPULL_TABLES) -> Iterator[None]:
    """Call tables of the old app by other names for the block."""
    for table in tables:
        run_blocking(old.conn.run_script(f"ALTER TABLE {table} RENAME TO hidden_{table}"))
    try:
        yield
    finally:
        for table in tables:
            run_blocking(old.conn.run_script(f"ALTER TABLE hidden_{table} RENAME TO {table}"))
