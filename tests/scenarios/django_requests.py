"""Concurrent requests to an async view of Django that awaits `aenqueue`, against one that enqueues in a thread.

In one process, through Django's ASGI handler and httpx's ASGITransport; the requests that await are all inside the view
before the first enqueues. The other view holds a connection for each request, so it gets as many at once as servers
let in. Django's own receivers of `request_started` are switched off: they start a thread for every request, whatever
its view does. What they come to is a figure of its own. Threads are counted until the first that awaited is answered:
Django closes every response in a thread of its request, and requests that were written together end together.
"""

import asyncio
from dataclasses import dataclass

from oxpull_async import Oxpull
from tests.scenarios.django_site.process import measured
from tests.scenarios.proof import Proof

POOL_SIZE = 10


@dataclass(frozen=True, slots=True)
class Requests:
    """What the awaiting view held at most, and what the view that enqueues in threads did."""

    requests: int
    at_once: int
    connections: int
    threads: int
    threads_with_djangos_own_signals: int
    seconds: float
    sync_at_once: int
    sync_connections: int
    sync_threads: int
    sync_seconds: float
    times_as_fast: float


def concurrent_requests(url: str, *, requests: int, sync_at_once: int) -> Requests:
    """Send as many requests to either view; raises AssertionError where awaiting ones hold more than the pool."""
    asyncio.run(_migrate(url))
    native = measured(url, "asgi", "awaited", requests=requests, at_once=requests)
    with_signals = measured(url, "asgi-with-signals", "awaited", requests=requests, at_once=requests)
    sync = measured(url, "asgi", "behind_a_thread", requests=requests, at_once=sync_at_once)
    stored = asyncio.run(_count(url))
    assert stored == 3 * (requests + 1), f"{stored} tasks stored"
    for seen in (native, with_signals):
        assert seen.peak.connections <= POOL_SIZE, f"{seen.peak.connections} connections"
    assert native.peak.threads < requests / 4, f"{native.peak.threads} threads for {requests} waiting requests"
    return Requests(
        requests,
        requests,
        native.peak.connections,
        native.peak.threads,
        with_signals.peak.threads,
        native.seconds,
        sync_at_once,
        sync.peak.connections,
        sync.peak.threads,
        sync.seconds,
        sync.seconds / native.seconds,
    )


async def _migrate(url: str) -> None:
    async with Oxpull(url) as ox:
        await ox.migrate()


async def _count(url: str) -> int:
    async with Oxpull(url) as ox, ox.transaction() as tx:
        [[count]] = await tx.fetch("SELECT count(*) FROM oxpull_task")
    return int(count)


PROOFS: list[Proof] = [
    Proof(
        "1,000 concurrent requests to an async Django view that awaits aenqueue",
        "E1",
        lambda url: concurrent_requests(url, requests=1000, sync_at_once=60),
        alone=True,
    )
]
