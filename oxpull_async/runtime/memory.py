"""Watch the memory of this process, so that one that grows can be started anew."""

import asyncio
import resource
import sys
from collections.abc import Callable
from pathlib import Path

EVERY = 5.0
_STATM = Path("/proc/self/statm")


async def watch_memory(limit: int, on_exceeded: Callable[[str], None]) -> None:
    """Call `on_exceeded` once when the resident memory passes `limit` bytes."""
    while (used := resident_bytes()) <= limit:  # noqa: ASYNC110 - set in other threads
        await asyncio.sleep(EVERY)
    on_exceeded(f"{used} bytes of memory are more than max_rss={limit}")


def resident_bytes() -> int:
    """Return the resident memory in bytes; where the system does not tell, the most it ever was."""
    if _STATM.exists():
        return int(_STATM.read_text().split()[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
