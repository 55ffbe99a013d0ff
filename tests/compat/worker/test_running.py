"""A Django worker runs Django's tasks with their options and their context."""

import time
from typing import Any

import pytest
from django.tasks import TaskResultStatus
from django.test import override_settings

from compat_sync.exceptions import TaskTimeout
from compat_sync.results import TaskResult
from oxpull_async import TaskStatus
from tests.compat import shop
from tests.compat.worker import tasks
from tests.compat.worker.conftest import Work


def backend(queues: list[str], **options: Any) -> Any:
    """Change the settings of the default alias."""
    named = {"BACKEND": "compat_sync.backend.OxpullBackend", "QUEUES": queues, "OPTIONS": options}
    return override_settings(TASKS={"default": named})


def stored_result(result: Any) -> TaskResult:
    """Tell the type checker what it is."""
    assert isinstance(result, TaskResult)
    return result


def test_functions_and_coroutines_run_and_their_values_are_stored(work: Work) -> None:
    first, second = shop.send_invoice.enqueue(7, copy=True), shop.fetch.enqueue("here")
    work()
    first.refresh()
    second.refresh()
    assert (first.return_value, second.return_value) == ("invoice 7", {"url": "here"})
    assert ("send_invoice", 7, True) in shop.RAN


def test_the_context_is_djangos_with_what_the_core_offers(work: Work) -> None:
    result: Any = tasks.tell.enqueue()
    work()
    result.refresh()
    assert result.return_value == {
        "attempt": 1, "epoch": 1, "status": "RUNNING", "id": result.id, "has_deadline": False, "cancelled": False,
    }  # fmt: skip
    assert result.progress == {"done": 1, "total": 2, "note": "half"}


def test_a_coroutine_reports_progress_by_awaiting(work: Work) -> None:
    result: Any = tasks.atell.enqueue()
    work()
    result.refresh()
    assert (result.return_value, result.progress) == (1, {"done": 2, "total": 2, "note": "done"})


def test_any_task_may_ask_how_much_time_is_left(work: Work) -> None:
    result = tasks.time_left.enqueue()
    asked_at = time.time()
    work()
    result.refresh()
    left, until = result.return_value
    assert 0 < left <= 600
    assert asked_at < until < asked_at + 700


def test_the_declared_backoff_and_attempts_count(work: Work) -> None:
    result = tasks.unlucky.enqueue()
    work()
    result.refresh()
    assert (result.status, result.attempts, len(result.errors)) == (TaskResultStatus.FAILED, 2, 2)
    assert result.errors[0].exception_class is tasks.Unlucky


def test_fail_on_ends_a_task_at_once(work: Work) -> None:
    result = tasks.doomed.enqueue()
    work()
    result.refresh()
    assert (result.status, result.attempts) == (TaskResultStatus.FAILED, 1)


def test_retry_and_snooze_work_as_in_the_core(work: Work) -> None:
    again, later = tasks.retry_once.enqueue(), tasks.snooze_once.enqueue()
    work()
    again.refresh()
    later.refresh()
    assert (again.return_value, later.return_value) == (2, 1)


def test_the_options_of_the_alias_decide_what_the_task_leaves_open(work: Work) -> None:
    """BACKOFF_INITIAL comes from OPTIONS, and TASK_OPTIONS speak for a task that cannot itself."""
    path = tasks.in_atomic.module_path
    with backend([], BACKOFF_INITIAL=0.01, TASK_OPTIONS={path: {"max_attempts": 2}}):
        result = tasks.in_atomic.enqueue("no")
        work()
        work()  # by now the short pause is over
    result.refresh()
    assert (result.status, result.attempts) == (TaskResultStatus.FAILED, 2)


def test_a_queue_has_a_timeout_for_its_tasks(work: Work) -> None:
    with backend([], TASK_TIMEOUTS={"default": 0.2}, MAX_ATTEMPTS=1):
        result = tasks.overrun.enqueue()
        work()
    result.refresh()
    assert [error.exception_class_path for error in result.errors] == ["compat_sync.exceptions.TaskTimeout"]
    assert result.errors[0].exception_class is TaskTimeout
    assert stored_result(result).record.errors[0].exception_class_path == "oxpull_async.errors.TaskTimeout"


def test_a_row_of_another_alias_stays(work: Work) -> None:
    named = {"BACKEND": "compat_sync.backend.OxpullBackend", "QUEUES": []}
    with override_settings(TASKS={"default": named, "other": named}):
        result: Any = shop.send_invoice.using(backend="other").enqueue(1)
        work()
        result.refresh()
        assert result.stored_status is TaskStatus.READY


@pytest.mark.parametrize("queues", [["default"], None])
def test_only_the_named_queues_are_served(work: Work, queues: list[str] | None) -> None:
    here, there = shop.send_invoice.enqueue(1), shop.send_invoice.using(queue_name="elsewhere").enqueue(2)
    work(queues=queues)
    here.refresh()
    there.refresh()
    assert here.status == TaskResultStatus.SUCCESSFUL
    assert there.status == (TaskResultStatus.READY if queues else TaskResultStatus.SUCCESSFUL)
