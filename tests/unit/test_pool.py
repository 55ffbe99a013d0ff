"""The connection pool: bounds, fairness, reuse and close."""

import asyncio

import pytest

from oxpull_async.domain.errors import PoolExhausted, UsageError
from oxpull_async.drivers.pool import PoolConfig, PoolStats
from tests.unit.fake_connections import (
    CALLER,
    Borrower,
    FakeConnection,
    FakeDriver,
    borrow,
    cancelled,
    make,
    opened,
    queued,
    ticks,
    use,
)


@pytest.mark.asyncio
async def test_nothing_is_opened_before_the_first_use() -> None:
    driver = FakeDriver()
    async with opened(driver):
        assert driver.connections == []


@pytest.mark.asyncio
async def test_a_connection_is_used_again() -> None:
    async with opened(FakeDriver(), size=5) as pools:
        assert [await use(pools) for _ in range(3)] == [0, 0, 0]
        assert pools.stats() == PoolStats(size=5, idle=1, lent=0, waiters=0, opened_total=1)


@pytest.mark.asyncio
async def test_the_most_recently_returned_connection_is_lent_first() -> None:
    async with opened(FakeDriver(), size=3) as pools:
        first, second, third = [await borrow(pools) for _ in range(3)]
        for borrower in (first, third, second):
            await borrower.finish()
        assert await use(pools) == 1


@pytest.mark.asyncio
async def test_no_more_than_size_connections_are_open() -> None:
    driver = FakeDriver()
    async with opened(driver, size=2) as pools:
        await asyncio.gather(*(use(pools) for _ in range(20)))
        assert len(driver.connections) == 2


@pytest.mark.asyncio
async def test_waiters_are_served_in_the_order_they_came() -> None:
    async with opened(FakeDriver()) as pools:
        holder = await borrow(pools)
        served: list[int] = []

        async def take_turn(number: int) -> None:
            async with pools.connection():
                served.append(number)

        turns = [asyncio.create_task(take_turn(number)) for number in range(5)]
        await ticks()
        await holder.finish()
        await asyncio.gather(*turns)
        assert served == [0, 1, 2, 3, 4]


@pytest.mark.asyncio
async def test_a_newcomer_does_not_overtake_a_waiter() -> None:
    async with opened(FakeDriver()) as pools:
        holder = await borrow(pools)
        waiter = await queued(pools)
        holder.stop.set()
        newcomer = Borrower(pools)
        await waiter.has.wait()
        assert not newcomer.has.is_set()
        await waiter.finish()
        await newcomer.finish()


@pytest.mark.asyncio
async def test_an_exhausted_pool_names_size_waiters_time_and_the_way_out() -> None:
    async with opened(FakeDriver(), seconds=0.01) as pools:
        holder = await borrow(pools)
        errors = await asyncio.gather(use(pools), use(pools), return_exceptions=True)
        assert all(isinstance(error, PoolExhausted) for error in errors)
        for words in ("fake://db", "0.01 s", "pool_size is 1", "waiting is 2", "Raise pool_size", "second connection"):
            assert words in str(errors[0])
        await holder.finish()
        assert await use(pools) == 0


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", [asyncio.CancelledError, KeyboardInterrupt, GeneratorExit, SystemExit])
async def test_a_block_that_was_cut_short_gives_no_connection_back(kind: type[BaseException]) -> None:
    driver = FakeDriver()
    async with opened(driver) as pools:
        loan = pools.connection()
        await loan.__aenter__()
        await loan.__aexit__(kind, kind(), None)
        assert driver.ends == ["terminated"]
        assert await use(pools) == 1


@pytest.mark.asyncio
async def test_an_ordinary_error_gives_a_usable_connection_back() -> None:
    async with opened(FakeDriver()) as pools:
        with pytest.raises(ZeroDivisionError):
            async with pools.connection():
                raise ZeroDivisionError
        assert await use(pools) == 0


@pytest.mark.asyncio
async def test_a_connection_left_half_way_is_terminated_and_its_place_goes_to_the_waiter() -> None:
    driver = FakeDriver()
    async with opened(driver) as pools:
        holder = await borrow(pools)
        waiter = await queued(pools)
        driver.connections[0].usable = False
        await holder.finish()
        await waiter.has.wait()
        assert driver.ends == ["terminated", None]
        await waiter.finish()


@pytest.mark.asyncio
async def test_an_idle_connection_that_died_is_replaced_without_an_error() -> None:
    driver = FakeDriver()
    async with opened(driver, size=2) as pools:
        first, second = await borrow(pools), await borrow(pools)
        await first.finish()
        await second.finish()
        driver.connections[1].usable = False
        assert await use(pools) == 0
        driver.connections[0].usable = False
        assert await use(pools) == 2
        assert pools.stats() == PoolStats(2, 1, 0, 0, 3)


@pytest.mark.asyncio
async def test_expire_idle_drops_the_siblings_of_a_lost_connection() -> None:
    driver = FakeDriver()
    async with opened(driver, size=3) as pools:
        borrowers = [await borrow(pools) for _ in range(3)]
        for borrower in borrowers[1:]:
            await borrower.finish()
        pools.expire_idle()
        assert driver.ends == [None, "terminated", "terminated"]
        await borrowers[0].finish()
        assert await use(pools) == 0


@pytest.mark.asyncio
async def test_a_terminate_that_fails_still_frees_the_place() -> None:
    class Stubborn(FakeDriver):
        def terminate(self, connection: FakeConnection, /) -> None:
            super().terminate(connection)
            raise OSError

    async with opened(Stubborn()) as pools:
        await cancelled((await borrow(pools)).task)
        assert await use(pools) == 1


@pytest.mark.asyncio
async def test_a_connection_does_not_keep_the_context_of_who_opened_it() -> None:
    driver = FakeDriver()
    token = CALLER.set("a request")
    async with opened(driver) as pools:
        await use(pools)
        assert driver.connections[0].opened_for == "nobody"
    CALLER.reset(token)


@pytest.mark.asyncio
async def test_close_closes_idle_connections_and_lent_ones_when_they_come_back() -> None:
    driver = FakeDriver()
    pools = make(driver, size=2)
    lent, idle = await borrow(pools), await borrow(pools)
    await idle.finish()
    await pools.close()
    assert driver.ends == [None, "closed"]
    assert await use(pools) == 2
    await lent.finish()
    assert driver.ends == ["closed", "closed", None]
    await pools.close()
    assert driver.open_now == 0


@pytest.mark.asyncio
async def test_who_waits_when_the_pool_is_closed_is_still_served() -> None:
    driver = FakeDriver()
    pools = make(driver)
    holder, waiter = await borrow(pools), await queued(pools)
    await pools.close()
    await holder.finish()
    await waiter.has.wait()
    await waiter.finish()
    assert driver.ends == ["closed", "closed"]


@pytest.mark.asyncio
async def test_closing_twice_at_once_closes_once() -> None:
    driver = FakeDriver()
    pools = make(driver)
    await use(pools)
    await asyncio.gather(pools.close(), pools.close())
    assert driver.ends == ["closed"]


@pytest.mark.asyncio
async def test_a_server_that_does_not_say_goodbye_delays_the_close_only_so_long() -> None:
    driver = FakeDriver(close_gate=asyncio.Event())
    pools = make(driver, close_timeout=0.01)
    await use(pools)
    await pools.close()
    assert driver.ends == ["terminated"]


@pytest.mark.parametrize(("size", "seconds"), [(0, 1.0), (-1, 1.0), (1, 0.0), (1, -1.0)])
def test_a_pool_without_room_or_time_is_refused(size: int, seconds: float) -> None:
    with pytest.raises(UsageError):
        PoolConfig(label="x", size=size, acquire_timeout=seconds)
