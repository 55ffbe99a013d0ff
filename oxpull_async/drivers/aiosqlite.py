"""Reach SQLite through aiosqlite: sessions, writers in line, the watch over the file.

Not here: what sqlite3's errors mean (`sqlite_errors`), and how a file is opened and waited for (`sqlite_file`).
"""

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Concatenate
from weakref import WeakKeyDictionary

import aiosqlite

from oxpull_async.db.contract import Connection, Dialect, Row, Scalar, Version
from oxpull_async.db.statements import QMARK, Statement
from oxpull_async.domain.errors import DatabaseUnavailable, LockTimeout, TransactionNotOpen, UsageError
from oxpull_async.drivers.dialects import SQLITE
from oxpull_async.drivers.pool import LoopPools, PoolConfig
from oxpull_async.drivers.session import Session, Speech
from oxpull_async.drivers.sqlalchemy import unwrap
from oxpull_async.drivers.sqlite_errors import Wait, translate, unavailable
from oxpull_async.drivers.sqlite_file import (
    MEMORY,
    Answer,
    FileConnection,
    FileSettings,
    Run,
    begin_foreign,
    open_file,
    run_foreign,
    run_patiently,
    run_together,
    stamp_of,
)
from oxpull_async.drivers.url import DatabaseUrl

_LEAVE_SECONDS = 60.0
_HURRIED_SECONDS = 0.1
_ROWS_PER_FETCH = 64
_CLOSED = (ValueError, sqlite3.ProgrammingError)
_numbers = count()


class AiosqliteSession(Session):
    """A Connection over one aiosqlite connection; each command is one trip to its thread."""

    begin_sql = "BEGIN IMMEDIATE"

    def __init__(self, raw: aiosqlite.Connection, speech: Speech, settings: FileSettings, *, joined: bool) -> None:
        super().__init__(speech, joined=joined)
        self.raw: aiosqlite.Connection = raw
        self.settings = settings
        self.running = 0
        self.left = False
        self.number = next(_numbers)
        self.seen_version: int | None = None
        self.seen_stamp: tuple[int, ...] | None = None
        self.sent_at = 0.0
        self.patience = settings.patience
        self._line = _line_of(settings.path)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open on the file's connection."""
        try:
            return self.raw.in_transaction
        except _CLOSED:
            return False

    @property
    def is_usable(self) -> bool:
        """Whether the connection is open, idle and outside a transaction."""
        if self.broken or self.running or self.depth:
            return False
        try:
            return not self.raw.in_transaction
        except _CLOSED:
            return False

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Open a transaction when its turn has come, or a savepoint inside one that is open."""
        if self.joined or self.depth:
            async with super().transaction():
                yield
            return
        async with self._turn():
            try:
                async with super().transaction():
                    yield
            finally:
                self.broken = self.broken or self.in_transaction

    async def query(self, statement: Statement, values: list[Scalar]) -> Sequence[Row]:
        """Run a statement and return its rows."""
        return (await self._run(statement, values)).rows

    async def command(self, statement: Statement, values: list[Scalar]) -> int:
        """Run a statement and return how many rows it wrote; 0 for one that only reads."""
        return max((await self._run(statement, values)).written, 0)

    async def control(self, sql: str) -> None:
        """Run SQL without values."""
        await self._answer(sql, ())

    def translate(self, error: Exception) -> Exception:
        """Return the class of `domain.errors` for a library error, or the error itself."""
        wait = Wait(time.monotonic() - self.sent_at, self.patience)
        translated = translate(error, self.settings.path, in_transaction=self.in_transaction, wait=wait)
        if isinstance(translated, DatabaseUnavailable):
            self.broken = True  # the file may be another one by now: open it anew
        return translated

    async def begin_for_caller(self) -> None:
        """Begin on the caller's connection unless a transaction is open on it.

        Raises: TransactionNotOpen where sqlite3 itself would not begin either.
        """
        if not await self.guard(self._visit(begin_foreign)):
            raise TransactionNotOpen(
                "the joined connection has no transaction open and commits each statement by itself: "
                "execute BEGIN IMMEDIATE on it first"
            )
        self.patience = (await self.guard(self._answer("PRAGMA busy_timeout", ()))).rows[0][0] / 1000

    async def file_version(self) -> Version:
        """Return what is another one once somebody else has committed; no other session's."""
        stamp = stamp_of(self.settings.path)
        if self.seen_version is None or stamp is None or stamp != self.seen_stamp:
            answer = await self.guard(self._answer("PRAGMA data_version", ()))
            self.seen_version, self.seen_stamp = answer.rows[0][0], stamp
        return self.number, self.seen_version

    async def _run(self, statement: Statement, values: Sequence[Scalar]) -> Answer:
        errand = _errand(statement, values, run_foreign if self.joined else run_patiently)
        if self.joined or self.depth or not statement.writes:
            return await self._visit(errand)
        async with self._turn():
            return await self._visit(errand)

    async def _answer(self, sql: str, values: Sequence[Scalar]) -> Answer:
        return await self._visit(run_foreign if self.joined else run_patiently, sql, values)

    async def _visit[**P, T](self, errand: Callable[Concatenate[Any, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an errand on the connection's thread, whole, in one trip."""
        trip: Coroutine[Any, Any, T] = self.raw._execute(errand, self.raw._conn, *args, **kwargs)  # type: ignore[no-untyped-call]  # noqa: SLF001
        self.running += 1
        self.sent_at = time.monotonic()
        try:
            return await trip
        finally:
            self.running -= 1

    def _turn(self) -> "_Turn":
        return _Turn(self._line, self.settings)


class AiosqliteDatabase:
    """A SQLite file, reached through aiosqlite; `clock_offset` is for the test kit."""

    dialect: Dialect = SQLITE

    def __init__(self, url: DatabaseUrl) -> None:
        self.url = url
        self.label = url.masked
        self.clock_offset = 0.0
        self.settings = _settings(url)
        self._speech = Speech(SQLITE, QMARK, lambda: self.clock_offset, self._apart)
        adapter = _Adapter(self._speech, self.settings)
        size = 1 if self.settings.in_memory else url.integer("pool_size")
        patience = url.seconds("acquire_timeout")
        self._pools = LoopPools(PoolConfig(label=self.label, size=size, acquire_timeout=patience), adapter)
        self._watchers = LoopPools(PoolConfig(label=self.label, size=1, acquire_timeout=patience), adapter)

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        """Lend a connection for the block, outside of any transaction."""
        return self._pools.connection()

    async def join(self, connection: object) -> Connection:
        """Wrap the caller's aiosqlite connection, or the one that SQLAlchemy runs on.

        Begins with BEGIN IMMEDIATE where nothing is open and sqlite3 would begin by itself.
        """
        raw = await unwrap(connection)
        if not isinstance(raw, aiosqlite.Connection):
            raise UsageError(
                f"{type(connection).__name__} is no connection of {self.label}: give an aiosqlite connection, or an "
                "SQLAlchemy AsyncConnection or AsyncSession that runs on aiosqlite"
            )
        session = AiosqliteSession(raw, self._speech, self.settings, joined=True)
        await session.begin_for_caller()
        return session

    async def listen(self) -> None:
        """Return None: SQLite pushes no wake-ups."""

    async def uuid_type(self) -> str:
        """Return the column type that ids have: 32 hexadecimal digits."""
        return "char(32)"

    async def version(self) -> Version | None:
        """Return what is another one once anybody has written the file; None in memory."""
        if self.settings.in_memory:
            return None
        async with self._watchers.connection() as session:
            return await session.file_version()

    def patient(self, seconds: float) -> "AiosqliteDatabase":
        """Return this file as one whose commands wait at least `seconds` for another writer."""
        longer = max(seconds, self.settings.patience)
        database = AiosqliteDatabase(replace(self.url, options={**self.url.options, "busy_timeout": longer}))
        database.clock_offset = self.clock_offset
        return database

    async def close(self) -> None:
        """Close the pool of the running event loop."""
        await self._watchers.close()
        await self._pools.close()

    @asynccontextmanager
    async def _apart(self) -> AsyncIterator[Connection]:
        if self.settings.in_memory:
            raise DatabaseUnavailable(f"{MEMORY} is one connection's own: nobody can look at it from beside")
        adapter = _Adapter(self._speech, replace(self.settings, patience=_HURRIED_SECONDS))
        session = await adapter.open()
        try:
            yield session
        except BaseException:
            adapter.terminate(session)
            raise
        await adapter.close(session)


class _Adapter:
    """Say to the pool how our connections are opened, checked and closed."""

    def __init__(self, speech: Speech, settings: FileSettings) -> None:
        self._speech = speech
        self._settings = settings

    async def open(self) -> AiosqliteSession:
        """Open the file, on a thread of its own."""
        raw = aiosqlite.Connection(partial(open_file, self._settings), _ROWS_PER_FETCH)
        raw._thread.daemon = True  # noqa: SLF001 - a connection that nobody closed must not keep the process alive
        try:
            await raw
        except BaseException as error:
            _keep_loop_for(raw)
            if isinstance(error, sqlite3.Error):
                raise unavailable(error, self._settings.path) from error
            raise
        return AiosqliteSession(raw, self._speech, self._settings, joined=False)

    async def close(self, session: AiosqliteSession, /) -> None:
        """Close the file and end the thread."""
        await session.raw.close()

    def is_usable(self, session: AiosqliteSession, /) -> bool:
        """Tell without waiting whether the connection is open, idle and outside a transaction."""
        return session.is_usable

    def terminate(self, session: AiosqliteSession, /) -> None:
        """Break off what runs; the thread rolls back, closes the file and ends."""
        if session.left:
            return
        session.broken = session.left = True
        with suppress(*_CLOSED):
            file = session.raw._conn  # noqa: SLF001
            if isinstance(file, FileConnection):
                file.abandon()
        session.raw.stop()
        _keep_loop_for(session.raw)

    async def finish(self) -> None:
        """Return at once: the loop itself waits for the threads that are about to end."""


def _keep_loop_for(raw: aiosqlite.Connection) -> None:
    """Let the running loop, when it ends, wait for a thread that still answers to it."""
    with suppress(RuntimeError):
        asyncio.get_running_loop().run_in_executor(None, raw._thread.join, _LEAVE_SECONDS)  # noqa: SLF001


def _errand(statement: Statement, values: Sequence[Scalar], run: Run) -> Callable[[Any], Answer]:
    """Return what a statement comes to on the connection's thread: one command, or its steps together."""
    if statement.steps:
        return partial(run_together, steps=statement.dealt(values), run=run)
    return lambda file: run(file, statement.sql, values)


def _settings(url: DatabaseUrl) -> FileSettings:
    in_memory = url.database == MEMORY
    return FileSettings(
        path=MEMORY if in_memory else str(Path(url.database).absolute()),
        journal_mode=url.text("journal_mode") or "wal",
        synchronous=url.text("synchronous") or "full",
        patience=url.seconds("busy_timeout"),
    )


@dataclass(slots=True, eq=False)
class _Line:
    """Where the writers of a file stand in line, in one loop; `length` counts the one whose turn it is too."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    length: int = 0


class _Turn:
    """Wait for this loop's other writers in line instead of at the file's lock.

    Bounded, since a writer that needs a second connection inside its transaction would wait for itself.
    """

    __slots__ = ("_line", "_settings")

    def __init__(self, line: _Line, settings: FileSettings) -> None:
        self._line = line
        self._settings = settings

    async def __aenter__(self) -> None:
        line = self._line
        line.length += 1
        try:
            if line.length == 1:
                await line.lock.acquire()  # at once: nobody else is there, and a timer would cost more than the lock
            else:
                await self._wait()
        except BaseException:
            line.length -= 1
            raise

    async def _wait(self) -> None:
        patience = self._settings.patience
        try:
            async with asyncio.timeout(patience):
                await self._line.lock.acquire()
        except TimeoutError as late:
            raise LockTimeout(
                f"{self._settings.path}: a transaction of this process was open for longer than busy_timeout, "
                f"{patience:g} s: keep it short, and write on no second connection inside it"
            ) from late

    async def __aexit__(self, *_: object) -> None:
        self._line.length -= 1
        self._line.lock.release()


_lines: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Line]] = WeakKeyDictionary()
_lines_guard = threading.Lock()


def _line_of(path: str) -> _Line:
    """Return where the writers of a file stand in line, in the running loop."""
    with _lines_guard:
        return _lines.setdefault(asyncio.get_running_loop(), {}).setdefault(path, _Line())
