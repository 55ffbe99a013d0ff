"""What a worker with nothing to do asks the database, and what it does first when something comes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from oxpull_async import Oxpull, Worker
from oxpull_async.runtime import rest
from tests.app import kit
from tests.fixtures.counted import CountedDatabase

pytestmark = pytest.mark.asyncio
PATIENCE = 30


@asynccontextmanager
async def resting(ox: Oxpull, monkeypatch: pytest.MonkeyPatch, *, mute: bool = False) -> AsyncIterator[list[str]]:
    """Run a worker that takes itself for long idle, once it has looked around; gives what it sends."""
    monkeypatch.setattr(rest, "COOLING", -1.0)
    ox.database = database = CountedDatabase.around(ox.database)
    database.is_mute = mute
    worker = asyncio.create_task(Worker(ox).run())
    try:
        await sent(database.sent, "peek" if ox.database.dialect.steps_through_indexes else "peek_queue", 1)
        await sent(database.sent, "glance", 2)
        yield database.sent
    finally:
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
        ox.database = database.inner


async def sent(names: list[str], name: str, count: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while names.count(name) < count:  # noqa: ASYNC110 - it is the workers that make it true
            await asyncio.sleep(0.01)


async def settled(names: list[str]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not any(name.startswith("settle") for name in names):  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.01)


async def test_an_idle_worker_asks_for_all_its_loops_in_one_statement_and_renews_its_lease(
    ox: Oxpull, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with resting(ox, monkeypatch) as names:
        before = len(names)
        await sent(names, "glance", names.count("glance") + 4)
        assert set(names[before:]) <= {"glance", "renew_lease"}


async def test_a_woken_worker_claims_before_it_asks_anything_else(ox: Oxpull, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "poll_pause", lambda *_, **__: 60.0)  # nothing but the enqueue lets it look
    task = ox.task(kit.nothing)
    async with resting(ox, monkeypatch, mute=True) as names:
        before = len(names)
        await task.enqueue()
        await settled(names)
        by_others = {"glance", "renew_lease", "notify", "read_clock", "BEGIN", "COMMIT"}
        first = next(name for name in names[before:] if name not in by_others and not name.startswith("insert"))
        assert first in {"claim", "claim_candidates"}
