"""oxpull-async at its default settings."""

import asyncio
from typing import Any

from driver import NAP, Contestant, main

from oxpull_async import Oxpull, Worker

TABLES = ("oxpull_task", "oxpull_unique", "oxpull_queue", "oxpull_worker")


class OxpullAsync(Contestant):
    packages = ("oxpull-async", "asyncpg", "aiomysql", "aiosqlite", "msgspec")

    def _opened(self) -> Oxpull:
        ox = Oxpull(self.url)

        @ox.task
        async def nothing(number: int) -> None:
            self.tally.hit(number)

        @ox.task
        async def nap(number: int) -> None:
            self.tally.hit(number)
            await asyncio.sleep(NAP)

        self.nothing, self.nap, self.unique = nothing, nap, nothing.using(unique=True)
        return ox

    async def setup(self) -> None:
        async with Oxpull(self.url) as ox:
            await ox.migrate()
            async with ox.transaction() as tx:
                for table in TABLES:
                    await tx.execute(f"DELETE FROM {table}")

    async def open(self) -> None:
        self.ox = self._opened()

    async def close(self) -> None:
        await self.ox.close()

    async def enqueue(self, number: int) -> None:
        await self.nothing.enqueue(number)

    async def enqueue_nap(self, number: int) -> None:
        await self.nap.enqueue(number)

    async def enqueue_bulk(self, numbers: range) -> None:
        await self.ox.enqueue_many([self.nothing.call(number) for number in numbers])

    async def enqueue_unique(self, number: int, key: str) -> None:
        await self.unique.enqueue(0 if key == "hot" else number)

    async def unfinished(self) -> int:
        async with self.ox.transaction() as tx:
            [[count]] = await tx.fetch("SELECT count(*) FROM oxpull_task WHERE leased_by IS NOT NULL")
        return int(count)

    def work(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        ox: Any = self._opened()
        await Worker(ox, concurrency=self.settings["concurrency"]).run()


main(OxpullAsync)
