"""Telling workers that there is something to do.

At once in this process, by a coalesced NOTIFY elsewhere.
"""

import asyncio
import contextvars
from collections.abc import Callable, Iterable

from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import OxpullError
from oxpull_async.store.enqueue import notify

PAUSE = 0.005


class Wakeups:
    """Wakes the workers of this process and, where the database can push, those of others.

    A committed enqueue is announced at most once per queue and 5 ms, and the last one always is. An announcement
    that is lost with the process costs latency only: every worker polls as well.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._subscribers: set[Callable[[str], None]] = set()
        self._pending: dict[str, None] = {}
        self._sender: asyncio.Task[None] | None = None

    def subscribe(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call `callback` with the queue's name at every wake-up; returns what ends that."""
        self._subscribers.add(callback)
        return lambda: self._subscribers.discard(callback)

    def wake_local(self, queue_name: str) -> None:
        """Wake the workers of this process."""
        for callback in tuple(self._subscribers):
            callback(queue_name)

    def announce(self, queue_name: str) -> None:
        """Wake the workers of this process now, and those of others within 5 ms."""
        self.wake_local(queue_name)
        if not self._database.dialect.has_listen:
            return
        self._pending[queue_name] = None
        loop = asyncio.get_running_loop()
        if self._sender is None or self._sender.done() or self._sender.get_loop() is not loop:
            self._sender = loop.create_task(self._send(), name="oxpull notify", context=contextvars.Context())

    async def flush(self) -> None:
        """Wait until what was announced has been sent."""
        if self._sender is not None and self._sender.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([self._sender])

    async def _send(self) -> None:
        """Send what is pending until nothing is; a loop that ends cancels this and still waits for the last of it."""
        try:
            while self._pending:
                await self._notify()
                await asyncio.sleep(PAUSE)
        except asyncio.CancelledError:
            await self._notify()
            raise

    async def _notify(self) -> None:
        names, self._pending = self._pending, {}
        try:
            await self._notify_each(names)
        except OxpullError:
            return
        except asyncio.CancelledError:
            self._pending = names | self._pending
            raise

    async def _notify_each(self, names: Iterable[str]) -> None:
        async with self._database.connection() as conn:
            for name in names:
                await notify(conn, name)
