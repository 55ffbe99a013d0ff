"""Where `aenqueue` and its kin work: natively with nobody waiting above, else on the waiting caller's connection."""

import asyncio
import threading
import unittest
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import ThreadSensitiveContext, async_to_sync, sync_to_async
from django import test as django_test
from django.db import connections, transaction
from django.db.backends.signals import connection_created
from django.test import RequestFactory

from compat_sync.caller import has_sync_caller
from compat_sync.models import OxpullTask
from compat_sync.results import TaskResult
from tests.compat.backend_suite import tasks
from tests.compat.promises.kit import Regret, counts
from tests.compat.worker.sessions import others
from tests.fixtures.gated import gated


@pytest.fixture
def connected(own_site: str) -> Iterator[list[Any]]:
    """Collect the connections that Django opens, on whatever thread; none is open at the start."""
    connections[own_site].close()
    made: list[Any] = []

    def note(connection: Any, **_: Any) -> None:
        made.append(connection)

    connection_created.connect(note)
    yield made
    connection_created.disconnect(note)


def of_the_driver(thread: threading.Thread) -> bool:
    """Whether a thread is the one that aiosqlite keeps for each connection."""
    return "_connection_worker_thread" in thread.name


async def all_four(number: int) -> TaskResult:
    """Use each of the backend's coroutines."""
    backend = tasks.once.get_backend()
    first, second = await tasks.once.aenqueue(number), await tasks.once.aenqueue(number)
    assert (second.id, second.created) == (first.id, False)
    (third,) = await backend.aenqueue_many(tasks.nothing, [([number], {})])  # type: ignore[attr-defined] # ours
    assert (await backend.aget_result(third.id)).id == third.id
    await first.arefresh()
    assert (await tasks.once.aget_result(first.id)) == first
    return first


async def view(_request: Any) -> tuple[list[threading.Thread], int]:
    """Enqueue in a plain async view, and tell which threads came by it."""
    before = set(threading.enumerate())
    await all_four(1)
    new = set(threading.enumerate()) - before
    return [thread for thread in new if not of_the_driver(thread)], len(new)


def test_a_plain_async_view_goes_native_with_no_thread_and_no_connection_of_django(
    own_site: str, connected: list[Any]
) -> None:
    strangers, _ = asyncio.run(view(RequestFactory().get("/")))
    assert (strangers, connected) == ([], [])
    assert counts(own_site) == (2, 1)


async def many_views(number: int) -> set[int]:
    """Serve many requests at once; returns how many threads there were beside the drivers' own."""
    before = len(threading.enumerate())
    seen: set[int] = set()

    async def one(at: int) -> None:
        await tasks.nothing.aenqueue(at)
        seen.add(len([thread for thread in threading.enumerate() if not of_the_driver(thread)]) - before)

    async with asyncio.TaskGroup() as group:
        for at in range(number):
            group.create_task(one(at))
    return seen


def test_a_hundred_async_views_at_once_take_no_thread(own_site: str, connected: list[Any]) -> None:
    assert max(asyncio.run(many_views(100))) <= 0
    assert connected == []
    assert counts(own_site)[0] == 100


def test_A16_many_async_views_at_once_are_written_together(own_site: str) -> None:
    async def request() -> list[int]:
        async with gated(tasks.nothing.get_backend().ox) as gate:  # type: ignore[attr-defined] # ours
            views = asyncio.gather(*[tasks.nothing.aenqueue(at) for at in range(30)])
            await gate.reached()
            gate.open()
            assert [result.args for result in await views] == [[at] for at in range(30)]
            return gate.sent

    assert asyncio.run(request()) == [1, 29]
    assert counts(own_site)[0] == 30


def test_inside_a_context_for_sensitive_work_a_coroutine_still_goes_native(own_site: str, connected: list[Any]) -> None:
    """Django's ASGI handler opens such a context around each request."""

    async def request() -> None:
        async with ThreadSensitiveContext():
            assert not has_sync_caller()
            await all_four(1)

    asyncio.run(request())
    assert connected == []
    assert counts(own_site) == (2, 1)


def test_a_transaction_that_a_plain_async_view_opens_by_hand_is_not_joined(own_site: str) -> None:
    """It is on a thread of its own, and nobody waits there."""

    async def request() -> None:
        block = transaction.atomic(using=own_site)
        await sync_to_async(block.__enter__)()
        await tasks.nothing.aenqueue(1)
        await sync_to_async(block.__exit__)(Regret, Regret(), None)
        await sync_to_async(connections[own_site].__class__.close)(await sync_to_async(lambda: connections[own_site])())

    asyncio.run(request())
    assert counts(own_site)[0] == 1


def test_below_a_sync_caller_all_four_join_its_transaction(own_site: str) -> None:
    with transaction.atomic(using=own_site):
        async_to_sync(all_four)(1)
        assert counts(own_site) == (2, 1)
        transaction.set_rollback(True, using=own_site)
    assert counts(own_site) == (0, 0)


def test_below_a_sync_caller_no_native_connection_is_opened(own_site: str) -> None:
    opened = others(own_site)

    async def request() -> None:
        await all_four(1)
        assert await sync_to_async(others)(own_site) == opened

    async_to_sync(request)()
    assert counts(own_site) == (2, 1)


def test_a_sync_view_under_a_running_loop_has_its_own_transaction_joined(own_site: str) -> None:
    """As ASGI serves it: the view is on a thread, and its coroutines go back to the loop."""

    def view() -> None:
        with transaction.atomic(using=own_site):
            async_to_sync(all_four)(1)
            assert counts(own_site) == (2, 1)
            transaction.set_rollback(True, using=own_site)
        connections[own_site].close()

    async def request() -> None:
        await sync_to_async(view)()

    asyncio.run(request())
    assert counts(own_site) == (0, 0)


def test_tasks_of_a_loop_below_a_sync_caller_join_its_transaction_too(own_site: str) -> None:
    async def together() -> list[TaskResult]:
        return await asyncio.gather(*(tasks.once.aenqueue(at % 3) for at in range(9)))

    with transaction.atomic(using=own_site):
        results = async_to_sync(together)()
        assert len({result.id for result in results}) == 3
        transaction.set_rollback(True, using=own_site)
    assert counts(own_site) == (0, 0)


def test_a_sync_call_in_a_coroutine_below_a_sync_caller_is_in_the_same_transaction(own_site: str) -> None:
    async def mixed() -> None:
        first = await tasks.once.aenqueue(1)
        second = await sync_to_async(tasks.once.enqueue)(1)
        third = await sync_to_async(async_to_sync(tasks.once.aenqueue))(1)
        assert first.id == second.id == third.id

    with transaction.atomic(using=own_site):
        async_to_sync(mixed)()
        transaction.set_rollback(True, using=own_site)
    assert counts(own_site) == (0, 0)


def test_a_task_that_outlives_the_sync_caller_goes_native(own_site: str) -> None:
    """A sync view below a running loop starts it and returns; then nobody waits for it."""
    started: list[asyncio.Task[TaskResult]] = []

    async def request() -> tuple[TaskResult, bool]:
        go = asyncio.Event()

        async def later() -> TaskResult:
            await go.wait()
            assert not has_sync_caller()
            return await tasks.once.aenqueue(1)

        async def start() -> bool:
            started.append(asyncio.create_task(later()))
            return has_sync_caller()

        waited = await sync_to_async(async_to_sync(start))()
        go.set()
        async with asyncio.timeout(20):
            return await started[0], waited

    result, waited = asyncio.run(request())
    assert waited
    assert result.created
    assert counts(own_site) == (1, 1)


def test_a_task_that_is_awaited_while_the_sync_caller_waits_joins_its_transaction(own_site: str) -> None:
    async def start() -> TaskResult:
        return await asyncio.create_task(tasks.once.aenqueue(1))

    with transaction.atomic(using=own_site):
        assert async_to_sync(start)().created
        transaction.set_rollback(True, using=own_site)
    assert counts(own_site) == (0, 0)


def test_an_error_below_a_sync_caller_is_the_enqueue_s_own(own_site: str) -> None:
    with transaction.atomic(using=own_site):
        with pytest.raises(TypeError):
            async_to_sync(tasks.nothing.aenqueue)(object())
        assert async_to_sync(tasks.nothing.aenqueue)(1).created


def test_in_a_running_loop_the_sync_calls_are_refused(own_site: str) -> None:
    async def wrong() -> None:
        tasks.nothing.enqueue(1)

    with pytest.raises(Exception, match="async"):
        asyncio.run(wrong())
    assert counts(own_site) == (0, 0)


def case(alias: str, body: Callable[[Any], Awaitable[None]]) -> unittest.TestResult:
    """Run one async test method of a TestCase of Django's."""

    class Case(django_test.TestCase):
        databases = {alias}  # noqa: RUF012 - Django's own way

        async def test(self) -> None:
            await body(self)

    result = unittest.TestResult()
    run_class(Case, result)
    return result


def run_class(kind: type[django_test.TestCase], result: unittest.TestResult) -> None:
    kind.setUpClass()
    try:
        kind("test")(result)
    finally:
        kind.tearDownClass()
        kind.doClassCleanups()


def test_an_async_test_method_works_in_the_transaction_of_its_test_case(own_site: str) -> None:
    async def body(_test: django_test.TestCase) -> None:
        result = await all_four(1)
        found = await OxpullTask.objects.using(own_site).aget(pk=result.id)
        assert str(found.pk) == result.id
        assert await OxpullTask.objects.using(own_site).acount() == 2

    result = case(own_site, body)
    assert (result.errors, result.failures, result.testsRun) == ([], [], 1)
    assert counts(own_site) == (0, 0)
