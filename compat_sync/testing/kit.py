"""What the fixture `oxpull_tasks` is."""

from typing import Unpack

from compat_sync.django_types import AnyTask
from compat_sync.results import TaskResult
from compat_sync.testing.captured import CallDetails, CapturedTasks
from compat_sync.testing.running import RunOptions, arun_tasks, run_tasks

__all__ = ["TaskKit"]


class TaskKit:
    """The tasks of one test: `enqueued` are the results of those that it has enqueued."""

    def __init__(self, enqueued: CapturedTasks) -> None:
        self.enqueued = enqueued

    def run(self, **options: Unpack[RunOptions]) -> list[TaskResult]:
        """Run what is due; see `run_tasks`."""
        return run_tasks(**options)

    async def arun(self, **options: Unpack[RunOptions]) -> list[TaskResult]:
        """Run what is due; see `arun_tasks`."""
        return await arun_tasks(**options)

    def assert_enqueued(
        self, task: AnyTask | str, *, times: int | None = None, **said: Unpack[CallDetails]
    ) -> list[TaskResult]:
        """Assert that a task was enqueued, with what is said of it; see CapturedTasks."""
        return self.enqueued.assert_enqueued(task, times=times, **said)

    def assert_not_enqueued(self, task: AnyTask | str | None = None, **said: Unpack[CallDetails]) -> None:
        """Assert that a task was not enqueued, or no task at all; see CapturedTasks."""
        self.enqueued.assert_not_enqueued(task, **said)

    def assert_deduplicated(
        self, task: AnyTask | str, *, times: int | None = None, **said: Unpack[CallDetails]
    ) -> list[TaskResult]:
        """Assert that calls were answered with a pending task; see CapturedTasks."""
        return self.enqueued.assert_deduplicated(task, times=times, **said)
