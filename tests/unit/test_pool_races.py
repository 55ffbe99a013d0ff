"""The connection pool under named interleavings: nothing is lost between a hand-over and a cancellation."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oxpull_async.domain.errors import PoolExhausted
from oxpull_async.drivers.pool import PoolStats
from tests.unit.fake_connections import (
    Borrower,
    FakeDriver,
    Pools,
    borrow,
    cancelled,
    lent_directly,
    make,
    opened,
    queued,
    ticks,
    use,
)


@pytest.mark.asyncio
async def test_openings_under_way_count_against_the_size() -> None:
    driver = FakeDriver(gate=asyncio.Event())
    async with opened(driver, size=2) as pools:
        users = [asyncio.create_task(use(pools)) for _ in range(5)]
        await ticks()
        assert pools.stats().waiters == 3
        assert driver.gate is not None
        driver.gate.set()
        await asyncio.gather(*users)
        assert len(driver.connections) == 2


@pytest.mark.asyncio
async def test_a_cancelled_borrower_frees_its_place_for_the_waiter() -> None:
    driver = FakeDriver()
    async with opened(driver) as pools:
        holder = await borrow(pools)
        waiter = await queued(pools)
        await cancelled(holder.task)
        await waiter.has.wait()
        assert driver.ends == ["terminated", None]
        await waiter.finish()


@pytest.mark.asyncio
async def test_a_cancelled_waiter_leaves_the_line() -> None:
    async with opened(FakeDriver()) as pools:
        holder = await borrow(pools)
        first, second = await queued(pools), await queued(pools)
        await cancelled(first.task)
        assert pools.stats().waiters == 1
        await holder.finish()
        await second.has.wait()
        await second.finish()


@pytest.mark.asyncio
@pytest.mark.parametrize("usable", [True, False], ids=["handed a connection", "handed a place"])
@pytest.mark.parametrize("others", [0, 1])
async def test_a_waiter_cancelled_as_it_is_served_passes_it_on(usable: bool, others: int) -> None:
    driver = FakeDriver()
    async with opened(driver) as pools:
        pool, held = await lent_directly(pools)
        leaver = await queued(pools)
        rest = [await queued(pools) for _ in range(others)]
        held.usable = usable
        await pool.give_back(held, cut_short=False)  # serves the leaver, who has not run yet
        leaver.task.cancel()
        await asyncio.wait([leaver.task])
        assert leaver.task.cancelled()
        assert not leaver.has.is_set()
        for borrower in rest:
            await borrower.has.wait()
            await borrower.finish()
        assert await use(pools) == (0 if usable else 1)
        assert pools.stats() == PoolStats(1, 1, 0, 0, 1 if usable else 2)


@pytest.mark.asyncio
async def test_a_waiter_cancelled_before_it_is_served_is_stepped_over() -> None:
    async with opened(FakeDriver()) as pools:
        pool, held = await lent_directly(pools)
        leaver, other = await queued(pools), await queued(pools)
        leaver.task.cancel()  # its future is cancelled, but it has not left the line yet
        await pool.give_back(held, cut_short=False)
        await other.has.wait()
        assert not leaver.has.is_set()
        await asyncio.wait([leaver.task])
        await other.finish()
        assert pools.stats() == PoolStats(1, 1, 0, 0, 1)


def fire_timers(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect the pool's timers instead of starting them, so that a test says when they fire."""
    fired: list[Any] = []
    loop = asyncio.get_running_loop()
    call_later = loop.call_later

    def collect(delay: float, callback: Any, *args: Any, context: Any = None) -> asyncio.TimerHandle:
        fired.append(lambda: callback(*args))
        return call_later(delay, callback, *args, context=context)

    monkeypatch.setattr(loop, "call_later", collect)
    return fired


@pytest.mark.asyncio
async def test_a_timer_that_fires_after_the_hand_over_takes_nothing_away(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(FakeDriver()) as pools:
        pool, held = await lent_directly(pools)
        timers = fire_timers(monkeypatch)
        waiter = await queued(pools)
        await pool.give_back(held, cut_short=False)
        timers[0]()
        await waiter.has.wait()
        await waiter.finish()
        assert pools.stats() == PoolStats(1, 1, 0, 0, 1)


@pytest.mark.asyncio
async def test_a_timer_that_fires_before_the_hand_over_leaves_the_connection_to_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opened(FakeDriver()) as pools:
        pool, held = await lent_directly(pools)
        timers = fire_timers(monkeypatch)
        late, other = await queued(pools), await queued(pools)
        timers[0]()
        await pool.give_back(held, cut_short=False)
        await other.has.wait()
        await other.finish()
        with pytest.raises(PoolExhausted):
            await late.task
        assert pools.stats() == PoolStats(1, 1, 0, 0, 1)


@pytest.mark.asyncio
async def test_a_waiter_cancelled_as_its_time_ends_leaves_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(FakeDriver()) as pools:
        pool, held = await lent_directly(pools)
        timers = fire_timers(monkeypatch)
        waiter = await queued(pools)
        timers[0]()
        await cancelled(waiter.task)
        await pool.give_back(held, cut_short=False)
        assert pools.stats() == PoolStats(1, 1, 0, 0, 1)


@pytest.mark.asyncio
async def test_a_failed_opening_is_its_callers_error_and_the_next_waiter_tries() -> None:
    driver = FakeDriver(gate=asyncio.Event(), failures=[ConnectionRefusedError("down")])
    async with opened(driver) as pools:
        first = Borrower(pools)
        await ticks()
        second = await queued(pools)
        assert driver.gate is not None
        driver.gate.set()
        with pytest.raises(ConnectionRefusedError):
            await first.task
        await second.has.wait()
        await second.finish()
        assert pools.stats() == PoolStats(1, 1, 0, 0, 1)


@pytest.mark.asyncio
async def test_a_cancelled_opening_gives_its_place_to_the_next_waiter() -> None:
    driver = FakeDriver(gate=asyncio.Event())
    async with opened(driver) as pools:
        first = Borrower(pools)
        await ticks()
        second = await queued(pools)
        await cancelled(first.task)
        assert driver.gate is not None
        driver.gate.set()
        await second.has.wait()
        await second.finish()
        assert len(driver.connections) == 1


@pytest.mark.asyncio
async def test_a_caller_cancelled_as_its_opening_ends_leaves_the_connection_to_the_pool() -> None:
    driver = FakeDriver(gate=asyncio.Event())
    async with opened(driver) as pools:
        caller = Borrower(pools)
        await ticks()
        assert driver.gate is not None
        driver.gate.set()
        await ticks(1)  # opened, and the caller has not run yet
        assert len(driver.connections) == 1
        assert not caller.has.is_set()
        caller.task.cancel()
        await asyncio.wait([caller.task])
        assert caller.task.cancelled()
        assert pools.stats() == PoolStats(1, 1, 0, 0, 1)
        assert await use(pools) == 0


@pytest.mark.asyncio
async def test_a_free_connection_is_lent_without_a_task_or_a_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(FakeDriver()) as pools:
        await use(pools)
        loop = asyncio.get_running_loop()
        others_ran: list[bool] = []
        loop.call_soon(others_ran.append, True)
        with monkeypatch.context() as patch:
            for name in ("create_task", "call_later", "create_future"):
                patch.setattr(loop, name, None)
            await use(pools)
        assert others_ran == []


@pytest.mark.asyncio
async def test_a_connection_handed_over_before_the_close_and_declined_after_it_is_not_kept() -> None:
    driver = FakeDriver()
    pools = make(driver)
    pool, held = await lent_directly(pools)
    leaver = await queued(pools)
    await pool.give_back(held, cut_short=False)
    leaver.task.cancel()
    await pools.close()
    assert driver.ends == [None]
    await asyncio.wait([leaver.task])
    assert driver.ends == ["terminated"]


@pytest.mark.asyncio
async def test_a_cancelled_close_terminates_what_is_left() -> None:
    driver = FakeDriver(close_gate=asyncio.Event())
    pools = make(driver)
    await use(pools)
    closing = asyncio.create_task(pools.close())
    await ticks()
    await cancelled(closing)
    assert driver.ends == ["terminated"]


async def chaos(pools: Pools, driver: FakeDriver, moves: list[tuple[str, int]]) -> None:
    borrowers: list[Borrower] = []
    for move, number in moves:
        chosen = borrowers[number % len(borrowers)] if borrowers else None
        if move == "borrow" or chosen is None:
            borrowers.append(Borrower(pools))
        elif move == "cancel":
            chosen.task.cancel()
        elif move == "return":
            chosen.stop.set()
        elif move == "break" and chosen.connection is not None:
            chosen.connection.usable = False
        elif move == "fail":
            driver.failures.append(OSError())
        else:
            await ticks(number)
        assert driver.open_now <= 3
    driver.failures.clear()
    for borrower in borrowers:
        borrower.stop.set()
    await asyncio.gather(*(borrower.task for borrower in borrowers), return_exceptions=True)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["borrow", "borrow", "cancel", "return", "break", "fail", "tick"]), st.integers(0, 7)
        ),
        max_size=40,
    )
)
def test_no_order_of_events_loses_a_place_or_a_connection(moves: list[tuple[str, int]]) -> None:
    driver = FakeDriver()
    pools = make(driver, size=3)

    async def main() -> None:
        await chaos(pools, driver, moves)
        assert pools.stats().lent == 0
        full = await asyncio.wait_for(asyncio.gather(*(borrow(pools) for _ in range(3))), 5)  # all places are there
        for borrower in full:
            await borrower.finish()
        assert pools.stats().idle == driver.open_now == 3

    asyncio.run(main())
    assert driver.open_now == 0
