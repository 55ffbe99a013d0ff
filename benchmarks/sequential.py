"""One caller enqueues one task after the other, each in a transaction of its own."""

import time

from benchmarks.workload import Bench, Workload


async def sequential(bench: Bench) -> float:
    task, count = bench.task, bench.scale.single
    start = time.perf_counter()
    for number in range(count):
        await task.enqueue(number)
    return count / (time.perf_counter() - start)


WORKLOADS = (Workload("enqueue, one caller", "tasks/s", sequential),)
