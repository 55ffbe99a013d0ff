"""Ending a worker when a file of the project changes, so that its supervisor starts it anew."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress

from django.utils import autoreload

from oxpull_async import Worker

__all__ = ["restarting"]


@contextmanager
def restarting(worker: Worker) -> Generator[None]:
    """Watch the project's files for the block; a change has the worker hand back and end."""
    loop = asyncio.get_running_loop()

    def change() -> None:
        worker.recycled = "a file has changed"
        worker.stop()
        worker.stop()

    def watch() -> None:
        try:
            autoreload.get_reloader().run(threading.main_thread())
        except SystemExit:  # how Django's reloader says that a file has changed
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(change)

    threading.Thread(target=watch, name="compat_sync reload", daemon=True).start()
    yield
