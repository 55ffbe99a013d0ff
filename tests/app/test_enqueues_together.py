"""Concurrent enqueues are written together, and each caller gets the truth about its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import pytest

from oxpull_async import Oxpull, TaskResult
from oxpull_async.db.contract import Connection, Row, Scalar
from oxpull_async.domain.errors import ConnectionLost, DataRefused, PoolExhausted
from oxpull_async.domain.record import NewTask
from oxpull_async.runtime import enqueue_writer
from oxpull_async.store.enqueue_calls import EnqueueCalls
from oxpull_async.store.results import TaskFilter
from tests.app.kit import add, count, nothing, open_oxpull, rolled_back, unmasked
from tests.fixtures import make, raw
from tests.fixtures.faulty import Fault, FaultyConnection
from tests.fixtures.gated import NO_FAULT, GatedDatabase, gated

pytestmark = pytest.mark.asyncio
WRITER = "oxpull enqueue"


async def started[T](*coroutines: Coroutine[Any, Any, T]) -> list[asyncio.Task[T]]:
    """Start callers, and let each come to where it waits."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


async def outcomes[T](callers: Sequence[Awaitable[T]]) -> list[T | BaseException]:
    async with asyncio.timeout(30):
        return await asyncio.gather(*callers, return_exceptions=True)


def bad() -> NewTask:
    """Make a task that every database refuses, as no call that was checked is."""
    return make.new_task(args="{")


async def store(ox: Oxpull, task: NewTask) -> str:
    answers = await ox.enqueuer.store(EnqueueCalls({0: task}, ()))
    return answers[0].record.id


async def stored(ox: Oxpull) -> list[Any]:
    """Read the first arguments of all tasks."""
    async with open_oxpull(unmasked(ox)) as other:
        return sorted(result.args[0] for result in await other.list_results(TaskFilter(limit=100)))


async def test_A16_the_first_goes_at_once_and_those_that_come_meanwhile_share_a_statement(ox: Oxpull) -> None:
    task = ox.task(nothing)
    async with gated(ox) as gate:
        callers = await started(task.enqueue(0))
        await gate.reached()
        callers += await started(*[task.enqueue(number) for number in range(1, 50)])
        assert gate.sent == [1]
        gate.open()
        results = [await caller for caller in callers]
    assert gate.sent == [1, 49]
    assert [(result.args, result.created) for result in results] == [([number], True) for number in range(50)]
    for result in results[::7]:
        assert result.record == (await ox.get_result(result.id)).record
    assert await count(ox) == 50


async def test_A16_a_caller_alone_waits_for_nobody_and_sends_one_statement(ox: Oxpull) -> None:
    task = ox.task(nothing)
    async with gated(ox) as gate:
        gate.open()
        for number in range(3):
            await task.enqueue(number)
    assert (gate.sent, gate.transactions) == ([1, 1, 1], 0)


async def test_A16_more_callers_than_a_statement_carries_are_written_in_several(ox: Oxpull) -> None:
    task = ox.task(nothing)
    async with gated(ox) as gate:
        callers = await started(*[task.enqueue(number) for number in range(1_102)])
        await gate.reached()
        gate.open()
        await outcomes(callers)
    assert gate.sent == [1, 1_000, 101]
    assert await count(ox) == 1_102


async def test_A16_large_arguments_of_many_callers_are_cut_into_statements_that_the_server_takes(ox: Oxpull) -> None:
    @ox.task
    async def take(text: str) -> None: ...

    async with gated(ox) as gate:
        callers = await started(*[take.enqueue("x" * 1_000_000) for _ in range(9)])
        gate.open()
        results = await outcomes(callers)
    assert gate.sent[0] == 1
    assert max(gate.sent) <= 4
    assert sum(gate.sent) == len([result for result in results if isinstance(result, TaskResult)]) == 9


@pytest.mark.parametrize("place", [0, 3, 6])
async def test_A16_a_refused_row_hurts_only_its_caller(ox: Oxpull, place: int) -> None:
    tasks = [make.new_task() for _ in range(7)]
    tasks[place] = bad()
    async with gated(ox) as gate:
        callers = await started(store(ox, make.new_task()), *[store(ox, task) for task in tasks])
        await gate.reached()
        gate.open()
        _, *answers = await outcomes(callers)
    assert isinstance(refused := answers.pop(place), DataRefused)
    assert refused.__cause__ is not None
    assert answers == [task.id for task in tasks if task is not tasks[place]]
    assert gate.sent[:2] == [1, 7]
    assert len(gate.sent) <= 2 + 2 * 3, "it was found by halves"
    assert await count(ox) == 7


async def test_A16_a_row_whose_id_is_taken_hurts_only_its_caller(ox: Oxpull) -> None:
    taken = make.new_task()
    await store(ox, taken)
    tasks = [make.new_task(), taken, bad(), make.new_task()]
    async with gated(ox) as gate:
        callers = await started(store(ox, make.new_task()), *[store(ox, task) for task in tasks])
        gate.open()
        _, *answers = await outcomes(callers)
    assert [type(answer) for answer in answers] == [str, DataRefused, DataRefused, str]
    assert await count(ox) == 4


async def test_A16_each_caller_gets_an_error_of_its_own(ox: Oxpull) -> None:
    glue = "&" if "?" in unmasked(ox) else "?"
    async with open_oxpull(f"{unmasked(ox)}{glue}acquire_timeout=0.05", pool_size=1) as small:
        task = small.task(nothing)
        async with small.database.connection():
            answers = await outcomes(await started(*[task.enqueue(number) for number in range(4)]))
    assert all(isinstance(answer, PoolExhausted) for answer in answers)
    assert len({id(answer) for answer in answers}) == 4
    assert len({str(answer) for answer in answers}) <= 2
    assert await count(ox) == 0


async def test_A16_a_caller_that_is_cancelled_leaves_and_its_row_stands(ox: Oxpull) -> None:
    task = ox.task(nothing)
    async with gated(ox) as gate:
        callers = await started(task.enqueue(0))
        await gate.reached()
        callers += await started(*[task.enqueue(number) for number in range(1, 5)])
        for caller in (callers[0], callers[2]):
            caller.cancel()
        await asyncio.wait([callers[0], callers[2]])
        assert gate.sent == [1], "the cancelled ones left before anything was written"
        gate.open()
        others = [await callers[number] for number in (1, 3, 4)]
        await ox.enqueuer.flush()
    assert [result.args for result in others] == [[1], [3], [4]]
    assert await stored(ox) == [0, 1, 2, 3, 4]


async def test_A16_callers_in_a_transaction_write_there(ox: Oxpull) -> None:
    task, held, may_leave = ox.task(nothing), asyncio.Event(), asyncio.Event()

    async def in_transaction() -> None:
        async with rolled_back(ox.transaction()):
            await task.enqueue(-1)
            held.set()
            await may_leave.wait()

    async with gated(ox) as gate:
        gate.open()
        [caller] = await started(in_transaction())
        await held.wait()
        may_leave.set()
        others = await started(*[task.enqueue(number) for number in range(10)])
        await outcomes([caller, *others])
    assert await stored(ox) == list(range(10))


async def test_A16_unique_calls_and_members_of_a_batch_go_their_own_way(ox: Oxpull) -> None:
    task, unique = ox.task(nothing), ox.task(unique=True)(add)
    batch = await ox.create_batch("nightly")
    async with gated(ox) as gate:
        [caller] = await started(task.enqueue(0))
        await gate.reached()
        assert (await unique.enqueue(1)).created
        assert not (await unique.enqueue(1)).created
        [member] = await started(batch.add(task, 2))
        gate.open()
        await outcomes([caller, member])
    assert gate.sent == [1, 1], "the member was not written with the waiting caller's"
    assert await stored(ox) == [0, 1, 2]


@pytest.mark.parametrize("committed", [True, False], ids=["delivered", "lost"])
@pytest.mark.parametrize("times", [1, 2])
async def test_A16_after_a_lost_connection_each_caller_gets_the_truth(ox: Oxpull, committed: bool, times: int) -> None:
    task, fault = ox.task(nothing), Fault("insert_tasks", committed=committed, times=times)
    async with gated(ox, fault) as gate:
        callers = await started(*[task.enqueue(number) for number in range(6)])
        await gate.reached()
        gate.open()
        results = [await caller for caller in callers]
    assert fault.happened == (1 if committed else times)
    assert [(result.args, result.created) for result in results] == [([number], True) for number in range(6)]
    assert await stored(ox) == list(range(6))


async def test_A16_a_connection_that_is_lost_again_and_again_is_every_caller_s_error(ox: Oxpull) -> None:
    task = ox.task(nothing)
    async with gated(ox, Fault("insert_plain_task", committed=False, times=99)) as gate:
        gate.open()
        answers = await outcomes(await started(*[task.enqueue(number) for number in range(4)]))
        assert isinstance(answers[0], ConnectionLost)
        assert all(isinstance(answer, TaskResult) for answer in answers[1:]), "theirs was not the broken statement"
    async with gated(ox, Fault("insert_tasks", committed=False, times=99)) as gate:
        callers = await started(*[task.enqueue(number) for number in range(4, 8)])
        gate.open()
        answers = await outcomes(callers)
    assert all(isinstance(answer, TaskResult) for answer in answers), "one by one they go through"
    assert await stored(ox) == [1, 2, 3, 4, 5, 6, 7]


async def test_A16_a_bad_row_beside_a_lost_connection_hurts_only_its_caller(ox: Oxpull) -> None:
    tasks = [make.new_task(), bad(), make.new_task()]
    async with gated(ox, Fault("insert_tasks", committed=False)) as gate:
        callers = await started(store(ox, make.new_task()), *[store(ox, task) for task in tasks])
        gate.open()
        _, *answers = await outcomes(callers)
    assert [type(answer) for answer in answers] == [str, DataRefused, str]
    assert await count(ox) == 3


async def test_A16_a_row_that_stood_and_has_gone_is_told_to_its_caller_alone(ox: Oxpull) -> None:
    tasks = [make.new_task() for _ in range(3)]

    class Forgetful(GatedDatabase):
        @asynccontextmanager
        async def connection(self) -> AsyncIterator[Connection]:
            if self.fault.happened:
                async with self.inner.connection() as conn:
                    await raw.delete(conn, tasks[1].id)
            async with super().connection() as conn:
                yield conn

    async with gated(ox, Fault("insert_tasks", committed=True), Forgetful) as gate:
        callers = await started(store(ox, make.new_task()), *[store(ox, task) for task in tasks])
        gate.open()
        _, *answers = await outcomes(callers)
    assert [type(answer) for answer in answers] == [str, ConnectionLost, str]
    assert "has gone meanwhile" in str(answers[1])
    assert await count(ox) == 3


async def test_A16_a_try_that_lands_while_it_is_repeated_is_told_truthfully(ox: Oxpull) -> None:
    """The first look for the rows comes too early, so the repeat is refused for their own ids."""
    task = ox.task(nothing)
    looks: list[str] = []

    class Early(FaultyConnection):
        async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
            rows = await super().fetch(statement, **values)
            looks.extend([statement] if statement == "get_tasks" else [])
            return [] if statement == "get_tasks" and len(looks) == 1 else rows

    class Late(GatedDatabase):
        @asynccontextmanager
        async def connection(self) -> AsyncIterator[Connection]:
            async with super().connection() as conn:
                yield Early(conn, NO_FAULT)

    async with gated(ox, Fault("insert_tasks", committed=True), Late) as gate:
        callers = await started(*[task.enqueue(number) for number in range(4)])
        gate.open()
        results = [await caller for caller in callers]
    async with gated(ox, Fault("insert_plain_task", committed=True), Late) as gate:
        looks.clear()
        gate.open()
        results.append(await task.enqueue(4))
    assert [(result.args, result.created) for result in results] == [([number], True) for number in range(5)]
    assert await stored(ox) == list(range(5))


async def test_a_statement_that_does_not_come_back_holds_up_only_its_own_callers(
    ox: Oxpull, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = ox.task(nothing)
    async with gated(ox) as gate:
        gate.holds = 1
        callers = await started(task.enqueue(0))
        await gate.reached()
        callers += await started(task.enqueue(1), task.enqueue(2))
        assert gate.sent == [1], "they wait as long as there is hope"
        monkeypatch.setattr(enqueue_writer, "PATIENCE", 0.0)
        others = await started(task.enqueue(3))
        results = [await caller for caller in (*callers[1:], *others)]
        await ox.enqueuer.flush()
        assert not callers[0].done()
        gate.open()
        results.append(await callers[0])
    assert [result.args for result in results] == [[1], [2], [3], [0]]
    assert gate.sent[1] == 3
    assert await stored(ox) == [0, 1, 2, 3]


async def test_a_callback_of_on_wake_that_raises_is_logged_and_hurts_no_caller(
    ox: Oxpull, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(queue_name: str) -> None:
        raise LookupError(queue_name)

    ox.on_wake(fail)
    task = ox.task(nothing)
    results = await outcomes([task.enqueue(number) for number in range(3)])
    assert all(isinstance(result, TaskResult) for result in results)
    assert "a callback of on_wake failed" in caplog.text


async def test_F3_the_writer_runs_in_an_empty_context(ox: Oxpull) -> None:
    mine: ContextVar[str] = ContextVar("mine", default="empty")
    seen: list[tuple[str, str]] = []
    task = ox.task(nothing)
    mine.set("the caller's")

    def note() -> None:
        current = asyncio.current_task()
        assert current is not None
        seen.append((current.get_name(), mine.get()))

    async with gated(ox) as gate:
        gate.meet = note
        gate.open()
        await outcomes(await started(*[task.enqueue(number) for number in range(3)]))
    assert set(seen) == {(WRITER, "empty")}


async def test_closing_writes_what_callers_gave(ox: Oxpull) -> None:
    async with open_oxpull(unmasked(ox)) as mine:
        task = mine.task(nothing)
        async with gated(mine) as gate:
            callers = await started(task.enqueue(0))
            await gate.reached()
            callers += await started(*[task.enqueue(number) for number in range(1, 4)])
            for caller in callers:
                caller.cancel()
            [closing] = await started(mine.close())
            assert not closing.done()
            gate.open()
            await outcomes([closing])
    assert await stored(ox) == [0, 1, 2, 3]


async def test_A16_a_writer_that_is_stopped_leaves_its_callers_to_another(ox: Oxpull) -> None:
    task = ox.task(nothing)
    async with gated(ox) as gate:
        callers = await started(task.enqueue(0))
        await gate.reached()
        callers += await started(*[task.enqueue(number) for number in range(1, 4)])
        [writer] = [one for one in asyncio.all_tasks() if one.get_name() == WRITER]
        writer.cancel()
        await asyncio.wait([writer])
        gate.open()
        results = [await caller for caller in callers]
    assert [result.args for result in results] == [[0], [1], [2], [3]]
    assert await stored(ox) == [0, 1, 2, 3]
