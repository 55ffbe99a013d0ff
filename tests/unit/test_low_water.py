"""Low water: what claims read beyond their marks, and when they begin at the front."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.low_water import MOST_MARKS, WHOLE, LowWater, Place, Stretch

START = datetime(2026, 1, 1, tzinfo=UTC)
PLACES = st.builds(
    lambda rank, seconds, number: Place(rank, START + timedelta(seconds=seconds), f"{number:032x}"),
    st.integers(-100, 100) | st.integers(-2, 2), st.integers(0, 20), st.integers(0, 20),
)  # fmt: skip
CLAIMS = st.lists(st.lists(PLACES, max_size=12), max_size=6)


def after(claims: list[list[Place]]) -> LowWater:
    water = LowWater()
    for taken in claims:
        water = water.raised(taken)
    return water


def lies_in(place: Place, stretch: Stretch) -> bool:
    return (stretch.after is None or place > stretch.after) and (stretch.below is None or place.rank < stretch.below)


@given(CLAIMS, PLACES)
def test_the_stretches_leave_out_what_lies_behind_the_mark_in_its_rank_and_nothing_else(
    claims: list[list[Place]], place: Place
) -> None:
    water = after(claims)
    behind = any(mark.rank == place.rank and place <= mark for mark in water.marks)
    assert [lies_in(place, stretch) for stretch in water.stretches()].count(True) == (0 if behind else 1)


@given(CLAIMS)
def test_the_stretches_come_in_the_order_of_claims(claims: list[list[Place]]) -> None:
    stretches = after(claims).stretches()
    assert [stretch.after for stretch in stretches[1:]] == sorted(mark for mark in after(claims).marks)
    assert all(stretch.below is not None for stretch in stretches[:-1])
    assert stretches[-1].below is None


@given(CLAIMS)
def test_a_mark_is_never_beyond_what_was_claimed_and_there_are_few(claims: list[list[Place]]) -> None:
    marks = after(claims).marks
    assert len(marks) <= MOST_MARKS
    assert len({mark.rank for mark in marks}) == len(marks)
    for mark in marks:
        assert mark in {place for taken in claims for place in taken}


@given(CLAIMS, st.lists(PLACES, min_size=1, max_size=12))
def test_marks_rise_only(claims: list[list[Place]], taken: list[Place]) -> None:
    before, raised = after(claims), {mark.rank: mark for mark in after(claims).raised(taken).marks}
    assert all(raised[mark.rank] >= mark for mark in before.marks if mark.rank in raised)


def test_without_marks_a_queue_is_read_whole() -> None:
    assert LowWater().stretches() == WHOLE
    assert LowWater().scanned(10.0, 0.0).wants_scan(10.0)


def test_scans_take_a_twentieth_of_the_time_and_a_fourth_where_rows_may_have_come_behind_the_marks() -> None:
    water = LowWater().raised([Place(0, START, "1")]).scanned(100.0, 0.25)
    assert not water.wants_scan(105.0)
    assert water.wants_scan(105.01)
    assert not water.hurry().wants_scan(101.0)
    assert water.hurry().wants_scan(101.01)
    assert not water.hurry().scanned(101.01, 0.25).wants_scan(106.0)
