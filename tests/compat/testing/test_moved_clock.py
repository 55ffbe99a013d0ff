"""The database's clock is moved for the process and is back where it was afterwards."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from compat_sync import clock as offsets
from compat_sync.exceptions import UsageError
from compat_sync.testing import moved_clock
from tests.compat.testing import tasks

LATER = datetime(2031, 5, 4, 3, 2, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def test_it_is_moved_to_an_instant_and_runs_on(inside: str) -> None:
    with moved_clock(LATER) as clock:
        first, second = clock.now(), clock.now()
        assert LATER <= first <= second <= LATER + MINUTE
        result = tasks.write.enqueue(1)
        assert LATER <= result.record.enqueued_at <= LATER + MINUTE


def test_it_goes_back_too(inside: str) -> None:
    with moved_clock() as clock:
        clock.move_to(LATER)
        clock.move_to(LATER - timedelta(days=4000))
        assert LATER - timedelta(days=4000) <= clock.now() <= LATER - timedelta(days=4000) + MINUTE


def test_it_is_advanced_by_seconds_and_timedeltas(inside: str) -> None:
    with moved_clock() as clock:
        clock.advance(90)
        clock.advance(timedelta(days=1))
        assert clock.offset == timedelta(days=1, seconds=90)


def test_native_connections_follow(table: str) -> None:
    async def view() -> datetime:
        enqueued_at = (await tasks.write.aenqueue(1)).record.enqueued_at
        assert isinstance(enqueued_at, datetime)
        return enqueued_at

    with moved_clock(LATER):
        assert LATER <= asyncio.run(view()) <= LATER + MINUTE
    assert asyncio.run(view()) < LATER


def move_and_raise() -> None:
    with moved_clock() as clock:
        clock.advance(60)
        with moved_clock(LATER) as inner:
            inner.advance(5)
        assert clock.offset == MINUTE
        raise ZeroDivisionError


def test_it_is_put_back_whatever_happens(inside: str) -> None:
    with pytest.raises(ZeroDivisionError):
        move_and_raise()
    assert offsets.offset() == 0


def test_wrong_moves_are_refused(inside: str) -> None:
    with moved_clock() as clock:
        with pytest.raises(UsageError, match="negative"):
            clock.advance(-1)
        with pytest.raises(UsageError, match="aware"):
            clock.move_to(datetime(2031, 1, 1))  # noqa: DTZ001 - wrong on purpose
        assert clock.offset == timedelta()
