"""The pages about settings and checks say what the code does, and every id has its test."""

import re
from pathlib import Path

import pytest

from compat_sync.checks.catalog import CATALOG, Problem
from compat_sync.options.keys import IDLE_KEYS, OPTION_KEYS
from compat_sync.options.readers import READERS
from tests.compat.checks_pages import TABLES, Table

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "compat_sync").rglob("*.py"))
TESTS = sorted(Path(__file__).parent.glob("test_checks*.py"))
KEYS_OF_DJANGO_OX = frozenset(
    """
    MAX_ATTEMPTS LOCK_TIMEOUT BACKOFF_INITIAL BACKOFF_MAX TASK_TIMEOUT TASK_TIMEOUTS TASK_TIMEOUT_GRACE WORKER_CLASS
    SCHEDULES SCHEDULE_SOURCE SCHEDULE_RECONCILE_INTERVAL SCHEDULABLE_TASKS UNIQUE_TASKS RATE_LIMITS
    RATE_REFRESH_INTERVAL WORKFLOWS
    """.split()  # noqa: SIM905
)
"""Every key of OPTIONS that django-ox 1.9 and its oxpull app read."""


def text(paths: list[Path]) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in paths)


@pytest.mark.parametrize("table", TABLES, ids=[table.mark for table in TABLES])
def test_a_table_is_generated_from_the_declarations(table: Table) -> None:
    assert table.printed == table.rendered


def test_every_id_that_the_code_uses_is_in_the_catalogue_and_the_other_way_round() -> None:
    code = text([path for path in SOURCES if path.name != "catalog.py"])
    assert set(re.findall(r'"([EWI]\d{3})"', code)) == set(CATALOG)


def test_every_id_has_a_test() -> None:
    tested = text([path for path in TESTS if path.name != Path(__file__).name])
    assert [code for code in CATALOG if code not in tested] == []


def test_the_letter_of_an_id_is_its_level() -> None:
    levels = {"E": 40, "W": 30, "I": 20}
    for code, situation in CATALOG.items():
        message = Problem(code, "text").message()
        assert (message.level, message.id) == (levels[code[0]], f"compat_sync.{code}")
        assert message.hint == situation.remedy


def test_every_key_is_read_or_explained() -> None:
    known = [key.name for key in OPTION_KEYS]
    assert sorted(known) == sorted([*READERS, "TASK_OPTIONS", "SCHEDULES", "RATE_LIMITS"])
    assert {*known, *IDLE_KEYS} >= KEYS_OF_DJANGO_OX
