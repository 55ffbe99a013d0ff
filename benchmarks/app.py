"""What the benchmarks' workers run."""

import asyncio

from oxpull_async import Oxpull

ox = Oxpull()


@ox.task
async def nothing(number: int) -> None:
    pass


@ox.task
async def nap(number: int) -> None:
    await asyncio.sleep(0.1)


@ox.task
async def hold(number: int) -> None:
    await asyncio.sleep(3600)
