"""pgqueuer, on asyncpg: one connection, batches of `batch` jobs."""

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
from driver import NAP, Contestant, main
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries


class Pgqueuer(Contestant):
    packages = ("pgqueuer", "asyncpg", "uvloop")

    async def setup(self) -> None:
        connection = await asyncpg.connect(self.url)
        queries = Queries(AsyncpgDriver(connection))
        if not await queries.has_table("pgqueuer"):
            await queries.install()
        await connection.execute("TRUNCATE pgqueuer, pgqueuer_log, pgqueuer_statistics")
        await connection.close()

    async def open(self) -> None:
        self.pool = await asyncpg.create_pool(self.url, min_size=1, max_size=self.settings["pool"])
        self.queries = Queries(AsyncpgPoolDriver(self.pool))
        self.connection = await asyncpg.connect(self.url)
        self.alone = Queries(AsyncpgDriver(self.connection))

    async def close(self) -> None:
        await self.pool.close()
        await self.connection.close()

    async def enqueue(self, number: int) -> None:
        queries = self.queries if self.has_many_callers else self.alone
        await queries.enqueue("nothing", str(number).encode())

    async def enqueue_nap(self, number: int) -> None:
        await self.alone.enqueue("nap", str(number).encode())

    async def enqueue_bulk(self, numbers: range) -> None:
        count = len(numbers)
        await self.alone.enqueue(["nothing"] * count, [str(number).encode() for number in numbers], [0] * count)

    async def enqueue_unique(self, number: int, key: str) -> None:
        await self.alone.enqueue("nothing", str(number).encode(), dedupe_key=key, on_conflict="skip")

    async def unfinished(self) -> int:
        return int(await self.connection.fetchval("SELECT count(*) FROM pgqueuer"))

    def work(self) -> None:
        import uvloop

        uvloop.run(self._work())

    async def _work(self) -> None:
        queue: Any = PgQueuer(AsyncpgDriver(await asyncpg.connect(self.url)))

        @queue.entrypoint("nothing")
        async def nothing(job: Job) -> None:
            self.tally.hit(int(job.payload or b""))

        @queue.entrypoint("nap")
        async def nap(job: Job) -> None:
            self.tally.hit(int(job.payload or b""))
            await asyncio.sleep(NAP)

        await queue.run(batch_size=self.settings["batch"], dequeue_timeout=timedelta(seconds=30))


main(Pgqueuer)
