"""Transactions of ours: what is enqueued in the block is stored with its commit, or not at all."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from oxpull_async import Oxpull, TaskResult
from oxpull_async.errors import InvalidArguments, TransactionElsewhere, UsageError
from tests.app.kit import add, count, nothing, open_oxpull, placeholders, rolled_back, work

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def orders(ox: Oxpull) -> AsyncIterator[str]:
    """Make a table of the user's own; gives its name."""
    async with ox.transaction() as tx:
        await tx.execute("CREATE TABLE IF NOT EXISTS orders (id integer PRIMARY KEY, note varchar(80))")
    async with ox.transaction() as tx:
        await tx.execute("DELETE FROM orders")
    yield "orders"


async def test_nothing_is_visible_before_the_commit_and_all_is_after_it(ox: Oxpull) -> None:
    task = ox.task(nothing)
    async with ox.transaction():
        await task.enqueue(1)
        await ox.enqueue_many([task.call(2), task.call(3)])
        assert await count(ox) == 0
    assert await count(ox) == 3


async def test_nothing_is_left_after_a_rollback(ox: Oxpull) -> None:
    task = ox.task(nothing)
    async with rolled_back(ox.transaction()):
        await task.enqueue(1)
        await ox.enqueue_many([task.call(2), task.call(3)])
    assert await count(ox) == 0
    await task.enqueue(4)
    assert await count(ox) == 1


async def test_a_nested_block_is_a_savepoint(ox: Oxpull) -> None:
    task = ox.task(nothing)
    async with ox.transaction():
        await task.enqueue(1)
        async with rolled_back(ox.transaction()):
            await ox.enqueue_many([task.call(2), task.call(2)])
        async with ox.transaction():
            kept = await task.enqueue(3)
    assert await count(ox) == 2
    assert (await ox.get_result(kept.id)).args == [3]


async def test_an_outer_rollback_takes_what_a_nested_block_had_kept(ox: Oxpull) -> None:
    task = ox.task(nothing)
    async with rolled_back(ox.transaction()), ox.transaction():
        await task.enqueue(1)
    assert await count(ox) == 0


async def test_a_refused_call_leaves_the_transaction_alive(ox: Oxpull) -> None:
    task = ox.task(nothing)
    async with ox.transaction():
        await task.enqueue(1)
        with pytest.raises(InvalidArguments):
            await task.enqueue("\0")  # type: ignore[arg-type]
        await task.enqueue(2)
    assert await count(ox) == 2


async def test_the_users_own_sql_shares_the_transaction(ox: Oxpull, orders: str) -> None:
    task = ox.task(nothing)
    insert = f"INSERT INTO {orders} (id, note) VALUES ({placeholders(ox, 2)})"
    async with rolled_back(ox.transaction()) as tx:
        await tx.execute(insert, 1, "100 %")
        await task.enqueue(1)
    async with ox.transaction() as tx:
        assert await tx.fetch(f"SELECT id FROM {orders}") == []
        assert await tx.execute(insert, 2, "100 %s") == 1
        await task.enqueue(2)
    async with ox.transaction() as tx:
        found = await tx.fetch(f"SELECT id, note FROM {orders} WHERE note LIKE '100 %' AND id = 2")
        assert [tuple(row) for row in found] == [(2, "100 %s")]
        assert await tx.execute(f"UPDATE {orders} SET note = note") == 1
    assert await count(ox) == 1


async def test_the_drivers_own_connection_is_at_hand(ox: Oxpull) -> None:
    async with ox.transaction() as tx:
        library = type(tx.connection).__module__.partition(".")[0]
    expected = {"postgres": {"asyncpg"}, "mysql": {"aiomysql", "oxpull_async"}, "sqlite": {"aiosqlite"}}
    assert library in expected[ox.database.dialect.name]


async def test_F3_a_child_task_cannot_enqueue_while_the_block_is_open_and_can_afterwards(ox: Oxpull) -> None:
    task, ended = ox.task(nothing), asyncio.Event()

    async def child() -> str:
        with pytest.raises(
            TransactionElsewhere, match=r"'parent'.* after the transaction's block has ended"
        ) as refused:
            await task.enqueue(1)
        with pytest.raises(TransactionElsewhere):
            await ox.enqueue_many([task.call(1)])
        with pytest.raises(TransactionElsewhere):
            async with ox.transaction():
                pass
        await ended.wait()
        await task.enqueue(2)
        return str(refused.value)

    async def parent() -> None:
        async with rolled_back(ox.transaction()):
            children.append(asyncio.create_task(child()))
            await asyncio.sleep(0)
            await task.enqueue(3)

    children: list[asyncio.Task[str]] = []
    await asyncio.create_task(parent(), name="parent")
    ended.set()
    await asyncio.wait_for(children[0], 30)
    assert await count(ox) == 1


async def test_F3_another_task_without_a_share_in_the_block_enqueues_by_itself(ox: Oxpull) -> None:
    task, open_, done = ox.task(nothing), asyncio.Event(), asyncio.Event()

    async def holder() -> None:
        async with ox.transaction():
            open_.set()
            await done.wait()

    async def stranger() -> None:
        await open_.wait()
        read = await ox.get_result(first.id)
        assert read.args == [1]
        done.set()
        await task.enqueue(2)

    first = await task.enqueue(1)
    await asyncio.wait_for(asyncio.gather(holder(), stranger()), 30)
    assert await count(ox) == 2


async def test_each_task_has_a_transaction_of_its_own(ox: Oxpull) -> None:
    task = ox.task(nothing)

    async def one(number: int) -> None:
        async with rolled_back(ox.transaction()) if number % 2 else ox.transaction():
            await task.enqueue(number)

    await asyncio.gather(*[one(n) for n in range(20)])
    assert await count(ox) == 10


async def test_a_cancelled_block_leaves_nothing_and_the_pool_lives_on(ox: Oxpull) -> None:
    task, inside = ox.task(nothing), asyncio.Event()

    async def block() -> None:
        async with ox.transaction():
            await task.enqueue(1)
            inside.set()
            await asyncio.Event().wait()

    running = asyncio.create_task(block())
    await asyncio.wait_for(inside.wait(), 30)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await count(ox) == 0
    await task.enqueue(2)
    assert await count(ox) == 1


@pytest.mark.parametrize("action", ["wait", "refresh"])
async def test_F7_waiting_in_the_creating_transaction_raises_at_once(ox: Oxpull, action: str) -> None:
    task = ox.task(nothing)
    words = "was enqueued in this transaction, so no worker can see it before the commit: wait for it after the block"
    async with ox.transaction():
        one = await task.enqueue(1)
        async with ox.transaction():
            many = await ox.enqueue_many([task.call(2)])
        results: list[TaskResult[None]] = [one, *many]
        for result in results:
            with pytest.raises(UsageError, match=words):
                await getattr(result, action)()
    await work(ox)
    for result in results:
        await getattr(result, action)()


async def test_a_row_of_the_open_transaction_can_be_read_in_it(ox: Oxpull) -> None:
    async with ox.transaction():
        result = await ox.task(add).enqueue(1)
        assert (await ox.get_result(result.id)).args == [1]
        assert [row.ready for row in await ox.stats()] == [1]
        assert await ox.discard(result.id)


async def test_two_oxpulls_keep_their_transactions_apart(ox: Oxpull, tmp_path_factory: pytest.TempPathFactory) -> None:
    async with open_oxpull(f"sqlite:///{tmp_path_factory.mktemp('other') / 'tasks.db'}") as other:
        await other.migrate()
        first, second = ox.task(nothing), other.task(nothing)
        async with rolled_back(ox.transaction()):
            await second.enqueue(1)
            async with other.transaction():
                await first.enqueue(1)
                await second.enqueue(2)
        assert (await count(ox), await count(other)) == (0, 2)
