"""Moving the clock by which the database judges delays, retries and lives of unique keys.

The database tells the time itself, so its clock is moved and not stopped: it runs on from where it was put.
"""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from compat_sync import clock
from compat_sync.connection import DjangoConnection
from compat_sync.exceptions import UsageError, translated
from compat_sync.placement import database_alias
from compat_sync.shim import run_blocking
from oxpull_async.domain.durations import Duration, seconds
from oxpull_async.domain.record import instant

__all__ = ["MovedClock", "moved_clock"]


class MovedClock:
    """The clock of this process's statements about tasks; see `moved_clock`."""

    @property
    def offset(self) -> timedelta:
        """How far the clock is ahead of the database's own, or behind it where this is negative."""
        return timedelta(seconds=clock.offset())

    def now(self) -> datetime:
        """Ask the database what time it takes it to be; aware, in UTC."""
        conn = DjangoConnection(database_alias(), clock_offset=clock.offset())
        with translated():
            row = run_blocking(conn.fetchrow("read_clock"))
        return datetime.now(UTC) if row is None else instant(row[0])

    def advance(self, by: Duration) -> None:
        """Let so many seconds or a timedelta pass at once; raises UsageError for less than none."""
        with translated():
            clock.set_offset(clock.offset() + seconds(by, name="by"))

    def move_to(self, moment: datetime) -> None:
        """Set the clock to an instant, from which it runs on.

        Raises: UsageError for one without a time zone.
        """
        if moment.utcoffset() is None:
            raise UsageError(f"move_to({moment!r:.80}) needs an aware datetime, for example timezone.now()")
        clock.set_offset(clock.offset() + (moment - self.now()).total_seconds())


@contextmanager
def moved_clock(to: datetime | None = None) -> Generator[MovedClock]:
    """Let the database's clock be moved in the block; afterwards it is where it was.

    It is one for this whole process, and for tasks only. Python's clock is not moved: take `run_after` from `now()`.
    """
    before = clock.offset()
    moved = MovedClock()
    try:
        if to is not None:
            moved.move_to(to)
        yield moved
    finally:
        clock.set_offset(before)
