"""huey, on SQLite, Redis or PostgreSQL at its own settings; its bodies are plain functions in threads."""

import time
from typing import Any, ClassVar

import huey
from driver import NAP, Contestant, main
from huey.consumer import Consumer


class Huey(Contestant):
    packages = ("huey", "redis", "psycopg")
    lacks: ClassVar[dict[str, str]] = {
        "enqueue, 50 callers": "it has no asynchronous enqueue",
        "unique, fresh keys": "it has no unique tasks",
        "unique, duplicates": "it has no unique tasks",
    }

    def __init__(self, url: str, settings: dict[str, Any]) -> None:
        super().__init__(url, settings)
        match url.partition(":")[0]:
            case "sqlite":
                self.huey = huey.SqliteHuey(filename=url.removeprefix("sqlite:///"))
            case "redis":
                self.huey = huey.RedisHuey(url=url)
            case _:
                self.huey = huey.PostgresHuey(dsn=url)

        @self.huey.task()
        def nothing(number: int) -> None:
            self.tally.hit(number)

        @self.huey.task()
        def nap(number: int) -> None:
            self.tally.hit(number)
            time.sleep(NAP)

        self.nothing, self.nap = nothing, nap

    async def setup(self) -> None:
        self.huey.flush()

    async def enqueue(self, number: int) -> None:
        self.nothing(number)

    async def enqueue_nap(self, number: int) -> None:
        self.nap(number)

    async def enqueue_bulk(self, numbers: range) -> None:
        for number in numbers:
            self.nothing(number)

    async def unfinished(self) -> int:
        return len(self.huey)

    def work(self) -> None:
        delay = {"initial_delay": self.settings["poll"], "max_delay": self.settings["poll"], "backoff": 1.0}
        Consumer(self.huey, workers=self.settings["concurrency"], periodic=False, **delay).run()


main(Huey)
