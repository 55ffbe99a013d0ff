"""SAQ on Redis."""

import asyncio
from typing import Any

from driver import NAP, Contestant, main
from saq import Queue, Worker


class Saq(Contestant):
    packages = ("saq", "redis", "hiredis", "uvloop")

    async def setup(self) -> None:
        queue = Queue.from_url(self.url)
        await queue.redis.flushdb()
        await queue.disconnect()

    async def open(self) -> None:
        self.queue = Queue.from_url(self.url)

    async def close(self) -> None:
        await self.queue.disconnect()

    async def enqueue(self, number: int) -> None:
        await self.queue.enqueue("nothing", number=number)

    async def enqueue_nap(self, number: int) -> None:
        await self.queue.enqueue("nap", number=number)

    async def enqueue_bulk(self, numbers: range) -> None:
        for start in range(numbers.start, numbers.stop, 200):
            part = range(start, min(start + 200, numbers.stop))
            await asyncio.gather(*[self.enqueue(number) for number in part])

    async def enqueue_unique(self, number: int, key: str) -> None:
        await self.queue.enqueue("nothing", number=number, key=key)

    async def unfinished(self) -> int:
        return await self.queue.count("incomplete")

    def work(self) -> None:
        import uvloop

        uvloop.run(self._work())

    async def _work(self) -> None:
        async def nothing(_: Any, *, number: int) -> None:
            self.tally.hit(number)

        async def nap(_: Any, *, number: int) -> None:
            self.tally.hit(number)
            await asyncio.sleep(NAP)

        functions = [("nothing", nothing), ("nap", nap)]
        await Worker(Queue.from_url(self.url), functions, concurrency=self.settings["concurrency"]).start()


main(Saq)
