"""When schedules tick: against an oracle that knows no cron library, and against what a clock on the wall shows."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oxpull_async.domain.cron import parse_cron
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.timing import Timing, checked_timing
from tests.unit.cron_oracle import FIRST, LAST, ZONES, changes, ticks

SPARSE = (
    "30 2 * * *",
    "15,45 1-3 * * 0",
    "0 3 1,15 * 1",  # the first, the fifteenth and every Monday
    "59 23 */31 * *",
    "0 0 29 2 *",
    "30 1 31 1-12/2 7",
)
DENSE = ("*/15 * * * *", "7/20 0-4 * * *", "0 * * * *", "30 */2 * * *")
HOUR = timedelta(hours=1)


def walked(timing: Timing, since: datetime, until: datetime) -> list[datetime]:
    """Step from tick to tick."""
    found: list[datetime] = []
    tick = timing.after(since - timedelta(microseconds=1))
    while tick is not None and tick < until:
        found.append(tick)
        tick = timing.after(tick)
    return found


def walked_back(timing: Timing, since: datetime, until: datetime) -> list[datetime]:
    """Step back from tick to tick."""
    found: list[datetime] = []
    tick = timing.before(until)
    while tick is not None and tick >= since:
        found.append(tick)
        tick = timing.before(tick)
    return found[::-1]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("repeated_hour", ["once", "twice"])
def test_cron_ticks_as_the_oracle_says_from_2024_to_2030(zone: str, repeated_hour: str) -> None:
    for at, expression in enumerate(SPARSE):
        timing = checked_timing(cron=expression, tz=zone, repeated_hour=repeated_hour)
        walk = walked if at % 2 else walked_back
        assert walk(timing, FIRST, LAST) == ticks(expression, zone, twice=repeated_hour == "twice")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("repeated_hour", ["once", "twice"])
def test_dense_cron_ticks_as_the_oracle_says_around_every_change_of_the_clock(zone: str, repeated_hour: str) -> None:
    for change in changes(zone) or [FIRST + timedelta(days=100)]:
        since, until = change - 2 * HOUR, change + 2 * HOUR
        for expression in DENSE:
            timing = checked_timing(cron=expression, tz=zone, repeated_hour=repeated_hour)
            expected = ticks(expression, zone, twice=repeated_hour == "twice", since=since, until=until)
            assert walked(timing, since, until) == expected
            assert walked_back(timing, since, until) == expected


def fields(low: int, high: int) -> st.SearchStrategy[str]:
    """Make one field of an expression."""
    value = st.integers(low, high)
    ranges = st.tuples(value, value).map(lambda pair: f"{min(pair)}-{max(pair)}")
    steps = st.tuples(st.one_of(st.just("*"), ranges), st.integers(1, high - low + 1)).map("{0[0]}/{0[1]}".format)
    terms = st.one_of(value.map(str), ranges, steps)
    return st.one_of(st.just("*"), st.lists(terms, min_size=1, max_size=3).map(",".join))


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(fields(0, 59), fields(0, 23), fields(1, 28), fields(1, 12), fields(0, 7)).map(" ".join),
    st.sampled_from(ZONES),
    st.booleans(),
    st.integers(0, 6 * 365 * 24 * 60),
)
def test_any_expression_ticks_as_the_oracle_says(expression: str, zone: str, twice: bool, minute: int) -> None:
    since = FIRST + timedelta(minutes=minute)
    until = since + timedelta(days=45)
    timing = checked_timing(cron=expression, tz=zone, repeated_hour="twice" if twice else "once")
    found: list[datetime] = []
    tick = timing.after(since - timedelta(microseconds=1))
    while tick is not None and tick < until and len(found) < 30:
        found.append(tick)
        tick = timing.after(tick)
    assert found == ticks(expression, zone, twice=twice, since=since, until=until)[:30]


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 200_000), st.integers(0, 200_000), st.sampled_from(ZONES), st.booleans(),
    st.integers(0, 6 * 365 * 24 * 60 * 60),
)  # fmt: skip
def test_intervals_step_forth_and_back_over_the_same_ticks(
    every: int,
    phase: int,
    zone: str,
    twice: bool,
    second: int,
) -> None:
    timing = checked_timing(every=every, phase=phase % every, tz=zone, repeated_hour="twice" if twice else "once")
    since = FIRST + timedelta(seconds=second)
    first = timing.after(since)
    assert first is not None
    second_one = timing.after(first)
    assert second_one is not None
    assert timing.before(second_one) == first
    assert timing.latest(second_one) == second_one
    labels = {moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for moment in (first, second_one)}
    assert any((label - datetime(1970, 1, 1)).total_seconds() % every == phase % every for label in labels)  # noqa: DTZ001


def test_intervals_in_utc_are_counted_from_1970() -> None:
    timing = checked_timing(every=timedelta(hours=6), phase=HOUR)
    assert timing.after(datetime(2026, 5, 1, 1, tzinfo=UTC)) == datetime(2026, 5, 1, 7, tzinfo=UTC)
    assert timing.before(datetime(2026, 5, 1, 1, tzinfo=UTC)) == datetime(2026, 4, 30, 19, tzinfo=UTC)


def test_a_label_that_the_clock_skips_ticks_once_and_as_much_later_as_the_skip_is_long() -> None:
    timing = checked_timing(cron="30 2 * * *", tz="Europe/Paris")
    assert timing.after(datetime(2026, 3, 28, 12, tzinfo=UTC)) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert timing.after(datetime(2026, 3, 29, 1, 30, tzinfo=UTC)) == datetime(2026, 3, 30, 0, 30, tzinfo=UTC)


def test_a_label_that_comes_twice_ticks_at_its_first_time_unless_both_were_asked_for() -> None:
    noon, first = datetime(2026, 10, 24, 12, tzinfo=UTC), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    once = checked_timing(cron="30 2 * * *", tz="Europe/Paris")
    twice = checked_timing(cron="30 2 * * *", tz="Europe/Paris", repeated_hour="twice")
    assert once.after(noon) == twice.after(noon) == first
    assert once.after(first) == first + 25 * HOUR
    assert twice.after(first) == first + HOUR


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("* * * *", "4 fields"), ("* * * * * *", "6 fields"), ("60 * * * *", "0 to 59"), ("* 24 * * *", "0 to 23"),
        ("* * 0 * *", "1 to 31"), ("* * * 13 *", "1 to 12"), ("* * * * 8", "0 to 7"), ("5-3 * * * *", "descends"),
        ("*/0 * * * *", "step"), ("*/61 * * * *", "step"), ("0 0 30 2 *", "never match"),
        ("0 0 31 4,6 *", "never match"),
        ("0 0 L * *", "'l'"), ("0 0 ? * *", "neither"), ("0 0 * * 1#2", "neither"), ("@reboot", "1 fields"),
        ("", "0 fields"), (None, "text"), ("1,,2 * * * *", "neither"), ("-1 * * * *", "neither"),
        ("* * * feb-jan *", "descends"), ("* * * * lundi", "names of three letters"),
    ],
)  # fmt: skip
def test_an_expression_that_is_wrong_is_refused_with_what_is_wrong(text: object, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        parse_cron(text)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("@hourly", "0 * * * *"), ("@Weekly", "0 0 * * sun"), ("0 0 * JAN Mon-Fri", "0 0 * 1 1-5"),
        ("  0 0 1 1 *  ", "@yearly"), ("00 07 * * 5/1", "0 7 * * 5-7"),
    ],
)  # fmt: skip
def test_names_and_macros_stand_for_numbers(text: str, same: str) -> None:
    label = datetime(2026, 5, 1)  # noqa: DTZ001
    assert list(islice(parse_cron(text).after(label), 20)) == list(islice(parse_cron(same).after(label), 20))


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({}, "either cron or every"), ({"cron": "* * * * *", "every": 5}, "either"), ({"every": 0.5}, "from 1 to"),
        ({"every": 60, "phase": 60}, "less than"), ({"cron": "* * * * *", "phase": 1}, "phase"),
        ({"every": "1m"}, "no duration"), ({"every": 60, "tz": "Mars/Base"}, "IANA"), ({"every": 60, "tz": 3}, "IANA"),
        ({"every": 60, "tz": "../x"}, "IANA"), ({"every": 60, "repeated_hour": "both"}, "once"),
        ({"every": float("inf")}, "out of range"), ({"every": 1e12}, "from 1 to"),
    ],
)  # fmt: skip
def test_a_timing_that_is_wrong_is_refused_with_what_is_wrong(wrong: dict[str, object], word: str) -> None:
    with pytest.raises(UsageError, match=word):
        checked_timing(**wrong)


def test_the_calendar_has_an_end() -> None:
    timing = checked_timing(cron="@yearly")
    assert timing.after(datetime(9999, 6, 1, tzinfo=UTC)) is None
    assert checked_timing(every=1000).after(datetime(9999, 12, 31, 23, 59, tzinfo=UTC)) is None
    assert timing.before(datetime(1, 1, 1, tzinfo=UTC)) is None
