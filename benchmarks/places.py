"""A database for each contestant, made for the run and dropped after it."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from benchmarks.contestants import Contestant

REDIS = "redis://127.0.0.1:6379/15"


class NoPlace(Exception):
    """A contestant's database cannot be had."""


class Places:
    """Makes a contestant's database beside the one that a URL names, and tidies it between samples."""

    def __init__(self, url: str, folder: Path, redis: str) -> None:
        self._url = url
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
                return await self._stack.enter_async_context(_postgres(self._url, f"{os.getpid()}_{self._made}"))
            case "sqlite":
                return f"sqlite:///{self._folder / f'{self._made}.db'}{contestant.options}"
            case "redis":
                return await self._emptied_redis()
            case _:
                return self._url

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
