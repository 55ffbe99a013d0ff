"""A driver without a database, which counts, and tasks that borrow its connections."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field

from oxpull_async.drivers.pool import LoopPools, Pool, PoolConfig

CALLER: ContextVar[str] = ContextVar("caller", default="nobody")


@dataclass(eq=False)
class FakeConnection:
    number: int
    usable: bool = True
    ended: str | None = None
    opened_for: str = "nobody"


@dataclass
class FakeDriver:
    """Count connections; opening and closing wait for `gate` where there is one."""

    connections: list[FakeConnection] = field(default_factory=list)
    gate: asyncio.Event | None = None
    close_gate: asyncio.Event | None = None
    failures: list[Exception] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    async def open(self) -> FakeConnection:
        await asyncio.sleep(0)
        if self.gate is not None:
            await self.gate.wait()
        if self.failures:
            raise self.failures.pop(0)
        with self.lock:
            connection = FakeConnection(len(self.connections), opened_for=CALLER.get())
            self.connections.append(connection)
        return connection

    async def close(self, connection: FakeConnection, /) -> None:
        await asyncio.sleep(0)
        if self.close_gate is not None:
            await self.close_gate.wait()
        assert connection.ended is None
        connection.ended = "closed"

    def is_usable(self, connection: FakeConnection, /) -> bool:
        return connection.usable and connection.ended is None

    def terminate(self, connection: FakeConnection, /) -> None:
        connection.ended = connection.ended or "terminated"

    async def finish(self) -> None:
        pass

    @property
    def open_now(self) -> int:
        return sum(connection.ended is None for connection in self.connections)

    @property
    def ends(self) -> list[str | None]:
        return [connection.ended for connection in self.connections]


type Pools = LoopPools[FakeConnection]


def make(driver: FakeDriver, size: int = 1, seconds: float = 30.0, close_timeout: float = 5.0) -> Pools:
    config = PoolConfig(label="fake://db", size=size, acquire_timeout=seconds, close_timeout=close_timeout)
    return LoopPools(config, driver)


@asynccontextmanager
async def opened(driver: FakeDriver, size: int = 1, seconds: float = 30.0) -> AsyncIterator[Pools]:
    pools = make(driver, size, seconds)
    yield pools
    await pools.close()
    assert pools.stats().waiters == 0
    assert driver.open_now == 0


async def ticks(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def use(pools: Pools) -> int:
    async with pools.connection() as connection:
        return connection.number


class Borrower:
    """Hold a connection in a task of its own until told to stop."""

    def __init__(self, pools: Pools) -> None:
        self.pools = pools
        self.has = asyncio.Event()
        self.stop = asyncio.Event()
        self.connection: FakeConnection | None = None
        self.task = asyncio.create_task(self.run())

    async def run(self) -> None:
        async with self.pools.connection() as connection:
            self.connection = connection
            self.has.set()
            await self.stop.wait()

    async def finish(self) -> None:
        self.stop.set()
        await self.task


async def borrow(pools: Pools) -> Borrower:
    borrower = Borrower(pools)
    await borrower.has.wait()
    return borrower


async def queued(pools: Pools) -> Borrower:
    before = pools.stats().waiters
    borrower = Borrower(pools)
    await ticks()
    assert pools.stats().waiters == before + 1
    return borrower


async def cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()


async def lent_directly(pools: Pools) -> tuple[Pool[FakeConnection], FakeConnection]:
    pool = await pools.settle()
    return pool, await pool.acquire()
