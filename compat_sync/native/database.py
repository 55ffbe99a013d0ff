"""The native driver of a Django alias, connected to where its DATABASES entry leads.

Not here: what the keys of an entry mean (`native_url` and the readers below it).
"""

import copy
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from importlib.util import find_spec
from threading import Lock
from typing import Any, Literal, Protocol, cast

from django.db import connections
from django.db.utils import load_backend
from django.utils.connection import ConnectionDoesNotExist

from compat_sync import clock
from compat_sync.dialects import DIALECTS
from compat_sync.native.aiomysql import SOCKETS
from compat_sync.native.engine import engine_problems
from compat_sync.native.entry import Reading, Surroundings, remembered
from compat_sync.native.url import LIBRARIES, read_entry
from oxpull_async.app.open_database import open_url, with_options
from oxpull_async.db.contract import Connection, Database, Dialect, Listener, Version
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.settings import USUAL_POOL_SIZE, SettingsKeywords
from oxpull_async.drivers.url import DatabaseUrl

__all__ = ["NativeDatabase", "close_all", "may_go_native", "missing_driver", "unexpressible"]

_KEYS = ("ENGINE", "NAME", "HOST", "PORT", "USER", "PASSWORD", "OPTIONS")


class _Clocked(Database, Protocol):
    """A database whose clock the test kit can move."""

    clock_offset: float


_lock = Lock()
_readings: dict[str, tuple[list[Any], Reading]] = {}
_databases: dict[tuple[DatabaseUrl, float], _Clocked] = {}


def unexpressible(alias: str) -> list[str]:
    """List, in sentences, what an alias's DATABASES entry says that its native driver cannot do.

    Each names the key, its value (passwords as ***) and the way out. No connection is made.
    """
    return list(_reading(alias).problems)


def missing_driver(alias: str) -> str | None:
    """Name the extra to install where the alias's native driver is not installed."""
    library, extra = LIBRARIES.get(_engine(alias).vendor, ("", ""))
    if not library or find_spec(library) is not None:
        return None
    return f"{library}, the native driver of DATABASES[{alias!r}], is not installed: install oxpull-async[{extra}]."


def may_go_native(alias: str) -> bool:
    """Say whether the native driver is installed and can do all that the alias's entry says."""
    return _reading(alias).url is not None and missing_driver(alias) is None


async def close_all() -> None:
    """Close the running event loop's pools of every alias; a later use opens new ones."""
    for database in set(_databases.values()):
        await database.close()


class NativeDatabase:
    """A Database over an alias's native driver, wherever the alias leads when it is used.

    Equal places share one pool per event loop in the whole process; it is closed when its loop ends.
    """

    def __init__(
        self,
        alias: str,
        *,
        pool_size: int = USUAL_POOL_SIZE,
        pooler: Literal["session", "transaction"] = "session",
        listen_url: str | None = None,
    ) -> None:
        self.alias = alias
        self._keywords = SettingsKeywords(pool_size=pool_size, pooler=pooler)
        if listen_url is not None:
            self._keywords["listen_url"] = listen_url
        self._patience = 0.0
        self._offset: float | None = None
        self._latest: tuple[Reading, _Clocked] | None = None

    def __repr__(self) -> str:
        return f"NativeDatabase({self.alias!r})"

    @property
    def clock_offset(self) -> float:
        """Seconds added to the database's clock: `compat_sync.clock`'s, unless set here."""
        return clock.offset() if self._offset is None else self._offset

    @clock_offset.setter
    def clock_offset(self, seconds: float) -> None:
        self._offset = seconds

    @property
    def dialect(self) -> Dialect:
        """The SQL this database speaks."""
        vendor = _engine(self.alias).vendor
        return DIALECTS[vendor] if vendor in DIALECTS else self._database().dialect

    @property
    def label(self) -> str:
        """The URL with the password masked, or the alias where there is none."""
        return self._database().label if may_go_native(self.alias) else f"DATABASES[{self.alias!r}]"

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        """Lend a connection for the block, outside of any transaction.

        Raises: UsageError for an entry that the native driver cannot do, PoolExhausted, DatabaseUnavailable.
        """
        return self._database().connection()

    async def join(self, connection: object) -> Connection:
        """Wrap the caller's connection of the native library, inside its open transaction."""
        return await self._database().join(connection)

    async def listen(self) -> Listener | None:
        """Subscribe to wake-ups; None where the database cannot push them."""
        return await self._database().listen()

    async def uuid_type(self) -> str:
        """Return the column type that ids have on this server."""
        return await self._database().uuid_type()

    async def version(self) -> Version | None:
        """Return what is another one once another session has written; None if unknown."""
        return await self._database().version()

    def patient(self, seconds: float) -> "NativeDatabase":
        """Return this database as one whose commands wait at least `seconds` for another writer."""
        patient = copy.copy(self)
        patient._patience, patient._latest = max(seconds, self._patience), None  # noqa: SLF001 - a copy of ours
        return patient

    async def close(self) -> None:
        """Close the pool of the running event loop."""
        if may_go_native(self.alias):
            await self._database().close()

    def _database(self) -> _Clocked:
        reading = _reading(self.alias)
        if self._latest is None or self._latest[0] is not reading:
            self._latest = reading, _shared(self._url(reading), self._patience)
        database = self._latest[1]
        database.clock_offset = self.clock_offset
        return database

    def _url(self, reading: Reading) -> DatabaseUrl:
        if reading.url is None:
            raise UsageError(f"the alias {self.alias!r} cannot be reached natively: {' '.join(reading.problems)}")
        given, url = self._keywords, reading.url
        if given["pool_size"] != USUAL_POOL_SIZE:
            options = {name: value for name, value in url.options.items() if name != "pool_size"}
            url = replace(url, options=options)
        return with_options(url, given)


def _shared(url: DatabaseUrl, patience: float) -> _Clocked:
    """Return the process's one database of a URL and a patience."""
    with _lock:
        if (url, 0.0) not in _databases:
            _databases[url, 0.0] = cast("_Clocked", open_url(url))
        if (url, patience) not in _databases:
            _databases[url, patience] = cast("_Clocked", _databases[url, 0.0].patient(patience))
        return _databases[url, patience]


def _reading(alias: str) -> Reading:
    """Read an alias's entry, again only when it has changed; the same object as long as it has not."""
    entry = _entry(alias)
    now = [entry[key] for key in _KEYS]
    known = _readings.get(alias)
    if known is not None and known[0] == now:
        return known[1]
    engine = _engine(alias)
    library = getattr(engine, "Database", None)
    around = Surroundings.here(SOCKETS if getattr(library, "__name__", "") == "MySQLdb" else None)
    reading = read_entry(alias, entry, engine.vendor, around)
    problems = (*engine_problems(alias, entry, engine), *reading.problems)
    reading = Reading(None, problems) if problems else reading
    _readings[alias] = [remembered(value) for value in now], reading
    return reading


def _entry(alias: str) -> Mapping[str, Any]:
    if alias not in connections.settings:
        raise ConnectionDoesNotExist(f"The connection {alias!r} doesn't exist.")
    entry: Mapping[str, Any] = connections.settings[alias]
    return entry


def _engine(alias: str) -> Any:
    return load_backend(_entry(alias)["ENGINE"]).DatabaseWrapper
