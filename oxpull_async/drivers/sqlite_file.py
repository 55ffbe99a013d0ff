"""Open a SQLite file for ourselves, and run commands on a connection's own thread.

Nothing here knows an event loop; what calls it runs on the thread that aiosqlite gives each connection.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from oxpull_async.db.contract import Scalar
from oxpull_async.drivers.sqlite_errors import may_be_repeated

MEMORY = ":memory:"
_SLICE_SECONDS = 0.2
_BREATH_SECONDS = 0.002
_TICK_NS = 1_100_000_000
_CACHED_STATEMENTS = 256
_STEPS_BETWEEN_LOOKS = 1_000_000
_TRANSACTION = ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))
_RELEASE = "RELEASE SAVEPOINT oxpull_steps"
_SAVEPOINT = ("SAVEPOINT oxpull_steps", _RELEASE, ("ROLLBACK TO SAVEPOINT oxpull_steps", _RELEASE))


@dataclass(frozen=True, slots=True)
class FileSettings:
    """Name a file, how it is to be written, and how many seconds to wait for other writers."""

    path: str
    journal_mode: str
    synchronous: str
    patience: float

    @property
    def in_memory(self) -> bool:
        """Whether there is no file, and so one connection only."""
        return self.path == MEMORY


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command came to: its rows, and how many it wrote (-1 if it only reads)."""

    rows: list[Any]
    written: int


type Command = tuple[str, Sequence[Scalar]]
type Run = Callable[[Any, str, Sequence[Scalar]], Answer]


class FileConnection(sqlite3.Connection):
    """A connection of ours; what it runs or waits for ends at once when it is abandoned.

    SQLite's own wait for a lock cannot be broken off, so it is cut into slices. An interrupt is forgotten by a
    command that is only just about to begin; the progress handler stops such a one.
    """

    patience: float = 0.0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.abandoned = threading.Event()
        self.set_progress_handler(self.abandoned.is_set, _STEPS_BETWEEN_LOOKS)

    def __del__(self) -> None:
        """Close the file where nobody got to do it: the opening was cancelled, or the loop is gone."""
        with suppress(sqlite3.Error):
            self.close()

    def abandon(self) -> None:
        """Break off what runs, from any thread; nothing runs afterwards."""
        self.abandoned.set()
        with suppress(sqlite3.Error):
            self.interrupt()


def open_file(settings: FileSettings) -> FileConnection:
    """Open the file and make the connection ours: autocommit, journal and synchronous as set.

    Raises: sqlite3.Error, with nothing left open.
    """
    file = sqlite3.connect(
        settings.path,
        timeout=min(_SLICE_SECONDS, settings.patience),
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_CACHED_STATEMENTS,
        factory=FileConnection,
    )
    try:
        file.patience = settings.patience
        _configure(file, settings)
    except BaseException:
        file.close()
        raise
    return file


def _configure(file: FileConnection, settings: FileSettings) -> None:
    if not settings.in_memory:
        wanted = settings.journal_mode
        if run_patiently(file, "PRAGMA journal_mode", ()).rows != [(wanted,)]:
            _change_journal(file, wanted)
    run_patiently(file, f"PRAGMA synchronous = {settings.synchronous}", ())


def _change_journal(file: FileConnection, wanted: str) -> None:
    """Change the file's journal, unless somebody is writing: then the next connection that opens does.

    The writer may be the caller, who waits for this connection in a transaction of its own.
    """
    try:
        found = _run(file, f"PRAGMA journal_mode = {wanted}", ()).rows
    except sqlite3.OperationalError as error:
        if not may_be_repeated(error):
            raise
        return
    if found != [(wanted,)]:
        raise sqlite3.OperationalError(
            f"its journal_mode stays {found[0][0]!r} and cannot become {wanted!r}; name it in the URL"
        )


def run_patiently(file: FileConnection, sql: str, values: Sequence[Scalar]) -> Answer:
    """Run one command whole, again and again while another writer holds the file."""
    deadline = time.monotonic() + file.patience
    while True:
        if file.abandoned.is_set():
            raise sqlite3.ProgrammingError("Cannot operate on a closed database.")
        try:
            return _run(file, sql, values)
        except sqlite3.OperationalError as error:
            if not may_be_repeated(error) or time.monotonic() >= deadline:
                raise
        time.sleep(_BREATH_SECONDS)


def run_foreign(connection: sqlite3.Connection, sql: str, values: Sequence[Scalar]) -> Answer:
    """Run one command whole on a connection whose owner may want other kinds of rows and text."""
    text_factory, connection.text_factory = connection.text_factory, str
    try:
        return _run(connection, sql, values)
    finally:
        connection.text_factory = text_factory


def run_together(connection: sqlite3.Connection, steps: Sequence[Command], run: Run) -> Answer:
    """Run commands so that all of them count or none, and return what the last one came to.

    They are a savepoint in the transaction that is open, else a transaction.
    """
    begin, end, undo = _SAVEPOINT if begin_foreign(connection) else _TRANSACTION
    run(connection, begin, ())
    try:
        *_, answer = [run(connection, sql, values) for sql, values in steps]
        run(connection, end, ())
    except BaseException:
        for sql in undo:
            if connection.in_transaction:  # some errors end it, and with it the savepoint
                connection.cursor().execute(sql)
        raise
    return answer


def begin_foreign(connection: sqlite3.Connection) -> bool:
    """Begin where sqlite3 itself would at the first write; False where it never would."""
    if connection.in_transaction:
        return True
    if connection.isolation_level is None or getattr(connection, "autocommit", None) is True:
        return False
    connection.cursor().execute("BEGIN IMMEDIATE")
    return True


def _run(connection: sqlite3.Connection, sql: str, values: Sequence[Scalar]) -> Answer:
    cursor = connection.cursor()
    cursor.row_factory = None
    cursor.execute(sql, values)
    return Answer(cursor.fetchall(), cursor.rowcount)


def stamp_of(path: str) -> tuple[int, ...] | None:
    """Return what differs once anybody has written the database; None where it is not sure.

    A write within a tick of the files' clock may leave the times as they are, so fresh ones say nothing. Whole
    seconds are the coarsest in use; a busy machine's file times may lag behind, too.
    """
    stamp: tuple[int, ...] = ()
    for name in (path, path + "-wal"):
        with suppress(OSError):
            found = os.stat(name)  # noqa: PTH116 - a Path costs more than the call, and this runs all the time
            stamp += (found.st_ino, found.st_size, found.st_mtime_ns)
    newest = max(stamp[2::3], default=0)
    return stamp if time.time_ns() - newest > _TICK_NS else None
