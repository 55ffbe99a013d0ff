"""What aiomysql's errors mean, in the classes of `domain.errors`."""

import aiomysql

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

_LOCK_WAIT, _DEADLOCK, _NO_WAIT, _OUTRUN = 1205, 1213, 3572, 1020
_MISSING_TABLE, _MISSING_COLUMN = 1146, 1054
_READ_ONLY = frozenset({1290, 1792, 1836})
_GONE = frozenset({1053, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 2006, 2013, 2014, 2026, 2055, 3169, 4031})
_REFUSED = frozenset({
    1048,  # null where none may be
    1062,  # duplicate key
    1118, 1153, 1301,  # too large: row, packet, result
    1264, 1265, 1292, 1366, 1367, 1406, 1411, 1441, 1690,  # out of range, cut off, not of the type
    1300, 3854,  # not UTF-8
    1451, 1452, 1557, 1761, 1762, 3819, 4025,  # constraints
    3140, 3141, 3144, 3150, 3156, 3157, 3903, 4036, 4037, 4038, 4174, 4176,  # JSON
})  # fmt: skip
_HINTS = {
    1040: "lower pool_size, or raise max_connections on the server",
    1044: "grant this user the database, or name another one in the URL",
    1045: "check the user and the password in the URL",
    1049: "create the database, or name another one in the URL",
    1698: "check the user and the password in the URL; some accounts log in through the server's Unix socket only",
}


def translate(error: Exception, *, closed: bool, rolls_back: bool) -> Exception:
    """Return the class of `domain.errors` for a library error, or what is none as it is.

    `closed`: the connection is; `rolls_back`: the server ends the whole transaction when a lock is not to be had.
    """
    if isinstance(error, UnicodeError) or _is_encoding_error(error):
        return DataRefused(f"a value cannot be sent to the database: {error}")
    if isinstance(error, aiomysql.Error) and not closed:
        return _by_number(error, rolls_back=rolls_back)
    is_aftermath = closed and isinstance(error, RuntimeError | AttributeError)
    if is_aftermath or isinstance(error, OSError | EOFError | aiomysql.Error):
        return ConnectionLost(
            f"the connection broke, so the outcome of the command is unknown: {str(error) or type(error).__name__}"
        )
    return error


def _by_number(error: aiomysql.Error, *, rolls_back: bool) -> Exception:
    number, text = _number(error), f"{error.args[-1] if error.args else error!r} (error {_number(error)})"
    if number in _GONE or isinstance(error, aiomysql.InterfaceError):
        return ConnectionLost(f"the connection broke, so the outcome of the command is unknown: {text}")
    if number in (_DEADLOCK, _LOCK_WAIT, _NO_WAIT, _OUTRUN):
        return _contended(number, text, rolls_back=rolls_back)
    if number == _MISSING_COLUMN or (number == _MISSING_TABLE and ".oxpull_" in text):
        return NotMigrated(f"the database lacks tables or columns ({error.args[-1]}): run `oxpull migrate`")
    if number in _REFUSED or isinstance(error, aiomysql.DataError | aiomysql.IntegrityError):
        return DataRefused(text)
    if number in _READ_ONLY:
        return DatabaseUnavailable(f"the server takes no writes, it may have become a replica: {text}")
    return DatabaseTrouble(text)


def _contended(number: int, text: str, *, rolls_back: bool) -> Exception:
    # With innodb_snapshot_isolation a lock on a row newer than the snapshot ends the whole transaction, as a deadlock.
    if number in (_DEADLOCK, _OUTRUN):
        return Conflict(text)
    return LockTimeout(text, transaction_survived=number == _NO_WAIT or not rolls_back)


def _number(error: BaseException) -> int:
    first = error.args[0] if error.args else 0
    return first if isinstance(first, int) else 0


def _is_encoding_error(error: Exception) -> bool:
    """Tell whether the library itself refused a value, such as an infinite float.

    It gives no number then.
    """
    return type(error) is aiomysql.ProgrammingError and _number(error) == 0


def unavailable(url: DatabaseUrl, error: Exception) -> DatabaseUnavailable:
    """Say that no connection could be opened: where to, as whom, why, and what to do."""
    socket = url.text("unix_socket")
    where = f"the socket {socket}" if socket else f"{url.host or 'localhost'}, port {url.port}"
    who = "the default user" if url.user is None else f"user {url.user!r}"
    if isinstance(error, TimeoutError):
        reason = f"no answer within {url.seconds('connect_timeout'):g} s"
    else:
        cause = f" ({error.__cause__})" if error.__cause__ else ""
        reason = f"{error.args[-1] if error.args else type(error).__name__}{cause}"
    hint = _HINTS.get(_number(error), "")
    return DatabaseUnavailable(
        f"cannot connect to MySQL or MariaDB at {where}, database {url.database!r}, as {who}: {reason}"
        + (f"; {hint}" if hint else "")
    )
