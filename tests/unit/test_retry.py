"""When a failed attempt runs again."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.errors import InvalidTask, UsageError
from oxpull_async.domain.retry import (
    MAX_DELAY,
    Exponential,
    Retry,
    RetryPolicy,
    Snooze,
    checked_backoff,
    delay_after,
    retry_delay,
)

chances = st.floats(0, 1, exclude_max=True)
attempts = st.integers(1, 32_767)


@given(attempts, chances)
def test_the_default_backoff_doubles_from_five_seconds_to_ten_minutes_within_a_fifth(n: int, chance: float) -> None:
    plain = min(5 * 2.0 ** min(n - 1, 100), 600)
    assert plain * 0.8 <= delay_after(RetryPolicy(), n, chance) <= plain * 1.2


def test_the_middle_of_the_spread_is_the_plain_delay() -> None:
    assert [delay_after(RetryPolicy(), n, 0.5) for n in (1, 2, 3, 8, 9)] == [5, 10, 20, 600, 600]


def test_a_list_gives_each_attempt_its_delay_and_the_last_one_to_all_further() -> None:
    policy = RetryPolicy(backoff=checked_backoff([1, timedelta(seconds=2), 3.5]))
    assert [delay_after(policy, n, 0.9) for n in (1, 2, 3, 4, 99)] == [1, 2, 3.5, 3.5, 3.5]


def test_a_callable_is_asked_with_the_number_of_the_attempt() -> None:
    policy = RetryPolicy(backoff=lambda n: timedelta(minutes=n))
    assert [delay_after(policy, n, 0) for n in (1, 2)] == [60, 120]


@given(st.floats(0, allow_infinity=False, allow_nan=False))
def test_no_delay_is_longer_than_a_leap_year(delay: float) -> None:
    assert 0 <= delay_after(RetryPolicy(backoff=lambda _: delay), 1, 0) <= MAX_DELAY


def test_a_callable_that_returns_no_duration_is_an_error() -> None:
    with pytest.raises(UsageError, match="backoff='soon'"):
        delay_after(RetryPolicy(backoff=lambda _: "soon"), 1, 0)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize("backoff", [[], "fast", 5, None, [-1], [float("nan")], ["a"]])
def test_a_backoff_that_is_none_is_refused_at_declaration(backoff: object) -> None:
    with pytest.raises(UsageError):
        checked_backoff(backoff)


def test_the_last_attempt_is_final() -> None:
    assert retry_delay(RetryPolicy(), ValueError(), 3, 3, 0.5) is None
    assert retry_delay(RetryPolicy(), ValueError(), 2, 3, 0.5) == 10


def test_A10_retry_on_the_last_attempt_is_final() -> None:
    assert retry_delay(RetryPolicy(), Retry(after=1), 3, 3, 0.5) is None
    assert retry_delay(RetryPolicy(), Retry(after=timedelta(seconds=90)), 2, 3, 0.5) == 90


def test_retry_on_and_fail_on_filter_exceptions_and_retry_passes_both() -> None:
    policy = RetryPolicy(retry_on=(OSError,), fail_on=(FileNotFoundError,))
    assert retry_delay(policy, OSError(), 1, 3, 0.5) == 5
    assert retry_delay(policy, FileNotFoundError(), 1, 3, 0.5) is None
    assert retry_delay(policy, ValueError(), 1, 3, 0.5) is None
    assert retry_delay(policy, Retry(after=2), 1, 3, 0.5) == 2


def test_durations_of_retry_and_snooze_are_checked() -> None:
    for wrong in (-1, float("inf"), "1", True):
        with pytest.raises(UsageError):
            Retry(after=wrong)  # type: ignore[arg-type]
        with pytest.raises(UsageError):
            Snooze(for_=wrong)  # type: ignore[arg-type]


def test_the_class_of_exponential_is_a_backoff() -> None:
    assert checked_backoff(Exponential(base=1)) == Exponential(1, 600, 0.2)


def test_an_error_about_a_backoff_names_the_ways_out() -> None:
    with pytest.raises(InvalidTask, match="Exponential, a list of seconds or a callable"):
        checked_backoff(5)
