"""Coroutines that wait for a tenth of a second, thousands of them at once in one worker process."""

from benchmarks.drain import QUEUE, span
from benchmarks.fleet import until_done, workers
from benchmarks.workload import Bench, Workload


async def naps(bench: Bench) -> float:
    count, nap = bench.scale.naps, bench.named("nap")
    await bench.ox.pause(QUEUE)
    await bench.ox.enqueue_many([nap.call(number) for number in range(count)])
    async with workers(bench, processes=1, concurrency=count):
        await bench.ox.resume(QUEUE)
        await until_done(bench, count)
    return count / await span(bench)


WORKLOADS = (Workload("coroutines of 100 ms", "tasks/s", naps),)
