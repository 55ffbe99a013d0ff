"""oban on psycopg's pool."""

import asyncio
from typing import ClassVar

from driver import NAP, Contestant, Tally, main
from oban import Oban, job
from oban.schema import install

TALLIES: list[Tally] = []
EXISTS = "SELECT to_regclass('oban_jobs') IS NOT NULL"
UNFINISHED = "SELECT count(*) FROM oban_jobs WHERE state::text NOT IN ('completed', 'discarded', 'cancelled')"


@job(queue="default")
async def nothing(number: int) -> None:
    TALLIES[0].hit(number)


@job(queue="default")
async def nap(number: int) -> None:
    TALLIES[0].hit(number)
    await asyncio.sleep(NAP)


class ObanQueue(Contestant):
    packages = ("oban", "psycopg", "uvloop")
    lacks: ClassVar[dict[str, str]] = {
        "unique, fresh keys": "they are not in the free edition",
        "unique, duplicates": "they are not in the free edition",
    }

    async def setup(self) -> None:
        pool = await Oban.create_pool(self.url, max_size=1)
        async with pool.connection() as connection:
            [exists] = await (await connection.execute(EXISTS)).fetchone()
        if not exists:
            await install(pool)
        async with pool.connection() as connection:
            await connection.execute("TRUNCATE oban_jobs")
        await pool.close()

    async def open(self) -> None:
        self.pool = await Oban.create_pool(self.url, max_size=self.settings["pool"])
        self.oban = Oban(pool=self.pool)

    async def close(self) -> None:
        await self.pool.close()

    async def enqueue(self, number: int) -> None:
        await self.oban.enqueue(nothing.new(number))

    async def enqueue_nap(self, number: int) -> None:
        await self.oban.enqueue(nap.new(number))

    async def enqueue_bulk(self, numbers: range) -> None:
        await self.oban.enqueue_many([nothing.new(number) for number in numbers])

    async def unfinished(self) -> int:
        async with self.pool.connection() as connection:
            return int((await (await connection.execute(UNFINISHED)).fetchone())[0])

    def work(self) -> None:
        import uvloop

        TALLIES.append(self.tally)
        uvloop.run(self._work())

    async def _work(self) -> None:
        pool = await Oban.create_pool(self.url, max_size=self.settings["pool"])
        await Oban(pool=pool, queues={"default": {"limit": self.settings["concurrency"]}}).start()
        await asyncio.Event().wait()


if __name__ == "__main__":
    main(ObanQueue)
