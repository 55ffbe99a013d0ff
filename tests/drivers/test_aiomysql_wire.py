"""Our own reading of answers gives what the library gives; transactions begin with their first command."""

from collections.abc import AsyncIterator

import aiomysql
import pytest
import pytest_asyncio

from oxpull_async.drivers.aiomysql import AiomysqlDatabase, OwnSession, quoted
from oxpull_async.drivers.aiomysql_wire import Wire
from oxpull_async.drivers.url import parse_url

pytestmark = pytest.mark.asyncio

ODD_VALUES = (
    "SELECT 1, -9223372036854775808, 1.5e0, CAST(2.50 AS DECIMAL(8, 2)), NULL, '', 'ä😀', X'00FF27', "
    "CAST('2024-02-29 12:34:56.000001' AS DATETIME(6)), CAST('2024-02-29 12:34:56' AS DATETIME), "
    "CAST('2024-02-29' AS DATE), CAST('-12:34:56' AS TIME), JSON_ARRAY(1, 'a')"
)
TEXTS = ["", "plain", "it's", "back\\slash", "\\'", 'say "so"', "line\nend\r", "tab\t\x1a", "ä😀", "%s %% %"]


@pytest_asyncio.fixture
async def session(mysql_url: str) -> AsyncIterator[OwnSession]:
    database = AiomysqlDatabase(parse_url(mysql_url))
    async with database.connection() as conn:
        assert isinstance(conn, OwnSession)
        yield conn
    await database.close()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """List what goes to the server, one entry a trip."""
    trips: list[bytes] = []
    send = aiomysql.Connection._execute_command

    async def noting(self: aiomysql.Connection, command: int, sql: bytes | str) -> None:
        trips.append(sql if isinstance(sql, bytes) else sql.encode())
        await send(self, command, sql)

    monkeypatch.setattr(aiomysql.Connection, "_execute_command", noting)
    return trips


async def by_library(wire: Wire, sql: str) -> list[tuple[object, ...]]:
    cursor = await wire.cursor(aiomysql.Cursor)
    await cursor.execute(sql)
    return list(await cursor.fetchall())


async def test_values_are_read_as_the_library_reads_them(session: OwnSession) -> None:
    assert (await session.link.ask(ODD_VALUES.encode())).rows == await by_library(session.link, ODD_VALUES)


@pytest.mark.parametrize("length", [250, 251, 65_535, 65_536, 1_000_000])
async def test_texts_of_every_length_are_read_whole(session: OwnSession, length: int) -> None:
    rows = (await session.link.ask(f"SELECT REPEAT('x', {length}), 7".encode())).rows
    assert rows == [("x" * length, 7)]


async def test_a_packet_that_comes_in_parts_is_read_whole(session: OwnSession) -> None:
    length = 0xFFFFFF + 10  # more than one packet takes, and less than max_allowed_packet lets a function make
    await session.link.ask(b"CREATE TEMPORARY TABLE parts (a longtext, b longtext)")
    half = length // 2
    await session.link.ask(f"INSERT INTO parts VALUES (REPEAT('x', {half}), REPEAT('y', {half + 20}))".encode())
    [[first, second]] = (await session.link.ask(b"SELECT a, b FROM parts")).rows
    assert (len(first), len(second)) == (half, half + 20)
    assert (await session.link.ask(b"SELECT 1")).rows == [(1,)]


async def test_rows_that_come_in_many_pieces_are_all_read(session: OwnSession) -> None:
    count = 40_000
    sql = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) SELECT i, 'text' FROM n"
    await session.link.ask(
        f"SET SESSION /*M! max_recursive_iterations = {count + 1} */ "
        f"/*!80003 cte_max_recursion_depth = {count + 1} */".encode()
    )
    assert (await session.link.ask(sql.encode())).rows == [(i, "text") for i in range(1, count + 1)]


async def test_an_error_after_an_answer_leaves_the_connection_in_step(session: OwnSession) -> None:
    with pytest.raises(aiomysql.ProgrammingError):
        await session.link.ask(b"SELECT 1; SELECT * FROM nowhere_at_all")
    assert (await session.link.ask(b"SELECT 2; SELECT 3")).rows == [(3,)]


@pytest.mark.parametrize("text", TEXTS)
async def test_a_text_comes_back_as_it_was_sent_in_either_mode_of_escapes(session: OwnSession, text: str) -> None:
    sql = f"SELECT {quoted(text, escapes=True)}"
    assert (await session.link.ask(sql.encode())).rows == [(text,)]
    await session.link.ask(b"SET sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')")
    sql = f"SELECT {quoted(text, escapes=False)}"
    assert (await session.link.ask(sql.encode())).rows == [(text,)]


async def test_a_transaction_begins_in_the_trip_of_its_first_command(session: OwnSession, sent: list[bytes]) -> None:
    async with session.transaction():
        await session.run_script("DO 1")
        assert session.link.get_transaction_status()
    assert sent == [b"BEGIN;DO 1", b"COMMIT"]


async def test_a_transaction_without_commands_sends_nothing(session: OwnSession, sent: list[bytes]) -> None:
    async with session.transaction():
        pass
    with pytest.raises(ZeroDivisionError):
        async with session.transaction():
            raise ZeroDivisionError
    assert sent == []
    assert session.is_usable


async def test_a_savepoint_in_a_new_transaction_comes_after_its_beginning(
    session: OwnSession, sent: list[bytes]
) -> None:
    async with session.transaction(), session.transaction():
        await session.run_script("DO 1")
    assert sent[0].startswith(b"BEGIN;SAVEPOINT")


async def test_what_the_users_own_cursor_does_first_belongs_to_the_transaction(session: OwnSession) -> None:
    await session.run_script("CREATE TEMPORARY TABLE own (n int) ENGINE = InnoDB")

    async def insert_and_fail() -> None:
        async with session.transaction():
            await by_library(session.link, "INSERT INTO own VALUES (1)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await insert_and_fail()
    assert await by_library(session.link, "SELECT * FROM own") == []
