"""Workers of the Django site in the test's own process."""

import asyncio
from collections.abc import Callable
from typing import Unpack

import pytest

from compat_sync.worker.host import DjangoHost, register
from oxpull_async.runtime.worker import Worker, WorkerKeywords
from tests.compat.worker import tasks
from tests.fixtures.waiting import Witness
from tests.fixtures.workers import EVENTS

type Work = Callable[..., Witness]


async def drain(host: DjangoHost, **options: Unpack[WorkerKeywords]) -> Witness:
    """Run what is due now on the running loop, and return the events."""
    worker = Worker(host, **({"burst": True} | options))
    worker.grace = host.setup.timeout_grace
    witness = Witness(worker, *EVENTS)
    await worker.run()
    return witness


@pytest.fixture
def served(site: str) -> str:
    """Name the database alias of a site whose tasks are found by workers; no connection has been seen yet."""
    register()
    tasks.SEEN.clear()
    return site


@pytest.fixture
def work(served: str) -> Work:
    """Run what is due now, by one thread unless told otherwise, and close what the worker opened."""

    def run(**options: Unpack[WorkerKeywords]) -> Witness:
        host = DjangoHost.of("default")

        async def main() -> Witness:
            async with host.ox:
                return await drain(host, **({"threads": 1} | options))

        return asyncio.run(main())

    return run
