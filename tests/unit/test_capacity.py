"""How much a worker may claim."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.capacity import Load, allowance

IDLE = Load(
    concurrency=100,
    busy=0,
    unsettled=0,
    threads=10,
    free_threads=10,
    queued=0,
    met_functions=False,
    must_begin=False,
    budget=None,
)


def test_an_idle_worker_claims_for_every_place() -> None:
    assert allowance(IDLE).limit == 100


@given(st.integers(1, 5000), st.integers(0, 6000), st.integers(0, 6000), st.none() | st.integers(0, 50))
def test_A6_a_claim_never_takes_more_than_the_free_places(
    concurrency: int, busy: int, unsettled: int, budget: int | None
) -> None:
    load = replace(IDLE, concurrency=concurrency, busy=busy, unsettled=unsettled, budget=budget)
    limit = allowance(load).limit
    assert 0 <= limit <= max(concurrency - busy, 0)
    assert budget is None or limit <= budget


def test_a_worker_that_cannot_write_its_outcomes_claims_nothing() -> None:
    assert allowance(replace(IDLE, unsettled=1000)).limit == 0


def test_functions_are_left_alone_while_no_thread_is_free_or_some_wait_for_one() -> None:
    assert not allowance(replace(IDLE, free_threads=0)).functions
    assert not allowance(replace(IDLE, queued=1)).functions
    assert allowance(replace(IDLE, free_threads=1)).functions


def test_a_queue_of_functions_is_claimed_in_portions_that_start_soon() -> None:
    assert allowance(replace(IDLE, met_functions=True, free_threads=3)).limit == 13


def test_A6_functions_that_may_hold_a_running_lock_are_claimed_for_free_threads_only() -> None:
    assert allowance(replace(IDLE, met_functions=True, must_begin=True, free_threads=3)).limit == 3


def test_only_a_claim_that_fits_the_free_threads_starts_at_once() -> None:
    assert allowance(replace(IDLE, concurrency=10)).at_once
    assert not allowance(replace(IDLE, concurrency=11)).at_once
