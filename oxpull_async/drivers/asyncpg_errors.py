"""What asyncpg's errors mean, in the classes of `domain.errors`."""

import asyncpg

from oxpull_async.domain.errors import (
    Conflict,
    ConnectionLost,
    DatabaseTrouble,
    DatabaseUnavailable,
    DataRefused,
    LockTimeout,
    NotMigrated,
)
from oxpull_async.drivers.url import DatabaseUrl

_MISSING_TABLE, _MISSING_COLUMN = "42P01", "42703"
_LOCK_TIMEOUT, _DEADLOCK, _SERIALIZATION = "55P03", "40P01", "40001"
_READ_ONLY = "25006"
_CONNECTION_ENDED = ("08", "57P01", "57P02", "57P03", "57P05", "25P03")
_DATA = ("22", "23", "54")
_HINTS = {
    "28P01": "check the password in the URL, in PGPASSWORD or in ~/.pgpass",
    "28000": "see pg_hba.conf on the server for who may connect from here",
    "3D000": "create the database, or name another one in the URL",
    "53300": "lower pool_size, or raise max_connections on the server",
}


def translate(error: Exception, *, closed: bool, savepoint: bool) -> Exception:
    """Return our class for an error of asyncpg's, and any other error as it is.

    `closed`: the connection is; `savepoint`: one of ours lies around the statement, so that the transaction survives.
    """
    match error:
        case asyncpg.InvalidCachedStatementError() | asyncpg.OutdatedSchemaCacheError():
            return Conflict("the schema changed under this transaction: repeat it")
        case asyncpg.PostgresError():
            return _by_sqlstate(error, closed=closed, savepoint=savepoint)
        case asyncpg.DataError() | UnicodeError():
            return DataRefused(f"a value cannot be sent to the database: {error}")
        case asyncpg.InterfaceError() | asyncpg.InternalClientError() | OSError():
            lost = closed or not isinstance(error, asyncpg.InterfaceError | TimeoutError)
            return ConnectionLost(_lost(error)) if lost else DatabaseTrouble(str(error))
        case _:
            return error


def _by_sqlstate(error: asyncpg.PostgresError, *, closed: bool, savepoint: bool) -> Exception:
    code, text = error.sqlstate or "", f"{error} (SQLSTATE {error.sqlstate})"
    if closed or code.startswith(_CONNECTION_ENDED) or error.severity_en in ("FATAL", "PANIC"):
        return ConnectionLost(_lost(error))
    if code in (_LOCK_TIMEOUT, _DEADLOCK, _SERIALIZATION):
        kind = LockTimeout if code == _LOCK_TIMEOUT else Conflict
        return kind(text, transaction_survived=savepoint and code != _SERIALIZATION)
    if code == _MISSING_COLUMN or (code == _MISSING_TABLE and "oxpull_" in text):
        return NotMigrated(f"the database lacks tables or columns ({error.args[0]}): run `oxpull migrate`")
    if code.startswith(_DATA):
        return DataRefused(text)
    if code == _READ_ONLY:
        return DatabaseUnavailable(f"the server or the transaction takes no writes: {text}")
    return DatabaseTrouble(text)


def _lost(error: Exception) -> str:
    return f"the connection broke, so the outcome of the command is unknown: {str(error) or type(error).__name__}"


def unavailable(url: DatabaseUrl, error: Exception) -> DatabaseUnavailable:
    """Say that no connection could be opened: where to, as whom, why, and what to do."""
    where = "the local server" if url.host is None else f"{url.host}, port {url.port}"
    who = "the default user" if url.user is None else f"user {url.user!r}"
    reason = str(error) or f"no answer within {url.seconds('connect_timeout'):g} s"
    hint = _HINTS.get(getattr(error, "sqlstate", None) or "", "")
    return DatabaseUnavailable(
        f"cannot connect to PostgreSQL at {where}, database {url.database!r}, as {who}: {reason}"
        + (f"; {hint}" if hint else "")
    )
