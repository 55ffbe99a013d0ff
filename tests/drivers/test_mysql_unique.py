"""Unique tasks on MySQL and MariaDB: verdicts, bulk plans, follow-ups, and how many statements they cost."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import aiomysql
import pytest
import pytest_asyncio

from oxpull_async.db.contract import Connection
from oxpull_async.db.statements import Statement
from oxpull_async.domain.errors import AlreadyEnqueued
from oxpull_async.domain.outcome import Failed, Lease, Settlement
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.unique import Unique
from oxpull_async.drivers.aiomysql import AiomysqlDatabase, AiomysqlSession
from oxpull_async.store import follow_ups, operate, settle, unique
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.drivers.mysql_kit import ID_TYPES, claim, migrated, new_alias, read, register
from tests.drivers.mysql_unique_kit import (
    DEBOUNCE,
    EXISTING,
    RAISE,
    REPLACE,
    RERUN,
    call,
    end,
    enqueue,
    live,
    start,
)
from tests.fixtures import make
from tests.fixtures.servers import MakeDatabase

READ_ONLY = {"free_key", "find_holder", "find_holders", "get_tasks"}


@pytest.fixture(scope="module", params=ID_TYPES)
def place(request: pytest.FixtureRequest, make_database: MakeDatabase) -> tuple[str, str]:
    """Name a database for each column type of ids."""
    return make_database("mysql"), request.param


@pytest_asyncio.fixture
async def database(place: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AiomysqlDatabase]:
    async with migrated(*place, monkeypatch) as database:
        yield database


@pytest_asyncio.fixture
async def conn(database: AiomysqlDatabase) -> AsyncIterator[Connection]:
    async with database.connection() as conn:
        yield conn


@pytest.fixture
def alias() -> str:
    """Name a backend, and the key of its test."""
    return new_alias()


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the name of every statement that runs, transaction control not counted."""
    names: list[str] = []
    query, command = AiomysqlSession.query, AiomysqlSession.command

    async def noted_query(self: AiomysqlSession, statement: Statement, values: list[Any]) -> Any:
        names.append(statement.name)
        return await query(self, statement, values)

    async def noted_command(self: AiomysqlSession, statement: Statement, values: list[Any]) -> int:
        names.append(statement.name)
        return await command(self, statement, values)

    monkeypatch.setattr(AiomysqlSession, "query", noted_query)
    monkeypatch.setattr(AiomysqlSession, "command", noted_command)
    return names


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"run_after": datetime(2040, 1, 2, 3, 4, 5, 678901, UTC)},
        {"run_after": datetime(2020, 1, 2, tzinfo=UTC)},
        {"rule": DEBOUNCE},
        {"rule": replace(DEBOUNCE, wait=0.1234567)},
        {"rule": RERUN, "priority": -5, "timeout": None},
    ],
    ids=str,
)
async def test_a_fresh_enqueue_answers_with_what_it_stored(
    conn: Connection, alias: str, changes: dict[str, Any]
) -> None:
    answer = await enqueue(conn, alias, **changes)
    assert (answer.created, answer.refused) == (True, False)
    assert answer.record == await read(conn, answer.record.id)
    assert abs(answer.record.enqueued_at - datetime.now(UTC)) < timedelta(seconds=60)


@pytest.mark.asyncio
async def test_a_fresh_enqueue_costs_three_statements(conn: Connection, alias: str, ran: list[str]) -> None:
    await enqueue(conn, alias)
    assert ran == ["free_key", "insert_keys", "insert_task_of_key"]


@pytest.mark.asyncio
async def test_a_duplicate_only_reads(conn: Connection, alias: str, ran: list[str]) -> None:
    first = await enqueue(conn, alias)
    ran.clear()
    again = await enqueue(conn, alias)
    assert (again.record, again.created) == (first.record, False)
    assert set(ran) <= READ_ONLY


@pytest.mark.asyncio
async def test_an_isolation_level_is_told_with_the_holder(conn: Connection, alias: str) -> None:
    await enqueue(conn, alias)
    for level in ("repeatable read", "serializable", "read committed"):
        await conn.run_script(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
        row = await conn.fetchrow("find_holders", keys=json.dumps([alias]))
        assert row is not None
        assert row[4] == level


@pytest.mark.asyncio
@pytest.mark.parametrize("rule", [REPLACE, RERUN], ids=["replace", "rerun"])
async def test_an_unstarted_holder_gets_new_arguments(conn: Connection, alias: str, rule: Unique) -> None:
    first = await enqueue(conn, alias, rule)
    later = datetime.now(UTC) + timedelta(hours=1)
    again = await enqueue(conn, alias, rule, args="[2]", kwargs="{}", priority=7, run_after=later)
    assert (again.record.id, again.created, again.changed) == (first.record.id, False, True)
    assert (again.record.args, again.record.kwargs, again.record.priority) == ([2], {}, 7)
    assert again.record.run_after == again.record.available_at == later
    assert again.record == await read(conn, first.record.id)
    assert await claim(conn, alias, await register(conn, alias)) == []
    back = await enqueue(conn, alias, rule)
    assert (back.record.run_after, back.record.available_at) == (None, first.record.enqueued_at)
    assert (await start(conn, alias)).id == first.record.id


@pytest.mark.asyncio
async def test_equal_arguments_count_as_a_rewrite(conn: Connection, alias: str) -> None:
    first = await enqueue(conn, alias, REPLACE)
    assert (await enqueue(conn, alias, REPLACE)).record == first.record


@pytest.mark.asyncio
async def test_equal_arguments_count_on_a_connection_that_counts_changed_rows(
    database: AiomysqlDatabase, alias: str
) -> None:
    url = database.url
    place = {"host": url.host, "port": url.port, "user": url.user, "password": url.password or "", "db": url.database}
    async with aiomysql.connect(**place) as theirs:
        conn = await database.join(theirs)
        first = await enqueue(conn, alias, REPLACE)
        assert (await enqueue(conn, alias, REPLACE)).record == first.record
        await theirs.rollback()


@pytest.mark.asyncio
async def test_a_started_holder_keeps_its_arguments(conn: Connection, alias: str) -> None:
    await enqueue(conn, alias, REPLACE)
    claimed = await start(conn, alias)
    again = await enqueue(conn, alias, REPLACE, args="[2]")
    assert (again.record.id, again.record.status, again.changed) == (claimed.id, TaskStatus.RUNNING, False)
    await settle.settle(conn, [Settlement(Lease(claimed.id, claimed.epoch), Failed("{}", 0.0))])
    after = await enqueue(conn, alias, REPLACE, args="[2]")
    assert (after.record.id, after.record.args) == (claimed.id, ["é", 1.0])


@pytest.mark.asyncio
async def test_a_debounce_moves_the_task_but_not_past_its_longest_wait(
    database: AiomysqlDatabase, conn: Connection, alias: str
) -> None:
    wait, longest = timedelta(seconds=10), timedelta(seconds=15)
    first = await enqueue(conn, alias, DEBOUNCE)
    began = await make.moment(conn)
    assert first.record.available_at == first.record.enqueued_at + wait
    database.clock_offset = 3.0
    before = await make.moment(conn)
    moved = await enqueue(conn, alias, DEBOUNCE, args="[2]")
    assert min(before + wait, first.record.enqueued_at + longest) <= moved.record.available_at
    assert moved.record.available_at <= await make.moment(conn) + wait
    database.clock_offset = 9.0
    last = await enqueue(conn, alias, DEBOUNCE, args="[3]")
    assert last.record.run_after == last.record.available_at
    assert first.record.enqueued_at + longest <= last.record.available_at <= began + longest
    before = await make.moment(conn)
    endless = await enqueue(conn, alias, replace(DEBOUNCE, max_wait=None), args="[4]")
    assert before + wait <= endless.record.available_at <= await make.moment(conn) + wait


@pytest.mark.asyncio
async def test_a_refusal_names_the_holder_and_writes_nothing(conn: Connection, alias: str) -> None:
    first = await enqueue(conn, alias)
    answer = await enqueue(conn, alias, RAISE)
    assert (answer.refused, answer.created, answer.record) == (True, False, first.record)
    assert len(await live(conn, alias)) == 1


@pytest.mark.asyncio
async def test_an_ended_holder_gives_the_key_away(conn: Connection, alias: str) -> None:
    await enqueue(conn, alias)
    claimed = await start(conn, alias)
    await end(conn, claimed)
    second = await enqueue(conn, alias)
    assert second.created
    assert second.record.id != claimed.id
    assert (await enqueue(conn, alias)).record.id == second.record.id


@pytest.mark.asyncio
async def test_a_started_holder_gives_the_key_away_where_the_rule_says_so(conn: Connection, alias: str) -> None:
    rule = Unique(until="started")
    await enqueue(conn, alias, rule)
    claimed = await start(conn, alias)
    assert (await enqueue(conn, alias, rule)).created
    assert [record.status for record in await live(conn, alias)] == [TaskStatus.RUNNING, TaskStatus.READY]
    await end(conn, claimed)
    assert not (await enqueue(conn, alias, rule)).created


@pytest.mark.asyncio
async def test_a_key_expires_and_is_held_anew(database: AiomysqlDatabase, conn: Connection, alias: str) -> None:
    rule = Unique(until="expired", ttl=20)
    first = await enqueue(conn, alias, rule)
    await end(conn, await start(conn, alias))
    assert (await enqueue(conn, alias, rule)).record.id == first.record.id
    for offset in (20.5, 41.0):
        database.clock_offset = offset
        assert (await enqueue(conn, alias, rule)).created
        assert not (await enqueue(conn, alias, rule)).created


@pytest.mark.asyncio
async def test_a_key_whose_holder_was_deleted_is_free(conn: Connection, alias: str) -> None:
    await enqueue(conn, alias)
    await conn.run_script(f"DELETE FROM oxpull_task WHERE backend_alias = '{alias}'")
    assert (await enqueue(conn, alias)).created


@pytest.mark.asyncio
async def test_many_enqueues_during_a_run_come_to_one_follow_up_with_the_last_arguments(
    conn: Connection, alias: str
) -> None:
    await enqueue(conn, alias, RERUN)
    claimed = await start(conn, alias)
    answers = [await enqueue(conn, alias, RERUN, args=f"[{n}]") for n in range(5)]
    assert [answer.created for answer in answers] == [True, False, False, False, False]
    assert len({answer.record.id for answer in answers}) == 1
    waiting = await read(conn, answers[0].record.id)
    assert (waiting.status, waiting.waiting_for, waiting.args) == (TaskStatus.WAITING, "follow_up", [4])
    await end(conn, claimed)
    follow_up = await start(conn, alias)
    assert (follow_up.id, json.loads(follow_up.args)) == (waiting.id, [4])
    assert (await enqueue(conn, alias, RERUN)).created
    assert await follow_ups.recheck(conn, 100) == 0


@pytest.mark.asyncio
async def test_a_follow_up_waits_through_its_holders_retry(conn: Connection, alias: str) -> None:
    await enqueue(conn, alias, RERUN)
    claimed = await start(conn, alias)
    follow_up = await enqueue(conn, alias, RERUN)
    failed = Settlement(Lease(claimed.id, claimed.epoch), Failed("{}", 0.0), claimed.rerun_key)
    await settle.settle(conn, [failed])
    assert (await read(conn, follow_up.record.id)).status is TaskStatus.WAITING
    assert (await start(conn, alias)).id == claimed.id


@pytest.mark.asyncio
async def test_a_follow_up_of_a_deleted_holder_is_promoted_by_the_next_enqueue(conn: Connection, alias: str) -> None:
    await enqueue(conn, alias, RERUN)
    claimed = await start(conn, alias)
    follow_up = await enqueue(conn, alias, RERUN)
    await conn.run_script(f"DELETE FROM oxpull_task WHERE id = '{claimed.id.replace('-', '')}'")
    answer = await enqueue(conn, alias, RERUN, args="[9]")
    assert (answer.record.id, answer.created, answer.record.status) == (follow_up.record.id, False, TaskStatus.READY)
    assert (answer.record.args, answer.record.waiting_for) == ([9], None)
    assert (await start(conn, alias)).id == follow_up.record.id


@pytest.mark.asyncio
async def test_a_discarded_follow_up_makes_room_for_another(conn: Connection, alias: str) -> None:
    await enqueue(conn, alias, RERUN)
    await start(conn, alias)
    follow_up = await enqueue(conn, alias, RERUN)
    assert await operate.discard(conn, [follow_up.record.id]) == 1
    another = await enqueue(conn, alias, RERUN)
    assert another.created
    assert another.record.id != follow_up.record.id


@pytest.mark.asyncio
async def test_a_bulk_call_equals_the_same_calls_one_after_another(conn: Connection, alias: str) -> None:
    held, ended, running = (f"{alias}-{name}" for name in ("held", "ended", "running"))
    holder = await enqueue(conn, alias, key=held)
    old = await enqueue(conn, new_alias(), key=ended)
    await operate.discard(conn, [old.record.id])
    runner = await enqueue(conn, alias, RERUN, key=running, priority=9)
    await claim(conn, alias, await register(conn, alias), limit=1)
    answers = await unique.enqueue_unique_many(
        conn,
        [
            call(alias, REPLACE, 0, key=f"{alias}-new", args="[0]"),
            call(alias, EXISTING, 1, key=held),
            call(alias, REPLACE, 2, key=f"{alias}-new", args="[2]"),
            call(alias, EXISTING, 3, key=ended),
            call(alias, RERUN, 4, key=running, args="[4]"),
            call(alias, RERUN, 5, key=running, args="[5]"),
            call(alias, DEBOUNCE, 6, key=f"{alias}-later"),
            call(alias, EXISTING, 7, key=ended),
        ],
    )
    assert sorted(position for position, answer in answers.items() if answer.created) == [0, 3, 4, 6]
    assert answers[0].record.id == answers[2].record.id
    assert answers[0].record.args == [2]
    assert answers[1].record == holder.record
    assert answers[3].record.id == answers[7].record.id != old.record.id
    assert answers[4].record.id == answers[5].record.id != runner.record.id
    assert (answers[5].record.args, answers[5].record.waiting_for) == ([5], "follow_up")
    for answer in answers.values():
        assert answer.record == await read(conn, answer.record.id)
    found = await unique.find(conn, [held, ended, running, f"{alias}-new", f"{alias}-later"])
    assert found[running].follow_up_id == answers[4].record.id
    assert {key: lock.holder_id for key, lock in found.items()} == {
        held: holder.record.id, ended: answers[3].record.id, running: runner.record.id,
        f"{alias}-new": answers[0].record.id, f"{alias}-later": answers[6].record.id,
    }  # fmt: skip


@pytest.mark.asyncio
async def test_a_refused_call_of_many_leaves_nothing_behind(conn: Connection, alias: str) -> None:
    holder = await enqueue(conn, alias, key=f"{alias}-held")
    fresh = f"{alias}-fresh"
    calls = [call(alias, EXISTING, 0, key=fresh), call(alias, RAISE, 1, key=f"{alias}-held")]
    answers = await unique.enqueue_unique_many(conn, calls)
    assert answers == {1: UniqueAnswer(holder.record, refused=True)}
    assert await unique.find(conn, [fresh]) == {}
    twice = [call(alias, RAISE, 0, key=fresh), call(alias, RAISE, 1, key=fresh)]
    with pytest.raises(AlreadyEnqueued, match="call 1"):
        await unique.enqueue_unique_many(conn, twice)
    assert await unique.find(conn, [fresh]) == {}
