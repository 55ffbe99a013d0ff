"""task_started and task_finished: when they are sent, from where, and what their receivers are given."""

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.dispatch import Signal
from django.tasks import TaskResultStatus
from django.tasks.signals import log_task_finished, log_task_started, task_finished, task_started
from django.test import override_settings
from django.utils.log import RequireDebugTrue

from compat_sync.backend import OxpullBackend
from compat_sync.connection import DjangoConnection
from compat_sync.shim import run_blocking
from compat_sync.signals import Audience, audience
from oxpull_async.store.operate import cancel
from tests.compat import shop
from tests.compat.worker import tasks
from tests.compat.worker.conftest import Work

SIGNALS = {"started": task_started, "finished": task_finished}


@contextmanager
def connected(signal: Signal, receiver: Callable[..., object]) -> Iterator[None]:
    """Let a receiver hear a signal for the block."""
    signal.connect(receiver)
    try:
        yield
    finally:
        signal.disconnect(receiver)


@pytest.fixture
def heard() -> Iterator[list[tuple[str, Any, Any, str]]]:
    """Note of every signal: its name, sender, result, and the thread it came on."""
    news: list[tuple[str, Any, Any, str]] = []

    def on_started(sender: Any, task_result: Any, **_: Any) -> None:
        news.append(("started", sender, task_result, threading.current_thread().name))

    def on_finished(sender: Any, task_result: Any, **_: Any) -> None:
        news.append(("finished", sender, task_result, threading.current_thread().name))

    with connected(task_started, on_started), connected(task_finished, on_finished):
        yield news


def test_a_success_sends_both_with_complete_results(work: Work, heard: list[Any]) -> None:
    result = shop.send_invoice.enqueue(3)
    work()
    result.refresh()
    (first, sender, started, thread), (second, _, finished, same_thread) = heard
    assert (first, second, sender) == ("started", "finished", OxpullBackend)
    assert (started.id, started.status, started.attempts) == (result.id, TaskResultStatus.RUNNING, 1)
    assert (finished.status, finished.return_value) == (TaskResultStatus.SUCCESSFUL, "invoice 3")
    assert finished.worker_ids == started.worker_ids == result.worker_ids
    assert (finished.task.module_path, finished.args) == ("tests.compat.shop.send_invoice", [3])
    assert thread == same_thread == "AnyIO worker thread"


def test_a_retry_starts_again_and_only_the_last_failure_finishes(work: Work, heard: list[Any]) -> None:
    result = tasks.unlucky.enqueue()
    work()
    result.refresh()
    assert [name for name, *_ in heard] == ["started", "started", "finished"]
    told = heard[-1][2]
    assert (told.status, told.attempts) == (TaskResultStatus.FAILED, 2)
    assert [error.attempt for error in told.errors] == [1, 2]
    assert told.errors[1].traceback == result.errors[1].traceback


def test_a_coroutine_sends_both_to_coroutine_receivers_too(work: Work, heard: list[Any]) -> None:
    awaited: list[str] = []

    async def on_finished(sender: Any, task_result: Any, **_: Any) -> None:
        awaited.append(task_result.id)

    with connected(task_finished, on_finished):
        result = shop.fetch.enqueue("x")
        work()
    assert [name for name, *_ in heard] == ["started", "finished"]
    assert awaited == [result.id]


@pytest.mark.parametrize("task", [tasks.snooze_once, tasks.retry_once])
def test_what_runs_again_has_not_finished(work: Work, heard: list[Any], task: Any) -> None:
    task.enqueue()
    work()
    assert [name for name, *_ in heard] == ["started", "started", "finished"]


def test_a_cancelled_task_has_not_finished(work: Work, heard: list[Any], served: str) -> None:
    def on_started(sender: Any, task_result: Any, **_: Any) -> None:
        run_blocking(cancel(DjangoConnection(served), [task_result.id]))

    with connected(task_started, on_started):
        result: Any = tasks.overrun.enqueue()
        work()
    result.refresh()
    assert result.stored_status == "DISCARDED"
    assert [name for name, *_ in heard] == ["started"]


@pytest.mark.parametrize("name", ["doomed", "adoomed"])
def test_the_exception_is_at_hand_while_task_finished_is_sent(work: Work, name: str) -> None:
    kinds: list[Any] = []

    def on_finished(sender: Any, **_: Any) -> None:
        kinds.append(sys.exc_info()[0])

    with connected(task_finished, on_finished):
        getattr(tasks, name).enqueue()
        work()
    assert kinds == [tasks.Unlucky]


def test_a_receiver_that_raises_harms_nothing(work: Work) -> None:
    def on_any(sender: Any, **_: Any) -> None:
        raise RuntimeError("a receiver's own fault")

    with connected(task_started, on_any), connected(task_finished, on_any):
        result = shop.send_invoice.enqueue(4)
        work()
    result.refresh()
    assert result.status == TaskResultStatus.SUCCESSFUL


def test_a_receiver_does_not_write_into_a_transaction_that_the_task_left_open(work: Work, served: str) -> None:
    found: list[bool] = []

    def on_finished(sender: Any, **_: Any) -> None:
        connection = tasks.here()
        found.append(connection.get_autocommit() and not connection.in_atomic_block)

    with connected(task_finished, on_finished):
        tasks.leave_atomic.enqueue()
        tasks.leave_atomic_by_thread.enqueue()
        work()
    assert found == [True, True]


def test_djangos_own_log_is_written_without_reading_rows(work: Work, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "django.tasks"):
        result = tasks.doomed.enqueue()
        work()
    lines = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "django.tasks"]
    path = "tests.compat.worker.tasks.doomed"
    assert lines == [
        ("INFO", f"Task id={result.id} path={path} state=RUNNING"),
        ("ERROR", f"Task id={result.id} path={path} state=FAILED"),
    ]
    assert "Unlucky: never again" in caplog.text


def test_a_line_that_no_handler_would_take_is_not_even_made(
    work: Work, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As with Django's default LOGGING in production: INFO lines are for DEBUG only."""
    made: list[int] = []
    django = logging.getLogger("django")
    quiet = logging.StreamHandler()
    quiet.addFilter(RequireDebugTrue())
    monkeypatch.setattr(django, "propagate", False)
    monkeypatch.setattr(django, "handlers", [quiet])
    caplog.set_level(logging.INFO, "django.tasks")
    monkeypatch.setattr(logging.getLogger("django.tasks"), "handle", lambda record: made.append(record.levelno))
    shop.send_invoice.enqueue(1)
    work()
    assert made == []
    with override_settings(DEBUG=True):
        shop.send_invoice.enqueue(2)
        work()
    assert made == [logging.INFO, logging.INFO]


def test_the_audience_is_who_would_hear(caplog: pytest.LogCaptureFixture) -> None:
    for signal, own in ((task_started, log_task_started), (task_finished, log_task_finished)):
        caplog.set_level(logging.CRITICAL, "django.tasks")
        assert audience(signal) is Audience.NOBODY
        caplog.set_level(logging.INFO, "django.tasks")
        assert audience(signal) is Audience.LOG
        signal.disconnect(own)
        assert audience(signal) is Audience.NOBODY
        with connected(signal, print):
            assert audience(signal) is Audience.RECEIVERS
        signal.connect(own)
        with connected(signal, print):
            assert audience(signal) is Audience.RECEIVERS
