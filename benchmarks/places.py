"""A database for each contestant, made for the run and dropped after it."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import aiomysql
import asyncpg

from benchmarks.contestants import Contestant

REDIS = "redis://127.0.0.1:6379/15"
TRANSACTIONS = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1"


class NoPlace(Exception):
    """A contestant's database cannot be had."""


class Places:
    """Makes a contestant's database beside the one that a URL names, and tidies it between samples."""

    def __init__(self, url: str, folder: Path, redis: str) -> None:
        self.url = url
        self._folder = folder
        self._redis = redis
        self._made = 0
        self._has_redis = False
        self._stack = AsyncExitStack()

    async def close(self) -> None:
        await self._stack.aclose()

    async def make(self, contestant: Contestant) -> str:
        """Return the URL of a new database; raises NoPlace."""
        self._made += 1
        match contestant.store:
            case "postgres":
                return await self._stack.enter_async_context(_postgres(self.url, f"{os.getpid()}_{self._made}"))
            case "sqlite":
                return f"sqlite:///{self._folder / f'{self._made}.db'}{contestant.options}"
            case "redis":
                return await self._emptied_redis()
            case _:
                return await self._stack.enter_async_context(_mysql(self.url, f"{os.getpid()}_{self._made}"))

    async def fill(self, url: str, statement: str, count: int, priority: int) -> None:
        """Write many rows into a contestant's table."""
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(statement, count, priority)
        finally:
            await connection.close()

    async def _emptied_redis(self) -> str:
        """Take the Redis database if it holds nothing, for it is emptied again and again, and at the end."""
        if not self._has_redis and (held := await _ask_redis(self._redis, "DBSIZE")) != ":0":
            raise NoPlace(f"the database of {self._redis} is not empty ({held}), and would be emptied")
        if not self._has_redis:
            self._stack.push_async_callback(_ask_redis, self._redis, "FLUSHDB")
            self._has_redis = True
        return self._redis

    async def tidy(self, contestant: Contestant, url: str) -> None:
        """Give the next sample fresh statistics and no dead rows."""
        if contestant.store == "postgres":
            connection = await asyncpg.connect(url)
            await connection.execute("VACUUM ANALYZE")
            try:
                await connection.execute("CHECKPOINT")
            except asyncpg.InsufficientPrivilegeError:
                pass
            finally:
                await connection.close()


@asynccontextmanager
async def held_snapshot(url: str) -> AsyncIterator[None]:
    """Keep a transaction open that has read, and does nothing more."""
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction(isolation="repeatable_read"):
            await connection.fetch("SELECT count(*) FROM pg_class")
            yield
    finally:
        await connection.close()


class Transactions:
    """Counts the transactions of a database during the block, seen from another one so that its own do not count.

    The server tells of them with a delay of up to a second, so what is asked for should be much longer.
    """

    def __init__(self, from_url: str, url: str) -> None:
        self._from_url = from_url
        self._name = urlsplit(url).path.lstrip("/")
        self._seen: list[tuple[float, int]] = []

    async def __aenter__(self) -> Self:
        self._connection = await asyncpg.connect(self._from_url)
        self._looking = asyncio.create_task(self._look())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._looking.cancel()
        await asyncio.wait([self._looking])
        await self._connection.close()

    async def _look(self) -> None:
        while True:
            self._seen.append((time.monotonic(), await self._connection.fetchval(TRANSACTIONS, self._name)))
            await asyncio.sleep(0.25)

    def a_minute(self, idle: Mapping[str, float]) -> tuple[float, float]:
        """Return the share of a processor and the transactions a minute of a worker that was idle for a while."""
        began, ended = (
            next((seen for at, seen in self._seen if at >= idle[name]), self._seen[-1][1]) for name in ("from", "to")
        )
        return idle["processor"], (ended - began) * 60 / (idle["to"] - idle["from"])


@asynccontextmanager
async def _mysql(url: str, number: str) -> AsyncIterator[str]:
    name, parts = f"oxpull_bench_{number}", urlsplit(url)
    where: dict[str, Any] = {"host": parts.hostname or "127.0.0.1", "port": parts.port or 3306}
    who: dict[str, Any] = {"user": parts.username or "root", "password": parts.password or "", "autocommit": True}
    try:
        connection = await aiomysql.connect(**where, **who)
    except aiomysql.Error as error:
        raise NoPlace(f"{parts.hostname} does not answer: {error}") from error
    try:
        cursor = await connection.cursor()
        try:
            await cursor.execute(f"CREATE DATABASE {name}")
        except aiomysql.Error as error:
            raise NoPlace(f"no database can be made beside {parts.path}: {error}") from error
        try:
            yield parts._replace(path=f"/{name}").geturl()
        finally:
            await connection.ping(reconnect=True)
            await cursor.execute(f"DROP DATABASE {name}")
    finally:
        connection.close()


@asynccontextmanager
async def _postgres(url: str, number: str) -> AsyncIterator[str]:
    name = f"oxpull_bench_{number}"
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"CREATE DATABASE {name}")
    except asyncpg.PostgresError as error:
        raise NoPlace(f"no database can be made beside {urlsplit(url).path}: {error}") from error
    finally:
        await connection.close()
    try:
        yield urlsplit(url)._replace(path=f"/{name}", query="").geturl()
    finally:
        connection = await asyncpg.connect(url)
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await connection.close()


async def _ask_redis(url: str, command: str) -> str:
    """Send one command to a Redis database, without a library for it."""
    parts = urlsplit(url)
    try:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 6379)
    except OSError as error:
        raise NoPlace(f"no Redis answers at {parts.hostname}:{parts.port or 6379}") from error
    writer.write(f"SELECT {parts.path.strip('/') or 0}\r\n{command}\r\n".encode())
    answers = [(await reader.readline()).decode().strip() for _ in range(2)]
    writer.close()
    return answers[-1]
