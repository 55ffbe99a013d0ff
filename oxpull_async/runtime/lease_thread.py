"""The lease thread: a small event loop of its own, so that a blocked main loop does not cost the lease."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

from oxpull_async.db.contract import Database
from oxpull_async.runtime.caretaker import Caretaker
from oxpull_async.runtime.renewer import Renewer
from oxpull_async.runtime.watchdog import Watchdog


class LeaseThread:
    """Hosts renewer, caretaker and watchdog; started once, stopped once."""

    def __init__(self, database: Database, renewer: Renewer, caretaker: Caretaker, watchdog: Watchdog) -> None:
        self._database = database
        self._services = (renewer, caretaker, watchdog)
        self._thread = threading.Thread(target=self._main, name="oxpull lease", daemon=True)
        self._started: Future[asyncio.AbstractEventLoop] = Future()
        self._stop: Callable[[], object] = lambda: None

    async def start(self) -> None:
        """Enter the worker in the database and start looking after its lease.

        Raises: what the registration raised.
        """
        self._thread.start()
        await asyncio.wrap_future(self._started)

    async def call[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the lease thread and wait for it."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._started.result()))

    async def stop(self) -> None:
        """End the thread and close its connections."""
        if self._thread.is_alive():
            self._stop()
            await asyncio.to_thread(self._thread.join)

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:
            if not self._started.done():
                self._started.set_exception(error)
            else:
                raise

    async def _serve(self) -> None:
        loop, stopped = asyncio.get_running_loop(), asyncio.Event()
        self._stop = lambda: loop.call_soon_threadsafe(stopped.set)
        renewer = self._services[0]
        await renewer.enter()
        services = [asyncio.create_task(service.run()) for service in self._services]
        self._started.set_result(loop)
        await stopped.wait()
        for service in services:
            service.cancel()
        await asyncio.gather(*services, return_exceptions=True)
        await self._database.close()
