"""C6: in a transaction that reads a snapshot a unique enqueue answers with what is committed, or is a race."""

from contextlib import suppress

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import LockTimeout, UniqueEnqueueRace
from oxpull_async.domain.outcome import Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.unique import Unique
from oxpull_async.store.holders import look
from oxpull_async.store.unique import enqueue_unique, enqueue_unique_many
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.fixtures import make, raw

RAISE = Unique(on_duplicate="raise")
REPLACE = Unique(on_duplicate="replace")


async def put(conn: Connection, unique: Unique = make.PLAIN, **options: object) -> UniqueAnswer:
    return await enqueue_unique(conn, make.unique_call(unique, **options))  # type: ignore[arg-type]


async def test_a_key_is_taken_and_met_again_in_one_snapshot(conn: Connection) -> None:
    async with raw.snapshot(conn):
        first = await put(conn)
        assert (await put(conn)).record == first.record
        assert (await put(conn, REPLACE, args="[2]")).record.args == [2]
    assert (await make.record(conn, first.record.id)).args == [2]


@pytest.mark.parametrize("unique", [make.PLAIN, RAISE, REPLACE], ids=lambda unique: unique.on_duplicate)
async def test_a_holder_that_stays_as_it_was_answers_in_a_snapshot(conn: Connection, unique: Unique) -> None:
    first = await put(conn, unique)
    async with raw.snapshot(conn):
        answer = await put(conn, unique)
    assert (answer.created, answer.record.id, answer.refused) == (False, first.record.id, unique is RAISE)


@pytest.mark.parametrize("unique", [make.PLAIN, RAISE, REPLACE], ids=lambda unique: unique.on_duplicate)
async def test_no_answer_rests_on_a_holder_that_ended_after_the_snapshot_began(
    conn: Connection, other: Connection, unique: Unique
) -> None:
    first = await put(conn, unique)
    [claimed] = await make.claimed(conn, await make.worker(conn))
    ended = False
    async with raw.snapshot(conn):
        with suppress(LockTimeout):  # the snapshot may belong to the only writer
            ended = await make.settled(other, claimed, Succeeded("1")) is TaskStatus.SUCCESSFUL
        try:
            answer = await put(conn, unique)
        except UniqueEnqueueRace as race:
            assert ended
            if not race.transaction_survived:
                return
        else:
            assert answer.created is ended
            assert (answer.record.id == first.record.id) is not ended


async def test_no_key_is_taken_twice_although_the_snapshot_does_not_show_its_holder(
    conn: Connection, other: Connection
) -> None:
    async with raw.snapshot(conn):
        theirs: UniqueAnswer | None = None
        with suppress(LockTimeout):
            theirs = await put(other)
        if theirs is None:
            assert (await put(conn)).created
        else:
            with suppress(UniqueEnqueueRace):
                assert (await put(conn)).record.id == theirs.record.id
    assert await raw.count_tasks(conn) == 1


async def test_a_race_writes_nothing_of_a_bulk(conn: Connection, other: Connection) -> None:
    calls = [make.unique_call(key="free"), make.unique_call(position=1)]
    async with raw.snapshot(conn):
        with suppress(LockTimeout):
            await put(other)
        try:
            answers = await enqueue_unique_many(conn, calls, {2: make.new_task()})
        except UniqueEnqueueRace:
            expected = 1
        else:
            expected = 1 + sum(answer.created for answer in answers.values()) - answers[1].created
    assert await raw.count_tasks(conn) == expected


async def test_the_level_of_the_transaction_is_read_where_there_are_several(conn: Connection) -> None:
    await put(conn)
    plain = (await look(conn, [make.KEY])).isolation
    async with raw.snapshot(conn):
        inside = (await look(conn, [make.KEY])).isolation
    expected = ("read committed", "repeatable read") if conn.dialect.skips_locked else (None, None)
    assert (plain, inside) == expected
