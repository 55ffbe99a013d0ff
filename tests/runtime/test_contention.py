"""A8: a deadlock is repeated by whoever opened the transaction; A14: a writer that holds a file costs attempts only."""

import asyncio
import sqlite3

import pytest

from oxpull_async import Oxpull
from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import Conflict
from oxpull_async.domain.events import DatabaseDown, LeaseLost, TaskStarted, WorkerStarted
from oxpull_async.domain.outcome import Settlement, Succeeded
from oxpull_async.domain.record import TaskStatus, wire_id
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.results import TaskFilter
from oxpull_async.store.settle import Settled, settle
from tests.fixtures import innodb, make
from tests.fixtures.waiting import until
from tests.fixtures.workers import working
from tests.scenarios.stage import check_row
from tests.servers import clients

pytestmark = pytest.mark.asyncio
on_servers = pytest.mark.parametrize("url", ["postgres", "mysql"], indirect=True)
BLOCKED = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@on_servers
async def test_A8_a_settle_that_is_the_victim_of_a_deadlock_is_repeated(ox: Oxpull, url: str) -> None:
    for _ in range(10):
        tries = await _settle_in_a_deadlock(ox, url)
        if tries:
            break
    assert tries >= 2


async def _settle_in_a_deadlock(ox: Oxpull, url: str) -> int:
    """Have a settle and another transaction wait for each other; 0 where the server chose the other one."""
    tries = 0

    async def counted(conn: Connection, rows: list[Settlement]) -> Settled:
        nonlocal tries
        tries += 1
        return await settle(conn, rows)

    async with ox.database.connection() as conn:
        weight = [await make.ready(conn, queue_name="weight") for _ in range(30)]
        running = [await make.running(conn, queue_name=name) for name in "ab"]
        first, second = sorted(running, key=lambda row: row.id)
        rows = [Settlement(make.lease(row), Succeeded("1")) for row in (first, second)]
        try:
            async with conn.transaction():
                for row in (*weight, second):
                    await _touch(conn, row.id)
                settling = asyncio.create_task(repeat(ox.database, lambda other: counted(other, rows)))
                await until(lambda: _somebody_waits(url), what="the settle at its lock")
                await _touch(conn, first.id)
        except Conflict:
            tries = -1
        settled = await settling
    assert list(settled.values()) == [TaskStatus.SUCCESSFUL] * 2
    return max(tries, 0)


async def _touch(conn: Connection, task_id: str) -> None:
    await conn.run_script(f"UPDATE oxpull_task SET priority = priority + 1 WHERE id = '{wire_id(task_id)}'")


async def _somebody_waits(url: str) -> bool:
    if url.startswith("postgres"):
        return bool(await asyncio.to_thread(clients.run, "postgres", url, BLOCKED))
    ours = {row[0] for row in await asyncio.to_thread(clients.run, "mysql", url, innodb.SESSIONS)}
    return bool(ours & innodb.waiting(await asyncio.to_thread(clients.run, "mysql", url, innodb.REPORT)))


async def test_A8_settles_cancels_and_claims_of_the_same_rows_leave_every_row_whole(ox: Oxpull) -> None:
    @ox.task(max_attempts=2, backoff=[0])
    async def short(number: int) -> None:
        await asyncio.sleep(0.001)
        if number % 3 == 0:
            raise ValueError("no")

    results = await ox.enqueue_many([short.call(number) for number in range(200)])
    ids = [result.id for result in results]
    async with working(ox, concurrency=50), working(ox, concurrency=50):
        for start in range(0, 200, 20):
            await ox.cancel_many(list(reversed(ids[start : start + 10])))
        await until(lambda: _all_ended(ox), what="every task ended")
    for row in [result.record for result in await ox.list_results(TaskFilter(limit=1000))]:
        check_row(row)
        assert not row.cancel_requested or row.status in {TaskStatus.DISCARDED, TaskStatus.SUCCESSFUL}


async def _all_ended(ox: Oxpull) -> bool:
    return all(queue.ready + queue.running + queue.waiting == 0 for queue in await ox.stats())


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_A14_a_writer_that_holds_the_file_past_the_lease_costs_attempts_only_and_is_logged(url: str) -> None:
    path = url.removeprefix("sqlite:///")
    async with Oxpull(f"{url}?busy_timeout=0.5", lease_seconds=2) as ox:
        turns: list[int] = []

        @ox.task(max_attempts=1)
        async def hangs_once() -> int:
            turns.append(1)
            if len(turns) == 1:
                await asyncio.Event().wait()
            return len(turns)

        result = await hangs_once.enqueue()
        async with working(ox) as (_, witness):
            await witness.seen(TaskStarted)
            writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            await asyncio.to_thread(writer.execute, "BEGIN IMMEDIATE")
            await witness.seen(LeaseLost)
            writer.execute("ROLLBACK")
            writer.close()
            await witness.seen(WorkerStarted, count=2)
            await result.wait(20)
    assert result.return_value == 2
    assert any(path in event.error and "busy_timeout" in event.error for event in witness.of(DatabaseDown))
