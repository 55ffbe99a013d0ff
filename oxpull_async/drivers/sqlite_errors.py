"""Say what errors of Python's sqlite3 mean, in the classes of `domain.errors`."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from oxpull_async.domain.errors import (
    ConnectionLost,
    DatabaseTrouble,
    DatabaseUnavailable,
    DataRefused,
    LockTimeout,
    NotMigrated,
)

_PRIMARY = 0xFF
_ALMOST = 0.9
_WAITED_FOR = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_REFUSED = frozenset({sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG})
_OUT_OF_REACH: Mapping[int, str] = MappingProxyType(
    {
        sqlite3.SQLITE_CANTOPEN: "check that its folder exists and that this process may write the file and the folder",
        sqlite3.SQLITE_PERM: "check that this process may read and write the file",
        sqlite3.SQLITE_AUTH: "check that this process may read and write the file",
        sqlite3.SQLITE_IOERR: "check the disk and that the file is on a local file system",
        sqlite3.SQLITE_CORRUPT: "run `PRAGMA integrity_check` on it and restore a copy",
        sqlite3.SQLITE_NOTADB: "check that the URL names the file that was meant",
    }
)
_IN_TROUBLE: Mapping[int, str] = MappingProxyType(
    {
        sqlite3.SQLITE_FULL: "the disk, or the size its settings allow, is used up: make room",
        sqlite3.SQLITE_READONLY: "it may be read but not written: let this process write the file and its folder",
    }
)
_MISSING = ("no such table: oxpull_", "no such table: main.oxpull_", "no such column: ", "has no column named ")


@dataclass(frozen=True, slots=True)
class Wait:
    """How many seconds a command took, and for how many its connection waits for other writers."""

    seconds: float
    patience: float

    @property
    def was_had(self) -> bool:
        """Whether SQLite waited: a transaction that has read before it writes is refused at once."""
        return self.seconds >= _ALMOST * self.patience > 0


def translate(error: Exception, file: str, *, in_transaction: bool, wait: Wait) -> Exception:
    """Return the class of `domain.errors` for a library error, or the error itself."""
    if isinstance(error, OverflowError | UnicodeEncodeError):
        return DataRefused(f"SQLite cannot hold a value: {error}")
    if isinstance(error, ValueError) and "connection" in str(error).lower():
        return ConnectionLost(f"the connection to {file} is closed")
    if not isinstance(error, sqlite3.Error):
        return error
    if primary_code(error) in _WAITED_FOR:
        return _lock_timeout(error, file, in_transaction=in_transaction, wait=wait)
    return _by_code(error, file) or _by_message(error, file)


def unavailable(error: Exception, file: str) -> DatabaseUnavailable:
    """Return the error that names a file which cannot be opened, and what to check."""
    code = primary_code(error)
    advice = _OUT_OF_REACH.get(code) or _IN_TROUBLE.get(code)
    if code in _WAITED_FOR:
        advice = "another process holds it; if the URL changes the journal_mode, stop the others first"
    return DatabaseUnavailable(f"{file} cannot be opened: {error}" + (f"; {advice}" if advice else ""))


def primary_code(error: Exception) -> int:
    """Return SQLite's result code without its extension; 0 where the error has none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & _PRIMARY


def may_be_repeated(error: sqlite3.Error) -> bool:
    """Say whether only another writer was in the way, so that a repeat may work."""
    code = int(getattr(error, "sqlite_errorcode", 0))
    return code & _PRIMARY == sqlite3.SQLITE_BUSY and code != sqlite3.SQLITE_BUSY_SNAPSHOT


def _by_code(error: sqlite3.Error, file: str) -> Exception | None:
    code = primary_code(error)
    if code in _OUT_OF_REACH:
        return DatabaseUnavailable(f"{file}: {error}; {_OUT_OF_REACH[code]}")
    if code in _IN_TROUBLE:
        return DatabaseTrouble(f"{file}: {error}; {_IN_TROUBLE[code]}")
    if code in _REFUSED or "malformed JSON" in str(error):
        return DataRefused(f"SQLite refused a value: {error}")
    return None


def _lock_timeout(error: sqlite3.Error, file: str, *, in_transaction: bool, wait: Wait) -> LockTimeout:
    stale = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_BUSY_SNAPSHOT
    refused = in_transaction and not wait.was_had
    if stale:
        reason = (
            "refused without waiting, since another connection wrote after this transaction had begun to read: roll "
            "back, and BEGIN IMMEDIATE"
        )
    elif refused:
        reason = (
            "refused without waiting, since another connection writes and this transaction had begun to read: roll "
            "back, and BEGIN IMMEDIATE"
        )
    else:
        reason = (
            f"given up after {wait.seconds:.2f} s. Another connection was writing for longer than busy_timeout: keep "
            "writing transactions short"
        )
    return LockTimeout(f"{file}: {error}; {reason}", transaction_survived=in_transaction and not (stale or refused))


def _by_message(error: sqlite3.Error, file: str) -> Exception:
    message = str(error)
    if primary_code(error) == sqlite3.SQLITE_INTERRUPT or "closed database" in message:
        return ConnectionLost(f"the connection to {file} is closed")
    if any(sign in message for sign in _MISSING):
        return NotMigrated(f"{NotMigrated.__doc__} ({file}: {message})")
    if isinstance(error, sqlite3.InterfaceError | sqlite3.ProgrammingError | sqlite3.DataError):
        return DataRefused(f"SQLite refused a value: {message}")
    return DatabaseTrouble(f"{file}: {message}")
