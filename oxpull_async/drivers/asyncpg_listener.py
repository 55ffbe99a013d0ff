"""The wake-ups that PostgreSQL pushes, on a connection of their own."""

import asyncio

import asyncpg

from oxpull_async.domain.errors import ConnectionLost, DatabaseUnavailable

_CHANNEL = "oxpull"
_PROBE_EVERY = 30.0
_PROBE_TIMEOUT = 10.0


class AsyncpgListener:
    """A subscription to the wake-ups of one database; equal ones that wait are one."""

    def __init__(self, raw: "asyncpg.Connection[asyncpg.Record]", label: str) -> None:
        self._raw = raw
        self._label = label
        self._payloads: dict[str, None] = {}
        self._news = asyncio.Event()

    @classmethod
    async def subscribe(cls, raw: "asyncpg.Connection[asyncpg.Record]", label: str) -> "AsyncpgListener":
        """Listen on a connection that from now on is the listener's, and closed by it.

        Raises: DatabaseUnavailable when the server refuses.
        """
        listener = cls(raw, label)
        raw.add_termination_listener(listener._ended)
        try:
            await raw.add_listener(_CHANNEL, listener._notified)
        except BaseException as error:
            raw.terminate()
            if isinstance(error, asyncpg.PostgresError | asyncpg.InterfaceError | OSError):
                raise DatabaseUnavailable(f"cannot listen for wake-ups on {label}: {error}") from error
            raise
        return listener

    async def wait(self) -> str:
        """Wait for the next wake-up and return its payload, a queue name or "".

        Now and then it asks the server for a sign of life, since a broken network may say nothing.
        Raises: ConnectionLost when the subscription broke; open a new one.
        """
        while not self._payloads:
            if self._raw.is_closed():
                raise ConnectionLost(f"the subscription to wake-ups of {self._label} broke")
            self._news.clear()
            try:
                async with asyncio.timeout(_PROBE_EVERY):
                    await self._news.wait()
            except TimeoutError:
                await self._probe()
        payload = next(iter(self._payloads))
        del self._payloads[payload]
        return payload

    async def close(self) -> None:
        """End the subscription."""
        try:
            await self._raw.close(timeout=_PROBE_TIMEOUT)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            self._raw.terminate()

    async def _probe(self) -> None:
        try:
            await self._raw.execute("SELECT 1", timeout=_PROBE_TIMEOUT)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            self._raw.terminate()
            raise ConnectionLost(f"the subscription to wake-ups of {self._label} gives no sign of life") from error

    def _notified(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        self._payloads[str(payload)] = None
        self._news.set()

    def _ended(self, _connection: object) -> None:
        self._news.set()
