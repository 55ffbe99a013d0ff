"""The least that a queue in MariaDB or MySQL can do with aiomysql: no product, but the line that none can pass.

Single inserts, one commit each; a claim locks a batch past locked rows, marks it, and completes the batch before in the
same transaction.
"""

import asyncio
from typing import Any, ClassVar
from urllib.parse import urlsplit

import aiomysql
from driver import NAP, Contestant, main

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS raw_task (
        id bigint AUTO_INCREMENT PRIMARY KEY, kind varchar(20) NOT NULL, number bigint NOT NULL, args text NOT NULL,
        status smallint NOT NULL DEFAULT 0, unique_key varchar(64) UNIQUE, KEY raw_ready (status, id))""",
    "DELETE FROM raw_task",
)
ONE = "INSERT INTO raw_task (kind, number, args) VALUES (%s, %s, '[1]')"
UNIQUE = """
INSERT INTO raw_task (kind, number, args, unique_key) VALUES ('nothing', %s, '[1]', %s)
    ON DUPLICATE KEY UPDATE unique_key = unique_key
"""
FIND = "SELECT id, kind, number FROM raw_task WHERE status = 0 ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED"
MOVE = "UPDATE raw_task SET status = {status} WHERE id IN ({ids})"
MOST, POLL = 5000, 0.01


class RawMariadb(Contestant):
    packages = ("aiomysql",)
    lacks: ClassVar[dict[str, str]] = {"idle worker": "it polls at a fixed pace"}

    async def _connect(self) -> Any:
        parts = urlsplit(self.url)
        connection = await aiomysql.connect(
            host=parts.hostname or "127.0.0.1", port=parts.port or 3306, user=parts.username or "root",
            password=parts.password or "", db=parts.path.lstrip("/"), autocommit=True,
        )  # fmt: skip
        cursor = await connection.cursor()
        await cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        return cursor

    async def setup(self) -> None:
        cursor = await self._connect()
        for statement in SCHEMA:
            await cursor.execute(statement)
        cursor.connection.close()

    async def open(self) -> None:
        self.cursors = asyncio.Queue[Any]()
        for _ in range(self.settings["pool"]):
            self.cursors.put_nowait(await self._connect())

    async def close(self) -> None:
        while not self.cursors.empty():
            self.cursors.get_nowait().connection.close()

    async def _execute(self, statement: str, *values: object) -> None:
        cursor = await self.cursors.get()
        await cursor.execute(statement, values)
        self.cursors.put_nowait(cursor)

    async def enqueue(self, number: int) -> None:
        await self._execute(ONE, "nothing", number)

    async def enqueue_nap(self, number: int) -> None:
        await self._execute(ONE, "nap", number)

    async def enqueue_bulk(self, numbers: range) -> None:
        cursor = await self.cursors.get()
        await cursor.execute("BEGIN")
        await cursor.executemany(ONE, [("nothing", number) for number in numbers])
        await cursor.execute("COMMIT")
        self.cursors.put_nowait(cursor)

    async def enqueue_unique(self, number: int, key: str) -> None:
        await self._execute(UNIQUE, number, key)

    async def unfinished(self) -> int:
        cursor = await self.cursors.get()
        await cursor.execute("SELECT count(*) FROM raw_task WHERE status IN (0, 1)")
        [count] = await cursor.fetchone()
        self.cursors.put_nowait(cursor)
        return int(count)

    def work(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        cursor, self.news, self.done = await self._connect(), asyncio.Event(), []
        running: set[asyncio.Task[None]] = set()
        while True:
            done, self.done = self.done, []
            rows = await self._next(cursor, done, min(self.settings["batch"], MOST - len(running)))
            for row in rows:
                task = asyncio.Task(self._run(row), loop=asyncio.get_running_loop(), eager_start=True)
                if not task.done():
                    running.add(task)
                    task.add_done_callback(running.discard)
            if not rows and not self.done:
                await asyncio.sleep(POLL)

    async def _next(self, cursor: Any, done: list[int], room: int) -> list[Any]:
        await cursor.execute("BEGIN")
        if done:
            await cursor.execute(MOVE.format(status=2, ids=",".join(map(str, done))))
        await cursor.execute(FIND, (room,))
        rows: list[Any] = await cursor.fetchall()
        if rows:
            await cursor.execute(MOVE.format(status=1, ids=",".join(str(row[0]) for row in rows)))
        await cursor.execute("COMMIT")
        return rows

    async def _run(self, row: Any) -> None:
        self.tally.hit(row[2])
        if row[1] == "nap":
            await asyncio.sleep(NAP)
        self.done.append(row[0])


main(RawMariadb)
