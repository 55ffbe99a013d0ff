"""Opening connections of aiomysql: what cannot be reached is named, and no password is shown."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from oxpull_async.db.schema import migrations
from oxpull_async.domain.errors import DatabaseTrouble, DatabaseUnavailable
from oxpull_async.drivers.aiomysql import AiomysqlDatabase, id_type
from oxpull_async.drivers.url import parse_url
from oxpull_async.store import schema
from tests.fixtures.servers import MakeDatabase


def refused(url: str) -> str:
    """Give the message of a database that cannot be opened."""

    async def ask() -> None:
        database = AiomysqlDatabase(parse_url(url))
        async with database.connection():
            pass

    with pytest.raises(DatabaseUnavailable) as caught:
        asyncio.run(ask())
    return str(caught.value)


def test_a_wrong_password_is_named_but_not_shown(mysql_url: str) -> None:
    url = parse_url(mysql_url)
    message = refused(f"mysql://nobody:geheim@{url.host}:{url.port}/{url.database}")
    assert "nobody" in message
    assert f"{url.host}, port {url.port}" in message
    assert "check the user" in message
    assert "geheim" not in message


def test_a_missing_database_is_named(mysql_url: str) -> None:
    message = refused(mysql_url.replace(parse_url(mysql_url).database, "no_such_database"))
    assert "no_such_database" in message
    assert "create the database" in message


def test_a_server_that_is_not_there_is_named() -> None:
    message = refused("mysql://someone:geheim@127.0.0.1:1/x")
    assert "127.0.0.1, port 1" in message
    assert "someone" in message
    assert "geheim" not in message


def test_a_socket_that_is_not_there_is_named() -> None:
    assert "/no/such.sock" in refused("mysql://someone@/x?unix_socket=/no/such.sock")


@pytest_asyncio.fixture
async def silent() -> AsyncIterator[int]:
    """Give the port of a server that accepts and says nothing."""
    held: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: held.append(writer), "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    for writer in held:
        writer.close()
    server.close()


@pytest.mark.asyncio
async def test_a_server_that_does_not_answer_is_given_up_after_the_timeout(silent: int) -> None:
    database = AiomysqlDatabase(parse_url(f"mysql://someone@127.0.0.1:{silent}/x?connect_timeout=0.1"))
    with pytest.raises(DatabaseUnavailable, match=r"no answer within 0\.1 s"):
        async with database.connection():
            pass


@pytest.mark.asyncio
@pytest.mark.parametrize("greeting", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x0a\x00\x00\x00\x0a5.5\x00"])
async def test_a_server_that_hangs_up_or_speaks_otherwise_is_unavailable(greeting: bytes) -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        database = AiomysqlDatabase(parse_url(f"mysql://someone@127.0.0.1:{port}/x?connect_timeout=2"))
        with pytest.raises(DatabaseUnavailable):
            async with database.connection():
                pass


@pytest.mark.asyncio
async def test_required_tls_is_used_or_the_server_refused(mysql_url: str) -> None:
    database = AiomysqlDatabase(parse_url(f"{mysql_url}?ssl_mode=required"))
    plain = AiomysqlDatabase(parse_url(f"{mysql_url}?ssl_mode=disabled"))
    async with plain.connection() as conn:
        await conn.run_script("SELECT 1")
        has_tls = bool(conn.raw.server_capabilities & 2048)  # type: ignore[attr-defined]
    await plain.close()
    if has_tls:
        async with database.connection() as conn:
            assert conn.raw._secure  # type: ignore[attr-defined]
    else:
        with pytest.raises(DatabaseUnavailable, match="TLS"):
            async with database.connection():
                pass
    await database.close()


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("8.0.36", "char(32)"),
        ("8.4.3-commercial", "char(32)"),
        ("9.1.0", "char(32)"),
        ("10.6.16-MariaDB-log", "char(32)"),
        ("10.11.5-MariaDB", "uuid"),
        ("10.11.19-MariaDB-0+deb12u1", "uuid"),
        ("11.0.3-MariaDB", "uuid"),
        ("11.4.2-MariaDB", "uuid"),
        ("12.1.0-MariaDB", "uuid"),
    ],
)
def test_ids_have_a_type_that_sorts_by_time(version: str, expected: str) -> None:
    assert id_type(version) == expected


@pytest.mark.parametrize(
    ("version", "way_out"),
    [
        ("10.7.8-MariaDB", r"10\.11\.5"),
        ("10.10.6-MariaDB", r"10\.11\.5"),
        ("10.11.4-MariaDB-1", r"10\.11\.5"),
        ("11.0.2-MariaDB", r"11\.0\.3"),
        ("11.1.1-MariaDB", r"11\.1\.2"),
        ("10.5.9-MariaDB", r"MariaDB 10\.6"),
        ("5.7.44", r"MySQL 8\.0"),
        ("unknown", r"MySQL 8\.0"),
    ],
)
def test_a_server_that_cannot_sort_ids_by_time_is_refused_with_the_way_out(version: str, way_out: str) -> None:
    with pytest.raises(DatabaseTrouble, match=way_out):
        id_type(version)


@pytest.mark.asyncio
async def test_a_migration_can_be_run_again_after_a_crash_at_any_point(make_database: MakeDatabase) -> None:
    database = AiomysqlDatabase(parse_url(make_database("mysql")))
    async with database.connection() as conn:
        uuid_type = await database.uuid_type()
        (first, *_) = migrations("mysql", uuid_type)
        for count in range(len(first.statements) + 1):
            for statement in first.statements[:count]:
                await conn.run_script(statement)
        assert await schema.migrate(conn, uuid_type) == list(migrations("mysql", uuid_type))
        assert await schema.migrate(conn, uuid_type) == []
    await database.close()


@pytest.mark.asyncio
async def test_processes_that_migrate_at_once_apply_everything_once(make_database: MakeDatabase) -> None:
    database = AiomysqlDatabase(parse_url(make_database("mysql")))
    uuid_type = await database.uuid_type()

    async def migrate() -> int:
        async with database.connection() as conn:
            return len(await schema.migrate(conn, uuid_type))

    applied = await asyncio.gather(*(migrate() for _ in range(4)))
    assert sum(applied) == len(migrations("mysql", uuid_type))
    await database.close()
