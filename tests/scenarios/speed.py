"""How fast one worker process drains tasks that do nothing: the first bar."""

import asyncio
from dataclasses import dataclass
from functools import partial

from benchmarks.drain import drain
from benchmarks.workload import Bench, Scale
from oxpull_async import Oxpull
from tests.scenarios.proof import Proof

BARS = {"postgres": 10_000, "mysql": 4_000, "sqlite": 10_000}


@dataclass(frozen=True, slots=True)
class Drained:
    """How many tasks a second one process ran, by the database's clock: the best run, and every run."""

    tasks: int
    concurrency: int
    bar: int
    best: int
    runs: tuple[int, ...]


async def drained(url: str, *, tasks: int, concurrency: int, runs: int) -> Drained:
    """Drain a backlog of no-op coroutines with one worker process, several times; the best run must reach the bar."""
    async with Oxpull(url) as ox:
        await ox.migrate()
        bench = Bench(ox, url, Scale(drained=tasks))
        rates = []
        for _ in range(runs):
            rates.append(round(await drain(bench, processes=1, concurrency=concurrency)))
            await bench.empty()
        bar = BARS[ox.database.dialect.name]
    assert max(rates) >= bar, f"{rates} tasks/s, {bar} are promised"
    return Drained(tasks, concurrency, bar, max(rates), tuple(rates))


def _run(url: str) -> Drained:
    return asyncio.run(partial(drained, tasks=20_000, concurrency=500, runs=3)(url))


PROOFS: list[Proof] = [Proof("one worker process drains 20,000 no-op coroutines", "speed", _run, alone=True)]
