"""Many tasks in one call of `enqueue_many`, and so in one transaction."""

import time

from benchmarks.workload import Bench, Workload


async def bulk(bench: Bench) -> float:
    calls = [bench.task.call(number) for number in range(bench.scale.bulk)]
    start = time.perf_counter()
    await bench.ox.enqueue_many(calls)
    return len(calls) / (time.perf_counter() - start)


WORKLOADS = (Workload("enqueue_many", "tasks/s", bulk),)
