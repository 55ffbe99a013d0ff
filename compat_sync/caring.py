"""Looking after what is open, batches or workflows, on a task's own thread."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from compat_sync.batches.places import blocking, home
from compat_sync.context import remaining
from compat_sync.tasks import PolicyTask
from oxpull_async.db.contract import Connection
from oxpull_async.store.batch_care import OpenBatch, Recounted
from oxpull_async.store.workflow_care import OpenWorkflow

__all__ = ["Care", "look_after_all", "task_of"]

MOST_SECONDS, SHARE = 60.0, 0.5
GROUPS_AT_ONCE, ROWS_AT_ONCE = 100, 1_000


@dataclass(frozen=True, slots=True)
class Care[G: OpenBatch | OpenWorkflow]:
    """How marks of one kind are followed, and how what is open is found and looked after."""

    follow_marks: Callable[[Connection, int], Awaitable[int]]
    find: Callable[[Connection, str | None, int], Awaitable[Sequence[G]]]
    look_after: Callable[[Connection, G, str | None, int], Awaitable[Recounted]]


def look_after_all[G: OpenBatch | OpenWorkflow](care: Care[G]) -> int:
    """Follow all marks of a kind and look at everything open of it.

    Returns how much was put right. Ends after a minute, or at half of the time that its timeout leaves.
    """
    left = remaining()
    ends = time.monotonic() + (MOST_SECONDS if left is None else min(MOST_SECONDS, left * SHARE))
    while time.monotonic() < ends and blocking(lambda conn: care.follow_marks(conn, ROWS_AT_ONCE)):
        pass
    put_right, after = 0, None
    while found := blocking(lambda conn, after=after: care.find(conn, after, GROUPS_AT_ONCE)):  # type: ignore[misc]
        for group in found:
            put_right += _look_at(care, group, ends)
            if time.monotonic() >= ends:
                return put_right
        after = found[-1].id
    return put_right


def task_of(function: Callable[[], int]) -> PolicyTask:
    """Return a function's task, on "default" where the backend has it, else on its first queue."""
    backend = home()
    queues = sorted(backend.queues)
    queue_name = "default" if not queues or "default" in queues else queues[0]
    made: Any = PolicyTask(
        func=function, priority=0, queue_name=queue_name, backend=backend.alias, takes_context=False, run_after=None
    )
    task: PolicyTask = made
    return task


def _look_at[G: OpenBatch | OpenWorkflow](care: Care[G], group: G, ends: float) -> int:
    put_right, after = 0, None
    while True:
        step = blocking(partial(_step, care, group, after))
        put_right += step.put_right
        after = step.after
        if after is None or time.monotonic() >= ends:
            return put_right


async def _step[G: OpenBatch | OpenWorkflow](care: Care[G], group: G, after: str | None, conn: Connection) -> Recounted:
    return await care.look_after(conn, group, after, ROWS_AT_ONCE)
