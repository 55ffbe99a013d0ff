"""Django's own two backends with our options: no database is asked."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.tasks import TaskResultStatus, signals, task_backends
from django.tasks.backends.dummy import DummyBackend as DjangoDummy
from django.tasks.backends.immediate import ImmediateBackend as DjangoImmediate
from django.tasks.exceptions import InvalidTask as DjangoInvalidTask
from django.tasks.exceptions import TaskResultDoesNotExist
from django.test import override_settings

from compat_sync.exceptions import InvalidArguments, InvalidTask
from compat_sync.results import TaskResult
from compat_sync.testing import DummyBackend, ImmediateBackend, assert_enqueued, captured_tasks
from oxpull_async import Unique
from tests.compat import shop
from tests.compat.testing import tasks

LATER = datetime(2031, 1, 1, tzinfo=UTC)


def configured(backend: type, **entry: Any) -> override_settings:
    path = f"compat_sync.testing.{backend.__name__}"
    return override_settings(TASKS={"default": {"BACKEND": path, "QUEUES": [], **entry}})


@pytest.fixture
def dummy() -> Iterator[DummyBackend]:
    with configured(DummyBackend):
        found = task_backends["default"]
        assert isinstance(found, DummyBackend)
        yield found


@pytest.fixture
def immediate() -> Iterator[ImmediateBackend]:
    with configured(ImmediateBackend):
        found = task_backends["default"]
        assert isinstance(found, ImmediateBackend)
        yield found


def test_they_are_djangos_own(dummy: DummyBackend) -> None:
    assert isinstance(dummy, DjangoDummy)
    assert issubclass(ImmediateBackend, DjangoImmediate)
    assert (dummy.supports_defer, dummy.supports_get_result) == (True, False)
    assert (ImmediateBackend.supports_defer, ImmediateBackend.supports_async_task) == (False, True)


def test_dummy_keeps_results_until_it_is_cleared(dummy: DummyBackend) -> None:
    heard: list[str] = []

    def hear(task_result: TaskResult, **_: Any) -> None:
        heard.append(task_result.id)

    signals.task_enqueued.connect(hear)
    try:
        task = shop.remind.using(run_after=LATER)
        result = task.enqueue(7)
    finally:
        signals.task_enqueued.disconnect(hear)
    assert heard == [result.id]
    assert [kept.id for kept in dummy.results] == [result.id]
    assert (result.status, result.args, result.created, result.max_attempts) == (TaskResultStatus.READY, [7], True, 7)
    assert (result.task, result.run_after) == (task, LATER)
    assert dummy.get_result(result.id) == dummy.results[0]
    dummy.results[0].args.append(8)
    assert result.args == [7]
    dummy.clear()
    assert dummy.results == []


def test_dummy_does_not_deduplicate(dummy: DummyBackend) -> None:
    assert shop.charge.enqueue(1).created
    assert shop.charge.enqueue(1).created


def test_dummy_takes_many_calls_or_none(dummy: DummyBackend) -> None:
    results = dummy.enqueue_many(shop.send_invoice, [([1], {}), ([2], {"copy": True})])
    assert [result.args for result in results] == [[1], [2]]
    with pytest.raises(InvalidArguments, match="call 1"):
        dummy.enqueue_many(shop.send_invoice, [([3], {}), ([object()], {})])
    assert asyncio.run(_twice(dummy)) == [[4], [5]]
    assert len(dummy.results) == 4


async def _twice(dummy: DummyBackend) -> list[list[Any]]:
    return [result.args for result in await dummy.aenqueue_many(shop.send_invoice, [([4], {}), ([5], {})])]


def test_calls_and_options_are_checked_as_the_database_backend_does(dummy: DummyBackend) -> None:
    with pytest.raises(InvalidArguments):
        shop.send_invoice.enqueue(float("nan"))
    with pytest.raises(InvalidTask, match="max_attempts"):
        shop.send_invoice.using(max_attempts=0)
    with pytest.raises(InvalidTask, match="parameters"):
        shop.send_invoice.using(unique=Unique(key=lambda: "x"))


def test_unknown_options_are_reported_and_refused() -> None:
    with configured(DummyBackend, OPTIONS={"MAX_ATEMPTS": 3}):
        backend = task_backends["default"]
        assert [message.id for message in backend.check()] == ["compat_sync.E201"]
        with pytest.raises(ImproperlyConfigured, match="MAX_ATEMPTS"):
            shop.send_invoice.enqueue(1)


def test_options_are_those_of_the_database_backend() -> None:
    with configured(DummyBackend, OPTIONS={"MAX_ATTEMPTS": 9, "LOCK_TIMEOUT": 30}):
        assert task_backends["default"].check() == []
        assert shop.send_invoice.enqueue(1).max_attempts == 9


def test_immediate_runs_at_once(immediate: ImmediateBackend) -> None:
    result = shop.send_invoice.enqueue(3, copy=True)
    assert (result.status, result.return_value, result.attempts) == (TaskResultStatus.SUCCESSFUL, "invoice 3", 1)
    assert result.started_at is not None
    assert result.finished_at is not None
    assert shop.fetch.enqueue("a").return_value == {"url": "a"}


def test_immediate_records_a_failure_and_does_not_retry(immediate: ImmediateBackend) -> None:
    for result in (tasks.stumble.enqueue("once"), tasks.snooze.enqueue(5)):
        assert (result.status, result.attempts, len(result.errors)) == (TaskResultStatus.FAILED, 1, 1)
    with pytest.raises(KeyboardInterrupt):
        tasks.interrupted.enqueue()


def test_immediate_gives_our_context(immediate: ImmediateBackend) -> None:
    result = tasks.second_time.enqueue()
    assert result.status == TaskResultStatus.FAILED
    assert result.progress == {"done": 1, "total": 2, "note": "on it"}
    assert shop.attempt_number.enqueue().return_value == 1


def test_immediate_sends_djangos_signals(immediate: ImmediateBackend) -> None:
    heard: list[TaskResultStatus] = []

    def hear(task_result: TaskResult, **_: Any) -> None:
        heard.append(task_result.status)

    three = (signals.task_enqueued, signals.task_started, signals.task_finished)
    for signal in three:
        signal.connect(hear)
    try:
        shop.send_invoice.enqueue(1)
    finally:
        for signal in three:
            signal.disconnect(hear)
    assert heard == [TaskResultStatus.READY, TaskResultStatus.RUNNING, TaskResultStatus.SUCCESSFUL]


def test_immediate_cannot_wait(immediate: ImmediateBackend) -> None:
    with pytest.raises(DjangoInvalidTask):
        shop.send_invoice.using(run_after=LATER).enqueue(1)


def test_immediate_works_below_a_loop(immediate: ImmediateBackend) -> None:
    async def view() -> TaskResult:
        return await shop.fetch.aenqueue("a")

    assert asyncio.run(view()).return_value == {"url": "a"}


@pytest.mark.parametrize("backend", [DummyBackend, ImmediateBackend])
def test_their_tasks_are_noted_too(backend: type) -> None:
    with configured(backend), captured_tasks():
        shop.send_invoice.enqueue(1)
        assert_enqueued(shop.send_invoice, args=[1], times=1)


def test_an_unknown_id_does_not_exist(dummy: DummyBackend) -> None:
    with pytest.raises(TaskResultDoesNotExist):
        dummy.get_result("nothing")
