"""A loop that ends while its tasks talk to the database, as Ctrl-C does it."""

import asyncio

from oxpull_async import Oxpull
from tests.app.kit import nothing, open_oxpull
from tests.app.test_loops import prepare, until_only

NAP = {"postgres": "SELECT pg_sleep(0.2)", "mysql": "SELECT sleep(0.2)", "sqlite": "SELECT 1"}


async def nap(ox: Oxpull, ready: asyncio.Event) -> None:
    async with ox.transaction() as tx:
        ready.set()
        while True:
            await tx.fetch(NAP[ox.database.dialect.name])


def test_commands_cut_short_by_the_end_of_their_loop_leave_no_connection(url: str) -> None:
    asyncio.run(prepare(url))
    ox = open_oxpull(url)

    async def leave_them_running() -> None:
        ready = [asyncio.Event() for _ in range(5)]
        kept.extend(asyncio.create_task(nap(ox, event)) for event in ready[: 1 if "sqlite" in url else 5])
        for _, event in zip(kept, ready, strict=False):
            await asyncio.wait_for(event.wait(), 30)
        await asyncio.sleep(0)

    kept: list[asyncio.Task[None]] = []
    asyncio.run(leave_them_running())
    assert all(task.cancelled() for task in kept)
    asyncio.run(until_only(1, url))


def test_enqueues_cut_short_leave_no_connection(url: str) -> None:
    asyncio.run(prepare(url))
    ox = open_oxpull(url)
    task = ox.task(nothing)

    async def enqueue_and_go() -> None:
        kept.extend(asyncio.create_task(task.enqueue(number)) for number in range(10))
        await asyncio.wait(kept, return_when=asyncio.FIRST_COMPLETED)

    kept: list[asyncio.Task[object]] = []
    for _ in range(10):
        asyncio.run(enqueue_and_go())
        kept.clear()
    asyncio.run(until_only(1, url))
