"""The database restarts under a running worker: it costs latency, not tasks, and needs nobody's help."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from oxpull_async import Oxpull, Worker
from oxpull_async.domain.events import LeaseLost, WorkerStarted
from oxpull_async.store.results import TaskFilter
from tests.fixtures.proxy import Proxy, proxied
from tests.fixtures.waiting import Witness, until
from tests.fixtures.workers import working
from tests.scenarios.proof import SERVERS, Proof, proof
from tests.scenarios.stage import EVERYTHING, check_row
from tests.servers import Kind, clients

EVERY_SESSION: dict[Kind, str] = {
    "postgres": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    "mysql": "SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()",
}


@dataclass(frozen=True, slots=True)
class Survived:
    """What an outage cost: no task, and how many attempts."""

    tasks: int
    attempts: int
    runs: int
    seconds_away: float
    leases_lost: int


@dataclass(frozen=True, slots=True)
class Size:
    """How much is under way when the trouble comes, and how long it lasts."""

    tasks: int
    concurrency: int
    seconds: float
    seconds_away: float
    lease_seconds: float

    @property
    def patience(self) -> float:
        """How long to wait for all of it."""
        return 2 * self.tasks / self.concurrency * self.seconds + 2 * self.lease_seconds + 20


async def restarted_server(
    url: str, *, tasks: int, concurrency: int, seconds: float, seconds_away: float, lease_seconds: float
) -> Survived:
    """Cut every connection and refuse new ones for a while, with a worker in the middle of its tasks."""

    async def restart(scene: "_Scene") -> None:
        await scene.proxy.refuse()
        await scene.proxy.cut()
        await asyncio.sleep(seconds_away)
        await scene.proxy.accept()

    return await _survive(url, restart, Size(tasks, concurrency, seconds, seconds_away, lease_seconds))


async def ended_sessions(url: str, *, tasks: int, seconds: float, lease_seconds: float = 30.0) -> Survived:
    """Have the server end all of the worker's sessions, with the worker in the middle of its tasks."""

    async def end_all(scene: "_Scene") -> None:
        await asyncio.to_thread(end_every_session, scene.direct_url)

    return await _survive(url, end_all, Size(tasks, max(tasks // 4, 1), seconds, 0.0, lease_seconds))


def end_every_session(url: str) -> None:
    """End every session of a database but the one that this takes."""
    kind: Kind = "postgres" if url.startswith("postgres") else "mysql"
    rows = clients.run(kind, url, EVERY_SESSION[kind])
    if kind == "mysql":
        for row in rows:
            clients.run(kind, url, f"KILL {row[0]}")


@dataclass(slots=True)
class _Scene:
    direct_url: str
    proxy: Proxy
    ox: Oxpull
    runs: Counter[int]

    async def enough(self, count: int) -> None:
        async def ran() -> bool:
            return self.runs.total() >= count

        await until(ran, what=f"{count} runs")


async def _survive(url: str, trouble: Callable[[_Scene], Coroutine[Any, Any, None]], size: Size) -> Survived:
    tasks = size.tasks
    async with Oxpull(url) as direct, _through_proxy(url, size.lease_seconds) as scene:
        await direct.migrate()
        await direct.close()  # the trouble is for the worker's connections only

        @scene.ox.task(max_attempts=1)
        async def slow(number: int) -> None:
            scene.runs[number] += 1
            await asyncio.sleep(size.seconds)

        await scene.ox.enqueue_many([slow.call(number) for number in range(tasks)])
        async with working(scene.ox, concurrency=size.concurrency) as (worker, witness):
            await scene.enough(tasks // 2)
            await trouble(scene)
            await _all_successful(direct, size, witness)
            await _is_awake(worker, direct, witness)
        rows = [result.record for result in await direct.list_results(TaskFilter(limit=EVERYTHING))]
        for row in rows:
            check_row(row)
        assert set(scene.runs) == set(range(tasks)), "a task never ran"
        attempts, lost = sum(row.attempts for row in rows), len(witness.of(LeaseLost))
        if not lost:
            assert scene.runs.total() == tasks, "a task ran twice although the lease was kept"
        return Survived(tasks, attempts, scene.runs.total(), size.seconds_away, lost)


async def _all_successful(ox: Oxpull, size: Size, witness: Witness) -> None:
    async def done() -> bool:
        counts = await ox.stats()
        return sum(count.successful for count in counts) == size.tasks

    try:
        await until(done, within=size.patience, what="every task done")
    except AssertionError as late:
        raise AssertionError(f"{late}; {await ox.stats()}; events: {witness.events[-30:]}") from None


async def _is_awake(worker: Worker, ox: Oxpull, witness: Witness) -> None:
    """Wait until wake-ups are pushed again where they were, and a fresh task is run."""
    crew = worker._crew  # what health shows only after the next renewal
    assert crew is not None

    async def listens() -> bool:
        return crew.notifier.state in {"listening", "none"}

    await until(listens, what="the listener is back")
    assert (crew.notifier.state == "listening") == ox.database.dialect.has_listen
    assert len(witness.of(WorkerStarted)) == 1 + len(witness.of(LeaseLost))


@asynccontextmanager
async def _through_proxy(url: str, lease_seconds: float) -> AsyncIterator[_Scene]:
    async with proxied(url) as proxy, Oxpull(proxy.url, lease_seconds=lease_seconds) as ox:
        yield _Scene(url, proxy, ox, Counter())


PROOFS: list[Proof] = [
    proof(
        "the server cuts and refuses for 5 s, shorter than the lease",
        "G3",
        partial(restarted_server, tasks=200, concurrency=50, seconds=0.5, seconds_away=5.0, lease_seconds=30.0),
        SERVERS,
    ),
    proof(
        "the server cuts and refuses for longer than the lease",
        "G3",
        partial(restarted_server, tasks=200, concurrency=200, seconds=12.0, seconds_away=15.0, lease_seconds=10.0),
        SERVERS,
    ),
    proof(
        "the server ends every session of the worker", "G3", partial(ended_sessions, tasks=200, seconds=0.5), SERVERS
    ),
]
