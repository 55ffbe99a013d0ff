"""The task that looks after workflows, for projects that schedule one.

Every worker does so by itself.
"""

from compat_sync.caring import Care, look_after_all, task_of
from compat_sync.tasks import PolicyTask
from oxpull_async.store.workflow_care import look_after_workflow, open_workflows, recheck_nodes

__all__ = ["reconcile_task"]

_WORKFLOWS = Care(recheck_nodes, open_workflows, look_after_workflow)


def reconcile() -> int:
    """Look at what marks ask for and at every open workflow; returns how much was put right.

    Ends after a minute, or at half of the time that its timeout leaves.
    """
    return look_after_all(_WORKFLOWS)


def reconcile_task() -> PolicyTask:
    """Return the task, on "default" where the backend has that queue, else on its first."""
    return task_of(reconcile)


reconcile.__module__ = "compat_sync.workflows"  # where rows and workers look for the task
