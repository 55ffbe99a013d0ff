"""How long the loops wait between looks, and work on the side rests."""

import pytest

from oxpull_async.runtime.pauses import PUSHED_POLL, SIDE_PAUSE, poll_pause, side_pause


@pytest.mark.parametrize("took", [0.002, 0.01, 1.0])
def test_work_on_the_side_gets_at_most_a_thirtieth_of_the_time(took: float) -> None:
    assert took / (took + side_pause(took)) <= 1 / 30 + 1e-9


def test_work_on_the_side_that_took_no_time_rests_all_the_same() -> None:
    assert side_pause(0.0) == SIDE_PAUSE


def test_polls_and_renewals_of_an_idle_worker_are_at_most_one_statement_a_second() -> None:
    renewals = 6
    assert 60 / poll_pause(60.0, pushed=False) + renewals <= 60


@pytest.mark.parametrize("idle_for", [0.0, 5.0, 9.99])
def test_a_worker_without_wake_ups_looks_often_for_ten_seconds_after_work(idle_for: float) -> None:
    assert poll_pause(idle_for, pushed=False) <= 0.05


def test_a_worker_that_is_woken_polls_to_be_sure_only() -> None:
    assert poll_pause(0.0, pushed=True) == PUSHED_POLL
