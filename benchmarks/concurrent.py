"""Many callers of one process enqueue at once, as the requests of a web application do."""

import asyncio
import time

from benchmarks.workload import Bench, Workload


async def concurrent(bench: Bench) -> float:
    task, scale = bench.task, bench.scale
    each = max(scale.single // scale.callers, 1)

    async def caller(first: int) -> None:
        for number in range(each):
            await task.enqueue(first + number)

    start = time.perf_counter()
    await asyncio.gather(*[caller(number * each) for number in range(scale.callers)])
    return scale.callers * each / (time.perf_counter() - start)


WORKLOADS = (Workload("enqueue, 50 callers", "tasks/s", concurrent),)
