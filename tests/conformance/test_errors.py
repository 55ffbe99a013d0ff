"""Database errors arrive as classes of `domain.errors`, with the driver's error as their cause."""

import json
import math
from contextlib import suppress
from typing import NoReturn

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import (
    Conflict,
    ConnectionLost,
    DatabaseTrouble,
    DatabaseUnavailable,
    DataRefused,
    LockTimeout,
    NotMigrated,
)
from oxpull_async.domain.outcome import Settlement, Succeeded
from oxpull_async.store import enqueue, queues, results
from oxpull_async.store.settle import settle
from tests.fixtures import make, raw

RAISED: dict[str, dict[str, type[DatabaseTrouble]]] = {
    "postgres": {
        "40001": Conflict, "40P01": Conflict, "55P03": LockTimeout, "22001": DataRefused, "23505": DataRefused,
        "54000": DataRefused, "42703": NotMigrated, "57014": DatabaseTrouble, "XX000": DatabaseTrouble,
        "25006": DatabaseUnavailable,
    },
    "mysql": {
        "1213": Conflict, "1205": LockTimeout, "1264": DataRefused, "1366": DataRefused, "1406": DataRefused,
        "1048": DataRefused, "1062": DataRefused, "1153": DataRefused, "3819": DataRefused, "4025": DataRefused,
        "1054": NotMigrated, "1146": NotMigrated, "1064": DatabaseTrouble, "1836": DatabaseUnavailable,
    },
    "sqlite": {},
}  # fmt: skip


async def provoke(conn: Connection, code: str) -> None:
    if conn.dialect.has_listen:
        await conn.run_script(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}', MESSAGE = 'oxpull_task'; END $$")
    else:
        await conn.run_script(f"SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = {code}, MESSAGE_TEXT = 'd.oxpull_task'")


async def test_every_known_code_has_its_class(conn: Connection) -> None:
    found: dict[str, type] = {}
    expected = RAISED[conn.dialect.name]
    for code in expected:
        with pytest.raises(DatabaseTrouble) as caught:
            await provoke(conn, code)
        found[code] = type(caught.value)
        assert caught.value.__cause__ is not None
    assert found == expected


async def test_a_row_that_is_there_already_is_refused(conn: Connection) -> None:
    task = make.new_task()
    await enqueue.enqueue(conn, task)
    with pytest.raises(DataRefused) as caught:
        await enqueue.enqueue(conn, task)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    "options",
    [{"args": "{"}, {"args": ""}, {"task_path": "\ud800"}, {"priority": 2**70}],
    ids=["broken JSON", "no JSON", "a lone surrogate", "a number out of range"],
)
async def test_a_value_that_cannot_be_stored_is_refused(conn: Connection, options: make.Options) -> None:
    with pytest.raises(DataRefused) as caught:
        await enqueue.enqueue(conn, make.new_task(**options))
    assert caught.value.__cause__ is not None
    assert await raw.count_tasks(conn) == 0


async def test_a_nul_is_stored_or_refused_but_never_cut(conn: Connection) -> None:
    task = make.new_task(queue_name="a\0b")
    try:
        await enqueue.enqueue(conn, task)
    except DataRefused:
        assert await raw.count_tasks(conn) == 0
    else:
        assert (await make.record(conn, task.id)).queue_name == "a\0b"


async def test_an_infinite_number_is_stored_or_refused_but_never_changed(conn: Connection) -> None:
    with suppress(DataRefused):
        row = await conn.fetchrow("test_echo", text="", number=0, real=math.inf, flag=True, nothing=None, bytes=b"")
        assert row is not None
        assert row[2] == math.inf


async def test_a_refused_value_in_a_nested_block_leaves_the_transaction_usable(conn: Connection) -> None:
    async with conn.transaction():
        first = await make.ready(conn)
        with pytest.raises(DataRefused):
            await enqueue.enqueue_many(conn, [make.new_task(), make.new_task(args="{")])
        second = await make.ready(conn)
    assert set(await results.get_tasks(conn, [first.id, second.id])) == {first.id, second.id}
    assert await raw.count_tasks(conn) == 2


async def test_a_lock_that_is_not_given_in_time_is_a_lock_timeout(conn: Connection, other: Connection) -> None:
    task = await make.running(conn)
    await raw.hurry(other)
    async with conn.transaction():
        await settle(conn, [Settlement(make.lease(task), Succeeded("1"))])
        with pytest.raises(LockTimeout) as caught:
            await settle(other, [Settlement(make.lease(task), Succeeded("2"))])
    assert caught.value.__cause__ is not None
    assert (await make.record(conn, task.id)).return_value == 1


async def test_a_lock_timeout_in_a_nested_block_says_that_the_transaction_survived(
    conn: Connection, other: Connection
) -> None:
    await raw.hurry(other)
    task = await make.running(conn)
    async with other.transaction():
        if not conn.dialect.skips_locked:
            return  # the other one is the only writer, so nobody can be in its way
        async with conn.transaction():
            await settle(conn, [Settlement(make.lease(task), Succeeded("1"))])
            with pytest.raises(LockTimeout) as caught:
                async with other.transaction():
                    await settle(other, [Settlement(make.lease(task), Succeeded("2"))])
        assert caught.value.transaction_survived
        await make.ready(other)
    assert await raw.count_tasks(conn) == 2


async def test_a_missing_table_asks_for_the_migration(unmigrated: Connection) -> None:
    with pytest.raises(NotMigrated, match="oxpull migrate") as caught:
        await queues.paused_queues(unmigrated, make.ALIAS)
    assert caught.value.__cause__ is not None


async def test_a_session_that_the_server_ended_is_a_lost_connection(conn: Connection, other: Connection) -> None:
    if not await raw.end_session(conn, by=other):
        return  # a file has no sessions
    with pytest.raises(ConnectionLost) as caught:
        await queues.paused_queues(conn, make.ALIAS)
    assert caught.value.__cause__ is not None


async def test_a_transaction_whose_session_ended_leaves_nothing(conn: Connection, other: Connection) -> None:
    async def lose() -> NoReturn:
        async with conn.transaction():
            await make.ready(conn)
            if await raw.end_session(conn, by=other):
                await make.ready(conn)
            raise ConnectionLost

    with pytest.raises(ConnectionLost):
        await lose()
    assert await raw.count_tasks(other) == 0


async def test_what_a_database_refuses_at_settle_changes_nothing(conn: Connection) -> None:
    task = await make.running(conn)
    with pytest.raises(DataRefused):
        await settle(conn, [Settlement(make.lease(task), Succeeded("{"))])
    assert await make.record(conn, task.id) == task


async def test_the_message_says_what_the_database_said(conn: Connection) -> None:
    task = make.new_task(args=json.dumps(["secret"]))
    await enqueue.enqueue(conn, task)
    with pytest.raises(DataRefused) as caught:
        await enqueue.enqueue(conn, task)
    assert len(str(caught.value)) > 20
