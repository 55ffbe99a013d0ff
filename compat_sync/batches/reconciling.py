"""The task that looks after batches, for projects that schedule one.

Every worker does so by itself.
"""

from compat_sync.caring import Care, look_after_all, task_of
from compat_sync.tasks import PolicyTask
from oxpull_async.store.batch_care import look_after, open_batches, recheck_members

__all__ = ["reconcile_task"]

_BATCHES = Care(recheck_members, open_batches, look_after)


def reconcile() -> int:
    """Look at what marks ask for and at every open batch; returns how much was put right.

    Ends after a minute, or at half of the time that its timeout leaves.
    """
    return look_after_all(_BATCHES)


def reconcile_task() -> PolicyTask:
    """Return the task, on "default" where the backend has that queue, else on its first."""
    return task_of(reconcile)


reconcile.__module__ = "compat_sync.batches"  # where rows and workers look for the task
