"""Declared schedules and their rows, when connections break, others are faster, and fleets are mixed."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import pytest
import pytest_asyncio

from oxpull_async import Oxpull
from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import ConnectionLost, LockTimeout
from oxpull_async.domain.events import ScheduleFailed
from oxpull_async.runtime import scheduler
from oxpull_async.runtime.repeat import repeat
from tests.fixtures.faulty import Fault, FaultyDatabase
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


@pytest.mark.parametrize("committed", [False, True])
async def test_a_declaration_whose_connection_broke_is_brought_at_the_next_look(
    looker: Looker, committed: bool
) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=600, name="cut")
    cut = Looker(ox, over=FaultyDatabase(ox.database, Fault("insert_schedule", committed=committed)))
    with pytest.raises(ConnectionLost):
        await cut.look()
    await cut.look()
    await cut.look_at(START + 10 * MINUTE)
    assert await times(ox, "cut") == minutes(10)


async def test_a_retiming_that_a_tick_has_overtaken_is_brought_at_the_next_look(looker: Looker, url: str) -> None:
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=600, name="moved")
    await looker.look()
    async with Oxpull(url) as newer:
        newer.schedule(newer.task(note).call(), every=1200, name="moved")
        await put_clock(newer, START + 10 * MINUTE)
        overtaken, fired = Looker(newer), list[float | None]()

        async def operate[T](operation: Callable[[Connection], Awaitable[T]]) -> T:
            answer = await repeat(newer.database, operation)
            if not fired:  # the rows have been read that the declaration is compared with
                fired.append(await looker.look_at(START + 10 * MINUTE))
            return answer

        overtaken.passing.operate = operate
        await overtaken.passing.look()
        assert [row.ticking.timing.every for row in await newer.list_schedules()] == [600.0]
        await overtaken.passing.look()
        assert [row.ticking.timing.every for row in await newer.list_schedules()] == [1200.0]


async def test_a_schedule_that_only_workers_declared_who_are_gone_is_declared_anew_by_those_who_are_there(
    looker: Looker, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "LEFT_ALONE", 0.0)
    ox = looker.ox
    ox.schedule(ox.task(note).call(), every=600, name="moved")
    await looker.look()
    async with Oxpull(url) as gone:
        gone.schedule(gone.task(note).call(), every=60, name="moved")
        await put_clock(gone, START)
        await Looker(gone).look()
    await put_clock(ox, START + 2 * MINUTE)
    await looker.passing.look()
    assert [row.ticking.timing.every for row in await ox.list_schedules()] == [60.0]
    await put_clock(ox, START + 7 * MINUTE)
    for _ in range(2):
        await looker.passing.look()
    assert [row.ticking.timing.every for row in await ox.list_schedules()] == [600.0]
    await looker.look_at(START + 10 * MINUTE)
    assert await times(ox, "moved") == minutes(10)


async def test_a_tick_whose_unique_key_is_held_by_an_open_transaction_comes_seconds_later(
    looker: Looker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "LEFT_TO_OTHERS", 0.0)
    ox = looker.ox
    ox.schedule(ox.task(unique=True)(note).call(), every=600, name="held", catch_up="skip")
    await looker.look()
    await put_clock(ox, START + 10 * MINUTE)
    held = Looker(ox, over=FaultyDatabase(ox.database, Fault("insert_ticks", committed=False, error=LockTimeout)))
    await held.passing.look()
    assert [type(event) for event in held.events] == [ScheduleFailed]
    assert await records(ox) == []
    await held.look()
    assert await times(ox, "held") == minutes(10)
