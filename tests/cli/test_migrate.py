"""`oxpull migrate`: applies, checks, prints; also twice at once."""

import sqlite3
from pathlib import Path

import pytest

from oxpull_async import Oxpull
from oxpull_async.db.contract import Connection
from tests.cli.support import STEPS, ask, document, program, run, store
from tests.fixtures.servers import MakeDatabase

ALL = ", ".join(STEPS)


def test_migrate_says_what_it_applied_and_then_that_nothing_is_left(sqlite_url: str) -> None:
    first, second = run("migrate", "--url", sqlite_url), run("migrate", "--url", sqlite_url)
    assert (first.exit_code, first.stdout) == (0, f"applied {ALL}\n")
    assert (second.exit_code, second.stdout) == (0, "nothing to do: the tables are up to date\n")


def test_migrate_lists_what_it_applied_as_json(sqlite_url: str) -> None:
    assert document("migrate", "--url", sqlite_url) == {"applied": STEPS}
    assert document("migrate", "--url", sqlite_url) == {"applied": []}


def test_check_exits_1_while_something_is_pending_and_applies_nothing(sqlite_url: str) -> None:
    for _ in range(2):
        result = run("migrate", "--check", "--url", sqlite_url)
        assert (result.exit_code, result.stdout) == (1, f"pending: {ALL}\n")
    assert document("migrate", "--check", "--url", sqlite_url) == {"pending": STEPS}


def test_check_exits_0_when_the_tables_are_up_to_date(sqlite_url: str) -> None:
    run("migrate", "--url", sqlite_url)
    result = run("migrate", "--check", "--url", sqlite_url)
    assert (result.exit_code, result.stdout) == (0, "the tables are up to date\n")


def test_the_printed_sql_does_by_hand_what_migrate_does(sqlite_url: str) -> None:
    printed = run("migrate", "--sql", "--url", sqlite_url)
    with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as file:
        file.executescript(printed.stdout)
    file.close()
    ask(sqlite_url, Oxpull.check_schema)
    assert run("migrate", "--sql", "--url", sqlite_url).stdout == "-- nothing is pending\n"


@pytest.mark.parametrize("kind", ["postgres", "mysql"])
def test_the_printed_sql_is_that_of_the_servers_dialect(make_database: MakeDatabase, kind: str) -> None:
    url = make_database("postgres" if kind == "postgres" else "mysql")
    steps = document("migrate", "--sql", "--url", url)["migrations"]

    async def run_all(conn: Connection) -> None:
        for step in steps:
            for statement in step["statements"]:
                await conn.run_script(statement)

    store(url, run_all)
    assert run("migrate", "--check", "--url", url).exit_code == 0


def test_check_and_sql_exclude_each_other(sqlite_url: str) -> None:
    assert run("migrate", "--check", "--sql", "--url", sqlite_url).exit_code == 2


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "mysql"])
def test_two_migrations_at_once_both_succeed(make_database: MakeDatabase, tmp_path: Path, kind: str) -> None:
    url = make_database("sqlite" if kind == "sqlite" else "postgres" if kind == "postgres" else "mysql")
    with program(tmp_path, url, "migrate") as first, program(tmp_path, url, "migrate") as second:
        assert (first.code(), second.code()) == (0, 0), first.errors + second.errors
    said = [one.output.removeprefix("applied ") for one in (first, second) if one.output.startswith("applied ")]
    assert sorted(name for names in said for name in names.strip().split(", ")) == STEPS
    ask(url, Oxpull.check_schema)
