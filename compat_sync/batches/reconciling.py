"""The task that looks after batches, for projects that schedule one.

Every worker does so by itself.
"""

import time
from functools import partial
from typing import Any

from compat_sync.batches.places import blocking, home
from compat_sync.context import remaining
from compat_sync.tasks import PolicyTask
from oxpull_async.store.batch_care import OpenBatch, look_after, open_batches, recheck_members

__all__ = ["reconcile_task"]

MOST_SECONDS, SHARE = 60.0, 0.5
BATCHES_AT_ONCE, MEMBERS_AT_ONCE = 100, 1_000


def reconcile() -> int:
    """Look at what marks ask for and at every open batch; returns how much was put right.

    Ends after a minute, or at half of the time that its timeout leaves.
    """
    left = remaining()
    ends = time.monotonic() + (MOST_SECONDS if left is None else min(MOST_SECONDS, left * SHARE))
    put_right = 0
    while time.monotonic() < ends and blocking(lambda conn: recheck_members(conn, MEMBERS_AT_ONCE)):
        pass
    after = None
    while found := blocking(partial(open_batches, after=after, limit=BATCHES_AT_ONCE)):
        for batch in found:
            put_right += _look_at(batch, ends)
            if time.monotonic() >= ends:
                return put_right
        after = found[-1].id
    return put_right


def reconcile_task() -> PolicyTask:
    """Return the task, on "default" where the backend has that queue, else on its first."""
    backend = home()
    queues = sorted(backend.queues)
    queue_name = "default" if not queues or "default" in queues else queues[0]
    made: Any = PolicyTask(
        func=reconcile, priority=0, queue_name=queue_name, backend=backend.alias, takes_context=False, run_after=None
    )
    task: PolicyTask = made
    return task


def _look_at(batch: OpenBatch, ends: float) -> int:
    put_right, after = 0, None
    while True:
        step = blocking(partial(look_after, batch=batch, after=after, limit=MEMBERS_AT_ONCE))
        put_right += step.put_right
        after = step.after
        if after is None or time.monotonic() >= ends:
            return put_right


reconcile.__module__ = "compat_sync.batches"  # where rows and workers look for the task
