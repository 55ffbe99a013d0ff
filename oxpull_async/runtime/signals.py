"""Process signals as calls: the first asks for a stop, the second for a stop at once."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STOPPING = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at every SIGTERM and SIGINT while the block runs."""
    loop = asyncio.get_running_loop()
    for number in STOPPING:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in STOPPING:
            loop.remove_signal_handler(number)
