"""B1: a deep backlog of a taken running lock stands in nobody's way, on each database."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from oxpull_async import Oxpull
from oxpull_async.db.contract import Connection
from tests.drivers.locks_kit import Gated, locked, stored, take
from tests.fixtures import make


@pytest_asyncio.fixture
async def conn(ox: Oxpull) -> AsyncIterator[Connection]:
    async with ox.database.connection() as conn:
        yield conn


@pytest_asyncio.fixture
async def worker(conn: Connection) -> str:
    return await make.worker(conn)


@pytest.mark.asyncio
async def test_a_deep_backlog_of_a_taken_key_stands_in_nobodys_way(conn: Connection, worker: str) -> None:
    await stored(conn, *[locked() for _ in range(20_000)])
    free = set(await stored(conn, *[make.new_task() for _ in range(1_000)]))
    watched, done, claims = Gated(conn), set[str](), 0
    while not free <= done:
        done |= {task.id for task in await take(watched, worker, 100)}
        claims += 1
        assert claims <= 15
    assert watched.names.count("claim_candidates") <= 40


@pytest.mark.asyncio
async def test_a_deep_backlog_of_refused_rows_stands_in_nobodys_way(conn: Connection, worker: str) -> None:
    await stored(conn, locked(), *[locked(conflict="discard") for _ in range(1_000)])
    last = await stored(conn, make.new_task())
    assert len(await take(conn, worker, 1)) == 1
    assert [task.id for task in await take(conn, worker, 100)] == last
