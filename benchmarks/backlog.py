"""A drain beside many tasks that have ended, that are not due yet, or that outrank the others and are not due yet."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from benchmarks.claim import ENDED
from benchmarks.drain import QUEUE, span
from benchmarks.fleet import until_idle, workers
from benchmarks.workload import Bench, Workload

COPIED = (
    "backend_alias, task_path, queue_name, priority, {rank}, status, due, args, kwargs, run_after, available_at,"
    " enqueued_at, finished_at, attempts, max_attempts, epoch, begun, refunds, snoozes, worker_ids, errors,"
    " cancel_requested, reruns"
)
DIGITS = " UNION ALL ".join(f"SELECT {digit} AS n" for digit in range(10))
NUMBERS = "SELECT {number} AS n FROM {tables} WHERE {number} < {count}"
COPIES = "INSERT INTO oxpull_task (id, {copied}) SELECT {id}, {copied} FROM oxpull_task CROSS JOIN ({numbers}) AS made"
RANK = {"postgres": '"rank"', "mysql": "`rank`", "sqlite": '"rank"'}
ID = {
    "postgres": "lpad(to_hex(n), 32, '0')::uuid",
    "mysql": "LPAD(HEX(n), 32, '0')",
    "sqlite": "printf('%032x', n)",
}


async def beside(bench: Bench, fill: Callable[[Bench], Awaitable[None]]) -> float:
    """Give the rate as a share of the same drain's on an empty table, taken just before."""
    rates = []
    for filled in (empty, fill):
        await bench.ox.pause(QUEUE)
        await filled(bench)
        async with workers(bench, processes=1, concurrency=100):
            await bench.ox.enqueue_many([bench.task.call(number) for number in range(bench.scale.drained)])
            await bench.ox.resume(QUEUE)
            await until_idle(bench)
        rates.append(bench.scale.drained / await span(bench, bench.scale.drained))
        await bench.empty()
    return rates[1] / rates[0]


async def empty(_: Bench) -> None:
    """Leave the table as it is."""


async def ended(bench: Bench) -> None:
    await bench.ox.enqueue(bench.task, 0)
    async with bench.ox.transaction() as tx:
        await tx.execute(ENDED)
    await _copy(bench)


async def deferred(bench: Bench, priority: int) -> None:
    await bench.ox.enqueue(bench.task.using(priority=priority, run_after=datetime.now(UTC) + timedelta(days=1)), 0)
    await _copy(bench)


async def _copy(bench: Bench) -> None:
    """Store the one task that there is as often as the scale says, in one statement."""
    dialect, places = bench.ox.database.dialect.name, range(len(str(bench.scale.other_rows - 1)))
    number = " + ".join(f"d{place}.n * {10**place}" for place in places)
    tables = " CROSS JOIN ".join(f"({DIGITS}) AS d{place}" for place in places)
    numbers = NUMBERS.format(number=number, tables=tables, count=bench.scale.other_rows)
    copied = COPIED.format(rank=RANK[dialect])
    async with bench.ox.transaction() as tx:
        await tx.execute(COPIES.format(copied=copied, id=ID[dialect], numbers=numbers))


WORKLOADS = (
    Workload("drain beside ended tasks", "of an empty table's", partial(beside, fill=ended)),
    Workload("drain beside deferred tasks", "of an empty table's", partial(beside, fill=partial(deferred, priority=0))),
    Workload(
        "drain beside deferred tasks that outrank it", "of an empty table's",
        partial(beside, fill=partial(deferred, priority=10)),
    ),
)  # fmt: skip
