"""What operators look at: workers, and how long due tasks have waited."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.store.health import Backlog, Kept, backlog, kept, workers
from oxpull_async.store.lease import bury_dead_workers
from tests.conformance.conftest import Clock
from tests.fixtures import make, raw


async def test_workers_come_oldest_first_and_of_one_backend(conn: Connection) -> None:
    ids = [await make.worker(conn) for _ in range(3)]
    await make.worker(conn, alias="other")
    assert [worker.worker_id for worker in await workers(conn, make.ALIAS)] == ids


async def test_a_worker_s_running_tasks_are_counted(conn: Connection) -> None:
    busy, idle = await make.worker(conn), await make.worker(conn)
    await make.running(conn, busy)
    await make.running(conn, busy)
    assert {worker.worker_id: worker.running for worker in await workers(conn, make.ALIAS)} == {busy: 2, idle: 0}


async def test_a_worker_whose_lease_is_over_is_not_alive(conn: Connection, clock: Clock) -> None:
    await make.worker(conn, lease_seconds=10)
    [alive] = await workers(conn, make.ALIAS)
    assert alive.is_alive
    assert alive.lease_left == pytest.approx(10, abs=2)
    clock.advance(12)
    [late] = await workers(conn, make.ALIAS)
    assert (late.is_alive, late.dead) == (False, False)
    assert late.lease_left < 0


async def test_a_worker_that_was_marked_dead_is_not_alive(conn: Connection) -> None:
    await make.dead_worker(conn)
    await bury_dead_workers(conn, 0)
    [worker] = await workers(conn, make.ALIAS)
    assert (worker.dead, worker.is_alive) == (True, False)


async def test_who_keeps_dead_rows_is_named_where_the_database_tells(conn: Connection, other: Connection) -> None:
    async with other.transaction():
        await make.ready(other)
        found = await kept(conn)
    if not conn.dialect.tells_what_is_kept:
        assert found == Kept(0, 0)
        return
    assert found.held_for is not None
    assert "idle in transaction" in str(found.held_by)
    assert (await kept(conn)).held_by is None


def test_a_snapshot_is_a_problem_once_it_is_old_and_keeps_rows() -> None:
    held = Kept(20_000, 500, 900.0, "session 7 (app, idle in transaction)")
    [problem] = held.problems()
    assert problem.startswith(
        "session 7 (app, idle in transaction) has had a transaction open for 900 s, and 20000 dead"
    )
    assert replace(held, held_for=10.0).problems() == []
    assert replace(held, dead=100).problems() == []


def test_dead_rows_are_a_problem_once_they_are_many_and_more_than_the_live_ones() -> None:
    [problem] = Kept(250_000, 1_000).problems()
    assert "autovacuum does not keep up" in problem
    assert Kept(250_000, 1_000_000).problems() == []
    assert Kept(5_000, 10).problems() == []


async def test_an_empty_queue_has_no_backlog(conn: Connection) -> None:
    assert await backlog(conn, make.ALIAS) == Backlog(None, 0)


async def test_the_backlog_is_as_old_as_its_oldest_due_task(conn: Connection, clock: Clock) -> None:
    await make.ready(conn)
    clock.advance(50)
    await make.ready(conn)
    await make.ready(conn, run_after=datetime.now(UTC) + timedelta(days=1))
    found = await backlog(conn, make.ALIAS)
    assert found.oldest_due == pytest.approx(50, abs=5)


async def test_running_tasks_without_a_worker_are_orphans(conn: Connection) -> None:
    await make.running(conn)
    orphan = await make.running(conn, queue_name="other")
    assert orphan.leased_by is not None
    await raw.forget_worker(conn, orphan.leased_by)
    assert (await backlog(conn, make.ALIAS)).orphans == 1
