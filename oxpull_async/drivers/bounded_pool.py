"""Lend a bounded number of connections to the tasks of one event loop.

What a connection is, only the driver's adapter knows. Which loop has which pool is the business of `pool`.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass
from typing import Protocol

from oxpull_async.domain.errors import PoolExhausted, UsageError

__all__ = ["Adapter", "Pool", "PoolConfig", "PoolStats"]


class Adapter[C](Protocol):
    """Say how one driver opens, checks and closes its connections."""

    async def open(self) -> C:
        """Connect, within a time of its own; leave nothing behind when it fails or is cancelled."""
        ...

    async def close(self, connection: C, /) -> None:
        """Say goodbye to the server; the pool bounds the time this may take."""
        ...

    def is_usable(self, connection: C, /) -> bool:
        """Tell without waiting whether the connection is open, idle and outside a transaction.

        Must be False as well after a command that was cut short and whose error was caught inside the block.
        """
        ...

    def terminate(self, connection: C, /) -> None:
        """Drop the connection without waiting; on a closed loop too, and harmless if repeated."""
        ...

    async def finish(self) -> None:
        """Wait, not for long, for what terminations in this loop have yet to tell the server."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolConfig:
    """Bound the pool of each loop; `label` names the database in messages and holds no password."""

    label: str
    size: int = 10
    acquire_timeout: float = 30.0
    close_timeout: float = 5.0

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UsageError(f"pool_size is {self.size}; it must be 1 or more.")
        if self.acquire_timeout <= 0:
            raise UsageError(f"acquire_timeout is {self.acquire_timeout:g} s; it must be more than 0.")


@dataclass(frozen=True, slots=True)
class PoolStats:
    """Count the connections of one pool, or of all pools together; `size` is the bound."""

    size: int = 0
    idle: int = 0
    lent: int = 0
    waiters: int = 0
    opened_total: int = 0

    def __add__(self, other: "PoolStats") -> "PoolStats":
        return PoolStats(
            self.size + other.size,
            self.idle + other.idle,
            self.lent + other.lent,
            self.waiters + other.waiters,
            self.opened_total + other.opened_total,
        )


class _WaitedTooLong(Exception):
    def __init__(self, waiting: int) -> None:
        super().__init__(waiting)
        self.waiting = waiting


class _Line[T]:
    """Wait in line, first come first served.

    What is served to somebody who just left is passed on.
    """

    __slots__ = ("_pass_on", "_turns")

    def __init__(self, pass_on: Callable[[T], None]) -> None:
        self._pass_on = pass_on
        self._turns: OrderedDict[asyncio.Future[T | _WaitedTooLong], None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._turns)

    async def wait(self, seconds: float) -> T:
        """Wait to be served.

        The timer settles the same future, so it is either served or too late, never both.
        """
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[T | _WaitedTooLong] = loop.create_future()
        self._turns[turn] = None
        timer = loop.call_later(seconds, self._give_up, turn, context=Context())
        try:
            outcome = await turn
        except BaseException:
            self._leave(turn)
            raise
        finally:
            timer.cancel()
        if isinstance(outcome, _WaitedTooLong):
            raise outcome
        return outcome

    def serve(self, item: T) -> bool:
        """Give `item` to the first in line; False if nobody waits."""
        while self._turns:
            turn, _ = self._turns.popitem(last=False)
            if not turn.done() and not turn.get_loop().is_closed():
                turn.set_result(item)
                return True
        return False

    def _give_up(self, turn: "asyncio.Future[T | _WaitedTooLong]") -> None:
        if not turn.done():
            waiting = len(self._turns)
            del self._turns[turn]
            turn.set_result(_WaitedTooLong(waiting))

    def _leave(self, turn: "asyncio.Future[T | _WaitedTooLong]") -> None:
        self._turns.pop(turn, None)
        if turn.done() and not turn.cancelled():
            outcome = turn.result()
            if not isinstance(outcome, _WaitedTooLong):
                self._pass_on(outcome)


class Pool[C]:
    """Lend at most `size` connections of one event loop, the most recently used first.

    A place is taken while a connection is being opened, idle or lent. Whoever waits, waits in line: a freed
    connection, or place (None), goes to the first in it, so nothing is ever idle or free while somebody waits.
    """

    __slots__ = ("_adapter", "_config", "_idle", "_lent", "_line", "_places", "closed", "opened_total")

    def __init__(self, config: PoolConfig, adapter: Adapter[C]) -> None:
        self._config = config
        self._adapter = adapter
        self._idle: list[C] = []
        self._lent: dict[int, C] = {}
        self._places = 0
        self._line: _Line[C | None] = _Line(self._serve_next)
        self.closed = False
        self.opened_total = 0

    def stats(self) -> PoolStats:
        """Count what the pool holds at this moment."""
        return PoolStats(self._config.size, len(self._idle), len(self._lent), len(self._line), self.opened_total)

    def take_idle(self) -> C | None:
        """Lend an idle connection that still works, or None; dead ones lose their place."""
        while self._idle:
            connection = self._idle.pop()
            if self._adapter.is_usable(connection):
                self._lent[id(connection)] = connection
                return connection
            self._drop(connection)
        return None

    async def acquire(self) -> C:
        """Lend a connection: an idle one, else a new one, else the next that comes back.

        Raises PoolExhausted after `acquire_timeout`, and what the adapter's `open` raises.
        """
        connection = self.take_idle()
        if connection is not None:
            return connection
        if self._places < self._config.size:
            self._places += 1
            return await self._open()
        try:
            served = await self._line.wait(self._config.acquire_timeout)
        except _WaitedTooLong as late:
            raise PoolExhausted(_exhausted(self._config, late.waiting)) from None
        return served if served is not None else await self._open()

    async def give_back(self, connection: C, *, cut_short: bool) -> None:
        """Take a lent connection back; one that was cut short or is not usable is terminated.

        Does not wait unless the pool is closed, and then only to close the connection.
        """
        if self._lent.pop(id(connection), None) is None:
            return  # its loop was found closed and everything of it terminated
        if cut_short or not self._adapter.is_usable(connection):
            self._drop(connection)
        elif self.closed:
            try:
                await _say_goodbye(self._adapter, [connection], self._config.close_timeout)
            finally:
                self._serve_next(None)
        else:
            self._serve_next(connection)

    def expire_idle(self) -> None:
        """Terminate all idle connections: one was lost, so its siblings are probably dead too."""
        while self._idle:
            self._drop(self._idle.pop())

    async def close(self) -> None:
        """Close idle connections now and lent ones when they come back; wait for no borrower."""
        self.closed = True
        idle, self._idle = self._idle, []
        try:
            await _say_goodbye(self._adapter, idle, self._config.close_timeout)
        finally:
            for _ in idle:
                self._serve_next(None)
        await self._adapter.finish()

    def abandon(self) -> None:
        """Terminate everything at once, lent connections too: their event loop is closed."""
        self.closed = True
        left = [*self._idle, *self._lent.values()]
        self._idle.clear()
        self._lent.clear()
        for connection in left:
            self._drop(connection)

    async def _open(self) -> C:
        """Connect in the place already taken, in a task whose context is empty.

        A socket keeps the context it was opened in; the opener's must not live on with it.
        """
        opening = asyncio.get_running_loop().create_task(self._adapter.open(), context=Context())
        try:
            connection = await opening
        except BaseException:
            self._give_up_opening(opening)
            raise
        self.opened_total += 1
        self._lent[id(connection)] = connection
        return connection

    def _give_up_opening(self, opening: asyncio.Task[C]) -> None:
        if opening.done():
            self._adopt(opening)
        elif not opening.get_loop().is_closed():
            opening.add_done_callback(self._adopt, context=Context())
            opening.cancel()

    def _adopt(self, opening: asyncio.Task[C]) -> None:
        """Pass on the connection, or the place, of an opening whose caller has left."""
        if opening.cancelled() or opening.exception() is not None:
            self._serve_next(None)
        else:
            self.opened_total += 1
            self._serve_next(opening.result())

    def _serve_next(self, connection: C | None) -> None:
        """Give a connection, or with None a place, to the first in line; else keep it, or free it."""
        if connection is None:
            if not self._line.serve(None):
                self._places -= 1
            return
        if self._line.serve(connection):
            self._lent[id(connection)] = connection
            return
        self._lent.pop(id(connection), None)
        if self.closed:
            self._drop(connection)
        else:
            self._idle.append(connection)

    def _drop(self, connection: C) -> None:
        _terminate(self._adapter, connection)
        self._serve_next(None)


def _exhausted(config: PoolConfig, waiting: int) -> str:
    return (
        f"No connection to {config.label} became free within {config.acquire_timeout:g} s: pool_size is {config.size}, "
        f"all are in use, and the number of callers waiting is {waiting}. Raise pool_size, keep transactions short, "
        "and ask for no second connection inside a block that holds one."
    )


def _terminate[C](adapter: Adapter[C], connection: C) -> None:
    with suppress(Exception):  # it is broken already, and how exactly helps nobody
        adapter.terminate(connection)


async def _say_goodbye[C](adapter: Adapter[C], connections: Iterable[C], seconds: float) -> None:
    """Close connections side by side; terminate what is not closed in time."""
    loop = asyncio.get_running_loop()
    goodbyes = {loop.create_task(adapter.close(each), context=Context()): each for each in connections}
    if not goodbyes:
        return
    try:
        await asyncio.wait(goodbyes, timeout=seconds)
    finally:
        for goodbye, connection in goodbyes.items():
            if not goodbye.done():
                goodbye.cancel()
            elif not goodbye.cancelled() and goodbye.exception() is None:
                continue
            _terminate(adapter, connection)
