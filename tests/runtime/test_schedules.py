"""Schedules: each tick once, whatever becomes of workers and clocks, on each database."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from oxpull_async import Oxpull, Unique
from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import ConnectionLost
from oxpull_async.domain.events import ScheduleFailed, ScheduleTicked
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.ticks import prune_ticks
from tests.fixtures.faulty import Fault, FaultyDatabase
from tests.fixtures.ticking import START, Looker, minutes, put_clock, records, ticks, times
from tests.fixtures.workers import drain, working
from tests.scenarios import schedules

pytestmark = pytest.mark.asyncio
MINUTE = timedelta(minutes=1)


async def note(word: str = "tick") -> str:
    return word


@pytest_asyncio.fixture
async def looker(ox: Oxpull) -> AsyncIterator[Looker]:
    """Look at the schedules of `ox`, whose clock stands at START."""
    await put_clock(ox, START)
    yield Looker(ox)


async def test_the_first_tick_is_the_next_one_after_a_schedule_is_seen_first(looker: Looker) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call("hello"), every=600, name="often")
    await looker.look()
    assert await ticks(ox) == []
    await looker.look_at(START + 10 * MINUTE)
    [[name, moment, task_id]] = await ticks(ox)
    [record] = await records(ox)
    assert (name, moment) == ("often", START + 10 * MINUTE)
    assert record.id.replace("-", "") == task_id
    assert (record.args, record.task_path) == (["hello"], f"{__name__}.note")


async def test_a_look_says_when_the_next_tick_is_due(looker: Looker) -> None:
    looker.ox.schedule(looker.ox.task(note).call(), cron="30 12 * * *")
    due_in = await looker.look()
    assert due_in is not None
    assert 1700 < due_in <= 1800


async def test_each_tick_is_enqueued_once_by_workers_that_look_at_once(looker: Looker) -> None:
    ox = looker.ox
    task = ox.task(note)
    for number in range(10):
        ox.schedule(task.call(str(number)), every=60, name=f"schedule {number}")
    lookers = [looker, Looker(ox), Looker(ox)]
    for minute in range(4):
        await put_clock(ox, START + minute * MINUTE)
        await asyncio.gather(*(one.look() for one in lookers))
    assert len(await ticks(ox)) == len({row[:2] for row in await ticks(ox)}) == 30
    assert len(await records(ox)) == 30


async def test_running_workers_enqueue_and_run_what_is_due(ox: Oxpull) -> None:
    task = ox.task(note)
    ox.schedule(task.call(), every=1, name="each second")
    async with working(ox) as (_, witness), working(ox):
        await witness.seen(ScheduleTicked)
    await drain(ox)
    done = await records(ox)
    assert done
    assert {record.return_value for record in done} == {"tick"}
    assert len({row[2] for row in await ticks(ox)}) == len(done)


@pytest.mark.parametrize(
    ("catch_up", "max_age", "expected"),
    [
        ("latest", None, minutes(60)),
        ("latest", 120, []),
        ("skip", None, []),
        ("all", None, minutes(10, 20, 30, 40, 50, 60)),
        ("all", 24 * 60, minutes(50, 60)),
    ],
)
async def test_ticks_that_nobody_saw_are_caught_up_as_the_schedule_says(
    looker: Looker, catch_up: Any, max_age: float | None, expected: list[Any]
) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=600, name="down", catch_up=catch_up, max_age=max_age)
    await looker.look()
    await looker.look_at(START + 65 * MINUTE)
    assert await times(ox, "down") == expected
    assert len(await records(ox)) == len(expected)


async def test_a_skipping_schedule_enqueues_ticks_that_are_seen_in_time(looker: Looker) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=600, name="skip", catch_up="skip")
    await looker.look()
    await looker.look_at(START + 10.5 * MINUTE)
    assert await times(ox, "skip") == minutes(10)


async def test_no_more_than_a_hundred_ticks_are_caught_up(looker: Looker) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=10, name="all", catch_up="all")
    await looker.look()
    await looker.look_at(START + 60 * MINUTE)
    found = await times(ox, "all")
    assert len(found) == 100
    assert found[-1] == START + 60 * MINUTE


async def test_a_clock_that_was_put_back_enqueues_no_tick_again_and_goes_on_with_new_ones(looker: Looker) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=600, name="clock")
    await looker.look()
    for minute in (10, 20, 30):
        await looker.look_at(START + minute * MINUTE)
    for minute in (15, 20, 30, 40):
        await looker.look_at(START + minute * MINUTE)
    assert await times(ox, "clock") == minutes(10, 20, 30, 40)
    assert len(await records(ox)) == 4


async def test_a_tick_of_a_clock_years_ahead_does_not_silence_the_schedule(looker: Looker) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=600, name="clock")
    await looker.look()
    await looker.look_at(START + timedelta(days=1000))
    await looker.look_at(START + 5 * MINUTE)
    await looker.look_at(START + 10 * MINUTE)
    assert [*minutes(10), START + timedelta(days=1000)] == await times(ox, "clock")


async def test_a_schedule_first_seen_under_a_clock_ahead_begins_when_the_clock_is_right(looker: Looker) -> None:
    ox = looker.ox
    await put_clock(ox, START + timedelta(days=1000))
    ox.schedule(ox.task(note).call(), every=600, name="clock")
    await looker.look()
    await looker.look_at(START)
    await looker.look_at(START + 10 * MINUTE)
    assert await times(ox, "clock") == minutes(10)


async def test_a_worker_that_dies_between_tick_and_task_leaves_neither(looker: Looker) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=600, name="crash")
    await looker.look()
    await put_clock(ox, START + 10 * MINUTE)
    dying = Looker(ox, over=FaultyDatabase(ox.database, Fault("insert_plain_task", committed=False)))
    with pytest.raises(ConnectionLost):
        await dying.look()
    assert (await ticks(ox), await records(ox)) == ([], [])
    await looker.look()
    assert await times(ox, "crash") == minutes(10)
    assert len(await records(ox)) == 1


async def test_a_connection_that_breaks_after_the_commit_enqueues_nothing_twice(looker: Looker) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=600, name="crash")
    await looker.look()
    await put_clock(ox, START + 10 * MINUTE)
    cut = Looker(ox, over=FaultyDatabase(ox.database, Fault("insert_plain_task", committed=True)))
    with pytest.raises(ConnectionLost):
        await cut.look()
    await cut.look()
    await looker.look()
    assert len(await records(ox)) == len(await ticks(ox)) == 1


async def test_a_retimed_schedule_begins_anew_and_workers_with_the_old_timing_leave_it_alone(
    looker: Looker, url: str
) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=600, name="moved")
    await looker.look()
    async with Oxpull(url) as newer:
        newer.schedule(newer.task(note).call(), cron="45 * * * *", name="moved")
        await put_clock(newer, START + 50 * MINUTE)
        new_looker = Looker(newer)
        await new_looker.look()
        await looker.look_at(START + 51 * MINUTE)
        assert await times(ox, "moved") == []
        await new_looker.look_at(START + 105 * MINUTE)
        assert await times(ox, "moved") == minutes(105)


async def test_what_concerns_no_timing_changes_without_beginning_anew(looker: Looker, url: str) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=600, name="kept")
    await looker.look()
    async with Oxpull(url) as newer:
        newer.schedule(newer.task(note).call(), every=600, name="kept", overlap="skip")
        await put_clock(newer, START + 11 * MINUTE)
        await Looker(newer).look()
    assert await times(ox, "kept") == minutes(10)


async def test_a_schedule_that_no_worker_serves_is_named_by_health_until_it_is_deleted(
    looker: Looker, url: str
) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=600, name="removed")
    await looker.look()
    async with Oxpull(url) as newer:
        await put_clock(newer, START + 12 * MINUTE)
        await Looker(newer).look()
        [problem] = (await newer.health()).problems
        assert "'removed' has been due for" in problem
        assert await newer.delete_schedule("removed")
        assert not await newer.delete_schedule("removed")
        assert (await newer.health()).is_healthy


async def test_a_schedule_overlaps_or_skips_as_it_says(looker: Looker) -> None:
    ox = looker.ox
    task = ox.task(note)
    ox.schedule(task.call(), every=600, name="skips", overlap="skip", catch_up="all")
    ox.schedule(task.call(), every=600, name="allows")
    await looker.look()
    await looker.look_at(START + 10 * MINUTE)
    await looker.look_at(START + 40 * MINUTE)
    tasks = [row[2] for row in await ticks(ox) if row[0] == "skips"]
    assert tasks[1:] == [None]
    assert len(await records(ox)) == 3
    await drain(ox)
    await looker.look_at(START + 50 * MINUTE)
    assert [row[2] is None for row in await ticks(ox) if row[0] == "skips"] == [False, True, False]


async def test_ticks_of_a_unique_task_name_the_pending_one(looker: Looker) -> None:
    ox = looker.ox
    task = ox.task(unique=Unique(on_duplicate="raise"))(note)
    ox.schedule(task.call(), every=600, name="unique", catch_up="all", overlap="allow")
    await looker.look()
    await looker.look_at(START + 10 * MINUTE)
    await looker.look_at(START + 30 * MINUTE)
    assert await times(ox, "unique") == minutes(10, 20, 30)
    assert len(await records(ox)) == 1
    assert len({row[2] for row in await ticks(ox)}) == 1


async def test_settings_name_a_task_by_its_path_and_workers_without_it_leave_it_alone(ox: Oxpull, url: str) -> None:
    entries = {
        "nightly": {"task": f"{__name__}.note", "every": 600, "args": ["night"], "queue_name": "low", "priority": -5}
    }
    async with Oxpull(url, schedules=entries) as knowing, Oxpull(url, schedules=entries) as unknowing:
        knowing.task(note)
        for one in (knowing, unknowing):
            await put_clock(one, START)
            await Looker(one).look()
            await put_clock(one, START + 10 * MINUTE)
        ignorant = Looker(unknowing)
        await ignorant.look()
        assert await records(ox) == []
        await Looker(knowing).look()
        [record] = await records(ox)
    assert (record.args, record.queue_name, record.priority) == (["night"], "low", -5)


async def test_a_schedule_whose_arguments_do_not_fit_fails_alone(ox: Oxpull, url: str) -> None:
    path = f"{__name__}.note"
    entries = {"bad": {"task": path, "every": 60, "args": [1, 2, 3]}, "good": {"task": path, "every": 60}}
    async with Oxpull(url, schedules=entries) as opened:
        opened.task(note)
        looker = Looker(opened)
        await looker.look_at(START)
        await looker.look_at(START + MINUTE)
        assert await times(ox, "bad") == []
        assert await times(ox, "good") == minutes(1)
    [failed] = [event for event in looker.events if isinstance(event, ScheduleFailed)]
    assert failed.name == "bad"


async def test_old_ticks_are_pruned_in_bounded_steps_and_never_tick_again(looker: Looker) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=60, name="pruned", catch_up="all")
    await looker.look()
    await looker.look_at(START + 10 * MINUTE)

    async def prune(conn: Connection) -> int:
        return await prune_ticks(conn, 3600.0, 4)

    await put_clock(ox, START + 90 * MINUTE)
    assert [await repeat(ox.database, prune) for _ in range(4)] == [4, 4, 2, 0]
    await put_clock(ox, START + 10.2 * MINUTE)
    await looker.look()
    assert len(await records(ox)) == 10
    await looker.look_at(START + 11 * MINUTE)
    await put_clock(ox, START + timedelta(days=9))
    await ox.prune()
    assert await ticks(ox) == []


async def test_each_tick_of_many_schedules_is_enqueued_once_while_workers_die(url: str) -> None:
    figures = await schedules.each_tick_once(url, schedules.Days(schedules=20, hours=3, deaths=6))
    assert figures.tasks == figures.ticks > 100
    assert figures.deaths


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_G2_the_comparison_fails_where_a_tick_is_enqueued_twice_or_not_at_all(url: str) -> None:
    days = schedules.Days(schedules=4, hours=1, deaths=0)
    await schedules.each_tick_once(url, days)
    async with Oxpull(url) as ox:
        await schedules.agree(ox, days)
        await ox.task(schedules.report).enqueue(0)
        with pytest.raises(AssertionError):
            await schedules.agree(ox, days)
