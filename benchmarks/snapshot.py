"""Tasks flow through while an idle transaction holds a snapshot, so that the database can clean nothing up."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from benchmarks.drain import drained
from benchmarks.fleet import workers
from benchmarks.workload import Bench, Workload
from oxpull_async.db.contract import Connection

TENTHS = 10
LEVEL = "SET SESSION TRANSACTION ISOLATION LEVEL"
BEGIN = {
    "postgres": ("BEGIN ISOLATION LEVEL REPEATABLE READ",),
    "mysql": (f"{LEVEL} REPEATABLE READ", "START TRANSACTION"),
    "sqlite": ("BEGIN",),
}
AFTER = {"mysql": (f"{LEVEL} READ COMMITTED",)}


async def flow(bench: Bench) -> float:
    """Give the last tenth's rate as a share of the first tenth's."""
    each = bench.scale.flowing // TENTHS
    async with AsyncExitStack() as stack:
        conn = await stack.enter_async_context(bench.ox.database.connection())
        await stack.enter_async_context(workers(bench, processes=1, concurrency=100))
        await drained(bench, each, done=0)
        await stack.enter_async_context(reading(conn))
        rates = [await drained(bench, each, done=each * (number + 1)) for number in range(TENTHS)]
    return rates[-1] / rates[0]


@asynccontextmanager
async def reading(conn: Connection) -> AsyncIterator[None]:
    """Hold a transaction that has read, and does nothing more."""
    for sql in (*BEGIN[conn.dialect.name], "SELECT count(*) FROM oxpull_task"):
        await conn.run_script(sql)
    try:
        yield
    finally:
        await conn.run_script("ROLLBACK")
        for sql in AFTER.get(conn.dialect.name, ()):
            await conn.run_script(sql)


WORKLOADS = (Workload("last tenth of a flow beside a held snapshot", "of the first", flow),)
