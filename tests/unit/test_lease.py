"""What becomes of a row whose worker fell silent."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.lease import MAX_REFUNDS, ExpiredTask, ReapVerdict, judge_expired, trusted_until
from oxpull_async.domain.record import TaskStatus

ROW = ExpiredTask("id", 1, attempts=1, max_attempts=3, begun=True, refunds=0, cancel_requested=False, worker_id="w")


def test_an_attempt_that_began_is_charged_and_runs_again() -> None:
    assert judge_expired(ROW) == ReapVerdict(TaskStatus.READY, refund=False)


def test_A3_an_attempt_that_never_began_is_given_back_twice_at_most() -> None:
    verdicts = [judge_expired(replace(ROW, begun=False, refunds=n)).refund for n in range(4)]
    assert verdicts == [True, True, False, False]


def test_spent_attempts_are_lost_and_never_failed() -> None:
    assert judge_expired(replace(ROW, attempts=3)) == ReapVerdict(TaskStatus.LOST, refund=False)


def test_A9_a_requested_cancel_ends_the_row() -> None:
    for begun in (True, False):
        row = replace(ROW, cancel_requested=True, begun=begun)
        assert judge_expired(row) == ReapVerdict(TaskStatus.DISCARDED, refund=False)


@given(st.integers(1, 20), st.data())
def test_A3_a_task_that_kills_its_worker_is_lost_after_at_most_two_deaths_more_than_attempts(
    max_attempts: int, data: st.DataObject
) -> None:
    row, deaths = replace(ROW, attempts=0, max_attempts=max_attempts), 0
    while True:
        row = replace(row, attempts=row.attempts + 1, begun=data.draw(st.booleans()))
        deaths += 1
        verdict = judge_expired(row)
        if verdict.status is TaskStatus.LOST:
            break
        if verdict.refund:
            row = replace(row, attempts=row.attempts - 1, refunds=row.refunds + 1)
    assert deaths <= max_attempts + MAX_REFUNDS


def test_A4_trust_ends_a_tenth_of_the_lease_before_it_does_counted_from_the_sending() -> None:
    assert trusted_until(100.0, 30.0) == 127.0
