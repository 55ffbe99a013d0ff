"""Unique tasks on SQLite through the store: what each enqueue gets, follow-ups, takeovers."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
from msgspec.structs import replace as replaced

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import DataRefused
from oxpull_async.domain.outcome import Failed, Outcome, Released, Settlement, Succeeded
from oxpull_async.domain.record import ClaimedTask, TaskStatus
from oxpull_async.domain.unique import Unique
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase
from oxpull_async.store.enqueue import enqueue, enqueue_many
from oxpull_async.store.follow_ups import recheck
from oxpull_async.store.operate import discard, retry
from oxpull_async.store.settle import settle
from oxpull_async.store.unique import enqueue_unique, enqueue_unique_many, find
from tests.drivers.sqlite_kit import count_rows, holder, migrate, open_url, put, unique_call
from tests.fixtures import make, raw

A_TICK = timedelta(milliseconds=10)
RAISE = Unique(on_duplicate="raise")
REPLACE = Unique(on_duplicate="replace")
RERUN = Unique(on_duplicate="rerun")
DEBOUNCE = Unique(on_duplicate="debounce", wait=60, max_wait=100)


@pytest_asyncio.fixture
async def database(sqlite_url: str) -> AsyncIterator[AiosqliteDatabase]:
    database = open_url(sqlite_url)
    await migrate(database)
    yield database
    await database.close()


@pytest_asyncio.fixture
async def conn(database: AiosqliteDatabase) -> AsyncIterator[Connection]:
    async with database.connection() as conn:
        yield conn


async def started(conn: Connection, unique: Unique = Unique(), **options: Any) -> ClaimedTask:  # noqa: B008 - frozen
    answer = await put(conn, unique, **options)
    (claimed,) = await make.claimed(conn, await make.worker(conn))
    assert claimed.id == answer.record.id
    return claimed


async def end(conn: Connection, claimed: ClaimedTask, outcome: Outcome = Succeeded("1")) -> None:  # noqa: B008 - frozen
    settlement = Settlement(make.lease(claimed), outcome, rerun_key=claimed.rerun_key)
    assert await settle(conn, [settlement]) != {}


@pytest.mark.asyncio
async def test_the_answer_of_a_fresh_enqueue_is_the_stored_record(conn: Connection) -> None:
    answers = [await put(conn), await put(conn, DEBOUNCE, key="later", args='["\u00e9",1.0]')]
    assert [await make.record(conn, answer.record.id) for answer in answers] == [answer.record for answer in answers]
    later = answers[1].record
    assert later.available_at - later.enqueued_at == pytest.approx(timedelta(seconds=60), abs=A_TICK)
    assert [task.id for task in await make.claimed(conn, await make.worker(conn))] == [answers[0].record.id]


@pytest.mark.asyncio
@pytest.mark.parametrize("unique", [Unique(), Unique(until="started"), Unique(until="expired", ttl=60)], ids=str)
async def test_a_duplicate_of_a_pending_task_is_answered_with_it_and_writes_nothing(
    conn: Connection, unique: Unique
) -> None:
    first = await put(conn, unique)
    second = await put(conn, unique, args="[2]")
    assert (second.created, second.changed, second.refused, second.record) == (False, False, False, first.record)
    assert await count_rows(conn) == 1


@pytest.mark.asyncio
async def test_a_duplicate_is_refused_where_the_rule_raises(conn: Connection) -> None:
    first = await put(conn, RAISE)
    second = await put(conn, RAISE)
    assert (second.refused, second.record) == (True, first.record)


@pytest.mark.asyncio
async def test_a_holder_that_has_not_started_gets_the_new_arguments(conn: Connection) -> None:
    first = await put(conn, REPLACE)
    second = await put(conn, REPLACE, args="[2]", kwargs='{"x":1.0}', priority=7)
    assert (second.created, second.changed, second.record.id) == (False, True, first.record.id)
    expected = replace(first.record, args=[2], kwargs={"x": 1.0}, priority=7)
    assert await make.record(conn, first.record.id) == second.record == expected
    (claimed,) = await make.claimed(conn, await make.worker(conn))
    assert (claimed.args, claimed.priority) == ("[2]", 7)
    third = await put(conn, REPLACE, args="[3]")
    assert (third.changed, third.record.args, third.record.status) == (False, [2], TaskStatus.RUNNING)


@pytest.mark.asyncio
async def test_a_parked_holder_is_ready_again_with_its_new_arguments(conn: Connection) -> None:
    first = await put(conn, REPLACE)
    await raw.change(conn, first.record.id, "status = 'WAITING', waiting_for = 'lock', due = NULL")
    second = await put(conn, REPLACE, args="[2]")
    assert (second.record.status, second.record.waiting_for) == (TaskStatus.READY, None)
    assert len(await make.claimed(conn, await make.worker(conn))) == 1


@pytest.mark.asyncio
async def test_debounce_moves_the_start_but_never_past_max_wait(database: AiosqliteDatabase, conn: Connection) -> None:
    wait, longest = timedelta(seconds=60), timedelta(seconds=100)
    started, first, began = await make.moment(conn), (await put(conn, DEBOUNCE)).record, await make.moment(conn)
    assert first.available_at == first.enqueued_at + wait
    database.clock_offset = 30.0
    before = await make.moment(conn)
    second = (await put(conn, DEBOUNCE, args="[2]")).record
    assert min(before + wait, started + longest) <= second.available_at <= await make.moment(conn) + wait
    database.clock_offset = 59.0
    third = (await put(conn, DEBOUNCE, args="[3]")).record
    assert first.id == second.id == third.id
    assert started + longest <= third.available_at <= began + longest
    assert (third.run_after, third.args) == (third.available_at, [3])
    database.clock_offset = 101.0
    await conn.execute("promote", limit=10)
    (claimed,) = await make.claimed(conn, await make.worker(conn))
    assert claimed.args == "[3]"


@pytest.mark.asyncio
async def test_a_delay_beyond_the_calendar_is_refused_and_nothing_is_written(conn: Connection) -> None:
    debounced = unique_call(DEBOUNCE)
    beyond = replace(debounced, task=replaced(debounced.task, delay=1e13), rule=replace(debounced.rule, wait=1e13))
    with pytest.raises(DataRefused):
        await enqueue_unique(conn, beyond)
    with pytest.raises(DataRefused):
        await enqueue_unique_many(conn, [beyond])
    with pytest.raises(DataRefused):
        await enqueue(conn, replaced(make.new_task(), delay=1e13))
    with pytest.raises(DataRefused):
        await enqueue_many(conn, [replaced(make.new_task(), delay=1e13)])
    assert (await count_rows(conn), await holder(conn)) == (0, None)
    first = await put(conn, DEBOUNCE)
    with pytest.raises(DataRefused):
        await enqueue_unique(conn, replace(beyond, rule=replace(beyond.rule, max_wait=None)))
    assert await make.record(conn, first.record.id) == first.record


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [status for status in TaskStatus if status.is_finished])
async def test_a_settled_holders_key_is_taken_over(conn: Connection, status: TaskStatus) -> None:
    old = (await put(conn, Unique(ttl=60))).record
    await raw.change(conn, old.id, f"status = '{status}', due = NULL")
    new = await put(conn)
    assert (new.created, await holder(conn)) == (True, new.record.id)
    assert new.record.id != old.id
    assert (await find(conn, ["k"]))["k"].is_expired is None
    assert await retry(conn, [old.id], include_discarded=True) == (0 if status is TaskStatus.SUCCESSFUL else 1)
    assert (await put(conn)).record.id == new.record.id


@pytest.mark.asyncio
async def test_a_holder_whose_row_is_gone_is_followed_by_a_new_one(conn: Connection) -> None:
    await put(conn)
    await conn.run_script("DELETE FROM oxpull_task")
    new = await put(conn)
    assert (new.created, await holder(conn)) == (True, new.record.id)


@pytest.mark.asyncio
@pytest.mark.parametrize("unique", [Unique(ttl=60), Unique(until="expired", ttl=60)], ids=str)
async def test_a_key_is_free_when_its_ttl_has_passed(
    database: AiosqliteDatabase, conn: Connection, unique: Unique
) -> None:
    first = await put(conn, unique)
    database.clock_offset = 55.0
    assert not (await put(conn, unique)).created
    database.clock_offset = 61.0
    second = await put(conn, unique)
    assert (second.created, await holder(conn)) == (True, second.record.id)
    assert (await make.record(conn, first.record.id)).status is TaskStatus.READY
    assert not (await put(conn, unique)).created


@pytest.mark.asyncio
async def test_a_key_that_is_held_until_the_start_is_free_then(conn: Connection) -> None:
    unique = Unique(until="started")
    claimed = await started(conn, unique)
    second = await put(conn, unique)
    assert (second.created, second.record.id != claimed.id) == (True, True)
    assert not (await put(conn, unique)).created


@pytest.mark.asyncio
async def test_a_call_of_many_equals_its_calls_one_after_another(conn: Connection) -> None:
    held = (await put(conn, key="held")).record
    ended = (await put(conn, key="ended")).record
    await discard(conn, [ended.id])
    keys = ["new", "held", "ended", "new", "moved", "moved", "held"]
    rules = [Unique(), Unique(), Unique(), Unique(), REPLACE, REPLACE, Unique()]
    calls = [
        unique_call(rule, key=key, position=at, args=f"[{at}]")
        for at, (key, rule) in enumerate(zip(keys, rules, strict=True))
    ]
    answers = await enqueue_unique_many(conn, calls)
    assert [answers[at].created for at in range(7)] == [True, False, True, False, True, False, False]
    assert answers[1].record == answers[6].record == held
    assert answers[0].record == answers[3].record
    assert (answers[4].record, answers[4].record.args) == (answers[5].record, [5])
    stored = [await make.record(conn, answers[at].record.id) for at in range(7)]
    assert stored == [answers[at].record for at in range(7)]
    assert await count_rows(conn) == 5


@pytest.mark.asyncio
async def test_a_refused_call_among_many_writes_nothing(conn: Connection) -> None:
    held = (await put(conn, key="held")).record
    calls = [
        unique_call(key="new"),
        unique_call(RAISE, key="held", position=1),
        unique_call(RAISE, key="held", position=2),
    ]
    answers = await enqueue_unique_many(conn, calls)
    assert {at: (answer.refused, answer.record) for at, answer in answers.items()} == {1: (True, held)}
    assert (await count_rows(conn), await holder(conn, "new")) == (1, None)


@pytest.mark.asyncio
async def test_thousands_of_calls_with_duplicates_are_one_transaction(conn: Connection) -> None:
    for number in range(0, 400, 2):
        await put(conn, key=f"k{number}")
    calls = [unique_call(key=f"k{at % 1000}", position=at) for at in range(1500)]
    answers = await enqueue_unique_many(conn, calls)
    assert (len(answers), sum(answer.created for answer in answers.values())) == (1500, 800)
    assert await count_rows(conn) == 1000


@pytest.mark.asyncio
async def test_one_follow_up_takes_the_last_arguments_and_runs_after_the_holder(conn: Connection) -> None:
    claimed = await started(conn, RERUN)
    answers = [await put(conn, RERUN, args=f"[{number}]") for number in range(10)]
    assert [answer.created for answer in answers] == [True] + [False] * 9
    (follow_up,) = {answer.record.id for answer in answers}
    waiting = await make.record(conn, follow_up)
    assert (waiting.status, waiting.waiting_for, waiting.args) == (TaskStatus.WAITING, "follow_up", [9])
    assert await make.claimed(conn, await make.worker(conn)) == []
    await end(conn, claimed)
    assert await holder(conn) == follow_up
    (next_,) = await make.claimed(conn, await make.worker(conn))
    assert (next_.id, next_.args, next_.rerun_key) == (follow_up, "[9]", "k")
    assert (await put(conn, RERUN)).created


@pytest.mark.asyncio
@pytest.mark.parametrize("outcome", [Released(), Failed(make.ERROR, 0.0)], ids=["handed back", "retried"])
async def test_a_holder_that_is_ready_again_keeps_its_follow_up_waiting(conn: Connection, outcome: Outcome) -> None:
    claimed = await started(conn, RERUN)
    follow_up = (await put(conn, RERUN)).record
    await end(conn, claimed, outcome)
    assert (await make.record(conn, follow_up.id)).waiting_for == "follow_up"
    assert await holder(conn) == claimed.id


@pytest.mark.asyncio
async def test_the_next_enqueue_promotes_the_follow_up_of_a_holder_that_was_deleted(conn: Connection) -> None:
    claimed = await started(conn, RERUN)
    follow_up = (await put(conn, RERUN)).record
    await conn.run_script(f"DELETE FROM oxpull_task WHERE id = '{claimed.id.replace('-', '')}'")
    answer = await put(conn, RERUN, args="[5]")
    assert (answer.created, answer.record.id, answer.record.args) == (False, follow_up.id, [5])
    assert (answer.record.status, await holder(conn)) == (TaskStatus.READY, follow_up.id)
    assert len(await make.claimed(conn, await make.worker(conn))) == 1


@pytest.mark.asyncio
async def test_a_discarded_follow_up_leaves_the_key_to_its_holder(conn: Connection) -> None:
    claimed = await started(conn, RERUN)
    follow_up = (await put(conn, RERUN)).record
    assert await discard(conn, [follow_up.id]) == 1
    assert (await find(conn, ["k"]))["k"].follow_up_id is None
    again = await put(conn, RERUN)
    assert (again.created, again.record.waiting_for) == (True, "follow_up")
    await end(conn, claimed)
    assert await holder(conn) == again.record.id


@pytest.mark.asyncio
async def test_a_recheck_releases_what_the_end_of_the_holder_left_waiting(conn: Connection) -> None:
    claimed = await started(conn, RERUN)
    follow_up = (await put(conn, RERUN)).record
    await raw.change(conn, claimed.id, "status = 'SUCCESSFUL', leased_by = NULL, recheck = 1")
    await recheck(conn, 100)
    assert (await make.record(conn, follow_up.id)).status is TaskStatus.READY
    assert (await holder(conn), await conn.fetch("find_rechecks", limit=10)) == (follow_up.id, [])
