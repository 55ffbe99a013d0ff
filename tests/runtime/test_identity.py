"""A2, A3: a worker id dies once, and an attempt that never began is given back."""

import asyncio
import threading

import pytest

from oxpull_async import Oxpull
from oxpull_async.domain.events import LeaseLost, TasksReleased, TaskStarted, WorkerStarted
from oxpull_async.domain.record import TaskStatus
from tests.fixtures.waiting import until
from tests.fixtures.workers import working

pytestmark = pytest.mark.asyncio
LONG_AGO = "UPDATE oxpull_worker SET lease_expires_at = '2001-01-01 00:00:00.000000'"


async def test_A2_a_worker_whose_lease_ended_cancels_claims_nothing_and_registers_anew(ox: Oxpull) -> None:
    cancelled = asyncio.Event()

    @ox.task
    async def hangs() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    @ox.task
    async def short() -> None: ...

    interrupted = await hangs.enqueue()
    async with working(ox) as (_, witness):
        await witness.seen(TaskStarted)
        await _expire(ox)
        later = await short.enqueue()
        [lost] = await witness.seen(LeaseLost)
        _, anew = await witness.seen(WorkerStarted, count=2)
        await asyncio.wait_for(cancelled.wait(), 10)
        await later.wait(20)
        await witness.seen(TaskStarted, lambda event: event.task_id == interrupted.id, count=2)
        await interrupted.refresh()
    assert lost.worker_id != anew.worker_id
    assert later.worker_ids == (anew.worker_id,), "the dead id claimed something"
    assert interrupted.worker_ids[-1] == anew.worker_id
    assert interrupted.attempts == len(interrupted.worker_ids)


async def test_A2_a_claim_that_brings_nothing_makes_the_worker_ask_for_its_lease_at_once(url: str) -> None:
    async with Oxpull(url, lease_seconds=60) as ox:

        @ox.task
        async def short() -> None: ...

        async with working(ox) as (_, witness):
            await witness.seen(WorkerStarted)
            await _expire(ox)
            result = await short.enqueue()
            await result.wait(10)
        assert witness.of(LeaseLost)


async def test_A3_functions_that_wait_for_a_thread_are_handed_back_after_a_second(ox: Oxpull) -> None:
    go_on = threading.Event()

    @ox.task
    def occupies() -> None:
        go_on.wait(30)

    results = [await occupies.enqueue() for _ in range(3)]
    async with working(ox, threads=1) as (_, witness):
        await witness.seen(TasksReleased)

        async def one_runs() -> bool:
            for result in results:
                await result.refresh()
            return sorted(result.status for result in results) == ["READY", "READY", "RUNNING"]

        await until(one_runs, what="the others handed back")
        waiting = [result.record for result in results if result.status is TaskStatus.READY]
        assert [(row.attempts, row.worker_ids, row.started_at) for row in waiting] == [(0, (), None)] * 2
        go_on.set()
        for result in results:
            await result.wait(20)
    assert [result.attempts for result in results] == [1, 1, 1]


async def _expire(ox: Oxpull) -> None:
    async with ox.database.connection() as conn:
        await conn.run_script(LONG_AGO)
