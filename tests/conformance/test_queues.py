"""What the queues hold: due rows, deferred rows, pauses and counts."""

from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.store.queues import QueueStats, paused_queues, peek, promote, set_paused, stats
from tests.conformance.conftest import Clock
from tests.fixtures import make


def later(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def test_an_empty_database_has_no_outlook(conn: Connection) -> None:
    outlook = await peek(conn, make.ALIAS)
    assert (outlook.queues, outlook.next_due_in) == ((), None)


async def test_peek_names_the_queues_with_due_rows_once(conn: Connection) -> None:
    for queue in ("b", "a", "b", "c"):
        await make.ready(conn, queue_name=queue)
    await make.running(conn, queue_name="running")
    await make.waiting(conn, queue_name="waiting")
    await make.ready(conn, queue_name="elsewhere", backend_alias="other")
    outlook = await peek(conn, make.ALIAS)
    assert sorted(outlook.queues) == ["a", "b", "c"]
    assert outlook.next_due_in is None


async def test_peek_leaves_paused_queues_out(conn: Connection) -> None:
    await make.ready(conn, queue_name="a")
    await make.ready(conn, queue_name="b")
    await set_paused(conn, make.ALIAS, "a", paused=True)
    assert (await peek(conn, make.ALIAS)).queues == ("b",)


async def test_peek_says_when_the_next_deferred_row_is_due(conn: Connection, clock: Clock) -> None:
    for seconds in (300, 100, 200):
        await make.ready(conn, run_after=later(seconds))
    outlook = await peek(conn, make.ALIAS)
    assert outlook.queues == ()
    assert outlook.next_due_in == pytest.approx(100, abs=5)
    clock.advance(110)
    assert (await peek(conn, make.ALIAS)).next_due_in == pytest.approx(-10, abs=5)


async def test_A5_promote_lets_rows_be_claimed_whose_time_has_come(conn: Connection, clock: Clock) -> None:
    for seconds in (50, 10, 20):
        await make.ready(conn, run_after=later(seconds), queue_name=f"in {seconds}")
    assert await promote(conn, 10) == 0
    clock.advance(30)
    assert await promote(conn, 10) == 2
    assert sorted((await peek(conn, make.ALIAS)).queues) == ["in 10", "in 20"]


async def test_promote_moves_no_more_than_its_limit_and_the_earliest_first(conn: Connection, clock: Clock) -> None:
    for seconds in (30, 10, 20):
        await make.ready(conn, run_after=later(seconds), queue_name=f"in {seconds}")
    clock.advance(60)
    assert await promote(conn, 2) == 2
    assert sorted((await peek(conn, make.ALIAS)).queues) == ["in 10", "in 20"]
    assert [await promote(conn, 2), await promote(conn, 2)] == [1, 0]


async def test_promote_changes_nothing_a_reader_sees(conn: Connection, clock: Clock) -> None:
    task = await make.ready(conn, run_after=later(10))
    clock.advance(20)
    await promote(conn, 10)
    assert await make.record(conn, task.id) == task


async def test_a_pause_is_stored_and_says_whether_it_changed_something(conn: Connection, other: Connection) -> None:
    assert await set_paused(conn, make.ALIAS, "mail", paused=True)
    assert not await set_paused(conn, make.ALIAS, "mail", paused=True)
    assert await paused_queues(other, make.ALIAS) == ["mail"]
    assert await set_paused(conn, make.ALIAS, "mail", paused=False)
    assert not await set_paused(conn, make.ALIAS, "mail", paused=False)
    assert await paused_queues(other, make.ALIAS) == []


async def test_resuming_a_queue_that_was_never_paused_changes_nothing(conn: Connection) -> None:
    assert not await set_paused(conn, make.ALIAS, "never", paused=False)


async def test_a_queue_may_be_paused_again(conn: Connection) -> None:
    answers = [await set_paused(conn, make.ALIAS, "mail", paused=paused) for paused in (True, False, True)]
    assert answers == [True, True, True]
    assert await paused_queues(conn, make.ALIAS) == ["mail"]


async def test_paused_queues_are_in_order_and_of_one_backend(conn: Connection) -> None:
    for name in ("b", "a", "C"):
        await set_paused(conn, make.ALIAS, name, paused=True)
    await set_paused(conn, "other", "d", paused=True)
    assert sorted(await paused_queues(conn, make.ALIAS)) == ["C", "a", "b"]


async def test_stats_count_every_status_of_every_queue(conn: Connection) -> None:
    for build in reversed(make.BUILDERS.values()):
        await build(conn, queue_name="all")
    await make.ready(conn, queue_name="ready", run_after=later(100))
    await make.ready(conn, queue_name="ready")
    await make.ready(conn, queue_name="elsewhere", backend_alias="other")
    assert await stats(conn, make.ALIAS) == [
        QueueStats("all", 1, 1, 1, 1, 1, 1, 1),
        QueueStats("ready", ready=2),
    ]


async def test_stats_of_nothing_are_none(conn: Connection) -> None:
    assert await stats(conn, make.ALIAS) == []
