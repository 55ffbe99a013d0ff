"""Cancel claim, settle and enqueue at every await: nothing is lost, and rows stay whole."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from oxpull_async import Oxpull
from oxpull_async.domain.outcome import Lease, Released, Settlement, Succeeded
from oxpull_async.domain.record import TaskRecord, TaskStatus
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.claim import claim
from oxpull_async.store.lease import held
from oxpull_async.store.results import TaskFilter
from oxpull_async.store.settle import settle
from tests.fixtures import make
from tests.fixtures.cancelling import cancelled_at
from tests.fixtures.waiting import until
from tests.scenarios.stage import check_row

if TYPE_CHECKING:
    from oxpull_async.db.contract import Connection

pytestmark = pytest.mark.asyncio
MOST_AWAITS = 60
TASKS = 3
READY, RUNNING, SUCCESSFUL = TaskStatus.READY, TaskStatus.RUNNING, TaskStatus.SUCCESSFUL


async def every_await(operation: Callable[[], Coroutine[Any, Any, object]]) -> AsyncIterator[int]:
    """Cancel an operation at its first, second, … await, until it comes to its end before the cancel."""
    for number in count():
        assert number < MOST_AWAITS, "it never comes to an end"
        if not await cancelled_at(number, operation):
            assert number, "it was never cancelled"
            return
        yield number


async def records(ox: Oxpull) -> list[TaskRecord]:
    rows = [result.record for result in await ox.list_results(TaskFilter(limit=1000))]
    for row in rows:
        check_row(row)
    return rows


async def test_a_claim_cancelled_anywhere_loses_no_row(ox: Oxpull) -> None:
    async with ox.database.connection() as conn:
        for _ in range(TASKS):
            await make.ready(conn)
        worker_id = await make.worker(conn)
    request = make.request(worker_id)

    async for _ in every_await(lambda: repeat(ox.database, lambda conn: claim(conn, request))):
        await until(lambda: _handed_back(ox, worker_id), what="every row ready again")
    assert {row.status for row in await records(ox)} == {RUNNING}, "the claim that was not cancelled took them"


async def _handed_back(ox: Oxpull, worker_id: str) -> bool:
    """Do as the caretaker does, until nothing more turns up."""
    async with ox.database.connection() as conn:
        unknown = [Lease(row.task_id, row.epoch) for row in await held(conn, worker_id)]
        await settle(conn, [Settlement(lease, Released()) for lease in unknown])
    rows = await records(ox)
    assert len(rows) == TASKS
    return all((row.status, row.attempts, row.worker_ids) == (READY, 0, ()) for row in rows)


async def test_a_settle_cancelled_anywhere_is_repeated_and_counts_once(ox: Oxpull) -> None:
    async with ox.database.connection() as conn:
        worker_id = await make.worker(conn)
        for _ in range(TASKS):
            await make.ready(conn)
        rows = [Settlement(make.lease(task), Succeeded('"done"')) for task in await make.claimed(conn, worker_id)]

    async for _ in every_await(lambda: repeat(ox.database, lambda conn: settle(conn, rows))):
        states = {row.status for row in await records(ox)}
        assert states in ({RUNNING}, {SUCCESSFUL}), "half a batch was written"
    after = await records(ox)
    assert {(row.status, row.attempts, row.return_value) for row in after} == {(SUCCESSFUL, 1, "done")}


@pytest.mark.parametrize("number", [1, TASKS])
async def test_an_enqueue_cancelled_anywhere_stores_all_of_its_calls_or_none(ox: Oxpull, number: int) -> None:
    """A commit that was under way may still land later, so each round's rows are told apart by their argument."""
    rounds = count()

    @ox.task
    async def short(round_number: int) -> None: ...

    def enqueue() -> Coroutine[Any, Any, object]:
        call = short.call(next(rounds))
        return ox.enqueue_many([call] * number)

    async for _ in every_await(enqueue):
        stored = Counter(row.args[0] for row in await records(ox))
        assert set(stored.values()) <= {number}
    stored = Counter(row.args[0] for row in await records(ox))
    assert stored[next(rounds) - 1] == number, "the enqueue that was not cancelled is not there"


async def test_A16_the_row_of_a_caller_cancelled_anywhere_stands(ox: Oxpull) -> None:
    given: list[int] = []

    @ox.task
    async def short(number: int) -> None: ...

    def enqueue() -> Coroutine[Any, Any, object]:
        given.append(len(given))
        return short.enqueue(given[-1])

    async def beside_another() -> None:
        """Enqueue while the enqueue of somebody else is under way."""
        other = asyncio.create_task(enqueue())
        await asyncio.sleep(0)
        await enqueue()
        await other

    async for _ in every_await(beside_another):
        await ox.enqueuer.flush()
        stored = Counter(row.args[0] for row in await records(ox))
        assert stored == Counter(given), "not each row once"


async def test_a_connection_with_a_cancelled_command_is_never_lent_again(ox: Oxpull) -> None:
    used: list[Connection] = []

    async def store_one() -> None:
        async with ox.database.connection() as conn:
            used.append(conn)
            await make.ready(conn)

    async for _ in every_await(store_one):
        async with ox.database.connection() as conn:
            assert conn not in used, "it was lent again"
            await make.ready(conn)
            used.append(conn)
        await ox.database.close()
    assert len(used) > 2
