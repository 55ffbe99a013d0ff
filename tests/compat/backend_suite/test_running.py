"""What tasks of every shape leave in their results once a worker has run them, and what django.tasks logs of it."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.tasks import TaskResultStatus

from compat_sync.exceptions import InvalidPayload
from compat_sync.results import TaskResult
from compat_sync.tasks import PolicyTask
from tests.compat.backend_suite import tasks

type Work = Callable[[], None]


def ran(work: Work, task: PolicyTask, *args: Any, **kwargs: Any) -> TaskResult:
    """Enqueue a call with one attempt, and read what became of it."""
    result = task.using(max_attempts=1).enqueue(*args, **kwargs)
    work()
    result.refresh()
    return result


def in_order(result: TaskResult) -> bool:
    """Whether the times of a task that ended in its first attempt follow each other."""
    times = [result.enqueued_at, result.started_at, result.last_attempted_at, result.finished_at]
    known = [time for time in times if time is not None]
    return len(known) == len(times) and known == sorted(known)


@pytest.mark.parametrize("task", [tasks.nothing, tasks.nothing_async])
def test_a_success_has_its_times_its_worker_and_its_value(work: Work, task: PolicyTask) -> None:
    result = ran(work, task, 1, two=3)
    assert (result.status, result.is_finished, result.return_value) == (TaskResultStatus.SUCCESSFUL, True, None)
    assert (result.attempts, len(result.worker_ids), result.errors) == (1, 1, [])
    assert in_order(result)
    assert (result.args, result.kwargs, result.task.func) == ([1], {"two": 3}, task.func)


@pytest.mark.parametrize("task", [tasks.answer, tasks.answer_async])
def test_the_value_is_kept(work: Work, task: PolicyTask) -> None:
    assert ran(work, task).return_value == 42


@pytest.mark.parametrize("value", [None, 0, "", [], {"a": [1.5, None, True]}, "ü"])
def test_any_json_is_a_value(work: Work, value: Any) -> None:
    result = ran(work, tasks.echo, value)
    assert (result.status, result.return_value) == (TaskResultStatus.SUCCESSFUL, value)


@pytest.mark.parametrize(
    ("task", "error"),
    [(tasks.fail, ValueError), (tasks.fail_async, ValueError), (tasks.leave, SystemExit)],
    ids=["function", "coroutine", "exit"],
)
def test_an_exception_is_recorded_with_class_and_traceback(work: Work, task: PolicyTask, error: type) -> None:
    result = ran(work, task, "no luck")
    assert (result.status, result.is_finished, result.attempts) == (TaskResultStatus.FAILED, True, 1)
    assert in_order(result)
    with pytest.raises(ValueError, match="failed"):
        _ = result.return_value
    recorded: Any = result.errors[0]
    assert recorded.exception_class is error
    assert recorded.traceback.endswith(f"{error.__name__}: no luck\n")
    assert (recorded.attempt, recorded.worker_id) == (1, result.worker_ids[0])


def test_an_exception_within_exceptions_is_recorded(work: Work) -> None:
    (recorded,) = ran(work, tasks.fail_within, "deep").errors
    assert recorded.exception_class is ValueError
    assert "KeyError: 'deep'" in recorded.traceback
    assert "ValueError: deep" in recorded.traceback


def test_an_exception_without_a_text_is_recorded(work: Work) -> None:
    (recorded,) = ran(work, tasks.fail_unreadably).errors
    assert recorded.exception_class is tasks.Unreadable


def test_a_value_that_is_no_json_fails_the_task_and_says_so(work: Work) -> None:
    result = ran(work, tasks.return_no_json)
    assert result.status == TaskResultStatus.FAILED
    (recorded,) = result.errors
    assert recorded.exception_class is InvalidPayload
    assert "PolicyTask" in recorded.traceback


@pytest.mark.parametrize("task", [tasks.who, tasks.who_async])
def test_the_context_is_the_attempt_s_and_no_argument(work: Work, task: PolicyTask) -> None:
    result = ran(work, task)
    assert result.args == []
    assert result.return_value[:2] == [result.id, 1]


def test_the_context_goes_before_the_arguments(work: Work) -> None:
    assert ran(work, tasks.who_async, 7).return_value[2] == 7


def test_a_task_for_later_is_not_run_now(work: Work) -> None:
    later = tasks.answer.using(run_after=datetime.now(UTC) + timedelta(hours=1)).enqueue()
    earlier = tasks.answer.using(run_after=datetime.now(UTC) - timedelta(hours=1)).enqueue()
    work()
    later.refresh()
    earlier.refresh()
    assert (later.status, earlier.status) == (TaskResultStatus.READY, TaskResultStatus.SUCCESSFUL)


def test_the_logger_of_django_tells_of_each_step(work: Work, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="django.tasks"):
        result = ran(work, tasks.nothing)
    lines = [record.getMessage() for record in caplog.records if record.name == "django.tasks"]
    path = tasks.nothing.module_path
    assert lines == [
        f"Task id={result.id} path={path} enqueued backend=default",
        f"Task id={result.id} path={path} state=RUNNING",
        f"Task id={result.id} path={path} state=SUCCESSFUL",
    ]


def test_a_failure_is_logged_as_an_error(work: Work, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="django.tasks"):
        result = ran(work, tasks.fail, "no luck")
    levels = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "django.tasks"]
    path = tasks.fail.module_path
    assert levels[1:] == [
        ("INFO", f"Task id={result.id} path={path} state=RUNNING"),
        ("ERROR", f"Task id={result.id} path={path} state=FAILED"),
    ]


def test_a_duplicate_is_not_logged_as_enqueued(site: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="django.tasks"):
        tasks.once.enqueue(1)
        tasks.once.enqueue(1)
    assert len([record for record in caplog.records if record.name == "django.tasks"]) == 1


def test_bulk_is_logged_call_by_call(site: str, backend: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="django.tasks"):
        results = backend.enqueue_many(tasks.nothing, [([1], {}), ([2], {})])
    lines = [record.getMessage() for record in caplog.records if record.name == "django.tasks"]
    assert [result.id in line for result, line in zip(results, lines, strict=True)] == [True, True]
