"""The notifier: each worker of a process hears of every change, where the database tells by itself."""

import asyncio
from collections import Counter

import pytest

from oxpull_async import Oxpull
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.notifier import Notifier
from oxpull_async.store.enqueue import enqueue
from tests.fixtures import make
from tests.fixtures.waiting import until

pytestmark = pytest.mark.asyncio


async def test_two_workers_on_one_file_are_both_woken_by_one_commit(sqlite_url: str) -> None:
    woken: Counter[int] = Counter()

    async def both_have(count: int) -> bool:
        return min(woken[0], woken[1]) >= count

    async with Oxpull(sqlite_url) as ox:
        await ox.migrate()
        notifiers = [Notifier(ox.database, lambda _, who=who: woken.update([who]), Hub()) for who in range(2)]  # type: ignore[misc]
        tasks = [asyncio.create_task(notifier.run()) for notifier in notifiers]
        await until(lambda: both_have(1))
        for number in range(2, 12):
            async with ox.database.connection() as conn:
                await enqueue(conn, make.new_task())
            await until(lambda number=number: both_have(number), what=f"{woken} after {number - 1} commits")  # type: ignore[misc]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
