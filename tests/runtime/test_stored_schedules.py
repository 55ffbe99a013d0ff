"""Stored schedules on each database, and what is refused of any schedule."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from oxpull_async import Oxpull
from oxpull_async.domain.errors import ScheduleDoesNotExist, ScheduleExists, UsageError
from oxpull_async.domain.events import ScheduleFailed
from tests.fixtures.ticking import START, Looker, minutes, put_clock, records, times

pytestmark = pytest.mark.asyncio
MINUTE = timedelta(minutes=1)


async def note(word: str = "tick") -> str:
    return word


@pytest_asyncio.fixture
async def looker(ox: Oxpull) -> AsyncIterator[Looker]:
    """Look at the schedules of `ox`, whose clock stands at START."""
    await put_clock(ox, START)
    yield Looker(ox)


async def test_stored_schedules_are_created_changed_paused_and_deleted(looker: Looker) -> None:
    ox = looker.ox
    task = ox.task(note)
    stored = await ox.create_schedule("reports", task.using(priority=7).call("a"), every=600)
    assert (stored.priority, stored.queue_name, stored.args, stored.declared) == (7, None, '["a"]', False)
    with pytest.raises(ScheduleExists):
        await ox.create_schedule("reports", task.call(), every=600)
    await looker.look_at(START + 10 * MINUTE)
    assert await ox.pause_schedule("reports")
    assert not await ox.pause_schedule("reports")
    await looker.look_at(START + 20 * MINUTE)
    assert await ox.resume_schedule("reports")
    assert not await ox.resume_schedule("reports")
    await looker.look_at(START + 29 * MINUTE)
    assert await times(ox, "reports") == minutes(10)
    renamed = await ox.update_schedule("reports", name="accounts", call=task.call("b"))
    assert (renamed.name, renamed.id, renamed.priority) == ("accounts", stored.id, None)
    await looker.look_at(START + 30 * MINUTE)
    assert [record.args for record in await records(ox)] == [["a"], ["b"]]
    retimed = await ox.update_schedule("accounts", cron="0 * * * *", tz="Asia/Kolkata")
    assert retimed.ticking.timing.every is None
    assert retimed.next_at == START + 90 * MINUTE
    assert await ox.delete_schedule("accounts")
    with pytest.raises(ScheduleDoesNotExist):
        await ox.get_schedule("accounts")


async def test_a_stored_schedule_begins_and_ends_when_it_says(looker: Looker) -> None:
    ox = looker.ox
    await ox.create_schedule(
        "season", ox.task(note).call(), every=600, catch_up="all",
        starts_at=START + 20 * MINUTE, ends_at=START + 40 * MINUTE,
    )  # fmt: skip
    await looker.look_at(START + 25 * MINUTE)
    assert await times(ox, "season") == []
    await looker.look_at(START + 65 * MINUTE)
    assert await times(ox, "season") == minutes(30, 40)
    assert (await ox.get_schedule("season")).next_at is None


async def test_a_tick_missed_since_a_stored_schedule_was_created_is_caught_up(looker: Looker) -> None:
    ox = looker.ox
    await ox.create_schedule("later", ox.task(note).call(), every=600)
    await looker.look_at(START + 14 * MINUTE)
    assert await times(ox, "later") == minutes(10)


async def test_a_declared_schedule_can_be_paused_and_is_not_changed(looker: Looker) -> None:
    ox = looker.ox
    task = ox.task(note)
    ox.schedule(task.call(), every=600, name="declared")
    await looker.look()
    assert await ox.pause_schedule("declared")
    await looker.look_at(START + 15 * MINUTE)
    assert await times(ox, "declared") == []
    with pytest.raises(UsageError, match="change it there"):
        await ox.update_schedule("declared", every=60)
    with pytest.raises(ScheduleExists):
        await ox.create_schedule("declared", task.call(), every=60)


async def test_a_stored_schedule_keeps_the_name_from_a_declared_one(looker: Looker, url: str) -> None:
    ox = looker.ox
    await ox.create_schedule("taken", ox.task(note).call(), every=600)
    async with Oxpull(url) as newer:
        newer.schedule(newer.task(note).call(), every=60, name="taken")
        second = Looker(newer)
        await second.look_at(START + 5 * MINUTE)
        assert [type(event) for event in second.events] == [ScheduleFailed]
    assert not (await ox.get_schedule("taken")).declared


async def test_a_schedule_is_not_renamed_to_the_name_of_another_stored_or_declared(looker: Looker) -> None:
    ox = looker.ox
    task = ox.task(note)
    ox.schedule(task.call(), every=600, name="declared")
    for name in ("first", "second"):
        await ox.create_schedule(name, task.call(), every=600)
    for taken in ("second", "declared"):
        with pytest.raises(ScheduleExists, match=taken):
            await ox.update_schedule("first", name=taken)
    assert {row.name for row in await ox.list_schedules()} == {"first", "second"}


async def test_of_two_schedules_that_are_given_one_name_at_once_one_is_told_that_it_is_taken(
    looker: Looker,
) -> None:
    ox = looker.ox
    task = ox.task(note)
    for number in range(5):
        names = [f"first {number}", f"second {number}"]
        for name in names:
            await ox.create_schedule(name, task.call(), every=600)
        answers = await asyncio.gather(
            *(ox.update_schedule(name, name=f"both {number}") for name in names), return_exceptions=True
        )
        refused = [answer for answer in answers if isinstance(answer, BaseException)]
        assert [type(one) for one in refused] == [ScheduleExists]


async def test_a_schedule_runs_once_now_when_somebody_asks_and_its_ticks_stay(looker: Looker, url: str) -> None:
    ox = looker.ox
    task = ox.task(note)
    ox.schedule(task.call("declared"), every=600, name="declared")
    await ox.create_schedule("stored", task.using(priority=3).call("stored"), every=600, paused=True)
    await looker.look()
    results = [await ox.run_schedule(name) for name in ("declared", "stored")]
    assert [(result.args, result.priority) for result in results] == [(["declared"], 0), (["stored"], 3)]
    assert await times(ox, "declared") == await times(ox, "stored") == []
    async with Oxpull(url) as elsewhere:
        assert (await elsewhere.run_schedule("stored")).args == ["stored"]
        with pytest.raises(UsageError, match="not loaded here"):
            await elsewhere.run_schedule("declared")
        with pytest.raises(ScheduleDoesNotExist):
            await elsewhere.run_schedule("absent")
    await looker.look_at(START + 10 * MINUTE)
    assert await times(ox, "declared") == minutes(10)


async def test_a_schedule_is_created_in_the_callers_transaction(looker: Looker) -> None:
    ox = looker.ox
    task = ox.task(note)

    async def create_and_fail() -> None:
        async with ox.transaction():
            await ox.create_schedule("gone", task.call(), every=60)
            raise LookupError

    with pytest.raises(LookupError):
        await create_and_fail()
    assert await ox.list_schedules() == []


@pytest.mark.parametrize(
    ("keywords", "word"),
    [
        ({}, "either cron or every"), ({"every": 60, "catch_up": "some"}, "catch_up"),
        ({"every": 60, "overlap": "no"}, "overlap"), ({"every": 60, "max_age": -1}, "max_age"),
        ({"every": 60, "name": ""}, "name"), ({"every": 60, "name": "x" * 129}, "name"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_wrong_schedule_is_refused_where_it_is_declared(ox: Oxpull, keywords: Any, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        ox.schedule(ox.task(note).call(), **keywords)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_two_schedules_of_one_name_and_arguments_that_do_not_fit_are_refused(ox: Oxpull) -> None:
    task = ox.task(note)
    ox.schedule(task.call(), every=60, name="one")
    ox.schedule(task.call(), every=60, name="one")
    with pytest.raises(UsageError, match="two schedules"):
        ox.schedule(task.call(), every=61, name="one")
    with pytest.raises(UsageError, match="run_after"):
        ox.schedule(task.using(run_after=START).call(), every=60, name="late")
    with pytest.raises(TypeError, match="did you mean 'every'"):
        ox.schedule(task.call(), evry=60)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="keeps queue_name and priority only"):
        await ox.create_schedule("x", task.using(max_attempts=9).call(), every=60)


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ({"every": 5}, "task="), ({"task": "a.b", "evry": 5}, "'every' meant"), ({"task": "a.b"}, "either"),
        ({"task": "a.b", "every": 5, "args": "x"}, "args"), ({"task": "a.b", "every": 5, "priority": 900}, "priority"),
        (5, "must be a dict"), ({"task": "nodots", "every": 5}, "dotted"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_wrong_entry_of_the_settings_is_refused_by_name(url: str, entry: Any, word: str) -> None:
    with pytest.raises(UsageError, match=f"'nightly'.*{word}"):
        Oxpull(url, schedules={"nightly": entry})
