"""What was enqueued in a block, and what is said when it was something else."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connections, transaction
from django.tasks import task_backends

from compat_sync.backend import OxpullBackend
from compat_sync.exceptions import AlreadyEnqueued, UsageError
from compat_sync.results import TaskResult
from compat_sync.testing import (
    assert_deduplicated,
    assert_enqueued,
    assert_not_enqueued,
    captured_tasks,
    clear_tasks,
    run_tasks,
)
from compat_sync.watching import WATCHERS
from tests.compat import shop
from tests.compat.testing import tasks


def test_what_was_enqueued_in_the_block_is_listed_in_order(place: str) -> None:
    shop.send_invoice.enqueue(0)
    with captured_tasks() as captured:
        first, second = shop.send_invoice.enqueue(1), shop.charge.enqueue(2)
        assert list(captured) == [first, second]
    shop.send_invoice.enqueue(3)
    assert [result.id for result in captured] == [first.id, second.id]
    assert captured[-1].args == [2]


def test_it_is_told_by_its_task_its_arguments_and_its_queue(place: str) -> None:
    with captured_tasks():
        result = shop.send_invoice.using(queue_name="mail").enqueue(42, copy=True)
        assert assert_enqueued(shop.send_invoice, args=(42,), kwargs={"copy": True}, queue_name="mail", times=1) == [
            result
        ]
        assert_enqueued("tests.compat.shop.send_invoice")
        assert_not_enqueued(shop.send_invoice, args=[43])
        assert_not_enqueued(shop.send_invoice, kwargs={})
        assert_not_enqueued(shop.send_invoice, queue_name="default")
        assert_not_enqueued(shop.charge)


def test_arguments_are_compared_as_they_are_stored(place: str) -> None:
    with captured_tasks():
        shop.send_invoice.enqueue((1, (2, b"3")))
        assert_enqueued(shop.send_invoice, args=[[1, [2, "3"]]])


def test_a_failed_assertion_lists_what_was_enqueued_instead(place: str) -> None:
    with captured_tasks():
        with pytest.raises(AssertionError, match="Nothing was enqueued"):
            assert_enqueued(shop.send_invoice)
        shop.charge.enqueue(1)
        shop.charge.enqueue(1)
        with pytest.raises(AssertionError) as failed:
            assert_enqueued(shop.send_invoice, args=[2], times=2)
        with pytest.raises(AssertionError, match="any task should have been enqueued 0 times"):
            assert_not_enqueued()
    text = str(failed.value)
    assert "send_invoice, args=[2] should have been enqueued 2 times, and was 0 times" in text
    assert "tests.compat.shop.charge(1) on the queue 'default'\n" in text
    assert "answered with the pending task" in text


def test_a_long_list_is_cut(place: str) -> None:
    with captured_tasks():
        for number in range(25):
            shop.send_invoice.enqueue(number)
        with pytest.raises(AssertionError, match="and 5 more"):
            assert_not_enqueued()


def test_calls_answered_by_a_unique_key_are_deduplicated(place: str) -> None:
    with captured_tasks() as captured:
        first = shop.charge.enqueue(1)
        shop.charge.enqueue(1)
        assert [result.id for result in assert_deduplicated(shop.charge, args=[1], times=1)] == [first.id]
        assert_enqueued(shop.charge, times=1)
        with pytest.raises(AssertionError, match="deduplicated"):
            assert_deduplicated(shop.charge, args=[2])
    assert [result.id for result in captured.deduplicated] == [first.id]


def test_a_refused_call_is_neither(place: str) -> None:
    shop.remind.enqueue(1)
    with captured_tasks() as captured:
        with pytest.raises(AlreadyEnqueued):
            shop.remind.enqueue(1)
        assert_not_enqueued()
    assert captured.deduplicated == []


def test_a_rolled_back_enqueue_does_not_count(place: str) -> None:
    with captured_tasks() as captured:
        with transaction.atomic(using=place):
            shop.send_invoice.enqueue(1)
            transaction.set_rollback(True, using=place)
        assert_not_enqueued()
        with pytest.raises(AssertionError, match="rolled back"):
            assert_enqueued(shop.send_invoice)
    assert len(captured) == 1


def test_a_task_that_has_run_was_enqueued(place: str) -> None:
    with captured_tasks():
        tasks.write.enqueue(1)
        run_tasks()
        [result] = assert_enqueued(tasks.write)
    result.refresh()
    assert result.return_value == 1


def test_every_path_of_an_enqueue_is_noted(table: str) -> None:
    backend = task_backends["default"]
    assert isinstance(backend, OxpullBackend)

    async def view() -> TaskResult:
        return await tasks.write.aenqueue(1)

    async def bulk() -> list[TaskResult]:
        return await backend.aenqueue_many(tasks.write, [([1], {}), ([1], {})])

    def elsewhere() -> None:
        tasks.write.enqueue(1)
        connections[table].close()

    with captured_tasks():
        tasks.write.enqueue(1)
        backend.enqueue_many(tasks.write, [([1], {}), ([1], {})])
        async_to_sync(view)()
        asyncio.run(view())
        asyncio.run(bulk())
        with ThreadPoolExecutor(1) as pool:
            pool.submit(elsewhere).result()
        assert_enqueued(tasks.write, args=[1], times=8)


def test_the_innermost_block_is_asked(place: str) -> None:
    with captured_tasks() as outer:
        tasks.write.enqueue(1)
        with captured_tasks():
            tasks.charge.enqueue(1)
            assert_not_enqueued(tasks.write)
        assert_enqueued(tasks.write)
        assert_enqueued(tasks.charge)
    assert len(outer) == 2


def test_outside_of_a_block_nothing_is_noted() -> None:
    assert WATCHERS == []
    with pytest.raises(UsageError, match="captured_tasks"):
        assert_enqueued(tasks.write)


def test_the_tables_are_emptied(table: str) -> None:
    tasks.charge.enqueue(1)
    clear_tasks()
    assert run_tasks() == []
    assert tasks.charge.enqueue(1).created


def test_a_coroutine_is_told_how_to_assert(place: str) -> None:
    async def test() -> list[TaskResult]:
        await tasks.write.aenqueue(1)
        with pytest.raises(UsageError, match="sync_to_async"):
            assert_enqueued(tasks.write)
        return await sync_to_async(assert_enqueued)(tasks.write)

    with captured_tasks():
        assert len(async_to_sync(test)()) == 1
