"""How long work on the side rests."""

import pytest

from oxpull_async.runtime.pauses import SIDE_PAUSE, side_pause


@pytest.mark.parametrize("took", [0.002, 0.01, 1.0])
def test_work_on_the_side_gets_at_most_a_thirtieth_of_the_time(took: float) -> None:
    assert took / (took + side_pause(took)) <= 1 / 30 + 1e-9


def test_work_on_the_side_that_took_no_time_rests_all_the_same() -> None:
    assert side_pause(0.0) == SIDE_PAUSE
