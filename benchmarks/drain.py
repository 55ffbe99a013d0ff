"""Worker processes drain a backlog of coroutines that do nothing, results stored.

From the first claim to the last outcome by the database's clock, so the start of the processes does not count.
"""

from functools import partial

from benchmarks.fleet import until_done, workers
from benchmarks.workload import Bench, Workload
from oxpull_async.domain.record import instant

FINEST = 0.001
QUEUE = "default"
SPAN = "SELECT min(started_at), max(finished_at) FROM oxpull_task WHERE status = 'SUCCESSFUL'"
NEWEST = (
    "SELECT min(started_at), max(finished_at) FROM (SELECT started_at, finished_at FROM oxpull_task "
    "WHERE status = 'SUCCESSFUL' AND started_at IS NOT NULL ORDER BY id DESC LIMIT {count}) AS newest"
)


async def drain(bench: Bench, processes: int, concurrency: int) -> float:
    await bench.ox.pause(QUEUE)
    async with workers(bench, processes, concurrency):
        return await drained(bench, bench.scale.drained, done=0)


async def drained(bench: Bench, count: int, *, done: int) -> float:
    """Enqueue so many tasks, let the workers have all that there are, and give their rate; `done` have ended before."""
    await bench.ox.pause(QUEUE)
    await bench.ox.enqueue_many([bench.task.call(number) for number in range(count)])
    await bench.ox.resume(QUEUE)
    await until_done(bench, done + count)
    return count / await span(bench, count)


async def span(bench: Bench, count: int | None = None) -> float:
    """Give the seconds from the first start to the last end, of the newest `count` tasks or of all that succeeded.

    At least a millisecond, the finest that every database tells.
    """
    async with bench.ox.transaction() as tx:
        [[first, last]] = await tx.fetch(SPAN if count is None else NEWEST.format(count=count))
    return max((instant(last) - instant(first)).total_seconds(), FINEST)


WORKLOADS = (
    Workload("drain, 1 process", "tasks/s", partial(drain, processes=1, concurrency=100)),
    Workload("drain, 1 process, concurrency 500", "tasks/s", partial(drain, processes=1, concurrency=500)),
    Workload("drain, 2 processes", "tasks/s", partial(drain, processes=2, concurrency=100)),
)
