"""The end of a worker process, and the end of the one that supervises it."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 2.0


def leave_within(seconds: float, code: int) -> None:
    """End this process with `code` soon, also when threads that do not stop would keep it alive."""

    def leave() -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    timer = threading.Timer(seconds, leave)
    timer.daemon = True
    timer.start()


@contextmanager
def on_end_of_input(callback: Callable[[], None]) -> Iterator[None]:
    """Call `callback` when standard input ends, which is when the supervisor is gone.

    Tasks get an empty one, so that they cannot take the end from us.
    """
    lifeline = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    loop = asyncio.get_running_loop()

    def ended() -> None:
        loop.remove_reader(lifeline)
        callback()

    loop.add_reader(lifeline, ended)
    try:
        yield
    finally:
        loop.remove_reader(lifeline)
        os.close(lifeline)
