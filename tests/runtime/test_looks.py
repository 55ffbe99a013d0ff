"""A1: a look at what runs here falls anywhere among the steps of two claims, and takes back nothing they deliver."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any

import pytest

from oxpull_async import Oxpull
from oxpull_async.db.contract import Connection, Database
from oxpull_async.domain.record import TaskStatus
from oxpull_async.runtime.caretaker import Caretaker
from oxpull_async.runtime.claimer import Claimer, Plan
from oxpull_async.runtime.crew import Crew, assemble
from oxpull_async.runtime.hub import Hub
from oxpull_async.store.results import TaskFilter
from tests.fixtures import make, raw
from tests.fixtures.faulty import Fault, FaultyDatabase

pytestmark = pytest.mark.asyncio
CLAIMS, STEPS = 2, 6  # each claim is begun, committed and answered
PLAN = Plan(queues=None, concurrency=1, threads=1, burst=False, max_tasks=None)


@dataclass
class Pauses:
    """Who comes to a pause says so, and goes on when told to."""

    reached: asyncio.Queue[None] = field(default_factory=asyncio.Queue)
    go: asyncio.Queue[None] = field(default_factory=asyncio.Queue)

    async def pause(self) -> None:
        self.reached.put_nowait(None)
        await self.go.get()

    async def wait(self) -> None:
        async with asyncio.timeout(20):
            await self.reached.get()

    async def step(self) -> None:
        """Let it come to its next pause."""
        self.go.put_nowait(None)
        await self.wait()

    def end(self) -> None:
        """Let it come to its end, whatever it passes."""
        for _ in range(20):
            self.go.put_nowait(None)


class SlowDatabase(FaultyDatabase):
    """A Database whose users pause before they get a connection, and when they have given it back."""

    def __init__(self, inner: Database, pauses: Pauses) -> None:
        super().__init__(inner, Fault("", committed=True))
        self.pauses = pauses

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        await self.pauses.pause()
        async with self.inner.connection() as conn:
            yield conn
        await self.pauses.pause()

    def patient(self, seconds: float) -> "SlowDatabase":  # noqa: ARG002 - nobody waits for a writer here
        return self


class SlowHost:
    """The Oxpull of a test with such a database."""

    def __init__(self, ox: Oxpull, pauses: Pauses) -> None:
        self._ox = ox
        self.database = SlowDatabase(ox.database, pauses)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ox, name)


async def claims(claimer: Claimer, pauses: Pauses) -> None:
    for _ in range(CLAIMS):
        await pauses.pause()
        assert await claimer.claim((make.QUEUE,)) == 1
    await pauses.pause()


async def look_during_claims(ox: Oxpull, crew: Crew, claiming: Pauses, at: tuple[int, ...]) -> None:
    """Let a look begin, read and judge at these steps of two claims."""
    looking = Pauses()
    caretaker = Caretaker(SlowDatabase(ox.database, looking), crew.attempts, crew.lease, crew.lookout, Hub())
    async with ox.database.connection() as conn:
        crew.lease.granted(await make.worker(conn), time.monotonic())
    async with asyncio.TaskGroup() as group:
        group.create_task(claims(crew.claimer, claiming))
        await claiming.wait()
        for step in range(STEPS + 1):
            for phase in (phase for phase, due in enumerate(at) if due == step):
                match phase:
                    case 0:
                        group.create_task(caretaker.look())
                        await looking.wait()
                    case 1:
                        await looking.step()
                    case _:
                        looking.end()
                        await asyncio.sleep(0)
            if step < STEPS:
                await claiming.step()
        claiming.end()


async def test_A1_a_look_takes_back_no_row_that_a_claim_delivers(ox: Oxpull) -> None:
    @ox.task
    async def runs(number: int) -> None: ...

    wrong = []
    for at in combinations_with_replacement(range(STEPS + 1), 3):
        async with ox.database.connection() as conn:
            await raw.empty(conn)
        await ox.enqueue_many([runs.call(number) for number in range(CLAIMS)])
        claiming = Pauses()
        await look_during_claims(ox, assemble(SlowHost(ox, claiming), PLAN, Hub()), claiming, at)
        rows = [result.record for result in await ox.list_results(TaskFilter())]
        if {(row.status, row.epoch) for row in rows} != {(TaskStatus.RUNNING, 1)}:
            wrong.append(at)
    assert not wrong, f"rows that run here were handed back where a look began, read and judged at steps {wrong}"
