"""`async_to_sync(task.aenqueue)` in a sync view of Django leaves no connection, thread or file descriptor behind.

Under WSGI the thread that serves keeps its connection between requests (CONN_MAX_AGE); under ASGI each request has a
thread and a connection of its own.
"""

import asyncio
from dataclasses import dataclass

from oxpull_async import Oxpull
from tests.scenarios.django_site.held import Held
from tests.scenarios.django_site.process import Mode, measured
from tests.scenarios.proof import Proof

type Counts = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Leaks:
    """What the process held before the calls and after them: threads, connections, descriptors."""

    calls: int
    wsgi_before: Counts
    wsgi_after: Counts
    asgi_calls: int
    asgi_before: Counts
    asgi_after: Counts


def calls_from_sync_views(url: str, *, calls: int) -> Leaks:
    """Call it so often by WSGI, and a tenth as often by ASGI, ten at once.

    Raises AssertionError if more is held afterwards.
    """
    asyncio.run(_migrate(url))
    wsgi_before, wsgi_after = _before_and_after(url, "wsgi", calls, at_once=1)
    assert wsgi_before[1] == 1, "the calls did not use the connection that Django keeps"
    asgi_before, asgi_after = _before_and_after(url, "asgi-with-signals", calls // 10, at_once=10)
    return Leaks(calls, wsgi_before, wsgi_after, calls // 10, asgi_before, asgi_after)


def _before_and_after(url: str, mode: Mode, calls: int, *, at_once: int) -> tuple[Counts, Counts]:
    seen = measured(url, mode, "joined", requests=calls, at_once=at_once)
    before, after = _counts(seen.before), _counts(seen.after)
    grown = [late - early for early, late in zip(before, after, strict=True)]
    assert max(grown) <= 0, f"{mode}: (threads, connections, descriptors) were {before} and are {after}"
    return before, after


def _counts(held: Held) -> Counts:
    return held.threads, held.connections, held.descriptors


async def _migrate(url: str) -> None:
    async with Oxpull(url) as ox:
        await ox.migrate()


PROOFS: list[Proof] = [
    Proof(
        "async_to_sync(task.aenqueue) 1,000 times from a sync Django view",
        "E1",
        lambda url: calls_from_sync_views(url, calls=1000),
    )
]
