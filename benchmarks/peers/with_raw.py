"""The least that a queue in PostgreSQL can do: no product, but the line that none can pass.

Single inserts, one statement each; a claim takes a batch and completes the batch before in the same statement.
"""

import asyncio
from typing import Any, ClassVar

import asyncpg
from driver import NAP, Contestant, main

SCHEMA = """
CREATE TABLE IF NOT EXISTS raw_task (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text NOT NULL, number bigint NOT NULL,
    args jsonb NOT NULL, status smallint NOT NULL DEFAULT 0, unique_key text,
    priority smallint NOT NULL DEFAULT 0, due_at timestamptz NOT NULL DEFAULT now(),
    enqueued_at timestamptz NOT NULL DEFAULT now(), finished_at timestamptz);
CREATE INDEX IF NOT EXISTS raw_ready ON raw_task (priority DESC, id) WHERE status = 0;
CREATE UNIQUE INDEX IF NOT EXISTS raw_unique ON raw_task (unique_key) WHERE status < 2;
TRUNCATE raw_task;
"""
ONE = "INSERT INTO raw_task (kind, number, args) VALUES ($1, $2, $3) RETURNING id"
MANY = "INSERT INTO raw_task (kind, number, args) SELECT $1, n, '[1]' FROM unnest($2::bigint[]) AS n RETURNING id"
UNIQUE = """
INSERT INTO raw_task (kind, number, args, unique_key) VALUES ($1, $2, $3, $4)
    ON CONFLICT (unique_key) WHERE status < 2 DO NOTHING RETURNING id
"""
MOST, POLL = 5000, 0.05
NEXT = """
WITH done AS (UPDATE raw_task SET status = 2, finished_at = now() WHERE id = ANY($1::bigint[]))
UPDATE raw_task SET status = 1 WHERE id = ANY(ARRAY(
    SELECT id FROM raw_task WHERE status = 0 AND due_at <= now()
     ORDER BY priority DESC, id LIMIT $2 FOR UPDATE SKIP LOCKED))
RETURNING id, kind, number
"""


class Raw(Contestant):
    packages = ("asyncpg",)
    lacks: ClassVar[dict[str, str]] = {"idle worker": "it polls at a fixed pace"}

    async def setup(self) -> None:
        connection = await asyncpg.connect(self.url)
        await connection.execute(SCHEMA)
        await connection.close()

    async def open(self) -> None:
        self.pool = await asyncpg.create_pool(self.url, min_size=1, max_size=self.settings["pool"])
        self.connection = await asyncpg.connect(self.url)

    async def close(self) -> None:
        await self.pool.close()
        await self.connection.close()

    async def enqueue(self, number: int) -> None:
        runner = self.pool if self.has_many_callers else self.connection
        await runner.fetchrow(ONE, "nothing", number, "[1]")
        if self.settings["notify"]:
            await self.connection.execute("NOTIFY raw")

    async def enqueue_nap(self, number: int) -> None:
        await self.connection.fetchrow(ONE, "nap", number, "[1]")

    async def enqueue_bulk(self, numbers: range) -> None:
        async with self.connection.transaction():
            for start in range(numbers.start, numbers.stop, 1000):
                part = list(range(start, min(start + 1000, numbers.stop)))
                await self.connection.fetch(MANY, "nothing", part)

    async def enqueue_unique(self, number: int, key: str) -> None:
        await self.connection.fetchrow(UNIQUE, "nothing", number, "[1]", key)

    async def unfinished(self) -> int:
        return int(await self.connection.fetchval("SELECT count(*) FROM raw_task WHERE status < 2"))

    def work(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        connection, self.news = await asyncpg.connect(self.url), asyncio.Event()
        listener = await asyncpg.connect(self.url)
        await listener.add_listener("raw", lambda *_: self.news.set())
        self.done: list[int] = []
        running: set[asyncio.Task[None]] = set()
        while True:
            done, self.done = self.done, []
            room = min(self.settings["batch"], MOST - len(running))
            rows = await connection.fetch(NEXT, done, room) if done or room else []
            for row in rows:
                task = asyncio.Task(self._run(row), loop=asyncio.get_running_loop(), eager_start=True)
                if not task.done():
                    running.add(task)
                    task.add_done_callback(running.discard)
            if not rows and not self.done:
                await self._wait()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(POLL):
                await self.news.wait()
        except TimeoutError:
            return
        self.news.clear()

    async def _run(self, row: Any) -> None:
        self.tally.hit(row[2])
        if row[1] == "nap":
            await asyncio.sleep(NAP)
        self.done.append(row[0])
        self.news.set()


main(Raw)
