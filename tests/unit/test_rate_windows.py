"""What rate limits let start, as pure decisions."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.permit import WindowKey
from oxpull_async.domain.rate_windows import (
    EPOCH,
    Contender,
    Declaration,
    Limit,
    Window,
    admit_all,
    limits_of,
    over_at,
    permits_of,
    room,
    windows_of,
)
from oxpull_async.domain.running_lock import LockCandidate, OnConflict

NOW = datetime(2026, 3, 4, 5, 6, 7, 250_000, UTC)
SECOND = timedelta(seconds=1)
FIXED = Limit("api", 5, SECOND, sliding=False, tasks=frozenset({"a.b"}), queues=frozenset())
SLIDING = replace(FIXED, sliding=True)
MOMENTS = st.integers(0, 4 * 10**15).map(lambda number: EPOCH + timedelta(microseconds=number))
PERIODS = st.integers(1, 10**9).map(lambda number: timedelta(milliseconds=number))
NAMES = st.sampled_from(["a", "b", "c"])
LOCKS = st.builds(LockCandidate, st.just("x"), NAMES, st.integers(1, 2), st.sampled_from(OnConflict), st.integers(0, 1))
ROWS = st.lists(
    st.builds(
        Contender,
        st.uuids().map(str),
        st.none()
        | st.builds(
            LockCandidate, st.just("x"), NAMES, st.integers(1, 2), st.sampled_from(OnConflict), st.integers(0, 1)
        ),
        st.sets(NAMES).map(lambda names: tuple((name, "") for name in sorted(names))),
    ),
    max_size=12,
)


def test_a_fixed_window_begins_at_a_multiple_of_its_length() -> None:
    found = room(FIXED, Window(NOW))
    assert (found.left, found.started_at, found.until) == (
        5,
        NOW.replace(microsecond=0),
        NOW.replace(microsecond=0) + SECOND,
    )
    assert found.opens_at is None


@given(MOMENTS, PERIODS)
def test_now_lies_in_its_window_and_its_neighbours_meet_it(now: datetime, per: timedelta) -> None:
    limit = replace(FIXED, per=per)
    found = room(limit, Window(now))
    assert found.started_at is not None
    assert found.until is not None
    assert found.started_at <= now < found.until
    assert (found.started_at - EPOCH) % per == timedelta()
    assert found.until - found.started_at == per
    assert room(limit, Window(found.until)).started_at == found.until


@given(MOMENTS, MOMENTS, PERIODS, st.integers(0, 9))
def test_a_window_never_goes_back_and_a_later_one_starts_afresh(
    now: datetime, started_at: datetime, per: timedelta, used: int
) -> None:
    began = room(replace(FIXED, per=per), Window(now)).started_at
    found = room(replace(FIXED, per=per), Window(now, started_at, used))
    assert began is not None
    assert found.started_at == max(began, started_at)
    assert found.used == (used if started_at >= began else 0)
    assert found.left == max(5 - found.used, 0)
    assert found.until is not None
    assert found.until > max(now, started_at)


def test_a_full_window_opens_at_its_end_and_a_limit_of_nothing_never() -> None:
    full = room(FIXED, Window(NOW, NOW.replace(microsecond=0), 7))
    assert (full.is_open, full.opens_at) == (False, NOW.replace(microsecond=0) + SECOND)
    for limit in (FIXED, SLIDING):
        nothing = room(replace(limit, limit=0), Window(NOW))
        assert (nothing.is_open, nothing.opens_at) == (False, None)


def test_a_sliding_window_opens_when_its_first_start_is_old_enough() -> None:
    oldest = NOW - timedelta(milliseconds=400)
    assert room(SLIDING, Window(NOW, starts=4, oldest=oldest)).left == 1
    full = room(SLIDING, Window(NOW, starts=5, oldest=oldest))
    assert (full.left, full.opens_at, full.until) == (0, oldest + SECOND, None)


def test_B5_starts_of_the_other_way_to_count_are_counted_while_they_may_lie_in_the_window() -> None:
    began = NOW.replace(microsecond=0)
    mixed = Window(NOW, began, 2, starts=3, oldest=NOW - SECOND / 2)
    for limit in (FIXED, SLIDING):
        found = room(limit, mixed)
        assert (found.left, found.used + found.others) == (0, 5)
        assert found.opens_at == NOW + SECOND / 2
    assert room(SLIDING, Window(NOW, began - SECOND, 5)).opens_at == began + SECOND
    assert room(SLIDING, Window(NOW, began - 2 * SECOND, 5)).left == 5
    assert room(FIXED, Window(NOW, began, 2)).used == 2


@pytest.mark.parametrize("limit", [FIXED, SLIDING], ids=["fixed", "sliding"])
def test_a_window_that_is_held_shut_opens_no_sooner(limit: Limit) -> None:
    later = NOW + 5 * SECOND
    held = room(limit, Window(NOW, held_until=later))
    assert (held.left, held.opens_at, held.held_until) == (0, later, later)
    assert room(limit, Window(NOW, held_until=NOW)).left == 5
    full = Window(NOW, NOW.replace(microsecond=0), 5, NOW + timedelta(milliseconds=1), 5, NOW)
    opens_at = room(limit, full).opens_at
    assert opens_at is not None
    assert opens_at > NOW + SECOND / 2


def test_of_all_declarations_the_strictest_holds_and_coverage_is_of_the_alias() -> None:
    some = Declaration("default", "api", 9, 1.0, sliding=False, tasks=frozenset({"a.b"}), queues=frozenset())
    other = replace(some, limit=3, per=60.0, tasks=frozenset(), queues=frozenset({"mail"}))
    far = Declaration("far", "api", 5, 2.0, sliding=True, tasks=frozenset({"c.d"}), queues=frozenset())
    elsewhere = replace(far, name="elsewhere")
    assert limits_of([some, other, far, elsewhere], "default") == {
        "api": Limit("api", 3, timedelta(seconds=60), True, frozenset({"a.b"}), frozenset({"mail"}))
    }


def test_a_task_counts_in_the_windows_of_all_limits_that_cover_it_in_order() -> None:
    limits = {name: replace(FIXED, name=name) for name in ("z", "b")} | {
        "a": replace(FIXED, name="a", tasks=frozenset(), queues=frozenset({"mail"}))
    }
    assert windows_of(limits, "a.b", "mail", "") == (("a", ""), ("b", ""), ("z", ""))
    assert windows_of(limits, "a.b", "other", "") == (("b", ""), ("z", ""))
    assert windows_of(limits, "c.d", "other", "") == ()


@given(ROWS, st.dictionaries(NAMES, st.integers(0, 2)), st.dictionaries(NAMES, st.integers(0, 3)), st.integers(0, 12))
def test_what_is_admitted_keeps_every_lock_and_limit_and_leaves_out_nobody_before_it(
    rows: list[Contender], held: dict[str, int], rooms: dict[str, int], most: int
) -> None:
    left: dict[WindowKey, int] = {(name, ""): rooms.get(name, 0) for name in ("a", "b", "c")}
    admitted = admit_all(rows, held, left, most)
    assert len(admitted.starting) <= most
    assert all(count <= left[window] for window, count in admitted.taken().items())
    taken, slots = Counter[WindowKey](), Counter[str](held)
    for row in rows:
        has_slot = row.lock is None or slots[row.lock.lock_key] < row.lock.limit
        has_room = all(taken[window] < left[window] for window in row.windows)
        starts = row in admitted.starting
        if starts:
            assert has_slot
            assert has_room
            taken.update(row.windows)
            slots.update([row.lock.lock_key] if row.lock is not None else [])
        elif len(admitted.starting) < most:
            assert not (has_slot and has_room)
        if row.lock is not None and len(admitted.starting) < most:
            refused = {*admitted.locks.parked, *admitted.locks.discarded}
            assert (row.lock in refused) or has_slot


def test_a_row_without_room_takes_neither_slot_nor_permit_and_a_parked_one_no_permit() -> None:
    lock = LockCandidate("x", "k", 1, OnConflict.WAIT, 0)
    full, free = (("full", ""),), (("free", ""),)
    rows = [
        Contender("1", lock, full),
        Contender("2", lock, free),
        Contender("3", lock, free),
        Contender("4", None, free),
    ]
    admitted = admit_all(rows, {}, {("full", ""): 0, ("free", ""): 2}, 10)
    assert [row.task_id for row in admitted.starting] == ["2", "4"]
    assert admitted.locks.parked == (lock,)
    assert admitted.locks.full == {"k": 1}


def test_permits_tell_the_window_that_counted_them_and_when_it_is_over() -> None:
    limits = {"api": FIXED, "slow": replace(SLIDING, name="slow")}
    row = Contender("1", None, (("api", ""), ("slow", "k")))
    rooms = {("api", ""): room(FIXED, Window(NOW)), ("slow", "k"): room(SLIDING, Window(NOW))}
    began = NOW.replace(microsecond=0)
    assert [permit.started_at for permit in permits_of(row, limits, rooms)] == [began, None]
    assert over_at(admit_all([row], {}, dict.fromkeys(rooms, 1), 1), rooms) == began + SECOND
    assert over_at(admit_all([], {}, {}, 1), rooms) is None
