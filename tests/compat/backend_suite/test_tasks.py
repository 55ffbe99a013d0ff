"""Task objects: what may be declared, what `using` makes of them, and how they travel."""

import asyncio
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.tasks import Task, default_task_backend, task, task_backends
from django.tasks.base import TASK_MAX_PRIORITY, TASK_MIN_PRIORITY
from django.tasks.exceptions import InvalidTask, InvalidTaskBackend
from django.utils.module_loading import import_string

from compat_sync.backend import OxpullBackend
from compat_sync.exceptions import InvalidTask as OurInvalidTask
from compat_sync.tasks import PolicyTask
from tests.compat.backend_suite import tasks
from tests.compat.backend_suite.tasks import of

BACKEND = "compat_sync.backend.OxpullBackend"
ENTRY = {"BACKEND": BACKEND, "QUEUES": []}
type Configure = Callable[..., None]


def test_the_default_backend_is_ours_and_says_what_it_can(backend: OxpullBackend) -> None:
    assert default_task_backend == task_backends["default"] == backend
    assert default_task_backend.alias == "default"
    assert backend.task_class is PolicyTask
    assert (backend.supports_defer, backend.supports_async_task) == (True, True)
    assert (backend.supports_get_result, backend.supports_priority) == (True, True)


@pytest.mark.parametrize("declared", [tasks.nothing, tasks.nothing_async, tasks.bracketed])
def test_the_decorator_makes_a_task_with_brackets_or_without(declared: PolicyTask) -> None:
    assert isinstance(declared, Task)
    assert (declared.priority, declared.queue_name, declared.backend) == (0, "default", "default")
    assert (declared.run_after, declared.takes_context) == (None, False)


def test_every_keyword_of_django_s_is_kept() -> None:
    declared = tasks.declared
    assert (declared.priority, declared.queue_name, declared.takes_context) == (10, "mail", True)


def test_a_task_has_its_function_s_name_and_path() -> None:
    assert tasks.nothing.name == "nothing"
    assert tasks.nothing.module_path == "tests.compat.backend_suite.tasks.nothing"
    assert import_string(tasks.nothing.module_path) is tasks.nothing
    assert import_string(tasks.nothing_async.module_path) is tasks.nothing_async


class Shop:
    """A class with methods that are no tasks."""

    def method(self) -> None:
        """Do nothing."""

    @classmethod
    def of_the_class(cls) -> None:
        """Do nothing."""


def nested() -> Callable[[], None]:
    def function() -> None:
        """Do nothing."""

    return function


@pytest.mark.parametrize(
    "function", [any, lambda: None, Shop().method, Shop.of_the_class, nested()], ids=["builtin", "lambda", "method",
    "classmethod", "nested"]
)  # fmt: skip
def test_what_is_not_defined_at_a_module_s_level_is_no_task(function: Any) -> None:
    with pytest.raises(InvalidTask, match=r"module level|no name"):
        of(function)


@pytest.mark.parametrize("function", [tasks.generator, tasks.async_generator])
def test_a_generator_is_no_task(function: Any) -> None:
    with pytest.raises(InvalidTask, match="is a generator"):
        of(function)


@pytest.mark.parametrize("function", [tasks.plain_function, tasks.plain_coroutine, tasks.mentions_context])
def test_a_task_that_takes_a_context_takes_it_first(function: Any) -> None:
    with pytest.raises(InvalidTask, match="first argument of 'context'"):
        of(function, takes_context=True)


@pytest.mark.parametrize("priority", [TASK_MIN_PRIORITY, -1, 0, 1, TASK_MAX_PRIORITY])
def test_priorities_of_django_s_range_are_taken(priority: int) -> None:
    assert tasks.nothing.using(priority=priority).priority == priority
    assert of(tasks.plain_function, priority=priority).priority == priority


@pytest.mark.parametrize("priority", [TASK_MIN_PRIORITY - 1, TASK_MAX_PRIORITY + 1, 3.1])
def test_other_priorities_are_refused(priority: Any) -> None:
    with pytest.raises(InvalidTask, match="priority"):
        tasks.nothing.using(priority=priority)
    with pytest.raises(InvalidTask, match="priority"):
        of(tasks.plain_function, priority=priority)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidTask, match="aware"):
        tasks.nothing.using(run_after=datetime(2031, 1, 1))  # noqa: DTZ001 - naive on purpose


def test_a_time_cannot_be_declared_for_all_calls() -> None:
    with pytest.raises(TypeError, match="run_after"):
        of(tasks.plain_function, run_after=datetime.now(UTC))


def test_a_queue_must_be_one_of_queues_unless_that_is_empty(configured: Configure) -> None:
    configured(default={"BACKEND": BACKEND, "QUEUES": ["default", "mail"]}, free=ENTRY)
    assert tasks.nothing.using(queue_name="mail").queue_name == "mail"
    with pytest.raises(InvalidTask, match="'post' is not valid"):
        tasks.nothing.using(queue_name="post")
    with pytest.raises(InvalidTask, match="'post' is not valid"):
        of(tasks.plain_function, queue_name="post")
    assert tasks.nothing.using(queue_name="post", backend="free").queue_name == "post"


def test_a_queue_that_has_gone_from_the_settings_is_refused_at_enqueue(
    configured: Configure, site: str, backend: OxpullBackend
) -> None:
    elsewhere = tasks.nothing.using(queue_name="mail")
    configured(default={"BACKEND": BACKEND, "QUEUES": ["default"]})
    with pytest.raises(InvalidTask, match="mail"):
        elsewhere.enqueue()


def test_a_backend_that_is_not_configured_is_refused(configured: Configure) -> None:
    configured(default=ENTRY, missing={"BACKEND": "does.not.exist"})
    with pytest.raises(InvalidTaskBackend, match="'unknown' doesn't exist"):
        tasks.nothing.using(backend="unknown")
    with pytest.raises(InvalidTaskBackend, match=r"does\.not\.exist"):
        tasks.nothing.using(backend="missing")
    with pytest.raises(InvalidTaskBackend, match="'unknown' doesn't exist"):
        of(tasks.plain_function, backend="unknown")


def test_without_any_backend_nothing_is_enqueued(configured: Configure) -> None:
    configured()
    with pytest.raises(InvalidTaskBackend):
        tasks.nothing.enqueue()


def test_using_makes_an_equal_copy_of_the_same_class() -> None:
    copy = tasks.once.using()
    assert copy == tasks.once
    assert copy is not tasks.once
    assert type(copy) is PolicyTask


def test_using_leaves_the_original_alone_and_adds_up() -> None:
    now = datetime.now(UTC)
    later = tasks.nothing.using(run_after=now)
    first = later.using(priority=7).using(queue_name="mail").using(max_attempts=2)
    assert (first.run_after, first.priority, first.queue_name, first.max_attempts) == (now, 7, "mail", 2)
    assert (later.priority, later.queue_name, later.max_attempts) == (0, "default", None)
    assert (tasks.nothing.run_after, tasks.nothing.priority) == (None, 0)


def test_a_task_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        tasks.nothing.priority = 1  # type: ignore[misc] # wrong on purpose


def test_using_refuses_what_it_does_not_know() -> None:
    with pytest.raises(TypeError, match="colour"):
        tasks.nothing.using(colour="red")
    with pytest.raises(TypeError, match="takes_context"):
        tasks.nothing.using(takes_context=True)


@pytest.mark.parametrize("options", [{"max_attempts": 0}, {"timeout": -1}, {"unique": "yes"}, {"running_lock": 3}])
def test_our_own_options_are_checked_as_early_as_django_s(options: dict[str, Any]) -> None:
    with pytest.raises((InvalidTask, TypeError)) as refused:
        tasks.nothing.using(**options)
    assert isinstance(refused.value, OurInvalidTask | TypeError)


@pytest.mark.parametrize(
    "one",
    [
        tasks.nothing,
        tasks.declared,
        tasks.once,
        tasks.nothing.using(priority=3, queue_name="mail", run_after=datetime(2031, 1, 1, tzinfo=UTC)),
        tasks.nothing.using(max_attempts=2, timeout=timedelta(seconds=5), unique=True, running_lock=True),
    ],
    ids=["plain", "declared", "unique", "using", "ours"],
)
def test_a_task_survives_pickling(one: PolicyTask) -> None:
    copy = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own
    assert copy == one
    assert type(copy) is PolicyTask


def test_pickling_finds_the_task_by_its_path_and_nothing_else() -> None:
    rebuild, (kind, said) = tasks.nothing.__reduce__()
    assert rebuild(kind, said) == tasks.nothing
    for path in ("does.not.exist", "builtins.any"):
        with pytest.raises(ValueError, match="Task instance"):
            rebuild(kind, {**said, "func": path})


def test_equal_tasks_are_equal_and_others_are_not() -> None:
    assert replace(tasks.nothing) == tasks.nothing
    assert tasks.nothing.using(priority=1) != tasks.nothing
    assert tasks.nothing != tasks.nothing_async
    assert tasks.nothing.using(max_attempts=1) != tasks.nothing


def test_a_task_is_called_without_any_queue() -> None:
    assert (tasks.answer.call(), tasks.answer_async.call()) == (42, 42)
    assert tasks.echo.call([1]) == [1]


async def _called() -> tuple[int, int]:
    return await tasks.answer.acall(), await tasks.answer_async.acall()


def test_a_task_is_called_from_a_coroutine_without_any_queue() -> None:

    assert asyncio.run(_called()) == (42, 42)


def test_the_decorator_takes_the_backend_s_task_class(configured: Configure) -> None:
    configured(
        default={"BACKEND": "django.tasks.backends.dummy.DummyBackend", "QUEUES": []},
        ours=ENTRY,
    )
    assert type(task(backend="ours")(tasks.plain_function)) is PolicyTask
    assert type(task(tasks.plain_function)) is Task
