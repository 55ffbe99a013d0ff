"""The lease thread: a loop of its own, so that a blocked main loop does not cost the lease."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Protocol

from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import DatabaseTrouble
from oxpull_async.runtime.renewer import Renewer

JOIN_SECONDS = 10.0


class Service(Protocol):
    """Something that runs until cancelled."""

    async def run(self) -> None:
        """Run until cancelled."""


class LeaseThread:
    """Hosts the renewer and the services beside it; started once, stopped once.

    A service that fails ends the thread: better to lose the lease than to keep it without looking after it.
    """

    def __init__(self, database: Database, renewer: Renewer, *others: Service) -> None:
        self._database = database
        self._renewer = renewer
        self._services: tuple[Service, ...] = (renewer, *others)
        self._thread = threading.Thread(target=self._main, name="oxpull lease", daemon=True)
        self._started: Future[asyncio.AbstractEventLoop] = Future()
        self._stopping = threading.Event()
        self._wake: Callable[[], object] = lambda: None
        self.on_failed: Callable[[BaseException], None] = lambda _: None

    async def start(self) -> None:
        """Enter the worker in the database and start looking after its lease.

        Raises: what the registration raised.
        """
        self._thread.start()
        await asyncio.shield(asyncio.wrap_future(self._started))

    async def call[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the lease thread and wait for it.

        Raises: DatabaseTrouble when the thread has ended.
        """
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._started.result())
        except RuntimeError as ended:
            work.close()
            raise DatabaseTrouble("the lease thread has ended") from ended
        return await asyncio.wrap_future(future)

    def tell(self, callback: Callable[[], None]) -> None:
        """Have the lease thread call something; nothing happens when it has ended."""
        with suppress(RuntimeError):
            self._started.result().call_soon_threadsafe(callback)

    async def stop(self) -> None:
        """End the thread and close its connections; a thread that hangs is left behind."""
        self._stopping.set()
        with suppress(RuntimeError):  # its loop may have ended by itself
            self._wake()
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join, JOIN_SECONDS)

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - whatever it is, the worker must hear of it
            if self._started.done():
                self.on_failed(error)
            else:
                self._started.set_exception(error)

    async def _serve(self) -> None:
        loop, stopped = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(stopped.set)
        await self._renewer.enter()
        services = [asyncio.create_task(service.run()) for service in self._services]
        stop = asyncio.create_task(stopped.wait())
        self._started.set_result(loop)
        if self._stopping.is_set():
            stopped.set()
        done, _ = await asyncio.wait([*services, stop], return_when=asyncio.FIRST_COMPLETED)
        for task in (*services, stop):
            task.cancel()
        await asyncio.gather(*services, stop, return_exceptions=True)
        await self._database.close()
        for task in done - {stop}:
            task.result()
            raise RuntimeError("a service of the lease thread ended by itself")
