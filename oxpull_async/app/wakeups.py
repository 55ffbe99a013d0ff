"""Telling workers that there is something to do.

At once in this process, by a coalesced NOTIFY elsewhere.
"""

import asyncio
import contextvars
import logging
import time
from collections.abc import Callable, Iterable

from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import OxpullError
from oxpull_async.store.enqueue import notify

PAUSE = 0.005
logger = logging.getLogger("oxpull_async.enqueue")


class Wakeups:
    """Wakes the workers of this process and, where the database can push, those of others.

    A committed enqueue is announced at once, or with all others of the 5 ms since the last announcement; what is
    pending when the event loop ends is sent before. An announcement that is lost with the process costs latency only:
    every worker polls as well.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._subscribers: set[Callable[[str], None]] = set()
        self._pending: dict[str, None] = {}
        self._sender: asyncio.Task[None] | None = None
        self._sent_at = -PAUSE

    def subscribe(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call `callback` with the queue's name at every wake-up; returns what ends that."""
        self._subscribers.add(callback)
        return lambda: self._subscribers.discard(callback)

    def announce(self, queue_name: str) -> None:
        """Wake the workers of this process now, and have those of others told now or within 5 ms."""
        for callback in tuple(self._subscribers):
            try:
                callback(queue_name)
            except Exception:
                logger.exception("a callback of on_wake failed")
        if not self._database.dialect.has_listen:
            return
        self._pending[queue_name] = None
        if not self._is_sending():
            loop = asyncio.get_running_loop()
            self._sender = asyncio.Task(
                self._send(), loop=loop, name="oxpull notify", context=contextvars.Context(), eager_start=True
            )

    async def flush(self) -> None:
        """Send what is pending."""
        if self._sender is not None and self._is_sending():
            self._sender.cancel()
            await asyncio.wait([self._sender])

    def _is_sending(self) -> bool:
        sender = self._sender
        return sender is not None and not sender.done() and sender.get_loop() is asyncio.get_running_loop()

    async def _send(self) -> None:
        """Send what is pending until nothing is; cancelled, as by the end of the loop, send the last of it at once."""
        try:
            while self._pending:
                # Even if there is nothing to wait for, the caller whose enqueue this is goes on first.
                await asyncio.sleep(max(self._sent_at + PAUSE - time.monotonic(), 0))
                await self._notify()
        except asyncio.CancelledError:
            await self._notify()
            raise

    async def _notify(self) -> None:
        self._sent_at = time.monotonic()
        names, self._pending = self._pending, {}
        try:
            await self._notify_each(names)
        except OxpullError:
            return
        except asyncio.CancelledError:
            self._pending = names | self._pending
            raise

    async def _notify_each(self, names: Iterable[str]) -> None:
        if names:
            async with self._database.connection() as conn:
                for name in names:
                    await notify(conn, name)
