"""What a driver promises to the store: connections, databases and listeners.

The wire rules, each held by a test of `tests/conformance`:
values are str, int, float, bool, bytes or None, and for statements of the MySQL dialect tuples of str, which stand as a
list in parentheses (`IN :ids`); `execute` counts rows matched, not rows changed; a nested
transaction is a savepoint; writing transactions see committed rows only (READ COMMITTED, or one writer at a time);
database errors arrive as classes of `domain.errors` with the cause kept; a connection whose command was cancelled
or broke half-way is never lent again. Raw SQL cannot enter the store: a statement is named, its text lives in `sql/`.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

type Scalar = str | int | float | bool | bytes | tuple[str, ...] | None
type Row = Sequence[Any]
type Version = tuple[int, int]

MAX_BATCH_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the SQL of a database can say: a folder of statements and a few capabilities.

    `enqueues_unique_at_once`: the statement `insert_unique_task` takes a key and stores its task in one round trip.
    `locks_by_snapshot`: a lock on a row that is newer than the transaction's snapshot is refused; else it is given, and
    reads the newest row.
    `claims_from_marks`: what was claimed stays in the index until it is cleaned up; claims had better begin behind it.
    `has_arrays`: a list of ids can travel as one array, and rows are found by it without a join.
    `tells_what_is_kept`: the statement `kept_rows` counts dead rows and names who keeps them.
    `has_lateral`: one statement can take so many rows of each queue; else it takes one statement per queue.
    """

    name: str
    update_returns_rows: bool
    insert_returns_rows: bool
    skips_locked: bool
    has_listen: bool
    has_transactional_ddl: bool
    enqueues_unique_at_once: bool
    locks_by_snapshot: bool
    claims_from_marks: bool
    tells_what_is_kept: bool
    has_lateral: bool
    has_arrays: bool
    steps_through_indexes: bool


class Connection(Protocol):
    """One session of a database, with the caller's transaction on it where one is open."""

    @property
    def dialect(self) -> Dialect:
        """The SQL this connection speaks."""

    @property
    def max_batch_bytes(self) -> int:
        """How many bytes of values one statement should carry at most."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open here, the caller's or one of ours."""

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        """Run a statement and return its rows, as sequences in the order of its columns.

        Raises: DataRefused, Contended, ConnectionLost, NotMigrated, DatabaseTrouble.
        """

    async def fetchrow(self, statement: str, /, **values: Scalar) -> Row | None:
        """Run a statement and return its first row, or None; raises what `fetch` raises."""

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        """Run a statement and return how many rows it matched; raises what `fetch` raises."""

    def transaction(self) -> AbstractAsyncContextManager[None]:
        """Open a transaction for the block, or a savepoint inside one that is open."""

    def after_commit(self, callback: Callable[[], None], /) -> None:
        """Call `callback` when the outermost transaction has committed, at once if none is open."""

    async def run_script(self, sql: str, /) -> None:
        """Run one statement of a schema file, which takes no values."""

    def apart(self) -> AbstractAsyncContextManager["Connection"]:
        """Open a connection beside this one, for a short look at what is committed.

        READ COMMITTED, outside any pool, closed after the block, and impatient: 2 s to connect, 100 ms for a lock (or
        the shortest that the database knows), 2 s for a statement.

        Raises: DatabaseUnavailable, and in the block what `fetch` raises.
        """


class Listener(Protocol):
    """A subscription to the wake-ups of a database that can push them."""

    async def wait(self) -> str:
        """Wait for the next wake-up and return its payload, a queue name or "".

        Raises: ConnectionLost when the subscription broke; the owner opens a new one.
        """

    async def close(self) -> None:
        """End the subscription."""


class Database(Protocol):
    """Where connections come from.

    Safe to use from several event loops, each of which has a pool of its own.
    """

    @property
    def dialect(self) -> Dialect:
        """The SQL this database speaks."""

    @property
    def label(self) -> str:
        """The database's URL with the password masked, for messages."""

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        """Lend a connection for the block, outside of any transaction.

        Raises: PoolExhausted when none becomes free in time, DatabaseUnavailable when none can be opened.
        """

    async def join(self, connection: object) -> Connection:
        """Wrap a connection that the caller owns, inside the transaction that is open on it.

        Where the caller's library begins by itself it is made to begin. Settings, commit, rollback and close stay
        the caller's. Raises: TransactionNotOpen where the connection would commit each statement by itself,
        UsageError where the object is no connection of this driver.
        """

    async def listen(self) -> Listener | None:
        """Subscribe to wake-ups on a connection of its own.

        None where the database cannot push them.
        """

    async def uuid_type(self) -> str:
        """Return the column type that ids have on this server.

        Raises: DatabaseTrouble where the server's uuid type does not sort by time.
        """

    async def version(self) -> Version | None:
        """Return what is another one once somebody has written; None where that cannot be told.

        Whoever waits for changes compares it with what it saw last.
        """

    def patient(self, seconds: float) -> "Database":
        """Return this database as one whose commands wait at least `seconds` for another writer."""

    async def close(self) -> None:
        """Close the pool of the running event loop."""
