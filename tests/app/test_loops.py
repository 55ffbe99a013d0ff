"""Event loops that come and go: each has connections of its own, and none is left behind."""

import asyncio
import os
from pathlib import Path

import asyncpg
from asgiref.sync import async_to_sync

from oxpull_async import Oxpull
from tests.app.conftest import KINDS
from tests.app.kit import count, eventually, nothing, open_oxpull, work
from tests.fixtures import raw

MANY = 200
SESSIONS = {
    "postgres": "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()",
    "mysql": "SELECT count(*) FROM information_schema.processlist WHERE db = database()",
}


async def connections(url: str) -> int:
    """Count the sessions of the database, or this process's open files of it; the asking one is among them."""
    async with open_oxpull(url) as ox, ox.transaction() as tx:
        kind = ox.database.dialect.name
        if kind != "sqlite":
            return int((await tx.fetch(SESSIONS[kind]))[0][0])
        return open_files(url.removeprefix("sqlite:///").partition("?")[0])


def open_files(file: str) -> int:
    return sum(os.path.realpath(f"/proc/self/fd/{fd.name}") == file for fd in Path("/proc/self/fd").iterdir())


async def until_only(number: int, url: str) -> None:
    """Wait until the server has noticed that the others left."""
    await eventually(lambda: connections(url), lambda seen: seen <= number)


async def prepare(url: str) -> None:
    async with open_oxpull(url) as ox:
        await ox.migrate()
        async with ox.database.connection() as conn:
            await raw.empty(conn)


def test_asyncio_run_may_be_called_again_and_again(url: str) -> None:
    asyncio.run(prepare(url))
    ox = open_oxpull(url)
    task = ox.task(nothing)
    for number in range(20):
        asyncio.run(task.enqueue(number))
    asyncio.run(work(ox))
    [row] = asyncio.run(ox.stats())
    assert row.successful == 20
    asyncio.run(until_only(1, url))


def test_async_to_sync_leaves_no_connection_behind(url: str) -> None:
    asyncio.run(prepare(url))
    ox = open_oxpull(url)
    enqueue = async_to_sync(ox.task(nothing).enqueue)
    for number in range(MANY):
        enqueue(number)
    assert asyncio.run(count(ox)) == MANY
    asyncio.run(until_only(1, url))


def test_loops_in_threads_share_an_oxpull(url: str) -> None:
    asyncio.run(prepare(url))
    ox = open_oxpull(url)
    task = ox.task(nothing)

    async def enqueue_some(first: int) -> None:
        await asyncio.gather(*[task.enqueue(first + number) for number in range(10)])

    async def in_threads() -> None:
        await asyncio.gather(*[asyncio.to_thread(asyncio.run, enqueue_some(first)) for first in range(0, 50, 10)])

    asyncio.run(in_threads())
    assert asyncio.run(count(ox)) == 50
    asyncio.run(until_only(1, url))


def test_a_loop_that_ends_at_once_still_wakes_the_listening_workers(postgres_url: str) -> None:
    """A script enqueues and ends; a worker elsewhere must not sleep on until it next looks by itself."""
    asyncio.run(prepare(postgres_url))
    ox = Oxpull(postgres_url)
    task = ox.task(queue_name="mail")(nothing)

    async def listen() -> str:
        heard: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        connection = await asyncpg.connect(postgres_url)
        await connection.add_listener("oxpull", lambda _connection, _pid, _channel, payload: hear(heard, payload))
        await asyncio.to_thread(asyncio.run, task.enqueue(1))
        payload = await asyncio.wait_for(heard, 30)
        await connection.close()
        return payload

    def hear(heard: asyncio.Future[str], payload: object) -> None:
        if not heard.done():
            heard.set_result(str(payload))

    assert asyncio.run(listen()) == "mail"


def test_every_kind_of_database_is_asked_for_its_sessions() -> None:
    assert {*SESSIONS, "sqlite"} == set(KINDS)
