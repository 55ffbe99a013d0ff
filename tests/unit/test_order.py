"""The order of the test files: nothing is lost, and those that wait stand apart."""

from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.order import spread

NAMES = st.integers(0, 40).map(range)


@given(NAMES, NAMES, st.integers(0, 10))
def test_both_keep_their_order_and_nothing_is_lost(some: range, others: range, left: int) -> None:
    placed = spread([("some", n) for n in some], [("others", n) for n in others], left)
    assert [n for kind, n in placed if kind == "some"] == list(some)
    assert [n for kind, n in placed if kind == "others"] == list(others)


def test_some_stand_at_even_distances_and_the_last_are_others() -> None:
    assert spread(["A", "B", "C"], list("abcdefgh"), left=2) == list("AabBcdCefgh")
