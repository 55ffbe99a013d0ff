"""Claims of 100 tasks from a table that is empty otherwise, full of ended tasks, or full of tasks not due yet."""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import uuid_utils

from benchmarks.workload import Bench, Workload
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.lease import WorkerCard, register, remove

AT_ONCE = 100
SHARE = 10
ENDED = "UPDATE oxpull_task SET status = 'SUCCESSFUL', due = NULL, finished_at = enqueued_at"

type Fill = Callable[[Bench], Awaitable[None]]


async def claims(bench: Bench, fill: Fill) -> float:
    await fill(bench)
    count, worker_id = bench.scale.claims * AT_ONCE, str(uuid_utils.uuid7())
    await bench.ox.enqueue_many([bench.task.call(number) for number in range(count)])
    card = WorkerCard(worker_id, bench.ox.settings.alias, "bench", 0, None, AT_ONCE, 3600.0)
    async with bench.ox.database.connection() as conn:
        await register(conn, card)
        request = ClaimRequest(worker_id, bench.ox.settings.alias, ("default",), AT_ONCE)
        start = time.perf_counter()
        taken = sum([len(await claim(conn, request)) for _ in range(bench.scale.claims)])
        took = time.perf_counter() - start
        await remove(conn, worker_id)
    assert taken == count, f"{taken} of {count} tasks were claimed"
    return count / took


async def nothing_else(bench: Bench) -> None:
    """Leave the table as it is."""


async def ended(bench: Bench) -> None:
    """Fill the table with tasks that have ended."""
    await bench.ox.enqueue_many(bench.task.call(number) for number in range(bench.scale.other_rows // SHARE))
    async with bench.ox.transaction() as tx:
        await tx.execute(ENDED)


async def deferred(bench: Bench) -> None:
    """Fill the table with tasks of every priority that are not due before tomorrow."""
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    tasks = [bench.task.using(priority=priority, run_after=tomorrow) for priority in range(-100, 101)]
    await bench.ox.enqueue_many(
        tasks[number % len(tasks)].call(number) for number in range(bench.scale.other_rows // SHARE)
    )


WORKLOADS = (
    Workload("claim", "tasks/s", partial(claims, fill=nothing_else)),
    Workload("claim beside ended tasks", "tasks/s", partial(claims, fill=ended)),
    Workload("claim beside deferred tasks", "tasks/s", partial(claims, fill=deferred)),
)
