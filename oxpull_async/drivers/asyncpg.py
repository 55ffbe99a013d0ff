"""PostgreSQL through asyncpg: sessions, the pool's adapter and the listener's connection.

Not here: what asyncpg's errors mean (`asyncpg_errors`), and how a URL is read (`url`).
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from contextvars import Context
from typing import TYPE_CHECKING, Any, Literal

import asyncpg
from asyncpg.connect_utils import SessionAttribute

from oxpull_async.db.contract import Connection, Dialect, Row, Scalar, Version
from oxpull_async.db.statements import NUMBERED, Statement
from oxpull_async.domain.errors import (
    ConnectionLost,
    DatabaseTrouble,
    DatabaseUnavailable,
    TransactionNotOpen,
    UsageError,
)
from oxpull_async.drivers.asyncpg_errors import translate, unavailable
from oxpull_async.drivers.asyncpg_listener import AsyncpgListener
from oxpull_async.drivers.dialects import POSTGRES
from oxpull_async.drivers.pool import LoopPools, PoolConfig
from oxpull_async.drivers.session import Session, Speech
from oxpull_async.drivers.sqlalchemy import unwrap
from oxpull_async.drivers.url import DatabaseUrl, parse_url, ssl_context

if TYPE_CHECKING:
    from ssl import SSLContext

type RawConnection = asyncpg.Connection[asyncpg.Record]

# Our statements are short, and compiling one costs more than running it; READ COMMITTED also for lone statements.
_SETTINGS = "SET jit = off; SET default_transaction_isolation = 'read committed'"
_HURRIED = "SET LOCAL lock_timeout = '100ms'; SET LOCAL statement_timeout = '2s'"
_KEEPALIVES = {
    "keepalives_idle": "TCP_KEEPIDLE",
    "keepalives_interval": "TCP_KEEPINTVL",
    "keepalives_count": "TCP_KEEPCNT",
}
_COUNTED = ("INSERT", "UPDATE", "DELETE")
_LEAVE_SECONDS = 5.0


class AsyncpgSession(Session):
    """A Connection over one asyncpg connection."""

    begin_sql = "BEGIN ISOLATION LEVEL READ COMMITTED"

    def __init__(self, raw: RawConnection, speech: Speech, *, joined: bool) -> None:
        super().__init__(speech, joined=joined)
        self.raw: RawConnection = raw
        self.loop = asyncio.get_running_loop()
        self.running = 0
        self.lost = False

    @property
    def anchor(self) -> object:
        """What lives as long as the connection.

        A pool of asyncpg's lends it behind a new object each time.
        """
        return getattr(self.raw, "_con", self.raw)

    @property
    def is_usable(self) -> bool:
        """Whether the connection is open, idle and outside a transaction."""
        if self.broken or self.running or self.depth:
            return False
        return not (self.raw.is_closed() or self.raw.is_in_transaction())

    @property
    def is_closed(self) -> bool:
        """Whether the connection is closed, or its owner has given it back to a pool of asyncpg's."""
        try:
            return self.raw.is_closed()
        except asyncpg.InterfaceError:
            return True

    async def query(self, statement: Statement, values: list[Scalar]) -> Sequence[Row]:
        """Run a statement and return its rows, whatever row class the caller's connection has."""
        self.running += 1
        try:
            rows: list[Any] = await self.raw.fetch(statement.sql, *values, record_class=asyncpg.Record)
        finally:
            self.running -= 1
        return rows

    async def command(self, statement: Statement, values: list[Scalar]) -> int:
        """Run a statement and return how many rows it wrote; 0 for one that only reads."""
        tag = await self._busy(self.raw.execute(statement.sql, *values))
        return int(tag.rpartition(" ")[2]) if tag.startswith(_COUNTED) else 0

    async def control(self, sql: str) -> None:
        """Run SQL without values; a commit that the server answers with a rollback is an error."""
        tag = await self._busy(self.raw.execute(sql))
        if tag == "ROLLBACK" and sql == "COMMIT":
            raise DatabaseTrouble("a statement of this transaction had failed, so it was rolled back, not committed")

    def translate(self, error: Exception) -> Exception:
        """Return our class for an error of asyncpg's, and any other error as it is."""
        savepoint = self.depth > (0 if self.joined else 1)
        ours = translate(error, closed=self.is_closed, savepoint=savepoint)
        if isinstance(ours, DatabaseUnavailable) and not self.joined:
            self.broken = self.lost = True
        return ours

    async def _busy[T](self, command: Awaitable[T]) -> T:
        self.running += 1
        try:
            return await command
        finally:
            self.running -= 1


class AsyncpgDatabase:
    """A PostgreSQL database; `clock_offset` moves its clock, for the test kit."""

    dialect: Dialect = POSTGRES

    def __init__(self, url: DatabaseUrl) -> None:
        self.url = url
        self.label = url.masked
        self.clock_offset = 0.0
        self._speech = Speech(POSTGRES, NUMBERED, lambda: self.clock_offset, self._apart)
        config = PoolConfig(
            label=self.label, size=url.integer("pool_size"), acquire_timeout=url.seconds("acquire_timeout")
        )
        adapter = _Adapter(url, self._speech)
        self._pools: LoopPools[AsyncpgSession] = LoopPools(config, adapter)
        adapter.on_lost = self._pools.expire_idle

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        """Lend a connection for the block, outside of any transaction."""
        return self._pools.connection()

    async def join(self, connection: object) -> Connection:
        """Wrap the caller's asyncpg connection, inside the transaction that is open on it.

        An SQLAlchemy AsyncConnection or AsyncSession stands for the asyncpg connection under it.
        """
        raw = await unwrap(connection)
        if not isinstance(raw, asyncpg.Connection):
            raise UsageError(
                f"{type(connection).__name__} is no connection of {self.label}: give an asyncpg connection, or an "
                "SQLAlchemy AsyncConnection or AsyncSession that runs on asyncpg"
            )
        session = AsyncpgSession(raw, self._speech, joined=True)
        if session.is_closed:
            raise ConnectionLost("the joined connection is closed")
        if not raw.is_in_transaction():
            raise TransactionNotOpen(
                "the joined connection has no transaction open, so each statement would commit by itself: "
                "join it inside `async with connection.transaction():`"
            )
        return session

    async def listen(self) -> AsyncpgListener | None:
        """Subscribe to wake-ups; None behind a transaction pooler that has no `listen_url`."""
        direct = self.url.text("listen_url")
        if direct is None and self.url.text("pooler") == "transaction":
            return None
        url = self.url if direct is None else parse_url(direct)
        return await AsyncpgListener.subscribe(await connect(url), url.masked)

    async def uuid_type(self) -> str:
        """Return the column type that ids have on this server."""
        return "uuid"

    async def version(self) -> Version | None:
        """Return None: PostgreSQL tells nobody whether another session has written."""
        return None

    def patient(self, seconds: float) -> "AsyncpgDatabase":  # noqa: ARG002 - the servers' own lock waits are long enough
        """Return this database: its writers do not wait for each other's whole transactions."""
        return self

    async def close(self) -> None:
        """Close the pool of the running event loop."""
        await self._pools.close()

    @asynccontextmanager
    async def _apart(self) -> AsyncIterator[Connection]:
        raw = await connect(self.url.hurried())
        try:
            session = AsyncpgSession(raw, self._speech, joined=False)
            async with session.transaction():
                await session.run_script(_HURRIED)
                yield session
        except BaseException:
            raw.terminate()
            raise
        await _take_leave(raw)


async def connect(url: DatabaseUrl) -> RawConnection:
    """Open a connection and make it ours.

    Raises: DatabaseUnavailable, which names the place and the user and never the password.
    """
    pooled = url.text("pooler") == "transaction"
    seconds = url.seconds("connect_timeout")
    role = url.text("target_session_attrs")
    tls: SSLContext | Literal["prefer"] | bool = "prefer" if (context := ssl_context(url)) is None else context
    try:
        async with asyncio.timeout(seconds):
            raw: RawConnection = await asyncpg.connect(
                host=url.host,
                port=url.port,
                user=url.user,
                password=url.password,
                passfile=url.text("passfile"),
                database=url.database,
                ssl=tls,
                timeout=seconds,
                statement_cache_size=0 if pooled else 100,
                max_cached_statement_lifetime=0,
                server_settings=_server_settings(url),
                target_session_attrs=SessionAttribute(role) if role else None,
            )
            _keep_alive(raw, url)
            if not pooled:
                await _configure(raw)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        raise unavailable(url, error) from error
    return raw


def _server_settings(url: DatabaseUrl) -> dict[str, str]:
    given = {name: url.text(name) for name in ("application_name", "options")}
    return {name: value for name, value in given.items() if value is not None}


def _keep_alive(raw: RawConnection, url: DatabaseUrl) -> None:
    """Let the kernel notice a peer that has vanished, as libpq does."""
    transport = raw._transport  # type: ignore[attr-defined]  # noqa: SLF001 - asyncpg offers no other way
    link = transport.get_extra_info("socket")
    if link is None or link.family not in (socket.AF_INET, socket.AF_INET6):
        return
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, setting in _KEEPALIVES.items():
        if name in url.options and hasattr(socket, setting):
            link.setsockopt(socket.IPPROTO_TCP, getattr(socket, setting), round(url.seconds(name)))


async def _configure(raw: RawConnection) -> None:
    try:
        await raw.execute(_SETTINGS)
    except BaseException:
        raw.terminate()
        raise


class _Adapter:
    """Say to the pool how our connections are opened, checked and closed."""

    def __init__(self, url: DatabaseUrl, speech: Speech) -> None:
        self._url = url
        self._speech = speech
        self.on_lost: Callable[[], None] = lambda: None
        self._leaving: dict[AsyncpgSession, asyncio.Task[None]] = {}

    async def open(self) -> AsyncpgSession:
        """Connect, within `connect_timeout`."""
        return AsyncpgSession(await connect(self._url), self._speech, joined=False)

    async def close(self, session: AsyncpgSession, /) -> None:
        """Say goodbye to the server."""
        await session.raw.close()

    def is_usable(self, session: AsyncpgSession, /) -> bool:
        """Tell without waiting whether the connection is open, idle and outside a transaction."""
        return session.is_usable

    def terminate(self, session: AsyncpgSession, /) -> None:
        """Drop the connection at once.

        One with a cancelled command goes only after the server was told of it.

        Where one was lost, the idle ones beside it are not trusted either.
        """
        if session.lost:
            session.raw.terminate()
            self.on_lost()
        elif not session.broken or session.raw.is_closed() or session.loop.is_closed():
            session.raw.terminate()
        elif session not in self._leaving:
            farewell = session.loop.create_task(_take_leave(session.raw), context=Context())
            self._leaving[session] = farewell
            farewell.add_done_callback(lambda _: self._leaving.pop(session), context=Context())

    async def finish(self) -> None:
        """Wait until the server was told of every command that was cancelled in this loop."""
        here = asyncio.get_running_loop()
        leaving = [farewell for session, farewell in self._leaving.items() if session.loop is here]
        if leaving:
            await asyncio.wait(leaving, timeout=_LEAVE_SECONDS)


async def _take_leave(raw: RawConnection) -> None:
    """Close a connection whose command was cancelled, which ends it on the server too."""
    with suppress(Exception):
        await raw.close(timeout=_LEAVE_SECONDS)
