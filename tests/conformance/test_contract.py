"""The wire rules of `db/contract.py`: values, counts, transactions, what happens after the commit."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async.db.contract import Connection, Scalar
from oxpull_async.domain.errors import LockTimeout, UnknownStatement
from oxpull_async.domain.record import TaskStatus, instant
from oxpull_async.store import queues
from oxpull_async.store.results import get_task
from tests.conformance.conftest import Clock
from tests.fixtures import make, raw

TEXTS = {
    "empty": "",
    "ASCII": "plain",
    "quotes": """it's "quoted" and \\back\\slashed\\""",
    "placeholders": "%s %(a)s $1 :name ? {} %%",
    "line breaks": "a\nb\r\nc\td",
    "other scripts": "Grüße, 世界, שלום",
    "beyond the basic plane": "🌍👩‍🚀",
    "spaces at the end": "x  ",
    "a number": "0042",
    "a megabyte": "ä" * 1_048_576,
}


async def queue_names(conn: Connection) -> list[str]:
    return await queues.paused_queues(conn, make.ALIAS)


async def pause(conn: Connection, name: str) -> None:
    assert await queues.set_paused(conn, make.ALIAS, name, paused=True)


async def test_every_kind_of_value_comes_back(conn: Connection) -> None:
    values: dict[str, Scalar] = {
        "text": "text", "number": -(2**62), "real": 0.1, "flag": True, "nothing": None, "bytes": b"\x00\xff'\\"
    }  # fmt: skip
    row = await conn.fetchrow("test_echo", **values)
    assert row is not None
    assert list(row) == list(values.values())


@pytest.mark.parametrize("flag", [True, False])
async def test_a_boolean_comes_back_as_its_truth(conn: Connection, *, flag: bool) -> None:
    row = await conn.fetchrow("test_echo", text="", number=0, real=0.0, flag=flag, nothing=None, bytes=b"")
    assert row is not None
    assert bool(row[3]) is flag


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_a_text_comes_back_as_it_was(conn: Connection, text: str) -> None:
    row = await conn.fetchrow("test_text", text=text)
    assert row is not None
    assert row[0] == text


async def test_an_enumerated_text_travels_as_text(conn: Connection) -> None:
    row = await conn.fetchrow("test_text", text=TaskStatus.READY)
    assert row is not None
    assert row[0] == "READY"


async def test_a_repeated_name_is_one_value(conn: Connection) -> None:
    row = await conn.fetchrow("test_repeated", first="a", second="b")
    assert row is not None
    assert list(row) == ["a", "b", "ab"]


async def test_literals_that_look_like_placeholders_stay(conn: Connection) -> None:
    row = await conn.fetchrow("test_literals")
    assert row is not None
    assert list(row) == ["100%", "%s", "a:b :text", "it's ?", 2, True]


async def test_literals_stay_beside_a_value_too(conn: Connection) -> None:
    row = await conn.fetchrow("test_literals_and_value", text="v")
    assert row is not None
    assert list(row) == ["100%", "%s", "a:b :text", "it's ?", 2, True, "v"]


async def test_no_row_is_none(conn: Connection) -> None:
    assert await conn.fetchrow("paused_queues", backend_alias="nobody's") is None
    assert list(await conn.fetch("paused_queues", backend_alias="nobody's")) == []


async def test_execute_counts_rows_matched_also_where_nothing_changes(conn: Connection) -> None:
    for name in ("a", "b", "c"):
        await pause(conn, name)
    assert await conn.execute("test_touch_queues") == 3


async def test_execute_counts_none_where_none_matches(conn: Connection) -> None:
    assert await conn.execute("test_touch_queues") == 0


async def test_an_unknown_statement_is_refused(conn: Connection) -> None:
    with pytest.raises(UnknownStatement, match="no statement 'nonsense'"):
        await conn.fetch("nonsense")


async def test_a_missing_or_unused_value_is_refused(conn: Connection) -> None:
    with pytest.raises(UnknownStatement, match=r"missing values \['text'\], unused values \['txt'\]"):
        await conn.fetch("test_text", txt="")


async def test_a_block_commits(conn: Connection, other: Connection) -> None:
    async with conn.transaction():
        await pause(conn, "a")
    assert await queue_names(other) == ["a"]


async def test_a_block_that_fails_leaves_nothing(conn: Connection) -> None:
    async with raw.taken_back(conn):
        await pause(conn, "a")
        assert await queue_names(conn) == ["a"]
    assert await queue_names(conn) == []


async def test_a_block_passes_its_error_on(conn: Connection) -> None:
    class Regret(Exception):
        pass

    async def fail(error: BaseException) -> None:
        async with conn.transaction():
            raise error

    for error in (Regret(), KeyboardInterrupt(), StopIteration(), GeneratorExit()):
        with pytest.raises((type(error), RuntimeError)) as caught:
            await fail(error)
        assert error in (caught.value, caught.value.__cause__)
    assert (await make.ready(conn)).status == "READY"


async def test_nothing_is_seen_before_the_commit(conn: Connection, other: Connection) -> None:
    async with conn.transaction():
        await pause(conn, "a")
        assert await queue_names(other) == []


async def test_a_nested_block_that_fails_takes_only_its_own_back(conn: Connection) -> None:
    async with conn.transaction():
        await pause(conn, "outer")
        async with raw.taken_back(conn):
            await pause(conn, "inner")
        await pause(conn, "after")
    assert await queue_names(conn) == ["after", "outer"]


async def test_a_nested_block_does_not_commit(conn: Connection) -> None:
    async with raw.taken_back(conn), conn.transaction():
        await pause(conn, "inner")
    assert await queue_names(conn) == []


async def test_blocks_nest_and_follow_each_other(conn: Connection) -> None:
    async with conn.transaction():
        for name in ("a", "b"):
            async with conn.transaction(), conn.transaction():
                await pause(conn, name)
    async with conn.transaction():
        await pause(conn, "c")
    assert await queue_names(conn) == ["a", "b", "c"]


async def test_a_writing_transaction_sees_what_others_committed_or_keeps_them_out(
    conn: Connection, other: Connection
) -> None:
    async with conn.transaction():
        await pause(conn, "mine")
        try:
            await pause(other, "theirs")
        except LockTimeout:
            return
        assert await queue_names(conn) == ["mine", "theirs"]


async def test_a_transaction_may_write_after_it_has_read(conn: Connection, other: Connection) -> None:
    async with conn.transaction():
        assert await queue_names(conn) == []
        with suppress(LockTimeout):
            await pause(other, "theirs")
        await pause(conn, "mine")
    assert "mine" in await queue_names(conn)


async def test_after_commit_calls_at_once_without_a_transaction(conn: Connection) -> None:
    called: list[str] = []
    conn.after_commit(lambda: called.append("now"))
    assert called == ["now"]


async def test_after_commit_calls_when_the_outermost_block_has_committed(conn: Connection, other: Connection) -> None:
    called: list[str] = []
    async with conn.transaction():
        await pause(conn, "a")
        async with conn.transaction():
            conn.after_commit(lambda: called.append("inner"))
        conn.after_commit(lambda: called.append("outer"))
        assert called == []
    assert called == ["inner", "outer"]
    assert await queue_names(other) == ["a"]


async def test_after_commit_calls_nothing_after_a_rollback(conn: Connection) -> None:
    called: list[str] = []
    async with raw.taken_back(conn):
        conn.after_commit(lambda: called.append("no"))
    async with conn.transaction():
        pass
    assert called == []


async def test_after_commit_forgets_what_a_nested_block_took_back(conn: Connection) -> None:
    called: list[str] = []
    async with conn.transaction():
        async with raw.taken_back(conn):
            conn.after_commit(lambda: called.append("no"))
        conn.after_commit(lambda: called.append("yes"))
    assert called == ["yes"]


async def test_F1_the_database_tells_the_time_in_utc(conn: Connection) -> None:
    row = await conn.fetchrow("test_now")
    assert row is not None
    assert abs(instant(row[0]) - datetime.now(UTC)) < timedelta(seconds=10)


async def test_F1_the_test_kit_moves_every_statement_by_its_offset(conn: Connection, clock: Clock) -> None:
    clock.advance(86_400)
    row = await conn.fetchrow("test_now")
    assert row is not None
    task = await make.ready(conn)
    for moment in (instant(row[0]), task.enqueued_at):
        assert abs(moment - datetime.now(UTC) - timedelta(days=1)) < timedelta(seconds=10)


async def test_F1_one_statement_knows_one_instant(conn: Connection) -> None:
    task = await make.ready(conn)
    assert task.available_at == task.enqueued_at
    assert await get_task(conn, task.id) == task
