"""What a database error on Django's connection means in the classes of `domain.errors`.

Django's own class is too coarse (a lock timeout and a lost connection are both OperationalError), so the driver's
error below it decides: by SQLSTATE, by number, or by SQLite's result code.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import DataError, Error, IntegrityError, InterfaceError, OperationalError

from oxpull_async.domain.errors import (
    Conflict,
    ConnectionLost,
    Contended,
    DatabaseTrouble,
    DatabaseUnavailable,
    DataRefused,
    LockTimeout,
    NotMigrated,
)

__all__ = ["REFUSED_BY_DRIVER", "Scene", "meaning_of"]

# A driver that cannot encode a value for the wire says so with Python's own errors, which Django does not wrap.
REFUSED_BY_DRIVER = (UnicodeError, OverflowError)

type Meaning = type[DatabaseTrouble]

_SQLSTATES: Mapping[str, Meaning] = {
    "40001": Conflict,
    "40P01": Conflict,
    "55P03": LockTimeout,
    "42P01": NotMigrated,
    "42703": NotMigrated,
    "25006": DatabaseUnavailable,
    "25P03": ConnectionLost,
    "22": DataRefused,
    "23": DataRefused,
    "54": DataRefused,
    "57P": ConnectionLost,
    "08": ConnectionLost,
    "28": DatabaseUnavailable,
    "3D": DatabaseUnavailable,
    "53": DatabaseUnavailable,
}
_NUMBERS: Mapping[Meaning, frozenset[int]] = {
    Conflict: frozenset({1020, 1213, 1614}),
    LockTimeout: frozenset({1205, 3572}),
    NotMigrated: frozenset({1054, 1146}),
    ConnectionLost: frozenset({
        1053, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 2006, 2013, 2014, 2026, 2027, 2055, 3169, 4031,
    }),
    DatabaseUnavailable: frozenset({
        1040, 1044, 1045, 1049, 1129, 1130, 1203, 1226, 1290, 1698, 1792, 1836, 2002, 2003, 2005,
    }),
    DataRefused: frozenset({
        1048, 1062, 1118, 1153, 1264, 1265, 1292, 1300, 1301, 1366, 1367, 1406, 1411, 1441, 1451, 1452, 1557, 1690,
        1761, 1762, 3140, 3141, 3144, 3150, 3156, 3157, 3819, 3854, 3903, 4025, 4036, 4037, 4038, 4174, 4176,
    }),
}  # fmt: skip
_BY_NUMBER: Mapping[int, Meaning] = {number: meaning for meaning, numbers in _NUMBERS.items() for number in numbers}
_RESULT_CODES: Mapping[int, Meaning] = {
    sqlite3.SQLITE_BUSY: LockTimeout,
    sqlite3.SQLITE_LOCKED: LockTimeout,
    sqlite3.SQLITE_CONSTRAINT: DataRefused,
    sqlite3.SQLITE_MISMATCH: DataRefused,
    sqlite3.SQLITE_TOOBIG: DataRefused,
    sqlite3.SQLITE_AUTH: DatabaseUnavailable,
    sqlite3.SQLITE_CANTOPEN: DatabaseUnavailable,
    sqlite3.SQLITE_CORRUPT: DatabaseUnavailable,
    sqlite3.SQLITE_IOERR: DatabaseUnavailable,
    sqlite3.SQLITE_NOTADB: DatabaseUnavailable,
    sqlite3.SQLITE_PERM: DatabaseUnavailable,
}
_PRIMARY = 0xFF
_ALMOST = 0.9
_MISSING = ("no such table: ", "no such column: ", "has no column named ")


@dataclass(frozen=True, slots=True)
class Scene:
    """Where an error came up: on an open connection, in a transaction, in a savepoint.

    It took `waited` seconds, and `patience` is for how many SQLite waits for other writers.
    """

    vendor: str
    connected: bool
    in_transaction: bool
    savepoint: bool
    waited: float
    patience: float

    @property
    def has_waited(self) -> bool:
        """Whether SQLite waited: a transaction that has read before it writes is refused at once."""
        return self.waited >= _ALMOST * self.patience > 0


def meaning_of(error: Exception, scene: Scene) -> DatabaseTrouble:
    """Return the core's error for one that Django or the driver raised; the caller chains it."""
    if not isinstance(error, Error):
        return DataRefused(f"the driver cannot send a value: {error}")
    cause = error.__cause__ or error
    meaning, survived = _READERS[scene.vendor](cause, scene)
    if meaning is None:
        meaning = _by_django_class(error)
    if meaning is ConnectionLost and not scene.connected:
        meaning = DatabaseUnavailable
    text = _said(cause)
    if meaning is LockTimeout:
        return meaning(f"{text}; {_patience(cause, scene)}", transaction_survived=survived)
    if issubclass(meaning, Contended):
        return meaning(text, transaction_survived=survived)
    if meaning is NotMigrated:
        return meaning(f"the database lacks tables or columns ({text}): run `oxpull migrate`")
    if meaning is ConnectionLost:
        return meaning(f"the connection broke, so the outcome of the command is unknown: {text}")
    return meaning(text)


def _said(cause: BaseException) -> str:
    """Return the driver's sentence, without the statement that PostgreSQL shows below it."""
    sentence = getattr(getattr(cause, "diag", None), "message_primary", None)
    return str(sentence or cause).strip() or type(cause).__name__


def _patience(cause: BaseException, scene: Scene) -> str:
    """Say how long the database waited, and why if not at all."""
    if getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY_SNAPSHOT:
        return "refused without waiting, since another connection wrote after this transaction had begun to read"
    if scene.in_transaction and not scene.has_waited and hasattr(cause, "sqlite_errorcode"):
        return "refused without waiting, since another connection writes and this transaction had begun to read"
    return f"given up after {scene.waited:.2f} s"


def _by_sqlstate(cause: BaseException, scene: Scene) -> tuple[Meaning | None, bool]:
    state = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    if state is None:
        return None, False
    meaning = next((_SQLSTATES[state[:n]] for n in (5, 3, 2) if state[:n] in _SQLSTATES), DatabaseTrouble)
    # After a serialization failure the snapshot stays too old; after the others a savepoint saves the rest.
    return meaning, scene.savepoint and state != "40001"


def _by_number(cause: BaseException, scene: Scene) -> tuple[Meaning | None, bool]:
    number = cause.args[0] if cause.args and isinstance(cause.args[0], int) else 0
    if not number and isinstance(cause, Exception) and not isinstance(cause, Error):
        return DataRefused if type(cause).__name__ == "ProgrammingError" else None, False
    # A lock timeout undoes the statement alone, a deadlock the whole transaction.
    meaning = _BY_NUMBER.get(number)
    return meaning, scene.in_transaction and meaning is LockTimeout


def _by_result_code(cause: BaseException, scene: Scene) -> tuple[Meaning | None, bool]:
    code, text = getattr(cause, "sqlite_errorcode", None), str(cause)
    if code is None:
        return (DataRefused if text.startswith("Error binding parameter") else None), False
    if any(sign in text for sign in _MISSING):
        return NotMigrated, False
    if "malformed JSON" in text:
        return DataRefused, False
    # A transaction that has begun to read before the other wrote can never write; one that has waited may try again.
    survived = scene.in_transaction and code != sqlite3.SQLITE_BUSY_SNAPSHOT and scene.has_waited
    return _RESULT_CODES.get(code & _PRIMARY, DatabaseTrouble), survived


def _by_django_class(error: Error) -> Meaning:
    if isinstance(error, DataError | IntegrityError):
        return DataRefused
    if isinstance(error, InterfaceError | OperationalError):
        return ConnectionLost
    return DatabaseTrouble


_READERS = {"postgresql": _by_sqlstate, "mysql": _by_number, "sqlite": _by_result_code}
