"""What the tests of running locks share: the stored lock, and a task that can be held while it runs."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Unpack

from oxpull_async import Oxpull, TaskResult
from oxpull_async.domain.record import TaskStatus, wire_id
from oxpull_async.runtime.worker import WorkerKeywords
from tests.app.kit import eventually
from tests.fixtures.workers import working

SETTLED = {TaskStatus.SUCCESSFUL, TaskStatus.FAILED, TaskStatus.DISCARDED}


async def lock_of(ox: Oxpull, result: TaskResult[Any]) -> tuple[str | None, int | None, str | None]:
    """Read the running lock that a task was stored with: key, limit, and what a taken lock does."""
    sql = f"SELECT lock_key, lock_limit, lock_conflict FROM oxpull_task WHERE id = '{wire_id(result.id)}'"
    async with ox.transaction() as tx:
        return tuple((await tx.fetch(sql))[0])


async def key_of(ox: Oxpull, result: TaskResult[Any]) -> str | None:
    """Read the key of a task's running lock."""
    return (await lock_of(ox, result))[0]


class Stage:
    """A task function that runs until it is let go, and counts how many run at once."""

    def __init__(self) -> None:
        self.running: list[int] = []
        self.started: list[int] = []
        self.most = 0
        self._gate = asyncio.Event()

    def open(self) -> None:
        """Let all that run, now and later, go."""
        self._gate.set()

    async def play(self, number: int) -> None:
        self.running.append(number)
        self.started.append(number)
        self.most = max(self.most, len(self.running))
        await self._gate.wait()
        await asyncio.sleep(0)
        self.running.remove(number)


@asynccontextmanager
async def playing(ox: Oxpull, stage: Stage, running: int, **options: Unpack[WorkerKeywords]) -> AsyncIterator[None]:
    """Keep a worker for the block, from when so many tasks run."""

    async def count() -> int:
        return len(stage.running)

    async with working(ox, **options):
        await eventually(count, lambda seen: seen == running)
        yield


async def all_settled(results: Sequence[TaskResult[Any]]) -> list[TaskStatus]:
    """Wait until all have ended, and return how."""
    return [await status(result, SETTLED) for result in results]


async def status(result: TaskResult[Any], wanted: set[TaskStatus]) -> TaskStatus:
    """Wait until a task has one of these statuses."""

    async def look() -> TaskStatus:
        await result.refresh()
        return result.status

    return await eventually(look, wanted.__contains__)
