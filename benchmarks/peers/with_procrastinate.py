"""procrastinate, on psycopg's asynchronous pool."""

import asyncio
from contextlib import suppress

import procrastinate
from driver import NAP, Contestant, main
from procrastinate.exceptions import AlreadyEnqueued


class Procrastinate(Contestant):
    packages = ("procrastinate", "psycopg", "uvloop")

    def _app(self) -> procrastinate.App:
        connector = procrastinate.PsycopgConnector(conninfo=self.url, min_size=1, max_size=self.settings["pool"])
        app = procrastinate.App(connector=connector)

        @app.task(name="nothing")
        async def nothing(number: int) -> None:
            self.tally.hit(number)

        @app.task(name="nap")
        async def nap(number: int) -> None:
            self.tally.hit(number)
            await asyncio.sleep(NAP)

        self.nothing, self.nap = nothing, nap
        return app

    async def setup(self) -> None:
        async with self._app().open_async() as app:
            if not await app.check_connection_async():
                await app.schema_manager.apply_schema_async()
            await app.connector.execute_query_async("TRUNCATE procrastinate_jobs CASCADE")

    async def open(self) -> None:
        self.app = self._app()
        await self.app.open_async()

    async def close(self) -> None:
        await self.app.close_async()

    async def enqueue(self, number: int) -> None:
        await self.nothing.defer_async(number=number)

    async def enqueue_nap(self, number: int) -> None:
        await self.nap.defer_async(number=number)

    async def enqueue_bulk(self, numbers: range) -> None:
        await self.nothing.batch_defer_async(*[{"number": number} for number in numbers])

    async def enqueue_unique(self, number: int, key: str) -> None:
        with suppress(AlreadyEnqueued):
            await self.nothing.configure(queueing_lock=key).defer_async(number=number)

    async def unfinished(self) -> int:
        query = "SELECT count(*) AS n FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
        return int((await self.app.connector.execute_query_one_async(query))["n"])

    def work(self) -> None:
        import uvloop

        uvloop.run(self._work())

    async def _work(self) -> None:
        async with self._app().open_async() as app:
            await app.run_worker_async(concurrency=self.settings["concurrency"], wait=True)


main(Procrastinate)
