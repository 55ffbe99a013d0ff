"""What an idle worker costs, all its loops together: statements a minute and its share of a processor."""

import asyncio
import time

from benchmarks.workload import Bench, Workload
from oxpull_async import Oxpull, Worker
from tests.fixtures.counted import CountedDatabase

LONGEST_SETTLING = 15.0


async def _idle(bench: Bench) -> tuple[float, float]:
    """Give the statements a minute and the share of a processor of a worker that has had nothing to do for a while."""
    async with Oxpull(bench.url) as ox:
        ox.database = database = CountedDatabase.around(ox.database)
        worker = asyncio.create_task(Worker(ox).run())
        await asyncio.sleep(min(LONGEST_SETTLING, bench.scale.idle_seconds))
        before, used, start = len(database.sent), time.process_time(), time.perf_counter()
        await asyncio.sleep(bench.scale.idle_seconds)
        took = time.perf_counter() - start
        answer = (len(database.sent) - before) * 60 / took, (time.process_time() - used) / took * 100
        worker.cancel()
        await asyncio.wait([worker])
        return answer


async def statements(bench: Bench) -> float:
    return (await _idle(bench))[0]


async def processor(bench: Bench) -> float:
    return (await _idle(bench))[1]


WORKLOADS = (
    Workload("idle worker, statements", "a minute", statements),
    Workload("idle worker, processor", "%", processor),
)
