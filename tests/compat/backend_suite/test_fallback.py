"""An entry of DATABASES that no native driver can express: coroutines use Django's connection in a few threads."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connections, transaction
from django.db.backends.signals import connection_created

from compat_sync.native import may_go_native, unexpressible
from compat_sync.threads import MOST_THREADS
from tests.cli.support import until
from tests.compat.backend_suite import tasks
from tests.compat.promises.kit import counts
from tests.compat.worker.sessions import others


class Connections:
    """How many connections of Django's are open at once, at most, and on which threads."""

    def __init__(self) -> None:
        self.made: list[Any] = []
        self.threads: set[str] = set()

    def note(self, connection: Any, **_: Any) -> None:
        """Note one that is opened."""
        self.made.append(connection)
        self.threads.add(threading.current_thread().name)


@pytest.fixture
def seen(fallback: str) -> Iterator[Connections]:
    """Watch Django's connections; none is open at the start."""
    connections[fallback].close()
    watcher = Connections()
    connection_created.connect(watcher.note)
    yield watcher
    connection_created.disconnect(watcher.note)


async def a_hundred() -> tuple[int, int]:
    """Use the queue a hundred times at once; returns the most threads there were, and the different tasks."""
    most: set[int] = set()

    async def one(at: int) -> str:
        result = await tasks.once.aenqueue(at % 50)
        most.add(len([thread for thread in threading.enumerate() if thread.name.startswith("compat_sync")]))
        await result.arefresh()
        return result.id

    ids = await asyncio.gather(*map(one, range(100)))
    return max(most), len(set(ids))


def test_a_hundred_calls_at_once_take_ten_threads_at_most_and_close_their_connections(
    fallback: str, seen: Connections
) -> None:
    assert not may_go_native(fallback)
    assert unexpressible(fallback)
    threads, different = asyncio.run(a_hundred())
    assert 1 <= threads <= MOST_THREADS == 10
    assert different == 50
    assert {name.rpartition("_")[0] for name in seen.threads} == {"compat_sync"}
    assert [connection for connection in seen.made if connection.connection is not None] == []
    assert counts(fallback) == (50, 50)
    until(lambda: not others(fallback), "the end of all other sessions")


def test_a_sync_caller_s_transaction_is_joined_all_the_same(fallback: str) -> None:
    with transaction.atomic(using=fallback):
        async_to_sync(tasks.once.aenqueue)(1)
        transaction.set_rollback(True, using=fallback)
    assert counts(fallback) == (0, 0)


def test_bulk_and_results_work_in_the_same_threads(fallback: str, seen: Connections) -> None:
    async def view() -> list[Any]:
        backend: Any = tasks.once.get_backend()
        results = await backend.aenqueue_many(tasks.once, [([1], {}), ([1], {}), ([2], {})])
        return [(await backend.aget_result(result.id)).id for result in results]

    first, second, third = asyncio.run(view())
    assert (first == second, first != third) == (True, True)
    assert {name.rpartition("_")[0] for name in seen.threads} == {"compat_sync"}


def test_an_error_in_a_thread_arrives_as_it_is(fallback: str) -> None:
    async def view() -> None:
        await tasks.nothing.aenqueue(object())

    with pytest.raises(TypeError):
        asyncio.run(view())
    assert counts(fallback) == (0, 0)
