"""A13: a burst ends when nothing runs and nothing is due and admissible now."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async import Node, Oxpull, RunningLock
from oxpull_async.db.contract import Connection, Database, Row, Scalar
from oxpull_async.domain.events import WorkerStopped
from oxpull_async.domain.record import TaskStatus
from oxpull_async.store import node_counts
from oxpull_async.store.claim import MOST_PASSES, WIDE_LOOK
from tests.fixtures.faulty import Fault, FaultyConnection, FaultyDatabase
from tests.fixtures.workers import drain, working

pytestmark = pytest.mark.asyncio


async def test_A13_a_burst_leaves_what_is_later_paused_or_unknown_and_counts_it(ox: Oxpull) -> None:
    @ox.task
    async def short() -> None: ...

    now = await short.enqueue()
    await short.using(run_after=datetime.now(UTC) + timedelta(hours=1)).enqueue()
    await short.using(queue_name="halted").enqueue()
    await ox.pause("halted")
    await ox.enqueue("elsewhere.tasks.unknown")
    events = await drain(ox)
    await now.refresh()
    assert now.status is TaskStatus.SUCCESSFUL
    [stopped] = events.of(WorkerStopped)
    assert (stopped.done, stopped.remaining) == (1, 3)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_A13_a_burst_does_not_end_while_it_only_turns_away_rows_of_a_taken_lock(ox: Oxpull) -> None:
    holds, held = asyncio.Event(), asyncio.Event()

    @ox.task(running_lock=RunningLock(name="taken", on_conflict="discard"))
    async def hold() -> None:
        holds.set()
        await held.wait()

    @ox.task(running_lock=True)
    async def behind() -> None: ...

    await hold.using(queue_name="held").enqueue()
    async with working(ox, queues=["held"]):
        await ox.enqueue_many([hold.call() for _ in range(8 * MOST_PASSES * WIDE_LOOK)])
        last = await behind.enqueue()
        await holds.wait()
        await drain(ox, queues=["default"], concurrency=1)
        held.set()
    await last.refresh()
    assert last.status is TaskStatus.SUCCESSFUL


async def test_A13_a_burst_waits_for_what_runs_and_runs_what_that_enqueues(ox: Oxpull) -> None:
    @ox.task
    async def last() -> None: ...

    @ox.task
    async def first() -> None:
        await asyncio.sleep(0.2)
        await last.enqueue()

    await first.enqueue()
    events = await drain(ox)
    [stopped] = events.of(WorkerStopped)
    assert (stopped.done, stopped.remaining) == (2, 0)


async def test_C5_a_burst_ends_only_after_what_marks_ask_for(ox: Oxpull) -> None:
    @ox.task(unique=True)
    async def load(number: int) -> None: ...

    @ox.task
    async def after() -> None: ...

    held = [await load.enqueue(number) for number in (1, 2)]
    async with ox.batch("pending already", on_complete=after.call()) as batch:
        assert (await batch.add(load, 1)).id == held[0].id
    async with ox.workflow("pending already", on_complete=after.call()) as flow:
        assert (await flow.add("root", load, 2)).id == held[1].id
        last = await flow.add("behind", after, depends_on="root")
    await drain(ox)
    await last.refresh()
    assert last.status is TaskStatus.SUCCESSFUL
    assert ((await batch.progress()).status, (await flow.progress()).status) == ("COMPLETE", "COMPLETE")
    assert [queue.successful for queue in await ox.stats()] == [5]


async def test_A8_a_burst_goes_on_with_a_long_cascade_to_its_end(ox: Oxpull, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_counts, "AT_ONCE", 3)

    @ox.task(max_attempts=1)
    async def fails() -> None:
        raise ValueError

    @ox.task
    async def behind() -> None: ...

    async with ox.workflow("wide") as flow:
        await flow.add("root", fails)
        await flow.add_many([Node(f"{number}", behind.call(), "root") for number in range(10)])
    await drain(ox)
    progress = await flow.progress()
    assert (progress.status, progress.failed, progress.unattributed) == ("COMPLETE", 1, 10)


async def test_A13_a_burst_runs_retries_that_are_due_at_once(ox: Oxpull) -> None:
    turns: list[int] = []

    @ox.task(max_attempts=3, backoff=[0])
    def third_time_lucky() -> None:
        turns.append(1)
        if len(turns) < 3:
            raise ValueError("no")

    result = await third_time_lucky.enqueue()
    await drain(ox)
    await result.refresh()
    assert (result.status, result.attempts) == (TaskStatus.SUCCESSFUL, 3)


async def test_max_tasks_ends_the_worker_after_these_tasks_have_run_to_their_end(ox: Oxpull) -> None:
    @ox.task
    async def slow() -> None:
        await asyncio.sleep(0.5)

    await ox.enqueue_many([slow.call() for _ in range(5)])
    events = await drain(ox, burst=False, max_tasks=3, drain_timeout=0)
    [stopped] = events.of(WorkerStopped)
    assert (stopped.done, stopped.remaining) == (3, 2)


class Moment:
    """A look that has read the rows while an attempt ran, and answers when that has been settled."""

    def __init__(self) -> None:
        self.runs, self.may_end, self.settled = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def pass_during(self, statement: str) -> None:
        if statement not in {"peek", "peek_queue"} or not self.runs.is_set() or self.may_end.is_set():
            return
        self.may_end.set()
        await self.settled.wait()
        for _ in range(100):  # let the settler book what it has written
            await asyncio.sleep(0)


class LateConnection(FaultyConnection):
    def __init__(self, inner: Connection, moment: Moment) -> None:
        super().__init__(inner, Fault("", committed=True))
        self.moment, self.has_settled = moment, False

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        self.has_settled |= statement in {"settle", "settle_successes", "settle_locked"}
        rows = await super().fetch(statement, **values)
        await self.moment.pass_during(statement)
        return rows

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        self.has_settled |= statement in {"settle", "settle_successes", "settle_locked"}
        return await super().execute(statement, **values)


class LateLooks(FaultyDatabase):
    def __init__(self, inner: Database, moment: Moment) -> None:
        super().__init__(inner, Fault("", committed=True))
        self.moment = moment

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        async with self.inner.connection() as inner:
            conn = LateConnection(inner, self.moment)
            yield conn
        if conn.has_settled:
            self.moment.settled.set()

    def patient(self, seconds: float) -> "LateLooks":
        return LateLooks(self.inner.patient(seconds), self.moment)


async def test_A13_a_burst_does_not_end_by_a_look_that_is_older_than_the_last_settle(ox: Oxpull) -> None:
    moment = Moment()

    @ox.task(backoff=[0], max_attempts=2)
    async def fails_once() -> None:
        if not moment.runs.is_set():
            moment.runs.set()
            await moment.may_end.wait()
            raise ValueError

    result = await fails_once.enqueue()
    inner, ox.database = ox.database, LateLooks(ox.database, moment)
    await drain(ox)
    ox.database = inner
    await result.refresh()
    assert (result.status, result.attempts) == (TaskStatus.SUCCESSFUL, 2)
