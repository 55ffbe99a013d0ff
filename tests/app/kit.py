"""What the tests of the public API share: tasks to declare, and what to do with them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

from oxpull_async import Oxpull, TaskResult, TaskStatus, Worker


async def add(a: int, b: int = 0) -> int:
    return a + b


def subtract(a: int, b: int) -> int:
    return a - b


async def nothing(number: int = 0) -> None:
    pass


async def fail(text: str = "no") -> None:
    raise ValueError(text)


def open_oxpull(url: str, **settings: Any) -> Oxpull:
    return Oxpull(url, **settings)


class Rollback(Exception):
    """What leaves a block of `rolled_back`."""


@asynccontextmanager
async def rolled_back[T](block: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """Enter a transaction's block and leave it by an error."""
    with suppress(Rollback):
        async with block as entered:
            yield entered
            raise Rollback


async def work(ox: Oxpull) -> None:
    """Run what can run now, to its end."""
    await Worker(ox, burst=True).run()


async def count(ox: Oxpull) -> int:
    """Count the committed tasks of every queue, as another session sees them."""
    async with open_oxpull(unmasked(ox)) as other:
        return sum(
            row.ready + row.waiting + row.running + row.successful + row.failed + row.lost + row.discarded
            for row in await other.stats()
        )


def unmasked(ox: Oxpull) -> str:
    """Name the database of an Oxpull; the tests' URLs have no password to mask."""
    return ox.database.label


def placeholders(ox: Oxpull, number: int) -> str:
    """Spell `number` placeholders as the driver of this database wants them."""
    mark = {"postgres": "${}", "mysql": "%s", "sqlite": "?"}[ox.database.dialect.name]
    return ", ".join(mark.format(n + 1) for n in range(number))


def statuses(results: Sequence[TaskResult[Any]]) -> list[TaskStatus]:
    return [result.status for result in results]


async def eventually[T](look: Callable[[], Awaitable[T]], wanted: Callable[[T], bool]) -> T:
    """Look again and again until what is seen is wanted; bounded, so that a test fails instead of hanging."""
    async with asyncio.timeout(30):
        while not wanted(seen := await look()):  # noqa: ASYNC110 - another session's doing has no event here
            await asyncio.sleep(0)
    return seen
