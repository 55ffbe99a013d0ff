"""Lists of ids for statements of the MySQL dialect."""

from collections.abc import Iterator, Sequence

LISTED_AT_ONCE = 500  # MariaDB makes a subquery of a list of a thousand, and an update by that reads the whole table


def id_lists(ids: Sequence[str], at_once: int = LISTED_AT_ONCE) -> Iterator[tuple[str, ...]]:
    """Cut ids into lists that the server looks up one by one."""
    for start in range(0, len(ids), at_once):
        yield tuple(ids[start : start + at_once])
