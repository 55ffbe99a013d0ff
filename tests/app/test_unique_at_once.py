"""C4, C6: statements that take a key over or rewrite its holder wait for a row, and decide by what it is then."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg
import pytest

from oxpull_async import Oxpull, Task, TaskResult, Unique
from oxpull_async.domain.record import TaskStatus, wire_id
from tests.app.kit import count, nothing, unmasked
from tests.app.unique_kit import RUNNING, holder_of, key_of, run
from tests.fixtures import raw
from tests.fixtures.waiting import until
from tests.servers import clients

pytestmark = pytest.mark.asyncio

BLOCKED = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
ENDED = "status = 'SUCCESSFUL', due = NULL, finished_at = enqueued_at"
READY_AGAIN = "status = 'READY', due = 1, finished_at = NULL"


@pytest.fixture
def url(postgres_url: str) -> str:
    """Name the database whose statements wait for rows."""
    return postgres_url


def one_key(number: int = 0) -> str:
    return "key"


class TakenBackError(Exception):
    pass


@dataclass
class Rival:
    """Another session with a transaction open."""

    connection: "asyncpg.Connection[asyncpg.Record]"

    async def change(self, id_: str, assignments: str) -> None:
        await self.connection.execute(f"UPDATE oxpull_task SET {assignments} WHERE id = '{wire_id(id_)}'")


@asynccontextmanager
async def rivalling(ox: Oxpull) -> AsyncIterator[Rival]:
    connection = await asyncpg.connect(unmasked(ox))
    try:
        await connection.execute("BEGIN")
        yield Rival(connection)
    finally:
        await connection.close()


async def waits_for[R](ox: Oxpull, call: Awaitable[R], ends: Callable[[], Awaitable[object]]) -> R:
    """Begin a call, end the rival's transaction once somebody waits for it, and return what the call got."""
    caller = asyncio.ensure_future(call)
    await until(lambda: asyncio.to_thread(clients.run, "postgres", unmasked(ox), BLOCKED), what="the call waits")
    await ends()
    return await caller


async def ended(ox: Oxpull, task: Task[..., object]) -> TaskResult[object]:
    """Leave a key whose holder has succeeded."""
    result = await task.enqueue(1)
    async with ox.database.connection() as conn:
        await raw.change(conn, result.id, ENDED)
    return result


@pytest.mark.parametrize("commits", [True, False], ids=["commits", "rolls back"])
async def test_C6_a_takeover_that_waited_for_another_decides_by_what_that_came_to(ox: Oxpull, commits: bool) -> None:
    task = ox.task(unique=True)(nothing)
    former = await ended(ox, task)
    async with Oxpull(unmasked(ox)) as other:
        rival = other.remote(task.path, unique=True)
        begun, ending = asyncio.Event(), asyncio.Event()

        async def take() -> TaskResult[object]:
            async with other.transaction():
                taken = await rival.enqueue(1)
                begun.set()
                await ending.wait()
                if not commits:
                    raise TakenBackError
            return taken

        taking = asyncio.ensure_future(take())
        await begun.wait()

        async def end() -> None:
            ending.set()
            await asyncio.wait([taking])

        answer = await waits_for(ox, task.enqueue(1), end)
    assert answer.created is not commits
    assert answer.id != former.id
    if commits:
        assert answer.id == taking.result().id
    else:
        assert isinstance(taking.exception(), TakenBackError)
    assert await holder_of(ox, await key_of(ox, answer)) == answer.id
    assert await count(ox) == 2


async def test_C6_a_takeover_that_waited_for_a_retry_finds_the_holder_pending_again(ox: Oxpull) -> None:
    task = ox.task(unique=True)(nothing)
    former = await ended(ox, task)
    async with rivalling(ox) as rival:
        await rival.change(former.id, READY_AGAIN)
        answer = await waits_for(ox, task.enqueue(1), lambda: rival.connection.execute("COMMIT"))
    assert (answer.id, answer.created, answer.status) == (former.id, False, TaskStatus.READY)
    assert await count(ox) == 1


async def test_C4_a_rewrite_that_waited_for_a_claim_leaves_a_holder_that_has_started(ox: Oxpull) -> None:
    task = ox.task(unique=Unique(on_duplicate="replace", key=one_key))(nothing)
    first = await task.enqueue(1)
    async with rivalling(ox) as rival:
        await rival.change(first.id, RUNNING)
        answer = await waits_for(ox, task.enqueue(2), lambda: rival.connection.execute("COMMIT"))
    assert (answer.id, answer.created, answer.status, answer.args) == (first.id, False, TaskStatus.RUNNING, [1])


async def test_C1_a_rerun_that_waited_for_a_claim_adds_a_follow_up(ox: Oxpull) -> None:
    task = ox.task(unique=Unique(on_duplicate="rerun", key=one_key))(nothing)
    first = await task.enqueue(1)
    async with rivalling(ox) as rival:
        await rival.change(first.id, RUNNING)
        answer = await waits_for(ox, task.enqueue(2), lambda: rival.connection.execute("COMMIT"))
    assert (answer.created, answer.status, answer.args) == (True, TaskStatus.WAITING, [2])
    assert await holder_of(ox, await key_of(ox, answer)) == first.id


async def test_a_key_that_this_process_has_met_is_looked_at_first_and_the_answer_is_what_is_stored(ox: Oxpull) -> None:
    task = ox.task(unique=True)(nothing)
    first = await task.enqueue(1)
    await run(ox, first)
    again = await task.enqueue(1)
    assert (again.id, again.created, again.status) == (first.id, False, TaskStatus.RUNNING)
    async with Oxpull(unmasked(ox)) as other:
        elsewhere = await other.remote(task.path, unique=True).enqueue(1)
    assert elsewhere.record == again.record
