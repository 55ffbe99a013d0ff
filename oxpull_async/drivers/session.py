"""What the native drivers share: binding, nested transactions, calls after the commit.

Not here: anything a driver library or a dialect does its own way.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from oxpull_async.db.contract import MAX_BATCH_BYTES, Connection, Dialect, Row, Scalar
from oxpull_async.db.statements import Placeholders, Statement, load_statement
from oxpull_async.domain.errors import ConnectionLost


@dataclass(frozen=True, slots=True)
class Speech:
    """How a driver speaks: its dialect, its placeholders, the clock's offset of the test kit.

    `apart` opens a connection beside a session, as the contract says.
    """

    dialect: Dialect
    placeholders: Placeholders
    clock_offset: Callable[[], float]
    apart: Callable[[], AbstractAsyncContextManager[Connection]]
    max_batch_bytes: int = MAX_BATCH_BYTES
    _statements: dict[str, Statement] = field(default_factory=dict, compare=False, repr=False)

    def prepare(self, name: str, values: dict[str, Scalar]) -> tuple[Statement, list[Scalar]]:
        """Return a statement of `sql/` with its values in the order the driver binds them."""
        statement = self._statements.get(name)
        if statement is None:
            statement = self._statements[name] = load_statement(self.dialect.name, name, self.placeholders)
        return statement, statement.bind(values, self.clock_offset())


class Session(ABC):
    """A Connection over one driver connection; owned by a pool, or joined from a caller.

    After a cancelled or broken command the session is `broken`: it refuses every further command, and a pool that
    owns it must not lend it again. `raw` is the driver's own connection.
    """

    raw: Any
    begin_sql = "BEGIN"

    def __init__(self, speech: Speech, *, joined: bool) -> None:
        self.speech = speech
        self.dialect = speech.dialect
        self.apart = speech.apart
        self.max_batch_bytes = speech.max_batch_bytes
        self.joined = joined
        self.broken = False
        self.undone = False
        self.depth = 0
        self._after_commit: list[Callable[[], None]] = []

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        """Run a statement and return its rows."""
        prepared, bound = self.speech.prepare(statement, values)
        return await self.guard(self.query(prepared, bound))

    async def fetchrow(self, statement: str, /, **values: Scalar) -> Row | None:
        """Run a statement and return its first row, or None."""
        rows = await self.fetch(statement, **values)
        return rows[0] if rows else None

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        """Run a statement and return how many rows it matched."""
        prepared, bound = self.speech.prepare(statement, values)
        return await self.guard(self.command(prepared, bound))

    async def run_script(self, sql: str, /) -> None:
        """Run one statement of a schema file, which takes no values."""
        await self.guard(self.control(sql))

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open here, the caller's or one of ours."""
        return self.joined or self.depth > 0

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Open a transaction for the block, or a savepoint inside one that is open."""
        nested = self.joined or self.depth > 0
        savepoint = f"oxpull_{self.depth}"
        before = len(self._after_commit)
        await self.guard(self.control(f"SAVEPOINT {savepoint}" if nested else self.begin_sql))
        self.depth += 1
        try:
            yield
        except BaseException as error:
            self.depth -= 1
            del self._after_commit[before:]
            await self._roll_back(_undo(savepoint) if nested else ("ROLLBACK",), error)
            raise
        self.depth -= 1
        await self._commit(f"RELEASE SAVEPOINT {savepoint}" if nested else "COMMIT", outermost=not nested)

    def after_commit(self, callback: Callable[[], None], /) -> None:
        """Call `callback` when the outermost transaction has committed, at once if none is open.

        On a joined connection the caller's commit cannot be seen, and nothing is called.
        """
        if self.joined:
            return
        if self.depth:
            self._after_commit.append(callback)
        else:
            callback()

    @property
    def anchor(self) -> object:
        """What lives exactly as long as the driver's connection, to know it again by."""
        return self.raw

    @abstractmethod
    async def query(self, statement: Statement, values: list[Scalar]) -> Sequence[Row]:
        """Run a statement on the driver and return its rows; library errors pass through."""

    @abstractmethod
    async def command(self, statement: Statement, values: list[Scalar]) -> int:
        """Run a statement on the driver and return how many rows it matched.

        Library errors pass through.
        """

    @abstractmethod
    async def control(self, sql: str) -> None:
        """Run SQL without values on the driver; library errors pass through."""

    @abstractmethod
    def translate(self, error: Exception) -> Exception:
        """Return our class for a library error, or the error itself where there is none."""

    async def guard[T](self, command: Coroutine[Any, Any, T]) -> T:
        """Run a driver's command and translate its error.

        A cancelled or lost one breaks the session.
        """
        if self.broken:
            command.close()
            raise ConnectionLost("an earlier command on this connection was cancelled or broke; open a new one")
        try:
            return await command
        except Exception as error:
            translated = self.translate(error)
            if isinstance(translated, ConnectionLost):
                self.broken = True
            if translated is error:
                raise
            raise translated from error
        except asyncio.CancelledError:
            self.broken = True
            raise

    async def _commit(self, sql: str, *, outermost: bool) -> None:
        callbacks: list[Callable[[], None]] = []
        if outermost:
            callbacks, self._after_commit = self._after_commit, callbacks
        await self.guard(self.control(sql))
        for callback in callbacks:
            callback()

    async def _roll_back(self, steps: Sequence[str], cause: BaseException) -> None:
        if self.broken:
            return
        try:
            for sql in steps:
                if sql == "ROLLBACK" or not self.undone:
                    await self.guard(self.control(sql))
        except Exception as error:  # noqa: BLE001 - the caller's error must not be hidden by ours
            self.broken = True
            cause.add_note(f"the rollback failed as well: {error!r}")


def _undo(savepoint: str) -> tuple[str, ...]:
    """Return what undoes a savepoint and removes it, so that they do not pile up in a long transaction."""
    return f"ROLLBACK TO SAVEPOINT {savepoint}", f"RELEASE SAVEPOINT {savepoint}"
