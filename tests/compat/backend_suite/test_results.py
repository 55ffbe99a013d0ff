"""Results: read back by task and by backend, sync and async, and what they say while nothing has run."""

import asyncio
import copy
import dataclasses
import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.tasks import TaskResultStatus, default_task_backend
from django.tasks.exceptions import TaskResultDoesNotExist, TaskResultMismatch

from compat_sync.backend import OxpullBackend
from compat_sync.exceptions import InvalidArguments
from compat_sync.results import TaskError, TaskResult
from oxpull_async.domain.record import TaskStatus
from tests.compat.backend_suite import tasks
from tests.compat.promises.kit import answer, counts

type Get = Callable[[Any, str], Any]
NO_JSON = (datetime(2031, 1, 1, tzinfo=UTC), object(), {1, 2}, tasks.nothing, float("nan"), b"\xff", "\x00")
NORMALISED: tuple[tuple[object, object], ...] = (
    ((1, 2), [1, 2]),
    ({1: (2,)}, {"1": [2]}),
    (b"text", "text"),
    (1.0, 1.0),
    (None, None),
    ({True: None}, {"true": None}),
)


def awaited(method: str) -> Get:
    """Call an async method from a running loop, with no sync caller above it."""

    async def call(of: Any, id_: str) -> Any:
        return await getattr(of, method)(id_)

    return lambda of, id_: asyncio.run(call(of, id_))


GETTERS: dict[str, Get] = {
    "get_result": lambda of, id_: of.get_result(id_),
    "aget_result": awaited("aget_result"),
    "async_to_sync": lambda of, id_: async_to_sync(of.aget_result)(id_),
}


@pytest.fixture(params=GETTERS)
def get(request: pytest.FixtureRequest) -> Get:
    """Read a result in each way."""
    return GETTERS[request.param]


@pytest.fixture(params=["enqueue", "aenqueue", "async_to_sync"])
def enqueue(request: pytest.FixtureRequest) -> Callable[..., TaskResult]:
    """Enqueue in each way."""

    async def natively(task: Any, *args: Any, **kwargs: Any) -> Any:
        return await task.aenqueue(*args, **kwargs)

    ways: dict[str, Callable[..., TaskResult]] = {
        "enqueue": lambda task, *args, **kwargs: task.enqueue(*args, **kwargs),
        "aenqueue": lambda task, *args, **kwargs: asyncio.run(natively(task, *args, **kwargs)),
        "async_to_sync": lambda task, *args, **kwargs: async_to_sync(task.aenqueue)(*args, **kwargs),
    }
    return ways[request.param]


@pytest.mark.parametrize("task", [tasks.nothing, tasks.nothing_async, tasks.declared])
def test_an_enqueued_call_is_ready_and_says_what_was_asked(site: str, enqueue: Any, task: Any) -> None:
    before = datetime.now(UTC)
    result = enqueue(task, 1, two=[3])
    assert (result.status, result.is_finished, result.attempts) == (TaskResultStatus.READY, False, 0)
    assert (result.task, result.args, result.kwargs, result.backend) == (task, [1], {"two": [3]}, "default")
    assert (result.started_at, result.finished_at, result.last_attempted_at) == (None, None, None)
    assert (result.errors, result.worker_ids) == ([], [])
    assert abs(result.enqueued_at - before) < timedelta(minutes=1)
    assert result.stored_status is TaskStatus.READY


def test_the_stored_result_equals_the_one_that_enqueue_returned(site: str, enqueue: Any, get: Get) -> None:
    result = enqueue(tasks.nothing, 1, two=3)
    assert get(tasks.nothing, result.id) == result
    assert get(default_task_backend, result.id) == result


def test_results_of_different_calls_are_different(site: str) -> None:
    first, second = tasks.nothing.enqueue(1), tasks.nothing.enqueue(1)
    assert first != second
    assert first != object()
    assert dataclasses.replace(first, status=TaskResultStatus.RUNNING) != first


def test_a_result_that_is_not_there_does_not_exist(site: str, get: Get) -> None:
    for id_ in ("123", "", "00000000-0000-4000-8000-000000000000"):
        for of in (tasks.nothing, default_task_backend):
            with pytest.raises(TaskResultDoesNotExist):
                get(of, id_)


def test_another_task_s_result_is_a_mismatch(site: str, get: Get) -> None:
    result = tasks.nothing_async.enqueue()
    with pytest.raises(TaskResultMismatch):
        get(tasks.nothing, result.id)
    assert get(default_task_backend, result.id).task == tasks.nothing_async


def test_a_task_with_other_options_reads_the_same_task_s_result(site: str, get: Get) -> None:
    result = tasks.nothing.using(priority=7, queue_name="mail").enqueue()
    assert get(tasks.nothing, result.id).task.priority == 7


def test_what_is_no_json_is_a_type_error_and_stores_nothing(site: str, enqueue: Any) -> None:
    for value in NO_JSON:
        for call in ((value,), ([{"deep": value}],)):
            with pytest.raises(TypeError):
                enqueue(tasks.nothing, *call)
        with pytest.raises(InvalidArguments):
            enqueue(tasks.nothing, keyword=value)
        assert counts(site) == (0, 0), value


def test_values_are_normalised_as_django_does(site: str, enqueue: Any, get: Get) -> None:
    for given, stored in NORMALISED:
        result = enqueue(tasks.nothing, given, named=given)
        found = get(tasks.nothing, result.id)
        assert (result.args, result.kwargs) == (found.args, found.kwargs) == ([stored], {"named": stored})
        assert type(found.args[0]) is type(stored)


def test_the_value_of_what_has_not_finished_is_an_error(site: str) -> None:
    result = tasks.answer.enqueue()
    with pytest.raises(ValueError, match="not finished"):
        _ = result.return_value


@pytest.mark.parametrize("status", [status for status in TaskStatus if status is not TaskStatus.SUCCESSFUL])
def test_each_stored_status_has_one_of_django_s(site: str, get: Get, status: TaskStatus) -> None:
    result = tasks.answer.enqueue()
    answer(site, f"UPDATE oxpull_task SET status = '{status}', due = NULL")
    found = get(tasks.answer, result.id)
    ended = status in {TaskStatus.FAILED, TaskStatus.LOST, TaskStatus.DISCARDED}
    assert (found.stored_status, found.is_finished) == (status, ended)
    with pytest.raises(ValueError, match="failed" if ended else "not finished"):
        _ = found.return_value


def refreshed(result: TaskResult) -> None:
    result.refresh()


def arefreshed(result: TaskResult) -> None:
    asyncio.run(result.arefresh())


@pytest.mark.parametrize("refresh", [refreshed, arefreshed])
def test_refresh_reads_the_row_again_and_changes_nothing_else(site: str, refresh: Callable[[TaskResult], None]) -> None:
    result = tasks.nothing.enqueue(1)
    before = copy.copy(result)
    refresh(result)
    assert result == before
    answer(site, "UPDATE oxpull_task SET status = 'DISCARDED', due = NULL")
    refresh(result)
    assert (result.status, result.stored_status) == (TaskResultStatus.FAILED, TaskStatus.DISCARDED)
    assert (result.id, result.args, result.task) == (before.id, before.args, before.task)


@pytest.mark.parametrize("refresh", [refreshed, arefreshed])
def test_refresh_of_what_is_gone_does_not_exist(site: str, refresh: Callable[[TaskResult], None]) -> None:
    result = tasks.nothing.enqueue(1)
    answer(site, "DELETE FROM oxpull_task")
    with pytest.raises(TaskResultDoesNotExist):
        refresh(result)


def test_a_result_is_pickled_copied_and_turned_into_a_dict(site: str, get: Get) -> None:
    result = get(tasks.nothing, tasks.nothing.enqueue(1, two=3).id)
    assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301 - our own
    assert copy.deepcopy(result) == result
    assert dataclasses.asdict(result)["args"] == [1]


def test_an_error_names_its_class_or_says_why_not() -> None:
    def error(path: str) -> TaskError:
        return TaskError(exception_class_path=path, traceback="", attempt=1, worker_id="w", at=None)

    assert error("builtins.ValueError").exception_class is ValueError
    with pytest.raises(ValueError, match="does not reference a valid exception"):
        _ = error("subprocess.run").exception_class
    with pytest.raises(ImportError):
        _ = error("does.not.exist").exception_class


def test_the_backend_s_own_methods_take_a_task_and_its_arguments(site: str, backend: OxpullBackend) -> None:
    result = backend.enqueue(tasks.nothing, (1,), {"two": 3})
    assert (result.args, result.kwargs) == ([1], {"two": 3})
    assert backend.get_result(result.id) == result

    async def both() -> TaskResult:
        enqueued = await backend.aenqueue(tasks.nothing, (1,), {"two": 3})
        assert await backend.aget_result(enqueued.id) == enqueued
        return enqueued

    assert asyncio.run(both()).args == [1]


def test_a_time_is_stored_to_the_microsecond(site: str, get: Get) -> None:
    later = datetime(2031, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    result = tasks.nothing.using(run_after=later).enqueue()
    assert result.run_after == result.task.run_after == get(tasks.nothing, result.id).run_after == later
