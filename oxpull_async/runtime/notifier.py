"""The notifier: turns what the database can tell into wake-ups of the dispatcher."""

import asyncio
from collections.abc import Callable

from oxpull_async.db.contract import Database, Listener, Version
from oxpull_async.domain.errors import DatabaseTrouble
from oxpull_async.domain.events import ListenerLost
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.pauses import Backoff

CHANGE_PAUSE = 0.03
_UNKNOWN: Version = (-1, -1)


class Notifier:
    """Listens where wake-ups are pushed, watches for changes where that is cheap.

    Elsewhere it leaves everything to the poll.
    """

    def __init__(self, database: Database, wake: Callable[[str], None], hub: Hub) -> None:
        self._database = database
        self._wake = wake
        self._hub = hub
        self.on_pushed: Callable[[bool], None] = lambda _: None
        self.state = "none"

    async def run(self) -> None:
        """Wake the dispatcher until cancelled."""
        backoff = Backoff()
        while True:
            try:
                listener = await self._database.listen()
                if listener is None:
                    await self._watch()
                    return
                backoff.reset()
                await self._listen(listener)
            except DatabaseTrouble as trouble:
                self._set("lost")
                self._hub.emit(ListenerLost(str(trouble)))
                await asyncio.sleep(backoff.next())

    async def _listen(self, listener: Listener) -> None:
        self._set("listening")
        self._wake("")
        try:
            while True:
                self._wake(await listener.wait())
        finally:
            await listener.close()

    async def _watch(self) -> None:
        """Look for changes by others where the database can tell without a query."""
        seen: Version | None = None
        while (version := await self._version()) is not None:
            self.on_pushed(True)
            if version == _UNKNOWN or version != seen:
                self._wake("")
            seen = version
            await asyncio.sleep(CHANGE_PAUSE)

    async def _version(self) -> Version | None:
        try:
            return await self._database.version()
        except DatabaseTrouble:
            return _UNKNOWN

    def _set(self, state: str) -> None:
        self.state = state
        self.on_pushed(state == "listening")
