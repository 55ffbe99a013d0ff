"""F1 and A5: the database's clock decides what is due, and in which order it is taken."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from oxpull_async import Oxpull, TaskStatus
from oxpull_async.errors import InvalidTask
from tests.app.kit import nothing, work

pytestmark = pytest.mark.asyncio


def set_clock(ox: Oxpull, seconds: float) -> None:
    database: Any = ox.database
    database.clock_offset = seconds


async def test_F1_the_databases_clock_decides_when_a_task_is_due(ox: Oxpull) -> None:
    when = datetime.now(UTC) + timedelta(hours=1)
    result = await ox.task(nothing).using(run_after=when).enqueue(1)
    await work(ox)
    await result.refresh()
    assert (result.status, result.attempts, result.run_after) == (TaskStatus.READY, 0, when)
    set_clock(ox, 3599)
    await work(ox)
    await result.refresh()
    assert result.attempts == 0
    set_clock(ox, 3601)
    await work(ox)
    await result.refresh()
    assert (result.status, result.run_after) == (TaskStatus.SUCCESSFUL, when)
    assert result.finished_at is not None
    assert result.finished_at > when


async def test_F1_every_instant_of_a_row_is_the_databases(ox: Oxpull) -> None:
    set_clock(ox, 86_400)
    single = await ox.task(nothing).enqueue(1)
    [bulk] = await ox.enqueue_many([ox.task(nothing).call(1)])
    await work(ox)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    for result in (single, bulk):
        await result.refresh()
        instants = (result.enqueued_at, result.started_at, result.last_attempted_at, result.finished_at)
        assert all(instant and abs(instant - tomorrow) < timedelta(minutes=1) for instant in instants)


async def test_A5_tasks_run_by_priority_then_by_the_instant_they_are_available(ox: Oxpull) -> None:
    ran: list[str] = []

    async def note(name: str) -> None:
        ran.append(name)

    task, now = ox.task(note), datetime.now(UTC)
    calls = {
        "late": task.using(run_after=now - timedelta(seconds=1)),
        "early": task.using(run_after=now - timedelta(hours=1)),
        "first of the bulk": task,
        "second of the bulk": task,
        "urgent": task.using(priority=1),
        "idle": task.using(priority=-1, run_after=now - timedelta(days=1)),
    }
    await ox.enqueue_many([task.call(name) for name, task in calls.items()])
    await work(ox)
    assert ran == ["urgent", "early", "late", "first of the bulk", "second of the bulk", "idle"]


async def test_A5_a_row_that_falls_due_takes_its_place_in_the_order(ox: Oxpull) -> None:
    ran: list[str] = []

    async def note(name: str) -> None:
        ran.append(name)

    task, now = ox.task(note), datetime.now(UTC)
    await task.using(run_after=now + timedelta(seconds=60), priority=1).enqueue("deferred, urgent")
    await task.using(run_after=now + timedelta(seconds=30)).enqueue("deferred")
    await task.enqueue("at once")
    set_clock(ox, 90)
    await task.enqueue("later")
    await work(ox)
    assert ran == ["deferred, urgent", "at once", "deferred", "later"]


async def test_the_ends_of_the_calendar_are_stored_and_what_lies_beyond_is_refused(ox: Oxpull) -> None:
    task = ox.task(nothing)
    for hours in (-12, 0, 14):
        zone = timezone(timedelta(hours=hours))
        for when in (datetime(1000, 1, 2, tzinfo=zone), datetime.max.replace(tzinfo=zone) - timedelta(days=1)):
            result = await task.using(run_after=when).enqueue(1)
            assert (await ox.get_result(result.id)).run_after == when
        for when in (datetime.min.replace(tzinfo=zone), datetime(999, 12, 30, tzinfo=zone)):
            with pytest.raises(InvalidTask, match="must lie in the years 1000 to 9999 of UTC"):
                task.using(run_after=when)
