"""A statement exists once per dialect, or a trait of the dialect excuses it."""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, none_of

SQL = ROOT / "oxpull_async" / "sql"
CONTRACT = ROOT / "oxpull_async" / "db" / "contract.py"
DIALECTS = frozenset({"postgres", "mysql", "sqlite"})
STATEMENT_LINES, HEADER_LINES = 60, 3


@dataclass(frozen=True, slots=True)
class Excuse:
    """Where a statement exists, and the trait by which the store knows it."""

    trait: str
    only: frozenset[str]


# Keep it short: each line is an algorithm that is not the same everywhere.
EXCUSED: dict[str, Excuse] = {
    "notify": Excuse("has_listen", frozenset({"postgres"})),
    "claim_ids": Excuse("update_returns_rows", frozenset({"postgres", "sqlite"})),
    "claim_past_locked": Excuse("update_returns_rows", frozenset({"postgres", "sqlite"})),
    "settle_successes": Excuse("has_arrays", frozenset({"postgres"})),
    "claimed_tasks": Excuse("update_returns_rows", frozenset({"mysql"})),
    "lock_outcomes": Excuse("update_returns_rows", frozenset({"mysql"})),
    "settle_locked": Excuse("update_returns_rows", frozenset({"mysql"})),
    "waiting_places": Excuse("has_lateral", frozenset({"mysql", "sqlite"})),
    "next_place": Excuse("has_lateral", frozenset({"mysql", "sqlite"})),
    "kept_rows": Excuse("tells_what_is_kept", frozenset({"postgres"})),
    "insert_unique_task": Excuse("enqueues_unique_at_once", frozenset({"postgres", "sqlite"})),
    "take_over_key": Excuse("enqueues_unique_at_once", frozenset({"postgres", "sqlite"})),
    "rewrite_holder": Excuse("enqueues_unique_at_once", frozenset({"postgres", "sqlite"})),
    "free_key": Excuse("enqueues_unique_at_once", frozenset({"mysql"})),
    "insert_task_of_key": Excuse("enqueues_unique_at_once", frozenset({"mysql"})),
    "inserted_keys": Excuse("insert_returns_rows", frozenset({"mysql"})),
    "peek": Excuse("steps_through_indexes", frozenset({"postgres", "sqlite"})),
    "peek_queue": Excuse("steps_through_indexes", frozenset({"mysql"})),
    "share_tasks_now": Excuse("locks_by_snapshot", frozenset({"postgres"})),
    "unlock_migrations": Excuse("has_transactional_ddl", frozenset({"mysql"})),
}


def statements(dialect: str, folder: Path = SQL) -> dict[str, Path]:
    """Find the statement files of a dialect by name; schema files are numbered, not named."""
    return {path.stem: path for path in (folder / dialect).rglob("*.sql") if "schema" not in path.parts[-2:]}


def schema_versions(dialect: str, folder: Path = SQL) -> set[str]:
    """List the numbers of a dialect's schema files."""
    return {path.stem[:4] for path in (folder / dialect / "schema").glob("*.sql")}


def gaps(names: Mapping[str, AbstractSet[str]], excused: Mapping[str, Excuse]) -> list[str]:
    """List statements that a dialect lacks, or has although it is excused."""
    wrong = []
    for name in sorted({name for found in names.values() for name in found}):
        expected = excused[name].only if name in excused else frozenset(names)
        actual = {dialect for dialect, found in names.items() if name in found}
        if actual != expected:
            wrong.append(f"{name} exists for {sorted(actual)}, expected {sorted(expected)}")
    return wrong


def badly_headed(name: str, text: str) -> list[str]:
    """List what is wrong with a statement file's length and header."""
    lines = text.splitlines()
    header = [line for line in lines if line.startswith("--")]
    wrong = []
    if not re.match(rf"-- {re.escape(name)}: \S", text):
        wrong.append(f"{name} does not begin with '-- {name}: what it does'")
    if len(lines) > STATEMENT_LINES:
        wrong.append(f"{name} has {len(lines)} lines, {STATEMENT_LINES} are allowed")
    if len(header) > HEADER_LINES and lines[: len(header)] == header:
        wrong.append(f"{name} has a header of {len(header)} lines, {HEADER_LINES} are allowed")
    return wrong


def test_every_statement_exists_for_every_dialect_or_a_trait_excuses_it() -> None:
    none_of(gaps({dialect: set(statements(dialect)) for dialect in sorted(DIALECTS)}, EXCUSED))


def test_every_excuse_names_a_trait_of_the_dialect() -> None:
    contract = CONTRACT.read_text() if CONTRACT.exists() else ""
    assert [name for name, excuse in EXCUSED.items() if f"    {excuse.trait}: bool" not in contract] == []


def test_every_dialect_has_the_same_schema_versions() -> None:
    assert len({frozenset(schema_versions(dialect)) for dialect in DIALECTS}) == 1


def test_no_two_statement_files_of_a_dialect_share_a_name() -> None:
    for dialect in DIALECTS:
        files = [path for path in (SQL / dialect).rglob("*.sql") if "schema" not in path.parts[-2:]]
        assert len(files) == len(statements(dialect))


def test_every_statement_file_is_short_and_says_what_it_does() -> None:
    files = [item for dialect in sorted(DIALECTS) for item in statements(dialect).items()]
    none_of(f"{path.parent.name}/{wrong}" for name, path in files for wrong in badly_headed(name, path.read_text()))


def test_the_check_sees_a_gap_and_an_idle_excuse() -> None:
    names: dict[str, AbstractSet[str]] = {"postgres": {"claim", "notify"}, "mysql": {"claim"}, "sqlite": {"claim"}}
    listens = Excuse("has_listen", frozenset({"postgres"}))
    assert gaps(names, {})
    assert gaps(names, {"notify": listens, "claim": listens})
    assert not gaps(names, {"notify": listens})


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "-- other: purpose\nSELECT 1",
        "-- claim: x\n" + "SELECT 1\n" * 60,
        "-- claim: x\n" + "-- y\n" * 3 + "SELECT 1",
    ],
)
def test_the_check_sees_a_bad_file(text: str) -> None:
    assert len(badly_headed("claim", text)) == 1


def test_the_check_lets_a_good_file_pass() -> None:
    assert badly_headed("claim", "-- claim: take due tasks.\nSELECT 1\n") == []
