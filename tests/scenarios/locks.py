"""Running locks: never more than the limit at once, and never in the way of tasks that are free."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from oxpull_async import RunningLock
from oxpull_async.domain.record import TaskStatus, instant
from tests.scenarios.looks import NOW, read
from tests.scenarios.mayhem import mayhem
from tests.scenarios.proof import Proof, proof
from tests.scenarios.slots import check_limits, end_of, make_table, most_at_once, slots, worker_leases
from tests.scenarios.stage import Stage, stage

if TYPE_CHECKING:
    from oxpull_async.app.task import Task

PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Limited:
    """How many slots of each key were held at once at most, by its limit, while workers were killed."""

    limits: tuple[int, ...]
    most_at_once: tuple[int, ...]
    keys_of_each_limit: int
    attempts: int
    cut_short: int
    workers_killed: int
    ran_past_a_lost_lease: int


@dataclass(frozen=True, slots=True)
class Crowd:
    """How many tasks of each key there are, how long they run, and the limits."""

    tasks: int
    keys: int
    seconds: float
    limits: tuple[int, ...] = (1, 3)

    @property
    def key_limits(self) -> dict[str, int]:
        """The limit of each key."""
        return {f"{limit}-{number}": limit for limit in self.limits for number in range(self.keys)}


async def never_more_than_the_limit(
    url: str, crowd: Crowd, *, kills: int, workers: int = 4, lease_seconds: float = 2.0, **environment: str
) -> Limited:
    """Run many tasks of few locks on workers that are killed at random; the ledger shows what ran at once."""
    limits = crowd.key_limits
    async with stage(url, lease_seconds=lease_seconds) as scene:
        await make_table(scene.ox)
        calls = [
            _locked(scene, "hold_slot", key, limit).call(key, crowd.seconds)
            for _ in range(crowd.tasks)
            for key, limit in limits.items()
        ]
        async with mayhem(scene, "--concurrency=100", workers=workers, kills=kills, **environment) as havoc:
            await scene.enqueue(calls)
            await scene.reached(TaskStatus.SUCCESSFUL, len(calls) * 3 // 4, within=_within(crowd, lease_seconds))
        await scene.reached(TaskStatus.SUCCESSFUL, len(calls), within=_within(crowd, lease_seconds))
        held, leases = await slots(scene.ox), await worker_leases(scene.ox)
        rows = await scene.records()
    lost = [slot for slot in held if slot.ended_at is None and slot.pid not in havoc.killed]
    errors = Counter(error.traceback for row in rows for error in row.errors)
    assert not lost, f"living workers left {lost} behind; errors: {errors}"
    check_limits(held, leases, limits)
    most = most_at_once(held, leases)
    assert havoc.killed, "no worker was killed"
    return Limited(
        crowd.limits,
        tuple(max(most[key] for key in limits if limits[key] == limit) for limit in crowd.limits),
        crowd.keys,
        sum(row.attempts for row in rows),
        sum(slot.ended_at is None for slot in held),
        len(havoc.killed),
        sum(slot.ended_at is not None and end_of(slot, leases) < slot.ended_at for slot in held),
    )


def _within(crowd: Crowd, lease_seconds: float) -> float:
    return crowd.tasks * (crowd.seconds + 0.2) + 4 * lease_seconds + PATIENCE


def _locked(scene: Stage, name: str, key: str, limit: int = 1) -> "Task[..., object]":
    return scene.task(name, max_attempts=10).using(running_lock=RunningLock(name=key, limit=limit))


@dataclass(frozen=True, slots=True)
class PastTheBlocked:
    """How free rows fared behind blocked ones, beside as many with nothing in front: the medians of all rounds.

    `parked` says how many of the blocked rows were parked when the last free row was claimed.
    """

    blocked_rows: int
    free_rows: int
    rounds: int
    seconds: float
    rate: int
    rate_without_the_blocked: int
    percent: int
    parked: int


async def past_the_blocked(
    url: str, *, blocked: int, free: int, rounds: int = 1, within: float | None = None, percent: int | None = None
) -> PastTheBlocked:
    """Put rows of one taken key at the head of the queue, and let one worker drain the free rows behind."""
    alone, behind = [], []
    for _ in range(rounds):
        alone.append(await _drained(url, free))
        behind.append(await _drained(url, free, blocked=blocked))
    without, seconds = median(drain.seconds for drain in alone), median(drain.seconds for drain in behind)
    share = round(100 * without / seconds)
    if within is not None:
        assert seconds <= within, f"{free} free rows behind {blocked} blocked ones took {seconds:.2f} s"
    if percent is not None:
        assert share >= percent, f"{free / seconds:.0f} rows/s, {free / without:.0f} without the blocked ones"
    parked = round(median(drain.parked for drain in behind))
    return PastTheBlocked(blocked, free, rounds, seconds, round(free / seconds), round(free / without), share, parked)


@dataclass(frozen=True, slots=True)
class Drain:
    """How long a worker took from the moment at which it might begin, and how many rows were parked at its end."""

    seconds: float
    parked: int


async def _drained(url: str, free: int, *, blocked: int = 0) -> Drain:
    """Drain free rows with one worker process, which ends when it has done so many."""
    async with stage(url, lease_seconds=30.0) as scene:
        task = scene.ox.remote("benchmarks.app.nothing")
        lock = RunningLock(name="taken")
        if blocked:
            scene.fleet.start("--concurrency=1", "--queues=held")
            await scene.enqueue([scene.task("long").using(running_lock=lock, queue_name="held").call(0)])
            await scene.noted("began", 1)
        await scene.ox.pause("default")
        await scene.enqueue([task.using(running_lock=lock).call(number) for number in range(blocked)])
        await scene.enqueue([task.call(number) for number in range(free)])
        options = ("--concurrency=100", "--queues=default", f"--max-tasks={free}")
        worker = scene.fleet.start(*options, app="benchmarks.app:ox")
        await worker.logged("started")
        begun = await _now(scene)
        await scene.ox.resume("default")
        await worker.ended(within=PATIENCE)
        parked = sum(queue.waiting for queue in await scene.ox.stats())
        async with scene.ox.database.connection() as conn:
            [[done, last]] = await read(
                conn, "SELECT count(*), max(finished_at) FROM oxpull_task WHERE status = 'SUCCESSFUL'"
            )
        assert done == free
        await _clear(scene)
    return Drain((instant(last) - begun) / timedelta(seconds=1), parked)


async def _now(scene: Stage) -> datetime:
    async with scene.ox.database.connection() as conn:
        [[now]] = await read(conn, f"SELECT {NOW[conn.dialect.name]}")
    return instant(now)


async def _clear(scene: Stage) -> None:
    async with scene.ox.transaction() as tx:
        await tx.execute("DELETE FROM oxpull_task")


@dataclass(frozen=True, slots=True)
class HandedOver:
    """By how many milliseconds a waiter's start came after the end of who held its lock, by the database's clock."""

    hand_overs: int
    median_ms: float
    latest_ms: float


async def handed_over(url: str, *, tasks: int, median_ms: float | None = None) -> HandedOver:
    """Let tasks of one lock wait for each other on two idle workers, and compare the stored instants."""
    async with stage(url, lease_seconds=10.0) as scene:
        for _ in range(2):
            await scene.fleet.start("--concurrency=10").logged("started")
        await scene.enqueue([_locked(scene, "effect", "one").call(number, 0.02) for number in range(tasks)])
        await scene.reached(TaskStatus.SUCCESSFUL, tasks, within=tasks * 0.5 + PATIENCE)
        rows = await scene.records()
    runs = sorted((row.last_attempted_at, row.finished_at) for row in rows if row.last_attempted_at and row.finished_at)
    assert len(runs) == tasks
    gaps = sorted((begun - ended) / timedelta(milliseconds=1) for (_, ended), (begun, _) in pairwise(runs))
    assert gaps[0] >= 0, "two tasks of one lock ran at once"
    middle = gaps[len(gaps) // 2]
    if median_ms is not None:
        assert middle < median_ms, f"the median hand-over took {middle:.1f} ms"
    return HandedOver(len(gaps), middle, gaps[-1])


CROWD = Crowd(tasks=100, keys=20, seconds=0.1)
POSTGRES, OTHERS = ("postgres",), ("mysql", "sqlite")
ONE_THOUSAND = partial(past_the_blocked, blocked=20_000, free=1_000)
TEN_THOUSAND = partial(past_the_blocked, blocked=20_000, free=10_000, rounds=5)
HAND_OVER = partial(handed_over, tasks=200)
PROOFS: list[Proof] = [
    proof(
        "running locks of limit 1 and 3 while workers are killed",
        "B2, G2",
        partial(never_more_than_the_limit, crowd=CROWD, kills=10, lease_seconds=5.0),
    ),
    proof(
        "1,000 free rows behind 20,000 of a taken lock, within 1 s", "B1", partial(ONE_THOUSAND, within=1.0), POSTGRES
    ),
    proof("1,000 free rows behind 20,000 of a taken lock", "B1", ONE_THOUSAND, OTHERS),
    proof(
        "10,000 free rows behind 20,000 of a taken lock, at 80 % of the rate without them",
        "B1",
        partial(TEN_THOUSAND, percent=80),
        POSTGRES,
    ),
    proof("10,000 free rows behind 20,000 of a taken lock", "B1", TEN_THOUSAND, OTHERS),
    proof(
        "a running lock is handed on, in the median within 50 ms", "B1", partial(HAND_OVER, median_ms=50.0), POSTGRES
    ),
    proof("a running lock is handed on", "B1", HAND_OVER, OTHERS),
]
