"""chancy on psycopg's pool, with its executor for coroutines."""

import asyncio
from typing import Any

from chancy import Chancy, Job, Queue, Worker
from driver import NAP, Contestant, Tally, main

EXECUTOR = "chancy.executors.asyncex.AsyncExecutor"
TALLIES: list[Tally] = []


async def nothing(*, number: int) -> None:
    TALLIES[0].hit(number)


async def nap(*, number: int) -> None:
    TALLIES[0].hit(number)
    await asyncio.sleep(NAP)


class ChancyQueue(Contestant):
    packages = ("chancy", "psycopg", "uvloop")

    def _made(self) -> Chancy:
        return Chancy(self.url, max_connection_pool_size=self.settings["pool"])

    async def setup(self) -> None:
        async with self._made() as chancy:
            await chancy.migrate()
            async with chancy.pool.connection() as connection:
                await connection.execute("TRUNCATE chancy_jobs, chancy_queues, chancy_workers")

    async def open(self) -> None:
        self.chancy = self._made()
        await self.chancy.__aenter__()

    async def close(self) -> None:
        await self.chancy.__aexit__(None, None, None)

    def _job(self, function: str, number: int, key: str | None = None) -> Any:
        return Job(func=f"__main__.{function}", queue="default", kwargs={"number": number}, unique_key=key)

    async def enqueue(self, number: int) -> None:
        await self.chancy.push(self._job("nothing", number))

    async def enqueue_nap(self, number: int) -> None:
        await self.chancy.push(self._job("nap", number))

    async def enqueue_bulk(self, numbers: range) -> None:
        async for _ in self.chancy.push_many([self._job("nothing", number) for number in numbers]):
            pass

    async def enqueue_unique(self, number: int, key: str) -> None:
        await self.chancy.push(self._job("nothing", number, key))

    async def unfinished(self) -> int:
        async with self.chancy.pool.connection() as connection:
            rows = await connection.execute(
                "SELECT count(*) FROM chancy_jobs WHERE state NOT IN ('succeeded', 'failed')"
            )
            return int((await rows.fetchone())[0])

    def work(self) -> None:
        import uvloop

        TALLIES.append(self.tally)
        uvloop.run(self._work())

    async def _work(self) -> None:
        async with self._made() as chancy:
            queue = Queue("default", concurrency=self.settings["concurrency"], executor=EXECUTOR,
                          polling_interval=self.settings["poll"])  # fmt: skip
            await chancy.declare(queue, upsert=True)
            async with Worker(chancy) as worker:
                await worker.wait_for_shutdown()


if __name__ == "__main__":
    main(ChancyQueue)
