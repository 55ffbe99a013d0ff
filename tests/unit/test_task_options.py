"""Options of tasks are checked where they are written."""

import math
from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async.domain.errors import InvalidTask
from oxpull_async.domain.task import (
    checked_max_attempts,
    checked_priority,
    checked_queue,
    checked_run_after,
    checked_task_path,
    checked_timeout,
)


@pytest.mark.parametrize("priority", [-101, 101, 1.0, "5", True, None])
def test_a_priority_out_of_range_is_refused(priority: object) -> None:
    with pytest.raises(InvalidTask, match="-100 to 100"):
        checked_priority(priority)


def test_priorities_from_minus_100_to_100_pass() -> None:
    assert [checked_priority(n) for n in (-100, 0, 100)] == [-100, 0, 100]


@pytest.mark.parametrize("name", ["", "x" * 129, "a\0b", 5, None])
def test_a_queue_name_that_no_database_stores_is_refused(name: object) -> None:
    with pytest.raises(InvalidTask, match="queue_name="):
        checked_queue(name)


def test_a_queue_that_is_not_declared_is_refused_and_the_declared_ones_are_named() -> None:
    with pytest.raises(InvalidTask, match="bulk, mail"):
        checked_queue("post", frozenset({"mail", "bulk"}))


@pytest.mark.parametrize("number", [0, -1, 32_768, 2.0, True, "3"])
def test_a_number_of_attempts_out_of_range_is_refused(number: object) -> None:
    with pytest.raises(InvalidTask, match="1 to 32767"):
        checked_max_attempts(number)


@pytest.mark.parametrize("timeout", [0, -1, float("-inf"), float("nan"), "5", True])
def test_a_timeout_that_is_no_duration_is_refused(timeout: object) -> None:
    with pytest.raises(InvalidTask, match="timeout="):
        checked_timeout(timeout)


def test_a_timeout_is_seconds_or_a_timedelta() -> None:
    assert [checked_timeout(value) for value in (None, math.inf, 2, 1.5, timedelta(minutes=1))] == [
        None,
        None,
        2,
        1.5,
        60,
    ]


@pytest.mark.parametrize("moment", [datetime(2026, 1, 1), "2026-01-01", 5])  # noqa: DTZ001 - naive is the point
def test_a_naive_run_after_is_refused(moment: object) -> None:
    with pytest.raises(InvalidTask, match="aware datetime"):
        checked_run_after(moment)


def test_an_aware_run_after_passes() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    assert checked_run_after(moment) is moment


def test_a_task_path_longer_than_its_column_is_refused() -> None:
    with pytest.raises(InvalidTask, match="255"):
        checked_task_path("a." + "b" * 254)
