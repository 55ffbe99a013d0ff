"""An idle worker in another process picks up single tasks: from enqueue to claim, by the database's clock."""

import asyncio
import random
from statistics import median, quantiles
from typing import TYPE_CHECKING

from benchmarks.fleet import until_done, workers
from benchmarks.workload import Bench, Workload

if TYPE_CHECKING:
    from oxpull_async import TaskResult

LONGEST_PAUSE = 0.1


async def pick_ups(bench: Bench) -> list[float]:
    """Give the milliseconds that each of a number of single tasks waited."""
    results: list[TaskResult[object]] = []
    async with workers(bench, processes=1, concurrency=100):
        for number in range(bench.scale.pick_ups):
            results.append(await bench.task.enqueue(number))
            await asyncio.sleep(random.uniform(0, LONGEST_PAUSE))
        await until_done(bench, len(results))
    waits = []
    for result in results:
        await result.refresh()
        assert result.started_at is not None
        waits.append((result.started_at - result.enqueued_at).total_seconds() * 1000)
    return waits


async def median_pick_up(bench: Bench) -> float:
    return median(await pick_ups(bench))


async def late_pick_up(bench: Bench) -> float:
    return quantiles(await pick_ups(bench), n=20)[-1]


WORKLOADS = (
    Workload("pick-up, median", "ms", median_pick_up),
    Workload("pick-up, 95 of 100", "ms", late_pick_up),
)
