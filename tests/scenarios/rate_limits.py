"""Rate limits: never more starts than allowed, hardly fewer, and never in the way of tasks that are free."""

import json
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from statistics import median
from typing import Any

from oxpull_async import Oxpull
from oxpull_async.app.task import Call
from oxpull_async.domain.record import TaskStatus, instant
from tests.fixtures.processes import LIMITS_VARIABLE
from tests.scenarios.looks import NOW, read
from tests.scenarios.mayhem import Kills, mayhem
from tests.scenarios.proof import EVERY_DATABASE, Proof, proof
from tests.scenarios.stage import APP, Stage, stage
from tests.scenarios.starts import BEGUN, Allowed, Starts, begun, check_bodies, copied_starts, copying_starts

PATIENCE = 60.0
LATE = 100_000
SECOND = 1_000_000
KILLING_SHARE = 0.75
BUSY_SHARE = 0.9
"""The share of all tasks up to which the rate is measured: behind them there is too little left to keep it up."""


@dataclass(frozen=True, slots=True)
class Load:
    """So many tasks of one limit."""

    tasks: int
    limit: int
    seconds: int = 1
    sliding: bool = False

    @property
    def declared(self) -> dict[str, dict[str, Any]]:
        """The limit as the settings have it."""
        tasks = [f"{APP}.limited"]
        return {"api": {"limit": self.limit, "per": self.seconds, "tasks": tasks, "sliding": self.sliding}}

    @property
    def allowed(self) -> Allowed:
        """The limit as the checker has it."""
        return Allowed(self.limit, self.seconds * SECOND, self.sliding)


@dataclass(frozen=True, slots=True)
class Kept:
    """What started while workers were killed, and when: `most_at_once` is the fullest window or interval.

    `percent` is the share of what was allowed, `latest_ms` the longest time from a start to its body's first line.
    """

    tasks: int
    limit: int
    most_at_once: int
    percent: int
    starts: int
    handed_back: int
    latest_ms: float
    workers_killed: int


async def never_more_than_the_limit(
    url: str, load: Load, *, kills: int, workers: int = 4, percent: int = 0, **environment: str
) -> Kept:
    """Run tasks of one limit on workers that are killed at random, and compare the copied starts with the limit.

    Half of them are enqueued by a process that declares the limit, and half by one that does not.
    """
    environment[LIMITS_VARIABLE] = json.dumps(load.declared)
    async with stage(url, lease_seconds=2.0) as scene, copying_starts(scene.ox):
        spread = _spread(load, kills)
        async with mayhem(scene, "--concurrency=100", workers=workers, kills=spread, **environment) as havoc:
            await _enqueue(scene, url, load)
            await scene.reached(TaskStatus.SUCCESSFUL, round(load.tasks * KILLING_SHARE), within=_within(load))
        await scene.reached(TaskStatus.SUCCESSFUL, load.tasks, within=_within(load))
        starts = await copied_starts(scene.ox)
        rows = await scene.records()
        bodies = begun(scene.fleet.ledger.counts(BEGUN))
    assert sum(row.attempts for row in rows) <= len(starts.kept), "the copies are incomplete"
    load.allowed.check(starts.kept)
    latest = check_bodies(bodies, starts, load.allowed, LATE)
    assert havoc.killed, "no worker was killed"
    share = round(100 * load.allowed.share(starts.kept[: round(load.tasks * BUSY_SHARE)]))
    assert share >= percent, f"only {share} % of what was allowed"
    return _kept(load, starts, share, latest, len(havoc.killed))


def _kept(load: Load, starts: Starts, share: int, latest: int, killed: int) -> Kept:
    most = load.allowed.most(start.at for start in starts.kept)
    handed_back = len(starts.returned)
    return Kept(load.tasks, load.limit, most, share, len(starts.kept), handed_back, latest / 1000, killed)


async def _enqueue(scene: Stage, url: str, load: Load) -> None:
    """Store the tasks, half of them set apart already."""
    half = load.tasks // 2
    await scene.enqueue([scene.task("limited", max_attempts=10).call(number) for number in range(half)])
    async with Oxpull(url, rate_limits=load.declared) as declaring:
        limited = declaring.remote(f"{APP}.limited", max_attempts=10)
        await declaring.enqueue_many([limited.call(number) for number in range(half, load.tasks)])


def _spread(load: Load, kills: int) -> Kills:
    """Spread the kills over the run, so that some workers live while others start."""
    longest = load.tasks * KILLING_SHARE / load.limit * load.seconds / (kills + 1)
    return Kills(kills, (0.3 * longest, longest))


def _within(load: Load) -> float:
    return load.tasks / load.limit * load.seconds + PATIENCE


@dataclass(frozen=True, slots=True)
class PastTheExhausted:
    """How free rows fared behind rows of an exhausted limit, beside as many with nothing in front: medians."""

    exhausted_rows: int
    free_rows: int
    rounds: int
    rate: int
    rate_without_the_exhausted: int
    percent: int


async def past_the_exhausted(
    url: str, *, exhausted: int, free: int, rounds: int, percent: int | None = None
) -> PastTheExhausted:
    """Put rows of an exhausted limit at the head of the queue, and let one worker drain the free rows behind.

    Half of the rounds without them come before, and half after, so that both meet the same machine.
    """
    limits = {"api": {"limit": 1, "per": int(timedelta(days=365).total_seconds()), "tasks": [f"{APP}.limited"]}}
    environment = {LIMITS_VARIABLE: json.dumps(limits)}
    async with stage(url, lease_seconds=30.0) as scene:
        before = [await _drained(scene, free, environment) for _ in range(rounds)]
        async with _exhausted(scene, url, limits, exhausted, environment):
            behind = [await _drained(scene, free, environment) for _ in range(2 * rounds)]
        after = [await _drained(scene, free, environment) for _ in range(rounds)]
    without, seconds = median(before + after), median(behind)
    share = round(100 * without / seconds)
    if percent is not None:
        assert share >= percent, f"{free / seconds:.0f} rows/s, {free / without:.0f} without the exhausted ones"
    return PastTheExhausted(exhausted, free, 2 * rounds, round(free / seconds), round(free / without), share)


@asynccontextmanager
async def _exhausted(
    scene: Stage, url: str, limits: dict[str, Any], count: int, environment: dict[str, str]
) -> AsyncIterator[None]:
    """Use the limit up, and keep so many more of its rows at the head of the queue for the block."""
    await scene.enqueue([scene.task("limited").call(0)])
    first = scene.fleet.start("--concurrency=1", **environment)
    await scene.reached(TaskStatus.SUCCESSFUL, 1, within=PATIENCE)
    first.send(signal.SIGTERM)
    await first.ended(within=PATIENCE)
    await _forget(scene)
    async with Oxpull(url, rate_limits=limits) as declaring:
        await _fill(declaring, [declaring.remote(f"{APP}.limited", priority=50).call(0)] * count)
    yield
    left = await scene.count(TaskStatus.READY)
    assert left == count, f"{count - left} rows of the exhausted limit started"
    await _forget(scene, "READY")


async def _fill(ox: Oxpull, calls: Sequence[Call[Any]], at_once: int = 20_000) -> None:
    for begin in range(0, len(calls), at_once):
        await ox.enqueue_many(calls[begin : begin + at_once])


async def _drained(scene: Stage, free: int, environment: dict[str, str]) -> float:
    """Drain free rows with one worker process, which ends when it has done so many; returns the seconds it took."""
    await scene.ox.pause("default")
    await scene.enqueue([scene.task("nothing").call(number) for number in range(free)])
    worker = scene.fleet.start("--concurrency=100", f"--max-tasks={free}", **environment)
    await worker.logged("started")
    async with scene.ox.database.connection() as conn:
        [[begun_at]] = await read(conn, f"SELECT {NOW[conn.dialect.name]}")
    await scene.ox.resume("default")
    await worker.ended(within=PATIENCE)
    async with scene.ox.database.connection() as conn:
        [[done, last]] = await read(
            conn, "SELECT count(*), max(finished_at) FROM oxpull_task WHERE status = 'SUCCESSFUL'"
        )
    assert done == free, f"{done} of {free} rows; the worker's log:\n{worker.log[-1500:]}"
    await _forget(scene)
    return (instant(last) - instant(begun_at)) / timedelta(seconds=1)


async def _forget(scene: Stage, status: str = "SUCCESSFUL") -> None:
    async with scene.ox.transaction() as tx:
        await tx.execute(f"DELETE FROM oxpull_task WHERE status = '{status}'")


FIFTY = Load(tasks=2_000, limit=50)
SLIDING = Load(tasks=2_000, limit=50, sliding=True)
BEHIND = partial(past_the_exhausted, exhausted=200_000, free=10_000, rounds=3)
_MEASURED = [
    proof(
        "50 starts a second over 4 workers that are killed, 95 % of them used: windows",
        "B3, B4, G2",
        partial(never_more_than_the_limit, load=FIFTY, kills=10, percent=95),
    ),
    proof(
        "50 starts a second over 4 workers that are killed, 95 % of them used: any one second",
        "B3, B4, G2",
        partial(never_more_than_the_limit, load=SLIDING, kills=10, percent=95),
    ),
    proof(
        "10,000 free rows behind 200,000 of an exhausted limit, at 80 % of the rate without them",
        "B6",
        partial(BEHIND, percent=80),
        EVERY_DATABASE,
    ),
]
PROOFS: list[Proof] = [replace(one, alone=True) for one in _MEASURED]
