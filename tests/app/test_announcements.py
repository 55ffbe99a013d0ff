"""Enqueues are announced after their commit: rarely, never for nothing, and the last of them too."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from oxpull_async import Oxpull
from tests.app.kit import nothing, unmasked
from tests.fixtures.gated import gated

pytestmark = pytest.mark.asyncio


@pytest.fixture
def url(postgres_url: str) -> str:
    """Name the database that can push."""
    return postgres_url


class Ear:
    """What another session hears, in order."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._news = asyncio.Event()

    def note(self, *notification: object) -> None:
        self.heard.append(str(notification[-1]))
        self._news.set()

    async def until(self, *names: str) -> list[str]:
        """Wait until all of these queues were named."""
        async with asyncio.timeout(30):
            while not set(names) <= set(self.heard):
                self._news.clear()
                await self._news.wait()
        return self.heard


@asynccontextmanager
async def listening(ox: Oxpull) -> AsyncIterator[Ear]:
    connection, ear = await asyncpg.connect(unmasked(ox)), Ear()
    await connection.add_listener("oxpull", ear.note)
    try:
        yield ear
    finally:
        await connection.close()


async def test_A15_an_enqueue_is_announced_after_its_commit_and_waits_for_no_notify(ox: Oxpull) -> None:
    task = ox.task(queue_name="mail")(nothing)
    async with listening(ox) as ear, gated(ox) as gate:
        caller = asyncio.create_task(task.enqueue(1))
        await gate.reached()
        assert ear.heard == []
        gate.open()
        await caller
        assert await ear.until("mail") == ["mail"]


async def test_A15_many_enqueues_are_announced_at_most_once_per_queue_and_pause(ox: Oxpull) -> None:
    mail, bulk = ox.task(queue_name="mail")(nothing), ox.task(queue_name="bulk")(nothing)
    async with listening(ox) as ear:
        start = asyncio.get_running_loop().time()
        for _ in range(20):
            await asyncio.gather(*[task.enqueue(number) for number in range(10) for task in (mail, bulk)])
        await ox.wakeups.flush()
        pauses = (asyncio.get_running_loop().time() - start) / 0.005
        heard = await ear.until("mail", "bulk")
    assert set(heard) == {"mail", "bulk"}
    assert all(heard.count(name) <= pauses + 2 for name in ("mail", "bulk"))


async def test_A15_the_last_of_many_enqueues_is_announced_after_it(ox: Oxpull) -> None:
    first, last = ox.task(queue_name="first")(nothing), ox.task(queue_name="last")(nothing)
    async with listening(ox) as ear:
        await asyncio.gather(*[first.enqueue(number) for number in range(5)])
        await last.enqueue(1)
        assert (await ear.until("last"))[0] == "first"


async def test_A15_an_announcement_changes_how_nobody_else_commits(ox: Oxpull) -> None:
    task = ox.task(queue_name="mail")(nothing)
    async with listening(ox) as ear:
        await task.enqueue(1)
        await ear.until("mail")
        async with ox.transaction() as tx:  # on the connection that has just announced
            await task.enqueue(2)
            assert [tuple(row) for row in await tx.fetch("SHOW synchronous_commit")] == [("on",)]


async def test_a_worker_here_is_woken_for_the_row_of_a_caller_that_left(ox: Oxpull) -> None:
    woken: list[str] = []
    ox.on_wake(woken.append)
    task = ox.task(queue_name="mail")(nothing)
    async with gated(ox) as gate:
        caller = asyncio.create_task(task.enqueue(1))
        await gate.reached()
        caller.cancel()
        await asyncio.wait([caller])
        assert woken == []
        gate.open()
        await ox.enqueuer.flush()
    assert woken == ["mail"]
