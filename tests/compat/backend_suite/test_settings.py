"""TASKS that change while the process runs, and what `manage.py check` makes of them."""

from collections.abc import Callable
from typing import Any

import django
import pytest
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.tasks import TaskResultStatus, task_backends
from django.tasks.backends.dummy import DummyBackend
from django.tasks.backends.immediate import ImmediateBackend

from compat_sync.backend import OxpullBackend
from compat_sync.exceptions import InvalidTask
from oxpull_async.domain.record import TaskStatus
from tests.compat.backend_suite import tasks
from tests.compat.promises.kit import counts

OURS = "compat_sync.backend.OxpullBackend"
DUMMY = "django.tasks.backends.dummy.DummyBackend"
IMMEDIATE = "django.tasks.backends.immediate.ImmediateBackend"
type Configure = Callable[..., None]


def entry(backend: str = OURS, **options: Any) -> dict[str, Any]:
    return {"BACKEND": backend, "QUEUES": [], **({"OPTIONS": options} if options else {})}


def messages() -> list[str]:
    return [message.id or "" for message in checks.run_checks() if (message.id or "").startswith("compat_sync.E")]


def test_a_task_follows_the_settings_to_other_backends_and_back(site: str, configured: Configure) -> None:
    assert tasks.answer.enqueue().status == TaskResultStatus.READY
    configured(default=entry(IMMEDIATE))
    assert isinstance(task_backends["default"], ImmediateBackend)
    assert tasks.answer.enqueue().return_value == 42
    configured(default=entry(DUMMY))
    dummy = task_backends["default"]
    assert isinstance(dummy, DummyBackend)
    assert tasks.answer.enqueue().status == TaskResultStatus.READY
    assert len(dummy.results) == 1
    configured(default=entry())
    assert isinstance(task_backends["default"], OxpullBackend)
    result = tasks.answer.enqueue()
    assert tasks.answer.get_result(result.id) == result
    assert counts(site)[0] == 2


def test_a_task_that_asks_for_another_backend_is_enqueued_there(site: str, configured: Configure) -> None:
    configured(default=entry(), now=entry(IMMEDIATE))
    result = tasks.answer.using(backend="now").enqueue()
    assert (result.return_value, result.backend) == (42, "now")
    assert counts(site) == (0, 0)


def test_the_options_of_the_moment_count(site: str, configured: Configure) -> None:
    configured(default=entry(MAX_ATTEMPTS=7))
    assert tasks.answer.enqueue().max_attempts == 7
    configured(default=entry(MAX_ATTEMPTS=2))
    assert tasks.answer.enqueue().max_attempts == 2


def test_each_alias_has_options_of_its_own(site: str, configured: Configure) -> None:
    configured(default=entry(MAX_ATTEMPTS=7), other=entry(MAX_ATTEMPTS=2))
    first, second = tasks.answer.enqueue(), tasks.answer.using(backend="other").enqueue()
    assert (first.max_attempts, second.max_attempts) == (7, 2)
    assert (first.backend, second.backend) == ("default", "other")
    assert task_backends["other"].get_result(first.id).backend == "default"


def test_the_keywords_of_a_task_may_stand_in_the_settings(site: str, configured: Configure) -> None:
    """They are the way on Django 6.0, whose decorator takes none of ours; on 6.1 it takes them."""
    path = tasks.answer.module_path
    configured(default=entry(TASK_OPTIONS={path: {"max_attempts": 5, "unique": True}}))
    first, second = tasks.answer.enqueue(), tasks.answer.enqueue()
    assert (first.max_attempts, second.id) == (5, first.id)


def test_the_decorator_takes_our_keywords_where_django_forwards_them() -> None:
    if django.VERSION >= (6, 1):
        assert tasks.of(tasks.plain_function, max_attempts=5).max_attempts == 5
    else:
        with pytest.raises(TypeError, match="max_attempts"):
            tasks.of(tasks.plain_function, max_attempts=5)


def test_an_unknown_keyword_of_the_decorator_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="colour"):
        tasks.of(tasks.plain_function, colour="red")


def test_a_wrong_option_of_the_decorator_is_an_invalid_task() -> None:
    if django.VERSION < (6, 1):
        with pytest.raises(InvalidTask):
            tasks.of(tasks.plain_function).using(max_attempts=0)
    else:
        with pytest.raises(InvalidTask):
            tasks.of(tasks.plain_function, max_attempts=0)


def test_settings_that_are_right_have_no_messages(site: str, configured: Configure) -> None:
    configured(default=entry(MAX_ATTEMPTS=3), plain=entry(DUMMY))
    assert messages() == []


def test_django_s_check_asks_every_backend(site: str, configured: Configure) -> None:
    configured(default=entry(), other=entry(MAX_ATTEMPT=3))
    assert "compat_sync.E201" in messages()
    assert "compat_sync.E201" in {message.id for message in checks.run_checks(tags=["compat_sync"])} | set(messages())


def test_wrong_settings_are_reported_before_they_are_raised(site: str, configured: Configure) -> None:
    configured(default=entry(MAX_ATTEMPTS="many"))
    assert messages()
    declared = tasks.of(tasks.plain_function)
    with pytest.raises(ImproperlyConfigured, match="MAX_ATTEMPTS"):
        declared.enqueue(1)
    assert counts(site) == (0, 0)


def test_the_stored_status_of_a_ready_task_is_ready(site: str) -> None:
    assert tasks.answer.enqueue().stored_status is TaskStatus.READY
