"""`manage.py check` reports what is wrong with RATE_LIMITS, in one alias and between them."""

from datetime import timedelta
from typing import Any

import pytest

from oxpull_async.domain.rate_limit import LimitRule
from tests.compat.test_checks import PLAIN, TASKS_HERE, codes, entry, messages_of, on_sqlite
from tests.compat.test_options import read, refusal

__all__ = ["on_sqlite"]

API = {"limit": 20, "per": 1, "tasks": [PLAIN]}
BIG, SMALL = entry(RATE_LIMITS={"api": API | {"limit": 30}}), entry(RATE_LIMITS={"api": API})


@pytest.mark.parametrize(
    "wrong",
    [
        5, {"": API}, {5: API}, {"x" * 129: API}, {"api": 5}, {"api": {"limit": 1, "tasks": [PLAIN]}},
        {"api": API | {"limit": True}}, {"api": API | {"per": 0.5}}, {"api": API | {"per": timedelta(0)}},
        {"api": API | {"burst": 5}}, {"api": {"limit": 1, "per": 1}}, {"api": API | {"queues": ["absent"]}},
        {"api": API | {"tasks": [f"{TASKS_HERE}.absent"]}}, {"api": API | {"tasks": [f"{TASKS_HERE}.no_task"]}},
        {"api": API | {"tasks": [f"{TASKS_HERE}.other_name"]}}, {"api": API, "API": API},
    ],
)  # fmt: skip
def test_a_wrong_rate_limit_is_reported(on_sqlite: str, wrong: Any) -> None:
    [message] = messages_of({"default": entry(RATE_LIMITS=wrong)})
    assert message.id == "compat_sync.E005"
    assert "TASKS['default']: " in message.msg
    right = {"api": API | {"queues": ["mail"], "sliding": True}, "blocked": API | {"limit": 0}}
    assert codes({"default": entry(RATE_LIMITS=right)}) == []


def test_every_wrong_rate_limit_is_reported_and_the_right_ones_are_read(on_sqlite: str) -> None:
    limits = {"api": API, "one": 5, "two": API | {"limit": -1}}
    assert codes({"default": entry(RATE_LIMITS=limits)}) == ["E005", "E005"]
    assert len(refusal(RATE_LIMITS=limits).splitlines()) == 2


def test_rate_limits_are_read_as_the_core_reads_them() -> None:
    [rule] = read(RATE_LIMITS={"api": API | {"per": timedelta(minutes=1)}}).settings.rate_limits.rules
    assert rule == LimitRule("api", 20, 60.0, frozenset({PLAIN}), frozenset())
    assert read(RATE_LIMITS={"api": API}) == read(RATE_LIMITS={"api": API})
    assert read(RATE_LIMITS={"api": API}) != read()


def test_a_limit_that_aliases_share_is_reported_where_they_disagree(on_sqlite: str) -> None:
    assert codes({"default": SMALL, "other": SMALL}) == []
    [message] = messages_of({"default": SMALL, "other": BIG})
    assert message.id == "compat_sync.W004"
    assert "20 in 'default', 30 in 'other'" in message.msg
    [message] = messages_of({"default": BIG, "other": entry(RATE_LIMITS={"api": API | {"per": 2}})})
    assert message.id == "compat_sync.W005"
    assert "1 in 'default', 2 in 'other' seconds" in message.msg


def test_names_that_look_alike_are_reported(on_sqlite: str) -> None:
    accents = {"cafe": API, "café": API}
    [message] = messages_of({"default": entry(RATE_LIMITS=accents)})
    assert message.id == "compat_sync.W006"
    assert r"'caf\xe9'" in message.msg
    assert codes({"default": SMALL, "other": entry(RATE_LIMITS={"API": API})}) == ["W006"]
