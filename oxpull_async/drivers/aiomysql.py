"""MySQL and MariaDB through aiomysql: sessions, the database and the pool's adapter.

Not here: how a connection of our own is opened (`aiomysql_link`), and what errors mean (`aiomysql_errors`).
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import Context
from dataclasses import replace

import aiomysql
from aiomysql.connection import SERVER_STATUS, MySQLResult

from oxpull_async.db.contract import MAX_BATCH_BYTES, Connection, Dialect, Row, Scalar, Version
from oxpull_async.db.statements import FORMAT, Statement
from oxpull_async.domain.errors import (
    Conflict,
    ConnectionLost,
    Contended,
    DatabaseTrouble,
    DataRefused,
    TransactionNotOpen,
    UsageError,
)
from oxpull_async.drivers.aiomysql_errors import translate
from oxpull_async.drivers.aiomysql_link import Link, PlainCursor, ServerFacts, ask_facts, connect, kill, matched_by
from oxpull_async.drivers.dialects import MYSQL
from oxpull_async.drivers.pool import LoopPools, PoolConfig
from oxpull_async.drivers.session import Session, Speech
from oxpull_async.drivers.sqlalchemy import unwrap
from oxpull_async.drivers.url import DatabaseUrl

_MOST_ESCAPED = 4  # bytes that one byte of JSON may take inside JSON inside a quoted literal
# Lock waits are whole seconds here; /*M! is read by MariaDB only, /*!8 by MySQL only.
_HURRIED = (
    "SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = 1, "
    "/*M! max_statement_time = 2 */ /*!80000 max_execution_time = 2000 */"
)
_OLDEST_MYSQL, _OLDEST_MARIADB, _FIRST_UUID = (8, 0, 0), (10, 6, 0), (10, 7, 0)
_SORTED_UUID = {(10, 11): (10, 11, 5), (11, 0): (11, 0, 3), (11, 1): (11, 1, 2), (11, 2): (11, 2, 1)}


class AiomysqlSession(Session):
    """A Connection over one aiomysql connection.

    A deadlock ends the whole transaction on the server; the session then refuses all further commands of the block,
    which would otherwise be committed one by one.
    """

    def __init__(self, raw: aiomysql.Connection, speech: Speech, facts: ServerFacts, *, joined: bool) -> None:
        super().__init__(speech, joined=joined)
        self.raw = raw
        self.facts = facts
        self.running = 0
        self.interrupted = False

    async def query(self, statement: Statement, values: list[Scalar]) -> Sequence[Row]:
        """Run a statement and return its rows as tuples, whatever the owner's cursors give."""
        return (await self._run(statement.sql, values)).rows or ()

    async def command(self, statement: Statement, values: list[Scalar]) -> int:
        """Run a statement and return how many rows it matched."""
        answer = await self._run(statement.sql, values)
        return matched_by(answer, int(answer.affected_rows))

    async def control(self, sql: str) -> None:
        """Run SQL without values; a commit of what the server has undone is an error."""
        if self.undone and sql in ("ROLLBACK", "COMMIT"):
            self.undone = False
            await self._send(b"ROLLBACK")
            if sql == "COMMIT":
                raise DatabaseTrouble("the server had undone this transaction, so it was not committed")
            return
        self._refuse_if_undone()
        await self._send(sql.encode())

    def translate(self, error: Exception) -> Exception:
        """Return the class of `domain.errors` for a library error, or what is none as it is."""
        translated = translate(error, closed=self.raw.closed, rolls_back=self.facts.rollback_on_timeout)
        if isinstance(translated, Contended) and not translated.transaction_survived:
            self.undone = self.joined or self.depth > 0
        return translated

    def rendered(self, sql: str, values: list[Scalar]) -> bytes:
        """Return a statement with its values put in, as it is sent."""
        escapes = not self.raw.server_status & SERVER_STATUS.SERVER_STATUS_NO_BACKSLASH_ESCAPES
        literals = tuple([quoted(v, escapes=escapes) if isinstance(v, str) else self._literal(v) for v in values])
        return bytes((sql % literals).encode(self.raw.encoding))

    async def _run(self, sql: str, values: list[Scalar]) -> MySQLResult:
        self._refuse_if_undone()
        data = self.rendered(sql, values)
        if len(data) >= self.facts.max_packet:
            raise DataRefused(
                f"a statement of {len(data)} bytes is more than the server takes: its max_allowed_packet is "
                f"{self.facts.max_packet}. Store less, or raise it"
            )
        return await self._send(data)

    def _literal(self, value: Scalar) -> str:
        if isinstance(value, tuple):
            return "(" + ",".join([quoted(text, escapes=True) for text in value]) + ")"
        return f"X'{value.hex()}'" if isinstance(value, bytes) else str(self.raw.escape(value))

    async def _send(self, data: bytes) -> MySQLResult:
        self.running += 1
        try:
            return await self._exchange(data)
        except asyncio.CancelledError:
            self.interrupted = True
            raise
        finally:
            self.running -= 1

    async def _exchange(self, data: bytes) -> MySQLResult:
        """Send a command and read its answer; the connection may be the caller's, with its settings."""
        cursor = PlainCursor(self.raw)
        await cursor.execute(data)
        return cursor.answer

    def _refuse_if_undone(self) -> None:
        if self.undone:
            raise Conflict("the server has undone this transaction because of a lock: leave its block and repeat it")


class OwnSession(AiomysqlSession):
    """A session of the pool, over a connection of our own."""

    def __init__(self, raw: Link, speech: Speech, facts: ServerFacts, on_lost: Callable[[], None]) -> None:
        super().__init__(raw, speech, facts, joined=False)
        self.link = raw
        self.loop = asyncio.get_running_loop()
        self.on_lost = on_lost

    @property
    def is_usable(self) -> bool:
        """Whether the connection is open, idle and outside a transaction."""
        if self.broken or self.undone or self.running or self.depth:
            return False
        return self.link.is_open and not self.link.get_transaction_status()

    async def control(self, sql: str) -> None:
        """Run SQL without values; a transaction begins with its first command, if one comes."""
        if sql == "BEGIN":
            self.link.begin_with_next()
        elif not (sql in ("COMMIT", "ROLLBACK") and self.link.never_begin()):
            await super().control(sql)

    def translate(self, error: Exception) -> Exception:
        """Translate as for any session; a lost connection takes its idle siblings along."""
        translated = super().translate(error)
        if isinstance(translated, ConnectionLost):
            self.on_lost()
        return translated

    async def _exchange(self, data: bytes) -> MySQLResult:
        return await self.link.ask(data)


class AiomysqlDatabase:
    """A MySQL or MariaDB database; `clock_offset` moves its clock and is for the test kit."""

    dialect: Dialect = MYSQL

    def __init__(self, url: DatabaseUrl) -> None:
        self.url = url
        self.label = url.masked
        self.clock_offset = 0.0
        self._speech = Speech(MYSQL, FORMAT, lambda: self.clock_offset, self._apart)
        config = PoolConfig(
            label=self.label, size=url.integer("pool_size"), acquire_timeout=url.seconds("acquire_timeout")
        )
        self._adapter = _Adapter(url, self._speech)
        self._pools: LoopPools[OwnSession] = LoopPools(config, self._adapter)
        self._adapter.on_lost = self._pools.expire_idle

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        """Lend a connection for the block, outside of any transaction."""
        return self._pools.connection()

    async def join(self, connection: object) -> Connection:
        """Wrap the caller's aiomysql connection, or the one under SQLAlchemy's."""
        raw = await unwrap(connection)
        if not isinstance(raw, aiomysql.Connection):
            raise UsageError(
                f"{type(connection).__name__} is no connection of {self.label}: give an aiomysql connection, or an "
                "SQLAlchemy AsyncConnection or AsyncSession that runs on aiomysql"
            )
        if raw.closed:
            raise ConnectionLost("the joined connection is closed")
        if raw.get_autocommit() and not raw.get_transaction_status():
            raise TransactionNotOpen(
                "the joined connection commits each statement by itself: begin a transaction on it first, "
                "as with `await connection.begin()`"
            )
        return AiomysqlSession(raw, *_tuned(self._speech, await self._facts_behind(raw)), joined=True)

    async def listen(self) -> None:
        """Return None: the server cannot push wake-ups."""

    async def uuid_type(self) -> str:
        """Return the column type that ids have on this server.

        Raises: DatabaseTrouble where the server is too old, or its uuid type does not sort by time.
        """
        async with self._pools.connection() as session:
            return id_type(session.facts.version)

    async def version(self) -> Version | None:
        """Return None: the server tells nobody whether another session has written."""
        return None

    def patient(self, seconds: float) -> "AiomysqlDatabase":  # noqa: ARG002 - the servers' own lock waits are long enough
        """Return this database: its writers do not wait for each other's whole transactions."""
        return self

    async def close(self) -> None:
        """Close the pool of the running event loop."""
        await self._pools.close()

    @asynccontextmanager
    async def _apart(self) -> AsyncIterator[Connection]:
        link, facts = await connect(self.url.hurried())
        try:
            session = AiomysqlSession(link, *_tuned(self._speech, facts), joined=False)
            await session.run_script(_HURRIED)
            async with session.transaction():
                yield session
        finally:
            link.drop()

    async def _facts_behind(self, raw: aiomysql.Connection) -> ServerFacts:
        if self._adapter.facts is None:
            try:
                self._adapter.facts = await ask_facts(raw)
            except Exception as error:
                raise translate(error, closed=raw.closed, rolls_back=False) from error
        return self._adapter.facts


def quoted(text: str, *, escapes: bool) -> str:
    """Return a text as a literal; what needs no escape is left as it is, unlike in the library."""
    if not escapes:
        return "'" + text.replace("'", "''") + "'"
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\0") + "'"


def id_type(version: str) -> str:
    """Return the column type of ids for what a server says is its version.

    Raises: DatabaseTrouble where the server is too old, or its uuid type does not sort by time.
    """
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    number = (int(found[1]), int(found[2]), int(found[3] or 0)) if found else (0, 0, 0)
    is_mariadb = "mariadb" in version.lower()
    oldest = _OLDEST_MARIADB if is_mariadb else _OLDEST_MYSQL
    if number < oldest:
        wanted = f"{'MariaDB' if is_mariadb else 'MySQL'} {oldest[0]}.{oldest[1]}"
        raise DatabaseTrouble(f"the server's version is {version}: {wanted} or newer is needed")
    if not is_mariadb or number < _FIRST_UUID:
        return "char(32)"
    sorts_since = _SORTED_UUID.get(number[:2], (10, 11, 5))
    if number < sorts_since:
        raise DatabaseTrouble(
            f"the server is MariaDB {version}, whose uuid type does not sort by time: upgrade it to "
            f"{'.'.join(map(str, sorts_since))} or newer"
        )
    return "uuid"


def _tuned(speech: Speech, facts: ServerFacts) -> tuple[Speech, ServerFacts]:
    """Cut batches so that a statement fits into the server's packet."""
    return replace(speech, max_batch_bytes=min(MAX_BATCH_BYTES, facts.max_packet // _MOST_ESCAPED)), facts


class _Adapter:
    """Say to the pool how our connections are opened, checked and closed."""

    def __init__(self, url: DatabaseUrl, speech: Speech) -> None:
        self._url = url
        self._speech = speech
        self._errands: set[asyncio.Task[None]] = set()
        self.facts: ServerFacts | None = None
        self.on_lost: Callable[[], None] = lambda: None

    async def open(self) -> OwnSession:
        """Connect, within `connect_timeout`."""
        link, self.facts = await connect(self._url)
        return OwnSession(link, *_tuned(self._speech, self.facts), self.on_lost)

    async def close(self, session: OwnSession, /) -> None:
        """Say goodbye to the server."""
        await session.link.ensure_closed()

    def is_usable(self, session: OwnSession, /) -> bool:
        """Tell without waiting whether the connection is open, idle and outside a transaction."""
        return session.is_usable

    def terminate(self, session: OwnSession, /) -> None:
        """Drop the connection at once, and have its cancelled command ended on the server."""
        session.link.drop()
        interrupted, session.interrupted = session.interrupted, False
        if interrupted and not session.loop.is_closed():
            errand = kill(self._url, session.link.thread_id(), session.facts)
            task = session.loop.create_task(errand, context=Context())
            self._errands.add(task)
            task.add_done_callback(self._errands.discard, context=Context())

    async def finish(self) -> None:
        """Wait until the server has ended every command that was cancelled in this loop."""
        errands = [errand for errand in self._errands if errand.get_loop() is asyncio.get_running_loop()]
        if errands:
            await asyncio.wait(errands, timeout=self._url.seconds("connect_timeout"))
