"""What is wrong is said in one sentence, with the right exit code and without passwords."""

import pytest
from click.testing import Result

from tests.cli.support import run, store

COMMANDS = [
    ("status",), ("health",), ("tasks",), ("show", "x"), ("retry", "x"), ("discard", "x"), ("cancel", "x"),
    ("pause", "q"), ("resume", "q"), ("prune",),
]  # fmt: skip
EVERY = [*COMMANDS, ("migrate",)]


def refused(result: Result, code: int = 1) -> str:
    """Return the one sentence on stderr; stdout must be empty."""
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.mark.parametrize("command", EVERY)
def test_without_a_database_the_ways_to_name_one_are_said(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OXPULL_DATABASE_URL", raising=False)
    said = refused(run(*command), 2)
    assert all(way in said for way in ("--url", "--app", "OXPULL_DATABASE_URL"))


@pytest.mark.parametrize("command", EVERY)
def test_the_environment_names_the_database(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, sqlite_url: str
) -> None:
    monkeypatch.setenv("OXPULL_DATABASE_URL", sqlite_url)
    assert run(*command).exit_code in {0, 1}


def test_two_databases_are_refused(sqlite_url: str) -> None:
    assert "exclude each other" in refused(run("status", "--url", sqlite_url, "--app", "shop:ox"), 2)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_an_unmigrated_database_gets_one_sentence(
    command: tuple[str, ...], as_json: tuple[str, ...], sqlite_url: str
) -> None:
    said = refused(run(*command, "--url", sqlite_url, *as_json))
    assert said.count("\n") == 1
    assert "run `oxpull migrate`" in said


@pytest.mark.parametrize("command", EVERY)
def test_a_newer_schema_gets_one_sentence(command: tuple[str, ...], sqlite_url: str) -> None:
    run("migrate", "--url", sqlite_url)
    newer = "INSERT INTO oxpull_schema (version, name, applied_at) VALUES (999, 'x', '2026-01-01 00:00:00.000000')"
    store(sqlite_url, lambda conn: conn.run_script(newer))
    said = refused(run(*command, "--url", sqlite_url))
    assert said.count("\n") == 1
    assert "upgrade this process" in said


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@127.0.0.1:1/x",
        "mysql://me:hunter2@127.0.0.1:1/x",
        "postgres//me:hunter2@host/x",
        "postgresql://me:hunter2@127.0.0.1:1/x?nope=1",
        "oracle://me:hunter2@host/x",
    ],
)
def test_no_error_shows_the_password(url: str) -> None:
    assert "hunter2" not in refused(run("status", "--url", url))


def test_a_wrong_option_is_wrong_usage(sqlite_url: str) -> None:
    assert "--nope" in refused(run("status", "--nope", "--url", sqlite_url), 2)


def test_the_help_lists_the_commands_with_examples() -> None:
    said = run("--help").stdout
    assert all(name in said for name in ("demo", "migrate", "worker", "prune", "Examples:", "Exit codes:"))


@pytest.mark.parametrize("command", [("worker",), *EVERY])
def test_every_command_has_help_and_json(command: tuple[str, ...]) -> None:
    said = run(command[0], "--help")
    assert said.exit_code == 0
    assert "--json" in said.stdout


def test_the_version_is_printed() -> None:
    assert run("--version").stdout.startswith("oxpull, version ")
