"""Schedules over a simulated time: each tick once, by workers that look at once and that die between tick and task."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from oxpull_async import Oxpull
from oxpull_async.domain.errors import ConnectionLost
from oxpull_async.domain.schedule import ScheduleKeywords, StoredSchedule
from tests.fixtures.faulty import Fault, FaultyDatabase
from tests.fixtures.ticking import START, Looker, put_clock, records, ticks
from tests.scenarios.proof import Proof, proof

ZONES = ("Europe/Paris", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata", "UTC")


async def report(number: int) -> int:
    """Do nothing: no worker runs it."""
    return number


@dataclass(frozen=True, slots=True)
class Simulated:
    """How many ticks came over how many simulated hours, and how often a worker died while it looked."""

    schedules: int
    hours: int
    workers: int
    ticks: int
    tasks: int
    deaths: int


@dataclass(frozen=True, slots=True)
class Days:
    """How many schedules tick for how long, how far the clock goes at a time, and how many workers look."""

    schedules: int
    hours: int
    step: timedelta = timedelta(minutes=10)
    workers: int = 3
    deaths: int = 20
    seed: int = 1


async def each_tick_once(url: str, days: Days) -> Simulated:
    """Move the clock on and let all workers look at once; at the end every tick has its one task."""
    rng = random.Random(days.seed)
    async with AsyncExitStack() as opened:
        workers = [await opened.enter_async_context(Oxpull(url)) for _ in range(days.workers)]
        await workers[0].migrate()
        for ox in workers:
            declare(ox, days.schedules)
            await put_clock(ox, START)
        await store(workers[0], days.schedules)
        lookers = [Looker(ox) for ox in workers]
        await asyncio.gather(*(one.look() for one in lookers))
        deaths = await _pass_time(workers, lookers, days, rng)
        await agree(workers[0], days)
        noted, made = await ticks(workers[0]), await records(workers[0])
    return Simulated(days.schedules, days.hours, days.workers, len(noted), len(made), deaths)


def declare(ox: Oxpull, count: int) -> None:
    """Declare half of the schedules on an Oxpull."""
    task = ox.task(report)
    for number in range(0, count, 2):
        ox.schedule(task.call(number), name=f"schedule {number}", **keywords(number))


async def store(ox: Oxpull, count: int) -> None:
    """Store the other half as rows."""
    task = ox.task(report)
    for number in range(1, count, 2):
        await ox.create_schedule(f"schedule {number}", task.call(number), **keywords(number))


def keywords(number: int) -> ScheduleKeywords:
    """Mix intervals and cron, zones and what to do in the repeated hour."""
    rng = random.Random(number)
    zone = rng.choice(ZONES)
    if rng.random() < 0.5:
        return {"every": rng.choice((240, 600, 900, 1801.5, 3600, 7200)), "tz": zone, "catch_up": "all"}
    minute, hour = rng.randrange(60), rng.randrange(24)
    cron = rng.choice((f"{minute} * * * *", f"{minute} {hour} * * *", "*/10 * * * *", f"*/30 {hour},*/6 * * *"))
    return {"cron": cron, "tz": zone, "catch_up": "all", "repeated_hour": rng.choice(("once", "twice"))}


async def _pass_time(workers: Sequence[Oxpull], lookers: Sequence[Looker], days: Days, rng: random.Random) -> int:
    """Let the workers look at every step, some of them over a connection that breaks before the task is stored."""
    steps = int(timedelta(hours=days.hours) / days.step)
    chosen = set(rng.sample(range(1, steps), min(days.deaths, steps - 1)))
    deaths = 0
    for step in range(1, steps + 1):
        moment = START + step * days.step
        for ox in workers:
            await put_clock(ox, moment)
        if step in chosen:
            deaths += await _die(workers[-1], rng)
        await asyncio.gather(*(one.look() for one in lookers))
    return deaths


async def _die(ox: Oxpull, rng: random.Random) -> int:
    fault = Fault(rng.choice(("insert_ticks", "insert_plain_task", "pass_ticks")), committed=rng.random() < 0.5)
    dying = Looker(ox, over=FaultyDatabase(ox.database, fault))
    with suppress(ConnectionLost):
        await dying.look()
    return fault.happened


async def agree(ox: Oxpull, days: Days) -> None:
    """Compare what was noted and enqueued with the ticks that there should have been."""
    until = START + timedelta(hours=days.hours)
    expected = {
        (schedule.name, moment) for schedule in await ox.list_schedules() for moment in _expected(schedule, until)
    }
    noted, made = await ticks(ox), await records(ox)
    counted = Counter((name, moment) for name, moment, _ in noted)
    assert set(counted) == expected, f"missing {sorted(expected - set(counted))[:5]}, extra {set(counted) - expected}"
    assert len({task for _, _, task in noted}) == len(noted), "two ticks have one task, or none"
    assert {task for _, _, task in noted} == {record.id.replace("-", "") for record in made}
    by_schedule = Counter(name for name, _, _ in noted)
    by_argument: Counter[str] = Counter(f"schedule {record.args[0]}" for record in made)
    assert by_schedule == by_argument


def _expected(schedule: StoredSchedule, until: datetime) -> list[datetime]:
    found: list[datetime] = []
    tick: Any = schedule.ticking.timing.after(schedule.starts_at)
    while tick is not None and tick <= until:
        found.append(tick)
        tick = schedule.ticking.timing.after(tick)
    return found


PROOFS: list[Proof] = [
    proof(
        "200 schedules tick once each for 24 simulated hours, with 3 workers that look at once and die at times",
        "D6",
        partial(each_tick_once, days=Days(schedules=200, hours=24)),
    ),
]
