"""A connection breaks between a claim's or a settle's commit and its reply, with the worker left alive."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from oxpull_async import Oxpull
from oxpull_async.app.result import TaskResult
from oxpull_async.domain.events import OutcomeIgnored, TasksReleased
from oxpull_async.domain.record import TaskStatus
from tests.fixtures.faulty import Fault, FaultyDatabase
from tests.fixtures.proxy import Proxy, proxied
from tests.fixtures.waiting import Witness, until
from tests.fixtures.workers import working
from tests.scenarios.proof import Proof, proof
from tests.scenarios.stage import check_row

CLAIM = {"postgres": (b"UPDATE oxpull_task AS c", b""), "mysql": (b"t.begun = NOT JSON_CONTAINS", b"COMMIT")}
SETTLE = {
    "postgres": (b"SELECT locked.id FROM locked", b""),
    "mysql": (b"t.status IN ('RUNNING', 'LOST')", b"COMMIT"),
}
STATEMENTS = {"claim": CLAIM, "settle": SETTLE}


@dataclass(frozen=True, slots=True)
class Broken:
    """How many tasks were under way when the connection broke, and how often their function ran."""

    tasks: int
    runs: int
    ignored_outcomes: int
    handed_back: int


async def broken_claim(url: str, *, tasks: int, lease_seconds: float = 2.0) -> Broken:
    """Lose the reply to a committed claim: nobody knows the rows, and the worker that holds them lives on."""
    async with _broken(url, "claim", delivered=True, tasks=tasks, lease_seconds=lease_seconds) as scene:
        await scene.finished()
        figures = scene.figures()
        assert figures.handed_back == tasks, f"{figures.handed_back} of {tasks} rows were handed back"
        assert figures.runs == tasks, "a task ran twice or not at all"
        for result in scene.results:
            assert (result.attempts, len(result.worker_ids)) == (1, 1), "the attempt that nobody ran was not refunded"
        return figures


async def broken_settle(url: str, *, tasks: int, delivered: bool, times: int = 1, lease_seconds: float = 2.0) -> Broken:
    """Lose a settle, or only the reply to it: nothing runs twice, nothing is lost, and what is told is true."""
    options = {"delivered": delivered, "tasks": tasks, "times": times}
    async with _broken(url, "settle", lease_seconds=lease_seconds, **options) as scene:  # type: ignore[arg-type]
        await scene.finished()
        figures = scene.figures()
        assert figures.runs == tasks, "a task ran twice or not at all"
        assert not figures.ignored_outcomes, "an outcome that was stored was called ignored"
        return figures


@dataclass(slots=True)
class _Scene:
    results: Sequence[TaskResult[Any]]
    runs: Counter[int]
    witness: Witness

    async def finished(self) -> None:
        async def all_done() -> bool:
            for result in self.results:
                await result.refresh()
                check_row(result.record)
            return all(result.is_finished for result in self.results)

        await until(all_done, what=f"every task finished; events: {self.witness.events[-30:]}")
        for result in self.results:
            assert result.status is TaskStatus.SUCCESSFUL, result.errors

    def figures(self) -> Broken:
        handed_back = sum(event.count for event in self.witness.of(TasksReleased))
        ignored = len(self.witness.of(OutcomeIgnored))
        return Broken(len(self.results), self.runs.total(), ignored, handed_back)


@asynccontextmanager
async def _broken(
    url: str, statement: str, *, delivered: bool, tasks: int, times: int = 1, lease_seconds: float
) -> AsyncIterator[_Scene]:
    async with Oxpull(url, lease_seconds=lease_seconds) as direct, _fragile(url, lease_seconds) as (ox, arm):
        await direct.migrate()
        runs: Counter[int] = Counter()

        @ox.task
        async def counted(number: int) -> int:
            runs[number] += 1
            return number

        made = await ox.enqueue_many([counted.call(number) for number in range(tasks)])
        stored = [await direct.get_result(result.id) for result in made]
        sprung = arm(statement, delivered, times)
        async with working(ox) as (_, witness):
            await until(sprung, what=f"the break; events: {witness.events}")
            yield _Scene(stored, runs, witness)


type _Sprung = Callable[[], Awaitable[bool]]


@asynccontextmanager
async def _fragile(url: str, lease_seconds: float) -> AsyncIterator[tuple[Oxpull, Callable[[str, bool, int], _Sprung]]]:
    """Give an Oxpull whose connections can be made to break: by a proxy where there is a server."""
    if url.startswith("sqlite"):
        async with Oxpull(url, lease_seconds=lease_seconds) as ox:
            yield ox, partial(_arm_fault, ox)
        return
    async with proxied(url) as proxy, Oxpull(proxy.url, lease_seconds=lease_seconds) as ox:
        yield ox, partial(_arm_proxy, proxy, ox.database.dialect.name)


def _arm_fault(ox: Oxpull, statement: str, delivered: bool, times: int) -> _Sprung:
    fault = Fault(statement, committed=delivered, times=times)
    ox.database = FaultyDatabase(ox.database, fault)

    async def sprung() -> bool:
        return fault.happened >= times

    return sprung


def _arm_proxy(proxy: Proxy, dialect: str, statement: str, delivered: bool, times: int) -> _Sprung:
    after, at = STATEMENTS[statement][dialect]
    trap = (proxy.lose_reply if delivered else proxy.lose_message)(after=after, at=at, times=times)

    async def sprung() -> bool:
        return not trap.times

    return sprung


PROOFS: list[Proof] = [
    proof(
        "a connection breaks between a claim's commit and its reply",
        "A1",
        partial(broken_claim, tasks=100, lease_seconds=30.0),
    ),
    proof(
        "a connection breaks after a settle's commit, before its reply",
        "A7",
        partial(broken_settle, tasks=100, delivered=True, times=2, lease_seconds=30.0),
    ),
    proof(
        "a connection breaks before a settle's commit",
        "A7",
        partial(broken_settle, tasks=100, delivered=False, times=2, lease_seconds=30.0),
    ),
]
