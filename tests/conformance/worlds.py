"""The worlds that every chapter runs in: each native driver, each Django database, and the restless ones.

A world lends connections to one database and runs a test's coroutine the way those connections want it run.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from itertools import count
from typing import Any, Protocol

from django.db import connections

from compat_sync.connection import DjangoConnection
from compat_sync.shim import run_blocking
from oxpull_async.db.contract import Connection, Database
from oxpull_async.drivers.aiomysql import AiomysqlDatabase
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase
from oxpull_async.drivers.asyncpg import AsyncpgDatabase
from oxpull_async.drivers.url import parse_url
from oxpull_async.drivers.url_options import Family
from tests.compat.django_aliases import add_alias, drop_alias
from tests.conformance.restless import Restless

type Url = str

# One thread runs both connections of a test, so waiting for the other one is in vain.
BUSY_SECONDS = 0.05
HASTY_OPTIONS = {"timeout": BUSY_SECONDS, "init_command": "PRAGMA synchronous = off"}
HASTY = f"?busy_timeout={BUSY_SECONDS}&synchronous=off"


_numbers = count(1)


class ClockedDatabase(Database, Protocol):
    """A database whose clock the test kit can move."""

    clock_offset: float


class World(ABC):
    """One kind of connection to one database."""

    @abstractmethod
    def run[T](self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end."""

    @abstractmethod
    def lend(self) -> AbstractContextManager[Connection]:
        """Lend a connection for the block, outside of any transaction; each block has one of its own."""

    @abstractmethod
    def uuid_type(self) -> str:
        """Ask for the column type of ids."""

    @abstractmethod
    def set_clock(self, offset: float) -> None:
        """Move the database's clock by `offset` seconds, for the connections of this world."""

    @abstractmethod
    def disconnect(self) -> None:
        """Close every connection that is not lent; later ones are opened anew."""

    @abstractmethod
    def close(self) -> None:
        """Close every connection for good."""


class NativeWorld(World):
    """An async driver, on an event loop that lives as long as the world so that its pool is reused."""

    def __init__(self, database: ClockedDatabase) -> None:
        self.database = database
        self._runner = asyncio.Runner()

    def run[T](self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(coroutine)

    @contextmanager
    def lend(self) -> Iterator[Connection]:
        block = self.database.connection()
        conn = self.run(_enter(block))
        try:
            yield conn
        finally:
            self.run(_leave(block))

    def uuid_type(self) -> str:
        return self.run(self.database.uuid_type())

    def set_clock(self, offset: float) -> None:
        self.database.clock_offset = offset

    def disconnect(self) -> None:
        self.run(self.database.close())

    def close(self) -> None:
        self.disconnect()
        self._runner.close()


class RestlessWorld(NativeWorld):
    """An async driver that lets everybody else run before and after each of its calls."""

    @contextmanager
    def lend(self) -> Iterator[Connection]:
        with super().lend() as conn:
            yield Restless(conn)


class SilentWorld(World):
    """Django's blocking connection: a test's coroutine runs without a loop, and any suspension fails it."""

    def __init__(self, alias: str, url: Url, **options: object) -> None:
        self.alias = alias
        self.url = url
        self.options = options
        self._free: list[DjangoConnection] = []
        self._all: list[DjangoConnection] = []

    def run[T](self, coroutine: Coroutine[Any, Any, T]) -> T:
        return run_blocking(coroutine)

    @contextmanager
    def lend(self) -> Iterator[Connection]:
        conn = self._free.pop() if self._free else self._open()
        try:
            yield conn
        finally:
            self._free.append(conn)

    def uuid_type(self) -> str:
        with self.lend() as conn:
            assert isinstance(conn, DjangoConnection)
            return self.run(conn.uuid_type())

    def set_clock(self, offset: float) -> None:
        for conn in self._all:
            conn.clock_offset = offset

    def disconnect(self) -> None:
        for conn in self._free:
            connections[conn.alias].close()

    def close(self) -> None:
        for conn in self._all:
            drop_alias(conn.alias)

    def _open(self) -> DjangoConnection:
        conn = DjangoConnection(f"{self.alias}-{next(_numbers)}")
        add_alias(conn.alias, self.url, **self.options)
        self._all.append(conn)
        return conn


WORLDS: dict[str, tuple[Family, Callable[[Url], World]]] = {
    "asyncpg": ("postgres", lambda url: NativeWorld(AsyncpgDatabase(parse_url(url)))),
    "aiomysql": ("mysql", lambda url: NativeWorld(AiomysqlDatabase(parse_url(url)))),
    "aiosqlite": ("sqlite", lambda url: NativeWorld(AiosqliteDatabase(parse_url(url + HASTY)))),
    "restless-asyncpg": ("postgres", lambda url: RestlessWorld(AsyncpgDatabase(parse_url(url)))),
    "restless-aiomysql": ("mysql", lambda url: RestlessWorld(AiomysqlDatabase(parse_url(url)))),
    "restless-aiosqlite": ("sqlite", lambda url: RestlessWorld(AiosqliteDatabase(parse_url(url + HASTY)))),
    "django-postgres": ("postgres", lambda url: SilentWorld("django-postgres", url)),
    "django-mysql": ("mysql", lambda url: SilentWorld("django-mysql", url)),
    "django-sqlite": ("sqlite", lambda url: SilentWorld("django-sqlite", url, **HASTY_OPTIONS)),
}


async def _enter(block: AbstractAsyncContextManager[Connection]) -> Connection:
    return await block.__aenter__()


async def _leave(block: AbstractAsyncContextManager[Connection]) -> None:
    await block.__aexit__(None, None, None)
