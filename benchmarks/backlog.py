"""A drain beside many tasks that have ended, that are not due yet, or that outrank the others and are not due yet."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from benchmarks.claim import ENDED
from benchmarks.drain import QUEUE, drained
from benchmarks.fleet import workers
from benchmarks.workload import Bench, Workload

CHUNK = 10_000


async def beside(bench: Bench, fill: Callable[[Bench], Awaitable[int]]) -> float:
    """Give the rate as a share of the same drain's on an empty table, taken just before."""
    rates = []
    for filled in (empty, fill):
        done = await filled(bench)
        await bench.ox.pause(QUEUE)
        async with workers(bench, processes=1, concurrency=100):
            rates.append(await drained(bench, bench.scale.drained, done=done))
        await bench.empty()
    return rates[1] / rates[0]


async def empty(_: Bench) -> int:
    return 0


async def ended(bench: Bench) -> int:
    await _enqueue(bench, priority=0, days=0)
    async with bench.ox.transaction() as tx:
        await tx.execute(ENDED)
    return bench.scale.other_rows


async def deferred(bench: Bench, priority: int) -> int:
    await _enqueue(bench, priority, days=1)
    return 0


async def _enqueue(bench: Bench, priority: int, days: int) -> None:
    later = datetime.now(UTC) + timedelta(days=days) if days else None
    task, count = bench.task.using(priority=priority, run_after=later), bench.scale.other_rows
    for start in range(0, count, CHUNK):
        await bench.ox.enqueue_many(task.call(number) for number in range(start, min(start + CHUNK, count)))


WORKLOADS = (
    Workload("drain beside ended tasks", "of an empty table's", partial(beside, fill=ended)),
    Workload("drain beside deferred tasks", "of an empty table's", partial(beside, fill=partial(deferred, priority=0))),
    Workload(
        "drain beside deferred tasks that outrank it", "of an empty table's",
        partial(beside, fill=partial(deferred, priority=10)),
    ),
)  # fmt: skip
