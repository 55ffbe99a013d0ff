"""The core's Connection over Django's connection of an alias; it never suspends.

It joins whatever is open: autocommit, `atomic()`, or a transaction by hand. Nothing about Django's connection is
configured here, and no connection is opened that Django would not open itself, except by `apart`.
"""

import time
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from django.db import Error, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from compat_sync.connection_apart import LIMITS, beside
from compat_sync.connection_errors import REFUSED_BY_DRIVER, Scene, meaning_of
from compat_sync.dialects import DIALECTS
from oxpull_async.db.contract import MAX_BATCH_BYTES, Connection, Dialect, Row, Scalar
from oxpull_async.db.statements import FORMAT, Statement, load_statement, spread
from oxpull_async.domain.errors import ConnectionLost, DatabaseTrouble, OxpullError, UsageError
from oxpull_async.drivers.dialects import MYSQL, SQLITE

if TYPE_CHECKING:
    from django.db.transaction import Atomic

__all__ = ["DjangoConnection"]

_PACKET_SHARE = 4
_USUAL_TIMEOUT = 5.0
_UUID_SORTS = (10, 11, 5)


class DjangoConnection:
    """A Connection over `django.db.connections[alias]` of whichever thread uses it."""

    __slots__ = ("alias", "clock_offset")

    def __init__(self, alias: str, *, clock_offset: float = 0.0) -> None:
        self.alias = alias
        self.clock_offset = clock_offset

    @property
    def dialect(self) -> Dialect:
        """The SQL this connection speaks."""
        vendor = self._django.vendor
        if vendor not in DIALECTS:
            raise UsageError(
                f"DATABASES[{self.alias!r}] is a {vendor} database, and tasks are kept in {', '.join(DIALECTS)} only: "
                "name another alias"
            )
        return DIALECTS[vendor]

    @property
    def max_batch_bytes(self) -> int:
        """How many bytes of values one statement should carry at most."""
        return _packet_limit(self._django) if self.dialect is MYSQL else MAX_BATCH_BYTES

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open here, the caller's or one of ours."""
        with _translated(self._django) as django:
            return django.in_atomic_block or not django.get_autocommit()

    @property
    def is_doomed(self) -> bool:
        """Whether the transaction that is open here can only be rolled back, as Django knows it."""
        return _is_doomed(self._django)

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        """Run a statement and return its rows."""
        prepared, bound = self._prepare(statement, values)
        async with self._together(prepared):
            with _translated(self._django) as django, django.cursor() as cursor:
                for sql, share in prepared.dealt(bound):
                    cursor.execute(sql, share)
                rows: Sequence[Row] = cursor.fetchall()
                return rows

    async def fetchrow(self, statement: str, /, **values: Scalar) -> Row | None:
        """Run a statement and return its first row, or None."""
        rows = await self.fetch(statement, **values)
        return rows[0] if rows else None

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        """Run a statement and return how many rows it matched."""
        prepared, bound = self._prepare(statement, values)
        async with self._together(prepared):
            with _translated(self._django) as django, django.cursor() as cursor:
                for sql, share in prepared.dealt(bound):
                    cursor.execute(sql, share)
                matched: int = cursor.rowcount
                return max(matched, 0)

    def transaction(self) -> AbstractAsyncContextManager[None]:
        """Open a transaction for the block, or a savepoint inside one that is open."""
        return _Block(self._django)

    def after_commit(self, callback: Callable[[], None], /) -> None:
        """Call `callback` when the outermost transaction has committed, at once if none is open.

        Where the caller commits by hand (autocommit is off) the commit cannot be seen, and nothing is called.
        """
        django = self._django
        if django.in_atomic_block or django.get_autocommit():
            transaction.on_commit(callback, using=self.alias, robust=True)

    async def run_script(self, sql: str, /) -> None:
        """Run one statement of a schema file, which takes no values."""
        with _translated(self._django) as django, django.cursor() as cursor:
            cursor.execute(sql)

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[Connection]:
        """Open a connection beside this one for a short look at what is committed."""
        with beside(self._django) as alias:
            conn = DjangoConnection(alias, clock_offset=self.clock_offset)
            # On SQLite a transaction of ours would wait for the writer that is the caller.
            async with nullcontext() if conn.dialect is SQLITE else conn.transaction():
                for limit in LIMITS[self._django.vendor]:
                    await conn.run_script(limit)
                yield conn

    async def uuid_type(self) -> str:
        """Return the column type that ids have on this server.

        It is the one that Django's UUIDField would create.

        Raises: DatabaseTrouble where the server's uuid type does not sort by time.
        """
        with _translated(self._django):
            django: Any = self._django
            uuid_type = str(django.data_types["UUIDField"])
            if self.dialect is MYSQL and uuid_type == "uuid" and django.mysql_version < _UUID_SORTS:
                raise DatabaseTrouble(
                    "MariaDB 10.7 to 10.11.4 has a uuid type that does not sort by time: upgrade it to 10.11.5"
                )
            return uuid_type

    @property
    def _django(self) -> BaseDatabaseWrapper:
        return connections[self.alias]

    def _prepare(self, name: str, values: dict[str, Scalar]) -> tuple[Statement, list[Scalar]]:
        statement = load_statement(self.dialect.name, name, FORMAT)
        return spread(statement, statement.bind(values, self.clock_offset))

    def _together(self, statement: Statement) -> AbstractAsyncContextManager[None]:
        """Let all steps of a statement count or none."""
        return self.transaction() if statement.steps else nullcontext()


class _Block:
    """One `atomic()` as an asynchronous block whose own errors are translated; the body's errors pass as they are.

    Where the body hid that its transaction broke, Django rolls back and says nothing; this raises DatabaseTrouble.
    """

    __slots__ = ("_atomic", "_django")

    def __init__(self, django: BaseDatabaseWrapper) -> None:
        self._django = django
        self._atomic: Atomic = transaction.atomic(using=django.alias)

    async def __aenter__(self) -> None:
        with _translated(self._django), _writing_first(self._django):
            self._atomic.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        hidden = kind is None and _is_doomed(self._django)
        with _translated(self._django):
            self._atomic.__exit__(kind, error, trace)
        if hidden:
            raise DatabaseTrouble(
                "the transaction was rolled back: code that ran in it, like a receiver of a signal, met an error of "
                "the database or closed the connection"
            )


def _is_doomed(django: BaseDatabaseWrapper) -> bool:
    return bool(django.needs_rollback or django.closed_in_transaction)


@contextmanager
def _translated(django: BaseDatabaseWrapper) -> Generator[BaseDatabaseWrapper]:
    """Turn what Django and the driver raise into the core's errors, and let go of a connection that broke."""
    connected, began = django.connection is not None, time.monotonic()
    try:
        yield django
    except OxpullError:
        raise  # translated already
    except (Error, *REFUSED_BY_DRIVER) as error:
        meaning = meaning_of(error, _scene(django, connected=connected, waited=time.monotonic() - began))
        if isinstance(meaning, ConnectionLost):
            django.close_if_unusable_or_obsolete()
        raise meaning from error


def _scene(django: BaseDatabaseWrapper, *, connected: bool, waited: float) -> Scene:
    return Scene(
        django.vendor,
        connected,
        in_transaction=django.in_atomic_block or not django.autocommit,
        savepoint=any(django.savepoint_ids),
        waited=waited,
        patience=float(django.settings_dict["OPTIONS"].get("timeout", _USUAL_TIMEOUT)),
    )


@contextmanager
def _writing_first(django: BaseDatabaseWrapper) -> Generator[None]:
    """Let an outermost SQLite transaction of ours take the write lock as it begins.

    Django begins DEFERRED unless told otherwise; the first write after a read then fails at once, however long the
    timeout, if anybody else has written meanwhile. With autocommit off nothing has begun yet, and the end of our
    savepoint would be a commit.
    """
    if django.vendor != "sqlite" or django.in_atomic_block:
        yield
    elif not django.get_autocommit():
        _begin_by_hand(django)
        yield
    else:
        chosen = vars(django).get("transaction_mode")
        vars(django)["transaction_mode"] = chosen or "IMMEDIATE"
        try:
            yield
        finally:
            vars(django)["transaction_mode"] = chosen


def _begin_by_hand(django: BaseDatabaseWrapper) -> None:
    if not django.connection.in_transaction:
        with django.cursor() as cursor:
            cursor.execute("BEGIN IMMEDIATE")


_packet_limits: WeakKeyDictionary[BaseDatabaseWrapper, tuple[int, int]] = WeakKeyDictionary()


def _packet_limit(django: BaseDatabaseWrapper) -> int:
    """Return the size that a quarter of the server's largest packet sets, asked once per server connection."""
    with _translated(django):
        django.ensure_connection()
        asked, limit = _packet_limits.get(django, (0, 0))
        if asked != id(django.connection):
            with django.cursor() as cursor:
                cursor.execute("SELECT @@max_allowed_packet")
                limit = min(MAX_BATCH_BYTES, int(cursor.fetchone()[0]) // _PACKET_SHARE)
            _packet_limits[django] = (id(django.connection), limit)
    return limit
