"""Opening PostgreSQL connections that cannot be opened, and listening for wake-ups."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import asyncpg
import pytest
import pytest_asyncio

from oxpull_async.db.contract import Listener
from oxpull_async.domain.errors import ConnectionLost, DatabaseUnavailable
from oxpull_async.drivers.asyncpg import AsyncpgDatabase
from oxpull_async.drivers.url import parse_url
from oxpull_async.store.enqueue import notify

SECRET = "s3cret-Pa55"


@asynccontextmanager
async def stub_server(answer: bytes | None) -> AsyncIterator[int]:
    """Refuse TLS, then send `answer` to the start-up message, or with None nothing at all."""
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(8)
        if answer is None:
            await done.wait()
        else:
            writer.write(b"N")
            await reader.read(1024)
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        done.set()
        server.close()


def error_response(code: str, message: str) -> bytes:
    fields = f"SFATAL\0VFATAL\0C{code}\0M{message}\0\0".encode()
    return b"E" + struct.pack("!i", len(fields) + 4) + fields


async def refusal(url: str) -> str:
    database = AsyncpgDatabase(parse_url(url))
    with pytest.raises(DatabaseUnavailable) as caught:
        async with database.connection():
            pass
    assert caught.value.__cause__ is not None
    for text in (str(caught.value), repr(caught.value), database.label, str(caught.value.__cause__)):
        assert SECRET not in text
    await database.close()
    return str(caught.value)


@pytest.mark.asyncio
async def test_a_wrong_password_is_named_but_not_shown() -> None:
    async with stub_server(error_response("28P01", "password authentication failed")) as port:
        text = await refusal(f"postgresql://shop:{SECRET}@127.0.0.1:{port}/orders")
    assert f"127.0.0.1, port {port}, database 'orders', as user 'shop': password authentication failed" in text
    assert "check the password" in text


@pytest.mark.asyncio
async def test_a_missing_database_is_named(postgres_url: str) -> None:
    url = parse_url(postgres_url)
    text = await refusal(f"postgresql://{url.user}:{SECRET}@{url.host}:{url.port}/oxpull_missing")
    assert "database 'oxpull_missing'" in text
    assert "create the database" in text


@pytest.mark.asyncio
async def test_a_server_that_is_not_there_is_named() -> None:
    async with stub_server(None) as port:
        pass
    assert f"127.0.0.1, port {port}" in await refusal(f"postgresql://shop:{SECRET}@127.0.0.1:{port}/orders")


@pytest.mark.asyncio
async def test_a_server_that_does_not_answer_is_given_up_after_the_timeout() -> None:
    async with stub_server(None) as port:
        url = f"postgresql://shop:{SECRET}@127.0.0.1:{port}/orders?connect_timeout=0.1"
        assert "no answer within 0.1 s" in await refusal(url)


@pytest.mark.asyncio
async def test_a_server_that_hangs_up_is_unavailable() -> None:
    async with stub_server(b"") as port:
        await refusal(f"postgresql://shop:{SECRET}@127.0.0.1:{port}/orders")


@pytest_asyncio.fixture
async def database(postgres_url: str) -> AsyncIterator[AsyncpgDatabase]:
    database = AsyncpgDatabase(parse_url(postgres_url))
    yield database
    await database.close()


@pytest_asyncio.fixture
async def listener(database: AsyncpgDatabase) -> AsyncIterator[Listener]:
    listener = await database.listen()
    assert listener is not None
    yield listener
    await listener.close()


@pytest.mark.asyncio
async def test_wake_ups_arrive_after_the_commit_and_once_per_queue(
    database: AsyncpgDatabase, listener: Listener
) -> None:
    async with database.connection() as conn:
        async with conn.transaction():
            for queue_name in ("mail", "bulk", "mail"):
                await notify(conn, queue_name)
        await notify(conn, "last")
    async with asyncio.timeout(10):
        assert [await listener.wait() for _ in range(3)] == ["mail", "bulk", "last"]


@pytest.mark.asyncio
async def test_nothing_is_heard_of_a_rolled_back_transaction(database: AsyncpgDatabase, listener: Listener) -> None:
    async with database.connection() as conn:
        with suppress(RuntimeError):
            async with conn.transaction():
                await notify(conn, "never")
                raise RuntimeError
        await notify(conn, "mail")
    async with asyncio.timeout(10):
        assert await listener.wait() == "mail"


@pytest.mark.asyncio
async def test_a_broken_subscription_tells_its_owner(postgres_url: str, listener: Listener) -> None:
    waiting = asyncio.create_task(listener.wait())
    raw = await asyncpg.connect(postgres_url)
    await raw.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %oxpull%'")
    await raw.close()
    async with asyncio.timeout(10):
        with pytest.raises(ConnectionLost):
            await waiting
    with pytest.raises(ConnectionLost):
        await listener.wait()


@asynccontextmanager
async def proxy(host: str, port: int, muted: asyncio.Event) -> AsyncIterator[int]:
    """Pass bytes on until `muted`, then swallow them."""
    ends: list[asyncio.StreamWriter] = []

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends.append(writer)
        while data := await reader.read(4096):
            if not muted.is_set():
                writer.write(data)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream, downstream = await asyncio.open_connection(host, port)
        await asyncio.gather(pump(reader, downstream), pump(upstream, writer), return_exceptions=True)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for end in ends:
            end.transport.abort()
        await server.wait_closed()


@pytest.mark.asyncio
async def test_a_network_gone_silent_is_found_out(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oxpull_async.drivers.asyncpg_listener._PROBE_EVERY", 0.05)
    monkeypatch.setattr("oxpull_async.drivers.asyncpg_listener._PROBE_TIMEOUT", 0.05)
    url, muted = parse_url(postgres_url), asyncio.Event()
    assert url.host is not None
    assert url.port is not None
    async with proxy(url.host, url.port, muted) as port:
        database = AsyncpgDatabase(
            parse_url(f"postgresql://{url.user}@127.0.0.1:{port}/{url.database}?sslmode=disable")
        )
        listener = await database.listen()
        assert listener is not None
        muted.set()
        async with asyncio.timeout(10):
            with pytest.raises(ConnectionLost, match="no sign of life"):
                await listener.wait()


@pytest.mark.asyncio
async def test_a_pooled_database_listens_on_its_direct_url(database: AsyncpgDatabase, postgres_url: str) -> None:
    pooled = AsyncpgDatabase(parse_url(f"{postgres_url}?pooler=transaction&listen_url={postgres_url}"))
    listener = await pooled.listen()
    assert listener is not None
    async with pooled.connection() as conn:
        await notify(conn, "mail")
    async with asyncio.timeout(10):
        assert await listener.wait() == "mail"
    await listener.close()
    await pooled.close()
