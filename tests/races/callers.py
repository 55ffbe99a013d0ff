"""The caller whose transaction an enqueue joins: on a connection of its own driver, or on Django's."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import aiomysql
import aiosqlite
import asyncpg
from django.db import transaction

from compat_sync.connection import DjangoConnection
from compat_sync.shim import run_blocking
from oxpull_async.db.contract import Connection, Database
from oxpull_async.drivers.url import parse_url
from tests.compat.django_aliases import add_alias, drop_alias
from tests.races.settings import Setting

BUSY_SECONDS = 0.2


class Caller(ABC):
    """Somebody with a connection, and perhaps a transaction on it."""

    @abstractmethod
    async def begin(self) -> None:
        """Open the transaction, if the setting has one."""

    @abstractmethod
    async def do[T](self, operation: Callable[[Connection], Awaitable[T]]) -> T:
        """Run a core operation in that transaction, or by itself where there is none."""

    @abstractmethod
    async def end(self, *, commit: bool) -> None:
        """End the transaction, if there is one."""


class Joined(Caller):
    """An application on the driver's own connection, which joins its transaction; without one, a pool's connection."""

    def __init__(self, database: Database, setting: Setting, raw: Any) -> None:
        self._database = database
        self._setting = setting
        self._is_open = False
        self.raw = raw

    async def begin(self) -> None:
        for sql in self._setting.begin or ():
            await execute(self.raw, sql)
            self._is_open = True

    async def do[T](self, operation: Callable[[Connection], Awaitable[T]]) -> T:
        if self._setting.begin is None:
            async with self._database.connection() as conn:
                return await operation(conn)
        return await operation(await self._database.join(self.raw))

    async def end(self, *, commit: bool) -> None:
        if self._is_open:
            self._is_open = False
            await execute(self.raw, "COMMIT" if commit else "ROLLBACK")


class Djangoist(Caller):
    """A Django application, on a thread of its own."""

    def __init__(self, alias: str, setting: Setting) -> None:
        self.alias = alias
        self._setting = setting
        self.thread = ThreadPoolExecutor(1)
        self._atomic: Any = None

    async def run[T](self, function: Callable[[], T]) -> T:
        """Run a function on the thread."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, function)

    async def begin(self) -> None:
        if self._setting.begin is not None:
            self._atomic = transaction.atomic(using=self.alias)
            await self.run(self._atomic.__enter__)

    async def do[T](self, operation: Callable[[Connection], Awaitable[T]]) -> T:
        return await self.run(lambda: run_blocking(_run(operation, DjangoConnection(self.alias))))

    async def end(self, *, commit: bool) -> None:
        if self._atomic is not None:
            atomic, self._atomic = self._atomic, None
            how = (None, None, None) if commit else (_Regret, _Regret(), None)
            await self.run(lambda: atomic.__exit__(*how))


class _Regret(Exception):
    pass


async def _run[T](operation: Callable[[Connection], Awaitable[T]], conn: Connection) -> T:
    return await operation(conn)


@asynccontextmanager
async def joined(database: Database, url: str, setting: Setting) -> AsyncIterator[Joined]:
    """Open an application's own connection."""
    async with opened(url) as raw:
        for sql in setting.session:
            await execute(raw, sql)
        yield Joined(database, setting, raw)


@asynccontextmanager
async def djangoist(url: str, setting: Setting) -> AsyncIterator[Djangoist]:
    """Open Django's connection under an alias of its own."""
    options = dict(setting.django or {})
    if setting.family == "sqlite":
        options["timeout"] = BUSY_SECONDS
    caller = Djangoist("racing", setting)
    await caller.run(lambda: add_alias(caller.alias, url, **options))
    try:
        yield caller
    finally:
        await caller.end(commit=False)
        await caller.run(lambda: drop_alias(caller.alias))
        caller.thread.shutdown()


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Any]:
    """Open a connection of the URL's driver library."""
    place = parse_url(url)
    raw: Any
    if place.family == "sqlite":
        async with aiosqlite.connect(place.database, isolation_level=None, timeout=BUSY_SECONDS) as raw:
            yield raw
    elif place.family == "postgres":
        raw = await asyncpg.connect(
            host=place.host, port=place.port, user=place.user, password=place.password, database=place.database
        )
        try:
            yield raw
        finally:
            await raw.close()
    else:
        raw = await aiomysql.connect(
            host=place.host, port=place.port, user=place.user, password=place.password or "", db=place.database,
            autocommit=True,
        )  # fmt: skip
        try:
            yield raw
        finally:
            await raw.ensure_closed()


async def execute(raw: Any, sql: str) -> list[Any]:
    """Run SQL on a connection of any driver library, and return its rows."""
    if isinstance(raw, asyncpg.Connection):
        return list(await raw.fetch(sql))
    if isinstance(raw, aiosqlite.Connection):
        return list(await raw.execute_fetchall(sql))
    async with raw.cursor() as cursor:
        await cursor.execute(sql)
        return list(await cursor.fetchall())
