"""Cutting bulk writes into statements of a size that every server accepts."""

from collections.abc import Iterable, Iterator, Sequence

MAX_BATCH_ROWS = 1000


def chunks[T](
    items: Iterable[tuple[T, int]], *, max_bytes: int, max_rows: int = MAX_BATCH_ROWS
) -> Iterator[Sequence[T]]:
    """Cut sized items into runs of at most `max_rows` and `max_bytes`.

    An item that is larger alone stands alone.
    """
    run: list[T] = []
    total = 0
    for item, size in items:
        if run and (total + size > max_bytes or len(run) >= max_rows):
            yield run
            run, total = [], 0
        run.append(item)
        total += size
    if run:
        yield run
