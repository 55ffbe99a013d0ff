"""Renders the lists of docs/stability.md from the code: `python -m tests.docs.stability` writes them."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from importlib import import_module
from logging import getLevelName
from pathlib import Path

import oxpull_async
from compat_sync import pytest_plugin
from oxpull_async.domain import events
from oxpull_async.domain.record import TaskStatus
from oxpull_async.runtime.log import _LEVELS

PAGE = Path(__file__).parents[2] / "docs" / "stability.md"
ACTIONS = (
    "cancel",
    "cancel_many",
    "discard",
    "discard_many",
    "pause",
    "resume",
    "retry",
    "retry_many",
    "run_now",
    "run_now_many",
)
COMPAT = {
    "compat_sync.backend": ("OxpullBackend",),
    "compat_sync.tasks": ("PolicyTask",),
    "compat_sync.unique": ("is_registered", "unique", "unique_key"),
    "compat_sync.batches": (
        "Batch",
        "BatchProgress",
        "abatch",
        "acreate",
        "aget",
        "batch",
        "create",
        "get",
        "reconcile",
    ),
    "compat_sync.workflows": (
        "Node",
        "Upstream",
        "Workflow",
        "WorkflowProgress",
        "acreate",
        "aget",
        "aworkflow",
        "create",
        "get",
        "reconcile",
        "workflow",
    ),
    "compat_sync.schedules": (
        "create_schedule",
        "create_schedules",
        "delete_schedule",
        "pause_schedule",
        "resume_schedule",
        "update_schedule",
    ),
    "compat_sync.registry": ("ArgsForm", "ScheduleKind", "get", "kinds", "register", "schedulable"),
    "compat_sync.models": (
        "OxpullBatch",
        "OxpullBatchCounts",
        "OxpullBatchMember",
        "OxpullLock",
        "OxpullQueue",
        "OxpullRateLimit",
        "OxpullRateStart",
        "OxpullRateWindow",
        "OxpullSchedule",
        "OxpullTask",
        "OxpullTick",
        "OxpullUniqueKey",
        "OxpullWorker",
        "OxpullWorkflow",
        "OxpullWorkflowCounts",
        "OxpullWorkflowEdge",
        "OxpullWorkflowNode",
    ),
    "compat_sync.results": ("TaskError", "TaskResult"),
    "compat_sync.managers": ("ReadOnlyModel",),
    "compat_sync.actions": tuple(sorted((*ACTIONS, *(f"a{name}" for name in ACTIONS)))),
    "compat_sync.context": ("TaskContext", "deadline", "remaining"),
    "compat_sync.testing": (
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
    ),
}
DJANGO_OX: Mapping[type, str] = {
    events.WorkerStarted: "`worker_started`",
    events.WorkerStopped: "`worker_stopped`",
    events.TasksClaimed: "`task_claimed`, once for each",
    events.TaskStarted: "`task_started`",
    events.TaskSettled: "`task_succeeded` where the status is SUCCESSFUL",
    events.OutcomeIgnored: "`task_lease_lost`",
    events.AttemptFailed: "`task_retrying`; `task_failed` where `retry_in` is None",
    events.TasksReaped: "`task_reclaimed`, once for each",
    events.DatabaseDown: "`worker_poll_failed`",
}


def names() -> str:
    """Return the table of importable names, and the fixtures of the plugin for pytest."""
    errors = import_module("oxpull_async.errors").__all__
    rows = {"oxpull_async": oxpull_async.__all__, "oxpull_async.errors": errors, **COMPAT}
    rows["compat_sync.exceptions"] = tuple(sorted(set(errors) & set(dir(import_module("compat_sync.exceptions")))))
    lines = [f"| `{module}` | {_listed(found)} |" for module, found in rows.items()]
    fixtures = f"\nThe pytest fixtures {_listed(pytest_plugin.__all__)}.\n"
    return "| module | names |\n| --- | --- |\n" + "".join(f"{line}\n" for line in lines) + fixtures


def words() -> str:
    """Return the sentence with the stored statuses."""
    return f"The statuses {_listed([status.value for status in TaskStatus])}.\n"


def logged() -> str:
    """Return the table of events."""
    lines = [
        f"| `{kind.__name__}` | {_listed([field.name for field in fields(kind)])} | {getLevelName(level)} "
        f"| {DJANGO_OX.get(kind, '')} |\n"
        for kind, level in _LEVELS.items()
    ]
    return "| event | fields | level | django-ox |\n| --- | --- | --- | --- |\n" + "".join(lines)


LISTS: Mapping[str, Callable[[], str]] = {"names": names, "words": words, "events": logged}


def marks(title: str) -> tuple[str, str]:
    """Return the lines around a list."""
    return f"<!-- {title}: begin -->\n", f"<!-- {title}: end -->\n"


def printed(title: str) -> str:
    """Return a list as the page has it."""
    begin, end = marks(title)
    return PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0]


def _listed(found: "tuple[str, ...] | list[str]") -> str:
    return ", ".join(f"`{name}`" for name in found)


def write() -> None:
    """Write every list into the page."""
    text = PAGE.read_text(encoding="utf-8")
    for title, render in LISTS.items():
        begin, end = marks(title)
        head, _, rest = text.partition(begin)
        text = head + begin + render() + end + rest.partition(end)[2]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
