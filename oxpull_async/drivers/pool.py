"""Give every event loop of the process a pool of its own, and close it when that loop ends.

Drivers import the whole pool from here. How one loop's connections are lent is in `bounded_pool`.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import TracebackType
from weakref import WeakSet

from oxpull_async.drivers.bounded_pool import Adapter, Pool, PoolConfig, PoolStats

__all__ = ["Adapter", "LoopPools", "Pool", "PoolConfig", "PoolStats"]


@dataclass(frozen=True, slots=True)
class _Home[C]:
    """A loop's pool, with the generator that the loop closes when it ends."""

    pool: Pool[C]
    guard: AsyncGenerator[None] | None


class _Loan[C]:
    """One `async with` over a connection."""

    __slots__ = ("_connection", "_pool", "_pools")

    _connection: C
    _pool: Pool[C]

    def __init__(self, pools: "LoopPools[C]") -> None:
        self._pools = pools

    async def __aenter__(self) -> C:
        pool = self._pools.here() or await self._pools.settle()
        connection = pool.take_idle()
        self._pool = pool
        self._connection = connection if connection is not None else await pool.acquire()
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        cut_short = kind is not None and not issubclass(kind, Exception)
        await self._pool.give_back(self._connection, cut_short=cut_short)


class LoopPools[C]:
    """Keep one pool for each event loop of the process, and none for a loop that has ended.

    The pool of a loop is closed by `loop.shutdown_asyncgens()`, which asyncio.run, asyncio.Runner and asgiref
    call. That of a loop closed without it is terminated when any loop next asks for a connection.
    """

    __slots__ = ("_adapter", "_config", "_ended", "_homes", "_lock", "_opened_before")

    def __init__(self, config: PoolConfig, adapter: Adapter[C]) -> None:
        self._config = config
        self._adapter = adapter
        self._lock = threading.Lock()
        self._homes: dict[asyncio.AbstractEventLoop, _Home[C]] = {}
        self._ended: WeakSet[asyncio.AbstractEventLoop] = WeakSet()
        self._opened_before = 0

    def connection(self) -> AbstractAsyncContextManager[C]:
        """Lend a connection of the running loop's pool for the length of the block."""
        return _Loan(self)

    def stats(self) -> PoolStats:
        """Count the connections of all loops together."""
        with self._lock:
            total = PoolStats(opened_total=self._opened_before)
            for home in self._homes.values():
                total += home.pool.stats()
        return total

    def expire_idle(self) -> None:
        """Terminate the idle connections of the running loop; the driver calls it when one was lost."""
        pool = self.here()
        if pool is not None:
            pool.expire_idle()

    async def close(self) -> None:
        """Close the running loop's pool; a later use opens a new one."""
        self._purge()
        home = self._forget(asyncio.get_running_loop())
        if home is not None:
            await _close_home(home)

    async def close_all(self) -> None:
        """Close the running loop's pool; other loops close theirs at their next use or end."""
        running = asyncio.get_running_loop()
        with self._lock:
            for loop, home in self._homes.items():
                if loop is not running:
                    home.pool.closed = True
        await self.close()

    def here(self) -> Pool[C] | None:
        """Find the running loop's pool, if it has an open one."""
        homes = self._homes
        if len(homes) > 1 and any(loop.is_closed() for loop in list(homes)):
            self._purge()
        home = homes.get(asyncio.get_running_loop())
        return None if home is None or home.pool.closed else home.pool

    async def settle(self) -> Pool[C]:
        """Give the running loop a new pool; in a loop that is ending, one that keeps nothing open."""
        self._purge()
        loop = asyncio.get_running_loop()
        if loop in self._ended:
            return self._settle_late(loop)
        stale = self._forget(loop)
        pool = Pool(self._config, self._adapter)
        guard = self._guard(loop, pool)
        with self._lock:
            self._homes[loop] = _Home(pool, guard)
        await anext(guard)
        if stale is not None:
            await _close_home(stale)
        return pool

    def _settle_late(self, loop: asyncio.AbstractEventLoop) -> Pool[C]:
        with self._lock:
            home = self._homes.get(loop)
            if home is None:
                home = self._homes[loop] = _Home(Pool(self._config, self._adapter), None)
                home.pool.closed = True
        return home.pool

    async def _guard(self, loop: asyncio.AbstractEventLoop, pool: Pool[C]) -> AsyncGenerator[None]:
        """Wait for the loop's end, then close its pool."""
        try:
            yield
        finally:
            home = self._homes.get(loop)
            if home is not None and home.pool is pool:
                self._forget(loop)
                self._ended.add(loop)
            await pool.close()

    def _forget(self, loop: asyncio.AbstractEventLoop) -> _Home[C] | None:
        with self._lock:
            home = self._homes.pop(loop, None)
            if home is not None:
                self._opened_before += home.pool.opened_total
        return home

    def _purge(self) -> None:
        """Terminate what belongs to loops that were closed without ending their generators."""
        for loop in [loop for loop in list(self._homes) if loop.is_closed()]:
            home = self._forget(loop)
            if home is not None:
                home.pool.abandon()


async def _close_home[C](home: _Home[C]) -> None:
    try:
        await home.pool.close()
    finally:
        if home.guard is not None:
            await home.guard.aclose()
