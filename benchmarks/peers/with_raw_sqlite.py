"""The least that a queue in SQLite can do: no product, but the line that none can pass.

A commit for each single insert, with synchronous=FULL; a claim takes a batch and completes the batch before in the same
transaction. One caller goes through aiosqlite; the worker, which waits for nothing else, calls the file itself.
"""

import asyncio
import sqlite3
import time
from typing import Any, ClassVar

import aiosqlite
from driver import Contestant, main

SCHEMA = """
CREATE TABLE IF NOT EXISTS raw_task (
    id INTEGER PRIMARY KEY, number INTEGER NOT NULL, args TEXT NOT NULL, status INTEGER NOT NULL DEFAULT 0,
    unique_key TEXT);
CREATE INDEX IF NOT EXISTS raw_ready ON raw_task (id) WHERE status = 0;
CREATE UNIQUE INDEX IF NOT EXISTS raw_unique ON raw_task (unique_key) WHERE status < 2;
DELETE FROM raw_task;
"""
ONE = "INSERT INTO raw_task (number, args) VALUES (?, '[1]')"
UNIQUE = "INSERT INTO raw_task (number, args, unique_key) VALUES (?, '[1]', ?) ON CONFLICT DO NOTHING"
DONE = "UPDATE raw_task SET status = 2 WHERE id = ?"
CLAIM = """
UPDATE raw_task SET status = 1 WHERE id IN (SELECT id FROM raw_task WHERE status = 0 ORDER BY id LIMIT ?)
RETURNING id, number
"""
PRAGMAS = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"
POLL = 0.01


class RawSqlite(Contestant):
    packages = ("aiosqlite",)
    lacks: ClassVar[dict[str, str]] = {
        "enqueue, 50 callers": "a file has one writer",
        "naps": "its bodies run one after another",
    }

    @property
    def _path(self) -> str:
        return self.url.removeprefix("sqlite:///")

    async def setup(self) -> None:
        connection = sqlite3.connect(self._path)
        connection.executescript(f"{PRAGMAS};{SCHEMA}")
        connection.close()

    async def open(self) -> None:
        self.connection = await aiosqlite.connect(self._path, isolation_level=None)
        await self.connection.executescript(PRAGMAS)

    async def close(self) -> None:
        await self.connection.close()

    async def enqueue(self, number: int) -> None:
        await self.connection.execute(ONE, (number,))

    async def enqueue_bulk(self, numbers: range) -> None:
        await self.connection.execute("BEGIN IMMEDIATE")
        await self.connection.executemany(ONE, [(number,) for number in numbers])
        await self.connection.commit()

    async def enqueue_unique(self, number: int, key: str) -> None:
        await self.connection.execute(UNIQUE, (number, key))

    async def unfinished(self) -> int:
        async with self.connection.execute("SELECT count(*) FROM raw_task WHERE status < 2") as cursor:
            row: Any = await cursor.fetchone()
        return int(row[0])

    def work(self) -> None:
        asyncio.run(self._work())

    async def _work(self) -> None:
        connection = sqlite3.connect(self._path, isolation_level=None, timeout=60)
        connection.executescript(PRAGMAS)
        done: list[tuple[int]] = []
        while True:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(DONE, done)
            rows = connection.execute(CLAIM, (self.settings["batch"],)).fetchall()
            connection.execute("COMMIT")
            for _, number in rows:
                await self._run(number)
            done = [(row[0],) for row in rows]
            if not rows:
                time.sleep(POLL)  # noqa: ASYNC251 - nothing else runs here

    async def _run(self, number: int) -> None:
        self.tally.hit(number)


main(RawSqlite)
