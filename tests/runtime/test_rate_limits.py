"""Rate limits over several worker processes."""

import pytest

from tests.scenarios import rate_limits
from tests.scenarios.rate_limits import Load
from tests.scenarios.starts import (
    Allowed,
    Start,
    Starts,
    check_bodies,
    most_in_a_window,
    most_in_an_interval,
)

SECOND = 1_000_000
FIXED, SLIDING = Load(tasks=200, limit=40), Load(tasks=200, limit=40, sliding=True)


@pytest.mark.parametrize("load", [FIXED, SLIDING], ids=["fixed", "sliding"])
@pytest.mark.timeout(180)
@pytest.mark.asyncio
async def test_B3_no_more_than_the_limit_start_while_workers_are_killed(url: str, load: Load) -> None:
    await rate_limits.never_more_than_the_limit(url, load, kills=1, workers=2)


@pytest.mark.timeout(180)
@pytest.mark.asyncio
async def test_B6_free_rows_get_past_many_rows_of_an_exhausted_limit(url: str) -> None:
    figures = await rate_limits.past_the_exhausted(url, exhausted=2_000, free=200, rounds=1)
    assert figures.rate > 0


@pytest.mark.parametrize("load", [FIXED, SLIDING], ids=["fixed", "sliding"])
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.timeout(180)
@pytest.mark.asyncio
async def test_G2_the_copies_show_more_than_the_limit_where_the_claim_admits_everybody(url: str, load: Load) -> None:
    with pytest.raises(AssertionError, match=r"rate limit exceeded: .* 40 are allowed"):
        await rate_limits.never_more_than_the_limit(url, load, kills=1, workers=1, OXPULL_TEST_NO_LIMITS="1")


def test_G2_the_checker_counts_windows_and_intervals() -> None:
    at = [0, SECOND - 1, SECOND, 2 * SECOND - 1]
    assert (most_in_a_window(at, SECOND), most_in_a_window([], SECOND)) == (2, 0)
    assert (most_in_an_interval(at, SECOND), most_in_an_interval([], SECOND)) == (2, 0)
    assert most_in_an_interval([0, 1, SECOND], SECOND) == 2
    assert most_in_an_interval([SECOND - 2, SECOND - 1, SECOND, SECOND + 1], SECOND) == 4
    assert most_in_a_window([SECOND - 2, SECOND - 1, SECOND, SECOND + 1], SECOND) == 2


def starts(*instants: int) -> list[Start]:
    return [Start(f"{place:032}", 1, at) for place, at in enumerate(instants)]


def test_G2_the_checker_fails_where_one_start_too_many_was_admitted() -> None:
    fixed, sliding = Allowed(2, SECOND, sliding=False), Allowed(2, SECOND, sliding=True)
    across = starts(SECOND - 2, SECOND - 1, SECOND)
    fixed.check(across)
    with pytest.raises(AssertionError, match="3 starts in one interval of that length, 2 are allowed"):
        sliding.check(across)
    with pytest.raises(AssertionError, match="3 starts in one window, 2 are allowed"):
        fixed.check(starts(0, 1, SECOND - 1))
    sliding.check(starts(0, 1, SECOND, SECOND + 1))


def test_G2_the_checker_fails_where_a_body_ran_without_a_permit_or_too_late() -> None:
    allowed, known = Allowed(1, SECOND, sliding=True), starts(0, SECOND)
    first, second = (start.name for start in known)
    assert check_bodies({first: 90_000, second: SECOND}, Starts(tuple(known), ()), allowed, late=100_000) == 90_000
    with pytest.raises(AssertionError, match="2 bodies began where 1 may"):
        check_bodies({first: 200_000, second: SECOND}, Starts(tuple(known), ()), allowed, late=100_000)
    with pytest.raises(AssertionError, match="1 bodies ran without a permit"):
        check_bodies({first: 1, second: SECOND}, Starts(tuple(known[:1]), tuple(known[1:])), allowed, late=100_000)


def test_the_share_of_what_was_allowed() -> None:
    fixed, sliding = Allowed(2, SECOND, sliding=False), Allowed(2, SECOND, sliding=True)
    assert fixed.share(starts(0, 1, SECOND, SECOND + 1)) == 1.0
    assert fixed.share(starts(0, 1, 2 * SECOND, 2 * SECOND + 1)) == pytest.approx(2 / 3)
    assert sliding.share(starts(0, 1, SECOND, SECOND + 1, 2 * SECOND, 2 * SECOND)) == 1.0
    assert sliding.share(starts(0, 0, 2 * SECOND, 2 * SECOND)) == 0.5
