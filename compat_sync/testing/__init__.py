"""Help for a Django project's tests: run what was enqueued, assert what was, move the clock."""

from compat_sync.testing.assertions import (
    TaskAssertions,
    assert_deduplicated,
    assert_enqueued,
    assert_not_enqueued,
)
from compat_sync.testing.backends import DummyBackend, ImmediateBackend
from compat_sync.testing.captured import CapturedTasks, captured_tasks
from compat_sync.testing.clearing import clear_tasks
from compat_sync.testing.moved_clock import MovedClock, moved_clock
from compat_sync.testing.running import arun_tasks, run_tasks
from compat_sync.testing.ticking import run_schedules

__all__ = [
    "CapturedTasks",
    "DummyBackend",
    "ImmediateBackend",
    "MovedClock",
    "TaskAssertions",
    "arun_tasks",
    "assert_deduplicated",
    "assert_enqueued",
    "assert_not_enqueued",
    "captured_tasks",
    "clear_tasks",
    "moved_clock",
    "run_schedules",
    "run_tasks",
]
