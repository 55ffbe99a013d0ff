"""Where tasks end as they are started, the next claim is on its way before the rows of the last have started."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from oxpull_async import Oxpull
from oxpull_async.db.contract import Connection, Database, Row, Scalar
from oxpull_async.domain.errors import ConnectionLost
from oxpull_async.domain.record import TaskStatus
from oxpull_async.runtime import claimer, starter
from oxpull_async.runtime.caretaker import Caretaker
from oxpull_async.runtime.claimer import OVERLAPPING, Plan
from oxpull_async.runtime.crew import Crew, assemble
from oxpull_async.runtime.hub import Hub
from oxpull_async.store.enqueue import enqueue_many
from oxpull_async.store.results import TaskFilter
from tests.fixtures import make
from tests.fixtures.faulty import Fault, FaultyConnection, FaultyDatabase

pytestmark = pytest.mark.asyncio
PLACES, LEASE_SECONDS = OVERLAPPING, 600.0
CLAIMS = {"claim", "claim_candidates"}


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let slow machines take their time."""
    monkeypatch.setattr(claimer, "SPELL", 60.0)
    monkeypatch.setattr(starter, "AT_ONCE", 60.0)


class Watched:
    """What claims asked for, each with how many tasks had been delivered and how many had run when it was sent."""

    def __init__(self) -> None:
        self.ran: Counter[int] = Counter()
        self.delivered = 0
        self.sent: list[tuple[int, int, int]] = []

    @property
    def went_ahead(self) -> list[tuple[int, int, int]]:
        """The claims that were sent before all that had been delivered had run."""
        return [one for one in self.sent if one[2] < one[1]]


class WatchedConnection(FaultyConnection):
    def __init__(self, inner: Connection, fault: Fault, watched: Watched) -> None:
        super().__init__(inner, fault)
        self.watched = watched

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        if statement in CLAIMS:
            limit = values["limit"]
            assert isinstance(limit, int)
            self.watched.sent.append((limit, self.watched.delivered, self.watched.ran.total()))
        rows = await super().fetch(statement, **values)
        if statement in CLAIMS:
            self.watched.delivered += len(rows)
        return rows


class WatchedDatabase(FaultyDatabase):
    def __init__(self, inner: Database, fault: Fault, watched: Watched) -> None:
        super().__init__(inner, fault)
        self.watched = watched

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        async with self.inner.connection() as conn:
            yield WatchedConnection(conn, self.fault, self.watched)

    def patient(self, seconds: float) -> "WatchedDatabase":  # noqa: ARG002 - nobody waits for a writer here
        return self


class WatchedHost:
    """The Oxpull of a test with such a database."""

    def __init__(self, ox: Oxpull, watched: Watched, fault: Fault) -> None:
        self._ox = ox
        self.database = WatchedDatabase(ox.database, fault, watched)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ox, name)


async def hired(ox: Oxpull, watched: Watched, fault: Fault | None = None) -> Crew:
    """Assemble a worker with a good lease, none of whose services runs."""
    plan = Plan(queues=None, concurrency=PLACES, threads=1, burst=False, max_tasks=None)
    crew = assemble(WatchedHost(ox, watched, fault or Fault("", committed=True)), plan, Hub())
    crew.lease.lease_seconds = LEASE_SECONDS
    async with ox.database.connection() as conn:
        crew.lease.granted(await make.worker(conn, lease_seconds=LEASE_SECONDS), time.monotonic())
    return crew


@asynccontextmanager
async def settling(crew: Crew) -> AsyncIterator[None]:
    task = asyncio.create_task(crew.settler.run())
    yield
    await crew.settler.flush()
    task.cancel()


async def test_a_claim_goes_ahead_for_free_places_only_and_each_task_runs_once(ox: Oxpull) -> None:
    watched = Watched()

    @ox.task
    async def ends_at_once(number: int) -> None:
        watched.ran[number] += 1

    count = 3 * PLACES
    await ox.enqueue_many([ends_at_once.call(number) for number in range(count)])
    crew = await hired(ox, watched)
    async with settling(crew):
        while await crew.claimer.claim((make.QUEUE,)):
            pass
    assert watched.ran == Counter(range(count))
    assert watched.went_ahead or not ox.database.dialect.update_returns_rows  # else it has only begun a transaction
    assert all(limit + delivered - ran <= PLACES for limit, delivered, ran in watched.sent)
    assert {queue.successful for queue in await ox.stats()} == {count}
    assert crew.attempts.claims_begun == crew.attempts.claims_ended <= len(watched.sent)  # an empty one asks twice


async def test_no_claim_goes_ahead_of_tasks_that_wait(ox: Oxpull) -> None:
    watched, go = Watched(), asyncio.Event()

    @ox.task
    async def waits(number: int) -> None:
        watched.ran[number] += 1
        await go.wait()

    await ox.enqueue_many([waits.call(number) for number in range(2 * PLACES)])
    crew = await hired(ox, watched)
    async with settling(crew):
        assert await crew.claimer.claim((make.QUEUE,)) == PLACES
        assert await crew.claimer.claim((make.QUEUE,)) == 0
        go.set()
        await asyncio.gather(*[attempt.aio_task for attempt in crew.attempts.live() if attempt.aio_task])
        assert await crew.claimer.claim((make.QUEUE,)) == PLACES
        await asyncio.gather(*[attempt.aio_task for attempt in crew.attempts.live() if attempt.aio_task])
    assert not watched.went_ahead


async def test_a_worker_that_stops_sends_no_claim_ahead(ox: Oxpull) -> None:
    watched = Watched()

    @ox.task
    async def ends_at_once(number: int) -> None:
        watched.ran[number] += 1

    await ox.enqueue_many([ends_at_once.call(number) for number in range(3 * PLACES)])
    crew = await hired(ox, watched)
    async with settling(crew):
        assert await crew.claimer.claim((make.QUEUE,)) == PLACES
        crew.dispatcher.stop()
        assert await crew.claimer.claim((make.QUEUE,)) == PLACES
    assert [limit for limit, _, _ in watched.sent] == [PLACES, PLACES]
    assert not watched.went_ahead


async def test_A1_rows_of_a_claim_ahead_that_nobody_waits_for_are_handed_back(ox: Oxpull) -> None:
    """The claim before it failed, since its rows were of unknown tasks and could not be handed back."""
    watched = Watched()

    @ox.task
    async def ends_at_once(number: int) -> None:
        watched.ran[number] += 1

    await ox.enqueue_many([ends_at_once.call(number) for number in range(PLACES)])
    async with ox.database.connection() as conn:
        await enqueue_many(conn, [make.new_task(task_path="shop.tasks.unknown") for _ in range(PLACES // 2)])
    await ox.enqueue_many([ends_at_once.call(PLACES + number) for number in range(PLACES)])
    crew = await hired(ox, watched, Fault("settle", committed=False))
    assert await crew.claimer.claim((make.QUEUE,)) == PLACES
    with pytest.raises(ConnectionLost):
        await crew.claimer.claim((make.QUEUE,))
    assert watched.went_ahead or not ox.database.dialect.update_returns_rows  # else it has only begun a transaction
    assert crew.attempts.claim_in_doubt
    assert crew.attempts.claims_begun == crew.attempts.claims_ended == len(watched.sent)
    caretaker = Caretaker(ox.database, crew.attempts, crew.lease, crew.lookout, Hub())
    async with asyncio.timeout(20):
        while await strays(ox, crew):
            await caretaker.look()
    assert watched.ran == Counter(range(PLACES))


async def strays(ox: Oxpull, crew: Crew) -> int:
    """Count the rows that run according to the database alone."""
    rows = await ox.list_results(TaskFilter(status=TaskStatus.RUNNING, limit=10 * PLACES))
    return len({(row.record.id, row.record.epoch) for row in rows} - crew.attempts.known())
