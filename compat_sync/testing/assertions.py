"""The assertions about enqueued tasks: as functions, and as a mixin for Django's test cases."""

from typing import TYPE_CHECKING, Any, Unpack

from compat_sync.django_types import AnyTask
from compat_sync.results import TaskResult
from compat_sync.testing.captured import CallDetails, CapturedTasks, captured_tasks, innermost
from compat_sync.testing.clearing import clear_tasks

if TYPE_CHECKING:
    from unittest import TestCase as _Case
    from unittest import TestResult
else:
    _Case = object

__all__ = ["TaskAssertions", "assert_deduplicated", "assert_enqueued", "assert_not_enqueued"]


def assert_enqueued(task: AnyTask | str, *, times: int | None = None, **said: Unpack[CallDetails]) -> list[TaskResult]:
    """Do CapturedTasks.assert_enqueued for the innermost open block, which UsageError misses."""
    return innermost().assert_enqueued(task, times=times, **said)


def assert_not_enqueued(task: AnyTask | str | None = None, **said: Unpack[CallDetails]) -> None:
    """Do CapturedTasks.assert_not_enqueued for the innermost open block."""
    innermost().assert_not_enqueued(task, **said)


def assert_deduplicated(
    task: AnyTask | str, *, times: int | None = None, **said: Unpack[CallDetails]
) -> list[TaskResult]:
    """Do CapturedTasks.assert_deduplicated for the innermost open block."""
    return innermost().assert_deduplicated(task, times=times, **said)


class TaskAssertions(_Case):
    """A mixin before TestCase or TransactionTestCase, which notes what each test enqueues.

    The assertions are about the whole test, its setUp included, or about the innermost `captured_tasks()` that is open.
    After a test that commits, the tables of tasks are emptied.
    """

    enqueued: CapturedTasks
    """What this test has enqueued."""

    def run(self, result: "TestResult | None" = None) -> Any:
        """Run the test in a block of its own."""
        with captured_tasks() as self.enqueued:
            try:
                return super().run(result)
            finally:
                if _commits(self):
                    clear_tasks()

    def assert_enqueued(
        self, task: AnyTask | str, *, times: int | None = None, **said: Unpack[CallDetails]
    ) -> list[TaskResult]:
        """Assert that a task was enqueued, with what is said of it; see CapturedTasks."""
        return assert_enqueued(task, times=times, **said)

    def assert_not_enqueued(self, task: AnyTask | str | None = None, **said: Unpack[CallDetails]) -> None:
        """Assert that a task was not enqueued, or no task at all; see CapturedTasks."""
        assert_not_enqueued(task, **said)

    def assert_deduplicated(
        self, task: AnyTask | str, *, times: int | None = None, **said: Unpack[CallDetails]
    ) -> list[TaskResult]:
        """Assert that calls were answered with a pending task; see CapturedTasks."""
        return assert_deduplicated(task, times=times, **said)


def _commits(case: object) -> bool:
    """Whether what a test writes is committed; imported late, since settings may name this package's backends."""
    from django.test import TestCase, TransactionTestCase

    return isinstance(case, TransactionTestCase) and not isinstance(case, TestCase)
