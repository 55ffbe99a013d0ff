"""Unique tasks in transactions: commit and rollback, waiting for another's end, giving up, and broken connections."""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from oxpull_async import Oxpull, Task, TaskResult, Unique
from oxpull_async.domain.errors import Conflict, LockTimeout
from oxpull_async.errors import AlreadyEnqueued, ConnectionLost, UniqueEnqueueRace, UsageError
from tests.app.kit import add, count, nothing, open_oxpull, rolled_back, unmasked
from tests.fixtures import raw
from tests.fixtures.faulty import Fault, FaultyConnection, FaultyDatabase

pytestmark = pytest.mark.asyncio

REPLACE = Unique(on_duplicate="replace", key=lambda *_, **__: "same")


def elsewhere[T](work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start a task that knows nothing of the transaction that is open here."""
    return asyncio.get_running_loop().create_task(work, context=contextvars.Context())


async def still_waits(task: asyncio.Task[Any]) -> bool:
    """Give a task a moment; whether it has not ended then."""
    done, _ = await asyncio.wait([task], timeout=0.15)
    return not done


@asynccontextmanager
async def other_oxpull(ox: Oxpull) -> AsyncIterator[Task[..., Any]]:
    """Open the same database a second time; gives its unique task."""
    async with open_oxpull(unmasked(ox)) as other:
        yield other.task(unique=True)(nothing)


@asynccontextmanager
async def impatient(ox: Oxpull) -> AsyncIterator[Oxpull]:
    """Open the same database with one connection, which soon gives up on a lock."""
    url = unmasked(ox)
    if ox.database.dialect.name == "sqlite":
        url += f"{'&' if '?' in url else '?'}busy_timeout=0.1"
    async with open_oxpull(url, pool_size=1) as other:
        async with other.database.connection() as conn:
            await raw.hurry(conn)
        yield other


async def test_task_and_key_are_there_with_the_commit_and_gone_with_a_rollback(ox: Oxpull) -> None:
    task = ox.task(unique=True)(nothing)
    async with rolled_back(ox.transaction()):
        assert (await task.enqueue(1)).created
        assert [result.created for result in await ox.enqueue_many([task.call(2), task.call(1)])] == [True, False]
    assert await count(ox) == 0
    async with ox.transaction():
        first = await task.enqueue(1)
    assert first.created
    assert (await task.enqueue(1)).id == first.id


async def test_a_savepoint_takes_back_the_key_that_was_taken_in_it(ox: Oxpull) -> None:
    task = ox.task(unique=True)(nothing)
    async with ox.transaction():
        async with rolled_back(ox.transaction()):
            await task.enqueue(1)
        kept = await task.enqueue(1)
        assert kept.created
    assert (await task.enqueue(1)).id == kept.id
    assert await count(ox) == 1


async def test_a_rewrite_is_taken_back_with_its_transaction(ox: Oxpull) -> None:
    task = ox.task(unique=REPLACE)(nothing)
    first = await task.enqueue(1)
    async with rolled_back(ox.transaction()):
        assert (await task.enqueue(2)).args == [2]
    assert (await ox.get_result(first.id)).args == [1]


async def test_a_refused_call_leaves_the_transaction_alive(ox: Oxpull) -> None:
    task = ox.task(unique=Unique(on_duplicate="raise"))(nothing)
    pending = await task.enqueue(1)
    async with ox.transaction():
        await task.enqueue(2)
        for attempt in (task.enqueue(1), ox.enqueue_many([task.call(3), task.call(1)])):
            with pytest.raises(AlreadyEnqueued) as refused:
                await attempt
            assert isinstance(refused.value.existing, TaskResult)
            assert refused.value.existing.id == pending.id
        await task.enqueue(4)
    assert await count(ox) == 3


async def test_F7_only_what_this_transaction_wrote_cannot_be_waited_for_in_it(ox: Oxpull) -> None:
    task, moved = ox.task(unique=True)(nothing), ox.task(unique=REPLACE)(nothing)
    pending, unstarted = await task.enqueue(1), await moved.enqueue(1)
    async with ox.transaction():
        found, created, rewritten = await task.enqueue(1), await task.enqueue(2), await moved.enqueue(2)
        await found.refresh()
        for result in (created, rewritten):
            with pytest.raises(UsageError, match="was enqueued in this transaction"):
                await result.refresh()
    assert (found.id, rewritten.id) == (pending.id, unstarted.id)


@pytest.mark.parametrize("bulk", [False, True], ids=["single", "bulk"])
@pytest.mark.parametrize("commits", [True, False], ids=["commit", "rollback"])
async def test_a_duplicate_waits_for_the_end_of_the_transaction_that_took_the_key(
    ox: Oxpull, commits: bool, bulk: bool
) -> None:
    async with other_oxpull(ox) as other:
        task = ox.task(unique=True)(nothing)

        async def duplicate() -> TaskResult[Any]:
            if bulk:
                return (await other.ox.enqueue_many([other.call(0), other.call(1)]))[1]
            return await other.enqueue(1)

        async with ox.transaction() if commits else rolled_back(ox.transaction()):
            first = await task.enqueue(1)
            waiting = elsewhere(duplicate())
            assert await still_waits(waiting)
        second = await waiting
    assert (second.created, second.id == first.id) == (not commits, commits)
    assert await count(ox) == 1 + bulk


async def test_C6_a_lock_that_is_not_had_in_time_is_a_race_that_wrote_nothing(ox: Oxpull) -> None:
    task = ox.task(unique=True)(nothing)
    async with impatient(ox) as other, ox.transaction():
        await task.enqueue(1)
        late = elsewhere(other.task(unique=True)(nothing).enqueue(1))
        with pytest.raises(
            UniqueEnqueueRace, match=r"nothing was written: another transaction holds .*Enqueue again"
        ) as no:
            await late
    assert isinstance(no.value.__cause__, LockTimeout)
    assert not no.value.transaction_survived
    assert await count(ox) == 1


@pytest.mark.parametrize("url", ["postgres", "mysql"], indirect=True)
async def test_C6_in_a_callers_transaction_the_race_says_what_became_of_it(ox: Oxpull) -> None:
    async def enqueue_late(other: Oxpull) -> UniqueEnqueueRace:
        late = other.task(unique=True)(nothing)
        with pytest.raises(UniqueEnqueueRace) as refused:
            async with other.transaction():
                await late.enqueue(1)
        return refused.value

    async with impatient(ox) as other, ox.transaction():
        await ox.task(unique=True)(nothing).enqueue(1)
        race = await elsewhere(enqueue_late(other))
    lives = "as it was before: enqueue again in it" in str(race)
    dead = "is lost: roll it back and repeat all of it" in str(race)
    assert (lives, dead) == (race.transaction_survived, not race.transaction_survived)
    assert await count(ox) == 1


async def test_C6_a_conflict_of_our_own_transaction_is_repeated_and_then_a_race(ox: Oxpull) -> None:
    tries: list[int] = []

    class Deadlocked(FaultyConnection):
        async def fetch(self, statement: str, /, **_: Any) -> Any:
            raise Conflict(f"deadlock detected in {statement}")

        async def execute(self, statement: str, /, **_: Any) -> Any:
            raise Conflict(f"deadlock detected in {statement}")

    class Contested(FaultyDatabase):
        @asynccontextmanager
        async def connection(self) -> AsyncIterator[Any]:
            async with super().connection() as conn:
                tries.append(1)
                yield Deadlocked(conn, self.fault)

    ox.database, plain = Contested(ox.database, Fault("none", committed=False)), ox.database
    task = ox.task(nothing)
    with pytest.raises(UniqueEnqueueRace, match=r"to break a deadlock or conflict .*Enqueue again") as refused:
        await task.using(unique=True).enqueue(1)
    assert (len(tries), type(refused.value.__cause__)) == (5, Conflict)
    with pytest.raises(Conflict):
        await task.enqueue(1)
    ox.database = plain


@pytest.mark.parametrize("committed", [True, False], ids=["delivered", "lost"])
@pytest.mark.parametrize("mode", ["existing", "raise", "replace"])
async def test_A16_an_enqueue_whose_answer_was_lost_is_told_truthfully(ox: Oxpull, mode: Any, committed: bool) -> None:
    task, plain = ox.task(unique=Unique(on_duplicate=mode))(nothing), ox.database
    once = "insert_unique_task" if plain.dialect.enqueues_unique_at_once else "insert_task_of_key"
    ox.database = FaultyDatabase(plain, fault := Fault(once, committed=committed))
    result = await task.enqueue(1)
    ox.database = plain
    assert (fault.happened, result.created, result.args) == (1, True, [1])
    assert result.record == (await ox.get_result(result.id)).record
    assert await count(ox) == 1


@pytest.mark.parametrize("committed", [True, False], ids=["delivered", "lost"])
async def test_A16_many_calls_whose_answer_was_lost_are_told_truthfully(ox: Oxpull, committed: bool) -> None:
    task, other, plain = ox.task(unique=True)(nothing), ox.task(add), ox.database
    pending = await task.enqueue(5)
    ox.database = FaultyDatabase(plain, fault := Fault("insert_tasks", committed=committed))
    results = await ox.enqueue_many([task.call(1), other.call(1), task.call(5), task.call(1), task.call(2)])
    ox.database = plain
    assert fault.happened == 1
    assert [result.created for result in results] == [True, True, False, False, True]
    assert (results[2].id, results[3].id) == (pending.id, results[0].id)
    assert await count(ox) == 4


async def test_A16_an_enqueue_that_stands_but_whose_answer_is_gone_says_so(ox: Oxpull) -> None:
    task, plain = ox.task(unique=True)(nothing), ox.database
    pending = await task.enqueue(5)

    class Forgetful(FaultyDatabase):
        @asynccontextmanager
        async def connection(self) -> AsyncIterator[Any]:
            if self.fault.happened:
                async with plain.connection() as conn, conn.transaction():
                    for table in ("task", "unique"):
                        column = "id" if table == "task" else "holder_id"
                        await conn.run_script(
                            f"DELETE FROM oxpull_{table} WHERE {column} = '{pending.id.replace('-', '')}'"
                        )
            async with super().connection() as conn:
                yield conn

    ox.database = Forgetful(plain, Fault("insert_tasks", committed=True))
    with pytest.raises(ConnectionLost, match=r"was carried out, but the tasks that answer the calls \[1\] have gone"):
        await ox.enqueue_many([task.call(1), task.call(5)])
    ox.database = plain


class Late(FaultyDatabase):
    """Breaks as its fault says, and shows the rows of the broken call only after the first look for them."""

    blinks = 0

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        database = self

        class Blinking(FaultyConnection):
            async def fetch(self, statement: str, /, **values: Any) -> Any:
                rows = await super().fetch(statement, **values)
                if statement == "get_tasks" and database.fault.happened and not database.blinks:
                    database.blinks += 1
                    return []
                return rows

        async with self.inner.connection() as conn:
            yield Blinking(conn, self.fault)


@pytest.mark.parametrize("bulk", [False, True], ids=["single", "bulk"])
@pytest.mark.parametrize("mode", ["existing", "raise", "replace"])
async def test_A16_an_enqueue_that_commits_while_it_is_repeated_is_told_truthfully(
    ox: Oxpull, mode: Any, bulk: bool
) -> None:
    task, other, plain = ox.task(unique=Unique(on_duplicate=mode))(nothing), ox.task(add), ox.database
    alone = "insert_unique_task" if plain.dialect.enqueues_unique_at_once else "insert_task_of_key"
    ox.database = late = Late(plain, Fault("insert_tasks" if bulk else alone, committed=True))
    if bulk:
        results = await ox.enqueue_many([task.call(1), other.call(1), task.call(2)])
    else:
        results = [await task.enqueue(1)]
    ox.database = plain
    assert (late.fault.happened, late.blinks) == (1, 1)
    assert [result.created for result in results] == [True] * len(results)
    assert await count(ox) == len(results)
