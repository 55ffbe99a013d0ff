"""Bulk writes are cut into statements that every server accepts."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.chunks import chunks

sizes = st.lists(st.integers(1, 100))


@given(sizes, st.integers(1, 200), st.integers(1, 10))
def test_no_chunk_is_too_large_and_nothing_is_lost_or_moved(given_sizes: list[int], most: int, rows: int) -> None:
    cut = list(chunks(((size, size) for size in given_sizes), max_bytes=most, max_rows=rows))
    assert [size for chunk in cut for size in chunk] == given_sizes
    assert all(len(chunk) == 1 or (sum(chunk) <= most and len(chunk) <= rows) for chunk in cut)


@given(sizes, st.integers(1, 200))
def test_neighbouring_chunks_could_not_be_one(given_sizes: list[int], most: int) -> None:
    cut = list(chunks(((size, size) for size in given_sizes), max_bytes=most))
    assert all(sum(one) + other[0] > most for one, other in pairwise(cut))
