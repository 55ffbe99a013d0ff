"""A9: cancelling reaches a task wherever it is; a success that settles first wins, every other end is DISCARDED."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable

import pytest

from oxpull_async import Oxpull, Retry, Snooze, TaskContext
from oxpull_async.domain.errors import TaskCancelled
from oxpull_async.domain.events import TaskSettled, TaskStarted
from oxpull_async.domain.record import TaskStatus
from oxpull_async.store import operate
from tests.fixtures import make, raw
from tests.fixtures.waiting import until
from tests.fixtures.workers import drain, working

pytestmark = pytest.mark.asyncio
DISCARDED, SUCCESSFUL = TaskStatus.DISCARDED, TaskStatus.SUCCESSFUL


async def test_A9_a_ready_task_is_discarded_and_never_runs(ox: Oxpull) -> None:
    ran: list[int] = []

    @ox.task
    async def noted() -> None:
        ran.append(1)

    result = await noted.enqueue()
    assert await ox.cancel(result.id)
    await drain(ox)
    await result.refresh()
    assert (result.status, result.attempts, ran) == (DISCARDED, 0, [])
    assert not await ox.cancel(result.id)


async def test_A9_a_running_coroutine_is_cancelled_and_the_cancel_acknowledged(ox: Oxpull) -> None:
    @ox.task
    async def hangs() -> None:
        await asyncio.Event().wait()

    result = await hangs.enqueue()
    async with working(ox) as (_, witness):
        await witness.seen(TaskStarted)
        assert await ox.cancel(result.id)
        assert not await ox.cancel(result.id), "asking twice changes nothing"
        [settled] = await witness.seen(TaskSettled)
    await result.refresh()
    assert settled.status == result.status == DISCARDED
    assert result.errors[-1].exception_class_path.endswith(TaskCancelled.__qualname__)


async def test_A9_a_running_function_sees_that_it_is_cancelled(ox: Oxpull) -> None:
    @ox.task(takes_context=True)
    def looks(context: TaskContext) -> None:
        while not context.cancelled:
            time.sleep(0.005)
        raise RuntimeError("stopped")

    result = await looks.enqueue()
    async with working(ox) as (_, witness):
        await witness.seen(TaskStarted)
        await ox.cancel(result.id)
        await witness.seen(TaskSettled)
    await result.refresh()
    assert result.status == DISCARDED


async def test_A9_a_function_that_ignores_the_cancel_and_returns_is_successful(ox: Oxpull) -> None:
    go_on = threading.Event()

    @ox.task
    def ignores() -> str:
        go_on.wait(30)
        return "done"

    result = await ignores.enqueue()
    async with working(ox) as (worker, witness):
        await witness.seen(TaskStarted)
        await ox.cancel(result.id)
        await until(lambda: _flagged(worker), what="the flag")
        go_on.set()
        await witness.seen(TaskSettled)
    await result.refresh()
    assert (result.status, result.return_value) == (SUCCESSFUL, "done")
    assert not await ox.cancel(result.id)


async def _flagged(worker: object) -> bool:
    return any(attempt.stop for attempt in worker._crew.attempts.live())  # type: ignore[attr-defined]


async def test_A9_a_function_that_waits_for_a_thread_never_starts(ox: Oxpull) -> None:
    go_on, ran = threading.Event(), list[str]()

    @ox.task
    def occupies() -> None:
        go_on.wait(30)

    @ox.task
    def waits() -> None:
        ran.append("it ran")

    first, second = await ox.enqueue_many([occupies.call(), waits.call()])
    async with working(ox, threads=1) as (_, witness):
        await witness.seen(TaskStarted)
        await ox.cancel(second.id)
        await until(lambda: _is(second, DISCARDED), what="the discard")
        go_on.set()
        await witness.seen(TaskSettled, lambda event: event.task_id == first.id)
    assert ran == []


async def _is(result: object, status: TaskStatus) -> bool:
    await result.refresh()  # type: ignore[attr-defined]
    return bool(result.status is status)  # type: ignore[attr-defined]


ENDS: dict[str, Callable[[], Awaitable[None]]] = {}


def _end(function: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    ENDS[function.__name__] = function
    return function


@_end
async def failure() -> None:
    raise ValueError("no")


@_end
async def retry() -> None:
    raise Retry(after=0)


@_end
async def snooze() -> None:
    raise Snooze(for_=0)


@_end
async def unstorable() -> None:
    raise ValueError("a\0b")


@_end
async def timeout() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("end", ENDS)
async def test_A9_every_end_but_success_of_a_cancelled_attempt_is_discarded(ox: Oxpull, end: str) -> None:
    @ox.task(takes_context=True, backoff=[0], timeout=0.2)
    async def cancels_itself(context: TaskContext) -> None:
        assert await ox.cancel(context.task_result.id)
        await ENDS[end]()

    result = await cancels_itself.enqueue()
    await drain(ox)
    await result.refresh()
    assert result.status == DISCARDED


async def test_A9_a_success_that_settles_first_wins(ox: Oxpull) -> None:
    @ox.task(takes_context=True)
    async def cancels_itself(context: TaskContext) -> str:
        assert await ox.cancel(context.task_result.id)
        return "done"

    result = await cancels_itself.enqueue()
    await drain(ox)
    await result.refresh()
    assert (result.status, result.return_value) == (SUCCESSFUL, "done")


async def test_A9_a_cancelled_attempt_that_is_handed_back_is_discarded(ox: Oxpull) -> None:
    @ox.task
    async def hangs() -> None:
        await asyncio.Event().wait()

    result = await hangs.enqueue()
    async with working(ox) as (worker, witness):
        await witness.seen(TaskStarted)
        await ox.cancel(result.id)
        worker.stop()
        worker.stop()
    await result.refresh()
    assert (result.status, result.attempts) in {(DISCARDED, 0), (DISCARDED, 1)}


async def test_A9_a_cancelled_attempt_whose_worker_fell_silent_is_discarded(ox: Oxpull) -> None:
    async with ox.database.connection() as conn:
        record = await make.running(conn)
        assert record.leased_by is not None
        await operate.cancel(conn, [record.id])
        await raw.forget_worker(conn, record.leased_by)
    result = await ox.get_result(record.id)
    async with working(ox):
        await until(lambda: _is(result, DISCARDED), what="the reap")
    assert len(result.errors) == 1


async def test_A9_a_retry_clears_the_request(ox: Oxpull) -> None:
    turns: list[int] = []

    @ox.task(takes_context=True)
    async def cancelled_once(context: TaskContext) -> None:
        turns.append(1)
        if len(turns) == 1:
            await ox.cancel(context.task_result.id)
            raise ValueError("no")

    result = await cancelled_once.enqueue()
    await drain(ox)
    assert not await ox.retry(result.id)
    assert await ox.retry(result.id, include_discarded=True)
    await drain(ox)
    await result.refresh()
    assert result.status == SUCCESSFUL
