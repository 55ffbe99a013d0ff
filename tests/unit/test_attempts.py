"""B3, B4: an attempt that a rate limit counted begins soon or not at all, and then its permits go back."""

from datetime import UTC, datetime

import pytest

from oxpull_async.domain.annotations import JsonCodec
from oxpull_async.domain.outcome import Outcome, Released, Succeeded
from oxpull_async.domain.permit import Permit
from oxpull_async.domain.record import ClaimedTask
from oxpull_async.domain.retry import RetryPolicy
from oxpull_async.domain.task import Body
from oxpull_async.runtime.attempts import LATEST_START, Attempt, Attempts
from oxpull_async.runtime.lookup import Runnable

AT = datetime(2026, 1, 2, tzinfo=UTC)
PERMITS = (Permit(("api", ""), AT),)


async def nothing() -> None: ...


def attempt(permits: tuple[Permit, ...], claimed_at: float) -> Attempt:
    claimed = ClaimedTask(
        "1", 1, "a.b", "default", 0, AT, "[]", "{}", 1, 3, 0, None, begun=True, limit_keys="", permits=permits
    )
    body = Body(nothing, JsonCodec(nothing, skip_first=False), is_coroutine=True, takes_context=False)
    return Attempt(claimed, "worker", Runnable(body, RetryPolicy()), claimed_at)


@pytest.mark.parametrize(
    ("permits", "after", "begins"),
    [(PERMITS, LATEST_START - 0.01, True), (PERMITS, LATEST_START + 0.01, False), ((), 60.0, True)],
)
def test_B3_a_counted_start_that_comes_too_late_does_not_begin(
    permits: tuple[Permit, ...], after: float, *, begins: bool
) -> None:
    attempts, one = Attempts(), attempt(permits, 1_000.0)
    attempts.add(one)
    assert attempts.begin(one, 1_000.0 + after) is begins
    assert one.settlement(Released()).permits == (() if begins else permits)


@pytest.mark.parametrize("outcome", [Released(), Succeeded("1")], ids=str)
def test_B4_permits_of_an_attempt_that_began_do_not_go_back(outcome: Outcome) -> None:
    attempts, one = Attempts(), attempt(PERMITS, 1_000.0)
    attempts.add(one)
    assert attempts.begin(one, 1_000.0)
    assert one.settlement(outcome).permits == ()
    assert attempts.end(one)
    assert attempts.unbegun == 0


def test_attempts_that_are_given_back_before_they_begin_are_counted() -> None:
    attempts = Attempts()
    taken, late = attempt(PERMITS, 1.0), attempt(PERMITS, 1.0)
    attempts.add(taken)
    assert attempts.take_back(taken)
    assert taken.settlement(Released()).permits == PERMITS
    attempts.add(late)
    assert not attempts.begin(late, 2.0)
    assert attempts.end(late)
    assert attempts.unbegun == 2
