"""What it costs to be a member of a large batch, and to stand beside a backlog whose running lock is taken."""

from benchmarks.drain import QUEUE, drained, span
from benchmarks.fleet import until_done, workers
from benchmarks.workload import Bench, Workload
from oxpull_async import RunningLock

SMALL = 100


async def members(bench: Bench) -> float:
    """Give the time that members of one large batch take as a multiple of what those of many small ones take."""
    count = bench.scale.drained
    rates = []
    for size in (SMALL, count):
        await bench.ox.pause(QUEUE)
        for start in range(0, count, size):
            async with bench.ox.batch(f"batch {start}") as batch:
                await batch.add_many(bench.task.call(number) for number in range(start, min(start + size, count)))
        async with workers(bench, processes=1, concurrency=100):
            await bench.ox.resume(QUEUE)
            await until_done(bench, count)
        rates.append(count / await span(bench))
        await bench.empty()
    return rates[0] / rates[1]


async def behind_a_taken_lock(bench: Bench) -> float:
    """Give the rate of free tasks behind many of a taken key as a share of their rate alone."""
    locked = bench.named("hold").using(running_lock=RunningLock(name="taken"), priority=1)
    rates = []
    for blocked in (0, bench.scale.locked):
        async with workers(bench, processes=1, concurrency=100):
            await bench.ox.enqueue_many([locked.call(number) for number in range(blocked)])
            await bench.ox.pause(QUEUE)
            rates.append(await drained(bench, bench.scale.drained, done=0))
        await bench.empty()
    return rates[1] / rates[0]


WORKLOADS = (
    Workload("member of one large batch", "of a small one's time", members),
    Workload("drain behind a taken lock", "of the free rate", behind_a_taken_lock),
)
