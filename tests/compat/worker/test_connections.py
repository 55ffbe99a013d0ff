"""Connections of Django's around tasks: none that is dead, old or in a transaction is passed on, and none leaks."""

from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connections
from django.tasks import TaskResultStatus
from django.test import override_settings

from compat_sync.django_types import AnyResult, AnyTask
from compat_sync.worker.host import DjangoHost
from tests.compat.worker import tasks
from tests.compat.worker.conftest import Work, drain
from tests.compat.worker.sessions import kill_others, none_is_left

CLEAN = [False, True]
"""In no atomic block, and autocommit on."""


@pytest.fixture
def lasting(served: str) -> Iterator[str]:
    """Let connections stay open for ever, and give their alias."""
    connections.databases[served]["CONN_MAX_AGE"] = None
    yield served
    connections.databases[served]["CONN_MAX_AGE"] = 0


def value(result: AnyResult) -> object:
    """Read what a task returned."""
    result.refresh()
    assert result.status == TaskResultStatus.SUCCESSFUL, result.errors
    return result.return_value


def test_a_connection_stays_with_its_thread_as_long_as_conn_max_age_says(lasting: str, work: Work) -> None:
    tasks.query.enqueue()
    tasks.query.enqueue()
    work()
    first, second = tasks.SEEN
    assert first is second


def test_a_connection_is_closed_after_the_task_when_conn_max_age_is_0(served: str, work: Work) -> None:
    tasks.query.enqueue()
    tasks.query.enqueue()
    work()
    first, second = tasks.SEEN
    assert first is not second
    none_is_left(served)


@pytest.mark.parametrize("leave", [tasks.leave_atomic, tasks.leave_autocommit_off, tasks.leave_begun])
def test_what_a_task_leaves_open_the_next_one_does_not_inherit(lasting: str, work: Work, leave: AnyTask) -> None:
    leave.enqueue()
    result = tasks.query.enqueue()
    work()
    assert value(result) == CLEAN
    none_is_left(lasting)


def test_a_transaction_begun_by_sql_is_rolled_back(lasting: str, work: Work) -> None:
    tasks.leave_begun.enqueue()
    counted = tasks.count_workers.enqueue()
    work()
    assert value(counted) == 1


def test_atomic_in_a_task_is_rolled_back_when_it_raises(lasting: str, work: Work) -> None:
    tasks.in_atomic.enqueue("no")
    counted = tasks.count_workers.enqueue()
    work()
    assert value(counted) == 1


@pytest.mark.parametrize("kind", ["postgres", "mysql"])
def test_a_connection_that_the_server_ended_is_not_used_again(lasting: str, kind: str) -> None:
    host = DjangoHost.of("default")
    before, after = tasks.query.enqueue(), tasks.query.using(queue_name="after").enqueue()

    async def main() -> None:
        async with host.ox:
            await drain(host, threads=1, queues=["default"])
        await sync_to_async(kill_others)(lasting)
        async with host.ox:
            await drain(host, threads=1, queues=["after"])

    async_to_sync(main)()
    assert (value(before), value(after)) == (CLEAN, CLEAN)
    assert tasks.SEEN[0] is not tasks.SEEN[1]


def test_connections_that_may_last_are_closed_when_their_threads_end(lasting: str, work: Work) -> None:
    for _ in range(6):
        tasks.query.enqueue()
    work(threads=3)
    assert len(tasks.SEEN) == 6
    none_is_left(lasting)


def test_a_coroutine_has_connections_of_its_own_and_they_are_closed_at_its_end(lasting: str, work: Work) -> None:
    results = [tasks.aquery.enqueue() for _ in range(4)]
    work()
    assert [value(result) for result in results] == [CLEAN] * 4
    assert len({id(connection) for connection in tasks.SEEN}) == 4
    none_is_left(lasting)


def test_a_transaction_left_by_a_coroutine_does_not_reach_the_next(lasting: str, work: Work) -> None:
    tasks.leave_atomic_by_thread.enqueue()
    result = tasks.aquery.enqueue()
    work(concurrency=1)
    assert value(result) == CLEAN
    none_is_left(lasting)


def test_queries_are_forgotten_between_tasks_in_debug(lasting: str, work: Work) -> None:
    with override_settings(DEBUG=True):
        tasks.query.enqueue()
        counts = [tasks.count_queries.enqueue() for _ in range(2)]
        work()
    assert [value(count) for count in counts] == [0, 0]
