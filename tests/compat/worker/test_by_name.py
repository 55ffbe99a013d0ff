"""Tasks of Django and of plain asyncio in one database: each is run by either's worker."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from compat_sync.worker.host import DjangoHost, find_task
from oxpull_async import Oxpull, TaskStatus
from tests.compat import shop
from tests.compat.conftest import Kind
from tests.compat.worker import tasks
from tests.compat.worker.conftest import Work
from tests.compat.worker.sessions import none_is_left
from tests.fixtures import workers

CORE = "tests.compat.worker.core_tasks"


@pytest.fixture
def url(url_of: Callable[[Kind], str], kind: Kind, served: str) -> str:
    """Name the site's database as plain asyncio does."""
    return url_of(kind)


async def enqueue(url: str, path: str, *args: Any) -> str:
    """Store a call by the core, by the task's name."""
    async with Oxpull(url) as ox:
        return (await ox.enqueue(path, *args)).id


async def read(url: str, id_: str) -> Any:
    """Read a stored task by the core."""
    async with Oxpull(url) as ox:
        return await ox.read(id_)


def test_a_django_worker_runs_what_the_core_enqueued_of_both_kinds(url: str, work: Work) -> None:
    core, orm, theirs = (
        asyncio.run(enqueue(url, path, *args))
        for path, args in ((f"{CORE}.double", (21,)), (f"{CORE}.vendor", ()), (shop.send_invoice.module_path, (5,)))
    )
    work(imports=["tests"])
    values = [asyncio.run(read(url, id_)).return_value for id_ in (core, orm, theirs)]
    assert values[0] == 42
    assert values[1] == [tasks.here().vendor, 1]
    assert values[2] == "invoice 5"


def test_a_plain_worker_runs_what_django_enqueued(url: str, served: str) -> None:
    result: Any = tasks.tell.enqueue()
    query = tasks.query.enqueue()

    async def main() -> None:
        async with Oxpull(url) as ox:
            await workers.drain(ox, threads=1)

    asyncio.run(main())
    result.refresh()
    query.refresh()
    assert (result.return_value["id"], result.return_value["status"]) == (result.id, "RUNNING")
    assert query.return_value == [False, True]
    none_is_left(served)


@pytest.mark.parametrize("path", [f"{CORE}.no_task", f"{CORE}.missing", "not_there.at_all", "json.dumps"])
def test_a_path_that_names_no_task_is_left_alone(url: str, work: Work, path: str) -> None:
    id_ = asyncio.run(enqueue(url, path))
    work(imports=["tests"])
    record = asyncio.run(read(url, id_))
    assert (record.status, record.attempts, record.errors) == (TaskStatus.READY, 0, ())


def test_a_plain_worker_does_not_run_the_tasks_of_another_oxpull(url: str) -> None:
    import tests.compat.worker.core_tasks  # noqa: F401

    with_django = find_task(DjangoHost.of("default"), f"{CORE}.double")
    plain = find_task(Oxpull(url), f"{CORE}.double")
    assert (with_django is not None, plain) == (True, None)
