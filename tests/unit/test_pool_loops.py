"""Pools of event loops that come and go: each loop has its own, and none is left behind."""

import asyncio
import gc
import inspect
import threading
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from oxpull_async.drivers.pool import PoolStats
from tests.unit.fake_connections import Borrower, FakeDriver, Pools, borrow, make, queued, ticks, use


@pytest.mark.asyncio
async def test_close_ends_the_guard_too() -> None:
    pools = make(FakeDriver())
    await use(pools)
    guard = pools._homes[asyncio.get_running_loop()].guard
    await pools.close()
    assert inspect.isasyncgen(guard)
    assert inspect.getasyncgenstate(guard) == inspect.AGEN_CLOSED


def test_two_hundred_runs_leave_no_connection_and_no_pool() -> None:
    driver = FakeDriver()
    pools = make(driver, size=3)

    async def work() -> None:
        await asyncio.gather(*(use(pools) for _ in range(5)))

    for _ in range(200):
        asyncio.run(work())
        assert driver.open_now == 0
    assert set(driver.ends) == {"closed"}
    assert pools.stats() == PoolStats(opened_total=600)


def test_async_to_sync_leaves_no_connection_and_no_pool() -> None:
    driver = FakeDriver()
    pools = make(driver)
    for _ in range(200):
        async_to_sync(use)(pools)
        assert driver.open_now == 0
    assert pools.stats() == PoolStats(opened_total=len(driver.connections))


def in_thread(work: Coroutine[Any, Any, Any]) -> threading.Thread:
    thread = threading.Thread(target=asyncio.run, args=(work,))
    thread.start()
    return thread


def test_a_thread_with_a_loop_of_its_own_has_a_pool_of_its_own() -> None:
    driver = FakeDriver()
    pools = make(driver)
    used, leave = threading.Event(), threading.Event()

    async def in_the_thread() -> None:
        await use(pools)
        used.set()
        await asyncio.to_thread(leave.wait)
        assert await use(pools) == 0

    async def in_the_main_loop() -> None:
        assert await use(pools) == 1
        assert pools.stats() == PoolStats(size=2, idle=2, lent=0, waiters=0, opened_total=2)
        await pools.close()
        assert driver.ends == [None, "closed"]

    thread = in_thread(in_the_thread())
    assert used.wait(10)
    asyncio.run(in_the_main_loop())
    leave.set()
    thread.join(10)
    assert driver.ends == ["closed", "closed"]
    assert pools.stats() == PoolStats(opened_total=2)


def test_many_threads_with_loops_that_come_and_go_leak_nothing() -> None:
    driver = FakeDriver()
    pools = make(driver, size=2)

    async def work() -> None:
        for _ in range(20):
            await asyncio.gather(*(use(pools) for _ in range(4)))

    for _ in range(10):
        for thread in [in_thread(work()) for _ in range(4)]:
            thread.join(10)
    assert len(driver.connections) == 80
    assert set(driver.ends) == {"closed"}
    assert pools.stats() == PoolStats(opened_total=80)


def test_close_all_has_the_other_loops_close_theirs_at_their_next_use() -> None:
    driver = FakeDriver()
    pools = make(driver)

    async def use_and_look() -> None:
        assert await use(pools) == 2
        assert driver.ends == ["closed", "closed", None]

    with asyncio.Runner() as first, asyncio.Runner() as second:
        first.run(use(pools))
        second.run(use(pools))
        second.run(pools.close_all())
        assert driver.ends == [None, "closed"]
        first.run(use_and_look())
    assert driver.open_now == 0


def test_close_all_leaves_to_a_loop_that_never_asks_again_to_close_at_its_end() -> None:
    driver = FakeDriver()
    pools = make(driver)
    with asyncio.Runner() as first:
        first.run(use(pools))
        asyncio.run(pools.close_all())
        assert driver.ends == [None]
    assert driver.ends == ["closed"]
    assert pools.stats() == PoolStats(opened_total=1)


@pytest.mark.parametrize("by", ["a new loop", "an old loop", "close"])
def test_a_loop_closed_without_ceremony_is_cleaned_up_at_the_next_use(by: str) -> None:
    driver = FakeDriver()
    pools = make(driver, size=2)
    with asyncio.Runner() as other:
        if by == "an old loop":
            other.run(use(pools))
        rude = asyncio.new_event_loop()
        rude.run_until_complete(use(pools))
        rude.close()
        other.run(pools.close() if by == "close" else use(pools))
        assert driver.ends.count("terminated") == 1
        del rude
        gc.collect()
    assert driver.open_now == 0
    assert pools.stats().size == 0


def test_a_borrower_left_behind_by_a_closed_loop_is_cut_off() -> None:
    driver = FakeDriver()
    pools = make(driver)
    rude = asyncio.new_event_loop()
    rude.set_exception_handler(lambda *_: None)  # asyncio says that a pending task was destroyed: it was
    borrower = rude.run_until_complete(start(pools))
    waiter = rude.run_until_complete(start(pools, waits=True))
    rude.close()
    asyncio.run(use(pools))
    assert driver.ends == ["terminated", "closed"]
    del borrower, waiter, rude
    gc.collect()
    assert driver.ends == ["terminated", "closed"]


async def start(pools: Pools, *, waits: bool = False) -> Borrower:
    return await (queued(pools) if waits else borrow(pools))


def test_a_use_while_the_loop_is_ending_is_served_and_keeps_nothing_open() -> None:
    driver = FakeDriver()
    pools = make(driver)
    seen: list[int] = []

    async def late() -> AsyncIterator[None]:
        try:
            yield
        finally:
            await ticks(20)  # the pool's own guard has ended by now
            seen.extend([await use(pools), await use(pools)])

    async def main(generator: AsyncIterator[None]) -> None:
        await use(pools)
        await anext(generator)

    generator = late()
    asyncio.run(main(generator))
    assert seen == [1, 2]
    assert driver.ends == ["closed"] * 3
    asyncio.run(use(pools))
    assert pools.stats() == PoolStats(opened_total=4)


def test_a_close_that_meets_the_end_of_its_loop_is_quiet() -> None:
    driver = FakeDriver()
    pools = make(driver)
    complaints: list[object] = []

    async def lifespan() -> AsyncIterator[None]:
        try:
            yield
        finally:
            await pools.close()

    async def main(generator: AsyncIterator[None]) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, complaint: complaints.append(complaint))
        await anext(generator)
        await use(pools)

    generator = lifespan()
    asyncio.run(main(generator))
    assert driver.ends == ["closed"]
    assert complaints == []
