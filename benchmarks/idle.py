"""What an idle worker costs, all its loops together: statements a minute and its share of a processor."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from benchmarks.workload import Bench, Workload
from oxpull_async import Oxpull, Worker
from oxpull_async.db.contract import Connection, Row, Scalar
from tests.conformance.wrapper import Wrapper
from tests.fixtures.faulty import Fault, FaultyDatabase

LONGEST_SETTLING = 12.0


class Counter:
    statements = 0


class _Counting(Wrapper):
    def __init__(self, inner: Connection, counter: Counter) -> None:
        super().__init__(inner)
        self._counter = counter

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        self._counter.statements += 1
        return await super().fetch(statement, **values)

    async def fetchrow(self, statement: str, /, **values: Scalar) -> Row | None:
        self._counter.statements += 1
        return await super().fetchrow(statement, **values)

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        self._counter.statements += 1
        return await super().execute(statement, **values)


class _CountingDatabase(FaultyDatabase):
    counter: Counter

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        async with self.inner.connection() as conn:
            yield _Counting(conn, self.counter)

    def patient(self, seconds: float) -> "_CountingDatabase":
        return _counted(self.inner.patient(seconds), self.counter)


def _counted(inner: object, counter: Counter) -> _CountingDatabase:
    database = _CountingDatabase(inner, Fault("none", committed=False))  # type: ignore[arg-type]
    database.counter = counter
    return database


async def _idle(bench: Bench) -> tuple[float, float]:
    """Give the statements a minute and the share of a processor of a worker that has had nothing to do for a while."""
    async with Oxpull(bench.url) as ox:
        counter = Counter()
        ox.database = _counted(ox.database, counter)
        worker = asyncio.create_task(Worker(ox).run())
        await asyncio.sleep(min(LONGEST_SETTLING, bench.scale.idle_seconds))
        before, used, start = counter.statements, time.process_time(), time.perf_counter()
        await asyncio.sleep(bench.scale.idle_seconds)
        took = time.perf_counter() - start
        answer = (counter.statements - before) * 60 / took, (time.process_time() - used) / took * 100
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
