"""The public names, written down: a change of the surface is a change of this file."""

import compat_sync
import oxpull_async

SURFACE: dict[str, list[str]] = {
    "oxpull_async": [
        "Batch",
        "BatchInfo",
        "BatchProgress",
        "Call",
        "Explanation",
        "Exponential",
        "Node",
        "Oxpull",
        "RateLimit",
        "Retry",
        "RunningLock",
        "Snooze",
        "Task",
        "TaskContext",
        "TaskError",
        "TaskResult",
        "TaskStatus",
        "Unique",
        "Upstream",
        "Worker",
        "Workflow",
        "WorkflowProgress",
    ],
    "compat_sync": [],
}


def test_the_public_names_are_those_written_here() -> None:
    assert {"oxpull_async": oxpull_async.__all__, "compat_sync": compat_sync.__all__} == SURFACE


def test_the_public_names_are_sorted_and_exist() -> None:
    for package in (oxpull_async, compat_sync):
        assert package.__all__ == sorted(package.__all__)
        assert [name for name in package.__all__ if not hasattr(package, name)] == []
