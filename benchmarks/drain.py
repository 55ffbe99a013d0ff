"""Worker processes drain a backlog of coroutines that do nothing, results stored.

From the first claim to the last outcome by the database's clock, so the start of the processes does not count.
"""

from functools import partial

from benchmarks.fleet import until_done, workers
from benchmarks.workload import Bench, Workload
from oxpull_async.domain.record import instant

QUEUE = "default"
SPAN = "SELECT min(started_at), max(finished_at) FROM oxpull_task WHERE status = 'SUCCESSFUL'"


async def drain(bench: Bench, processes: int, concurrency: int) -> float:
    count = bench.scale.drained
    await bench.ox.pause(QUEUE)
    await bench.ox.enqueue_many([bench.task.call(number) for number in range(count)])
    async with workers(bench, processes, concurrency):
        await bench.ox.resume(QUEUE)
        await until_done(bench, count)
    async with bench.ox.transaction() as tx:
        [[first, last]] = await tx.fetch(SPAN)
    return count / (instant(last) - instant(first)).total_seconds()


WORKLOADS = (
    Workload("drain, 1 process", "tasks/s", partial(drain, processes=1, concurrency=100)),
    Workload("drain, 1 process, concurrency 500", "tasks/s", partial(drain, processes=1, concurrency=500)),
    Workload("drain, 2 processes", "tasks/s", partial(drain, processes=2, concurrency=100)),
)
