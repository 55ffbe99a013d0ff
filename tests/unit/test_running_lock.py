"""B2: a row is admitted iff fewer slots than its own limit are held."""

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.errors import InvalidTask
from oxpull_async.domain.keys import lock_key
from oxpull_async.domain.running_lock import MOST_SLOTS, LockCandidate, OnConflict, RunningLock, admit, declared_lock


async def asynchronous(number: int) -> str:
    return f"{number}"


ROWS = st.lists(
    st.builds(
        LockCandidate,
        st.just(""),
        st.sampled_from("ab"),
        st.integers(1, 3),
        st.sampled_from(OnConflict),
        st.integers(0, 1),
    ),
    max_size=12,
).map(lambda rows: [replace(row, task_id=f"{place:02}") for place, row in enumerate(rows)])
TAKEN = st.dictionaries(st.sampled_from("ab"), st.integers(0, 4))


@given(ROWS, TAKEN)
def test_every_row_gets_one_answer_in_claim_order(rows: list[LockCandidate], taken: dict[str, int]) -> None:
    answer = admit(rows, taken)
    parts = (answer.admitted, answer.parked, answer.discarded)
    assert sorted(row.task_id for part in parts for row in part) == [row.task_id for row in rows]
    assert all(list(part) == sorted(part, key=lambda row: row.task_id) for part in parts)


@given(ROWS, TAKEN)
def test_a_row_is_admitted_iff_fewer_slots_than_its_own_limit_are_held(
    rows: list[LockCandidate], taken: dict[str, int]
) -> None:
    admitted = set(admit(rows, taken).admitted)
    for place, row in enumerate(rows):
        before = taken.get(row.lock_key, 0) + sum(
            other in admitted and other.lock_key == row.lock_key for other in rows[:place]
        )
        assert (row in admitted) == (before < row.limit)


@given(ROWS, TAKEN)
def test_only_first_attempts_that_say_so_are_discarded(rows: list[LockCandidate], taken: dict[str, int]) -> None:
    answer = admit(rows, taken)
    assert all(row.on_conflict is OnConflict.DISCARD and row.attempts == 0 for row in answer.discarded)
    assert all(row.on_conflict is OnConflict.WAIT or row.attempts for row in answer.parked)


@given(ROWS, TAKEN)
def test_the_slots_of_every_key_where_some_park_are_counted_with_those_admitted(
    rows: list[LockCandidate], taken: dict[str, int]
) -> None:
    answer = admit(rows, taken)
    held = Counter(taken) + Counter(row.lock_key for row in answer.admitted)
    assert answer.full == {key: held[key] for key in {row.lock_key for row in answer.parked}}


@given(ROWS, TAKEN)
def test_admitting_changes_nothing_that_it_is_given(rows: list[LockCandidate], taken: dict[str, int]) -> None:
    before = dict(taken)
    admit(rows, taken)
    assert taken == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0}, {"limit": MOST_SLOTS + 1}, {"limit": True}, {"limit": 1.0}, {"limit": "1"},
        {"on_conflict": "raise"}, {"on_conflict": None}, {"name": ""}, {"name": "x" * 256}, {"name": 1},
        {"key": "order"}, {"key": asynchronous}, {"key": partial(asynchronous, 1)},
    ],
)  # fmt: skip
def test_a_value_out_of_range_is_refused_and_named(wrong: dict[str, Any]) -> None:
    [(name, _)] = wrong.items()
    with pytest.raises(InvalidTask, match=f"{name}="):
        RunningLock(**wrong)


def test_the_ends_of_the_ranges_are_taken() -> None:
    assert RunningLock(limit=MOST_SLOTS, name="x" * 255, on_conflict="discard").limit == MOST_SLOTS


def test_true_is_the_plain_lock_and_false_is_none() -> None:
    lock = RunningLock(limit=2)
    assert (declared_lock(running_lock=True), declared_lock(running_lock=False)) == (RunningLock(), None)
    assert declared_lock(lock) is lock


@pytest.mark.parametrize("wrong", [None, 1, "yes", RunningLock])
def test_what_is_no_lock_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidTask, match=r"running_lock=.* must be True, False or RunningLock\(…\)"):
        declared_lock(wrong)


def test_the_key_is_the_hash_that_the_docs_say() -> None:
    """Of ["default","lock","shop.tasks.send",[[42],{}]], so that any other program can make it."""
    expected = "2fa279532e7a88e742b73638aee6af55b755bfacbc09c3369d0c3e9e62216bd2"
    assert lock_key("default", "shop.tasks.send", [[42], {}]) == expected
