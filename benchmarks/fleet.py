"""Worker processes for a workload, as `oxpull worker` starts them."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from benchmarks.workload import Bench

PATIENCE = 600.0
LOOK = 0.02


@asynccontextmanager
async def workers(bench: Bench, processes: int, concurrency: int) -> AsyncIterator[None]:
    """Run worker processes during the block; it begins when all of them are ready to claim."""
    environment = os.environ | {"OXPULL_DATABASE_URL": bench.url}
    started = [await _start(environment, concurrency) for _ in range(processes)]
    try:
        await until_alive(bench, processes)
        yield
    finally:
        for process in started:
            if process.returncode is None:
                process.terminate()
        await asyncio.gather(*[process.wait() for process in started])


async def until_alive(bench: Bench, processes: int) -> None:
    """Wait until so many workers have entered themselves in the database."""

    async def all_alive() -> bool:
        return sum(worker.is_alive for worker in (await bench.ox.health()).workers) >= processes

    await _until(all_alive, LOOK)


async def until_done(bench: Bench, count: int) -> None:
    """Wait until so many tasks have succeeded."""

    async def all_done() -> bool:
        return sum(queue.successful for queue in await bench.ox.stats()) >= count

    await _until(all_done, LOOK * 5)


async def until_idle(bench: Bench) -> None:
    """Wait until no task is due and none runs; it counts no rows, however many there are."""

    async def is_idle() -> bool:
        health = await bench.ox.health()
        return health.oldest_due_seconds is None and not any(worker.running for worker in health.workers)

    await _until(is_idle, LOOK * 5)


async def _until(condition: Callable[[], Awaitable[bool]], pause: float) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await condition():  # noqa: ASYNC110 - it is another process that makes it true
            await asyncio.sleep(pause)


async def _start(environment: dict[str, str], concurrency: int) -> Process:
    options = (f"--concurrency={concurrency}", "--drain-timeout=0")
    arguments = ("-m", "oxpull_async", "worker", "benchmarks.app:ox", *options)
    return await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env=environment, stdout=DEVNULL, stderr=DEVNULL
    )
