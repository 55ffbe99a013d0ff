"""Pruning: what is removed, step by step, and the report of it.

Each kind of row is gone through once, in short transactions; what a step removes, those below it find gone.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from oxpull_async.db.contract import Connection
from oxpull_async.domain.durations import Duration, seconds
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.record import TaskStatus
from oxpull_async.store.clean import clean_keys, clean_locks
from oxpull_async.store.operate import Pruned, PruneRequest, prune_step
from oxpull_async.store.prune_groups import prune_batches, prune_workflows
from oxpull_async.store.rate_windows import count_expired, prune_windows
from oxpull_async.store.ticks import count_ticks, prune_ticks

__all__ = ["PRUNABLE", "STEPS", "PruneReport", "prune", "prune_request"]

PRUNABLE = (TaskStatus.SUCCESSFUL, TaskStatus.DISCARDED, TaskStatus.FAILED, TaskStatus.LOST)


@dataclass(frozen=True, slots=True)
class PruneReport:
    """How many tasks a prune looked at, and how many it removed (or would remove, in a dry run).

    Besides: lock rows of unique keys and running locks that nothing hung on, notes of old ticks, rate windows (and
    starts) that are long over, batches, workflows.
    """

    scanned: int
    removed: int
    dry_run: bool
    keys: int = 0
    locks: int = 0
    ticks: int = 0
    windows: int = 0
    batches: int = 0
    workflows: int = 0


class Operate(Protocol):
    """Runs a store operation on a connection."""

    def __call__[T](self, operation: Callable[[Connection], Awaitable[T]], /) -> Awaitable[T]:
        """Return what the operation returns."""


type Step = Callable[[Connection, PruneRequest, str | None], Awaitable[Pruned]]


async def prune(
    operate: Operate, request: PruneRequest, progress: Callable[[PruneReport], None] | None = None
) -> PruneReport:
    """Go through all steps, each in transactions of its own; `progress` hears of every one."""
    report = PruneReport(0, 0, request.dry_run)
    for name, step in STEPS.items():
        after: str | None = None
        while True:
            done = await operate(_from(step, request, after))
            report = _with(report, name, done)
            if progress is not None:
                progress(report)
            after = done.after
            if after is None:
                break
    return report


def prune_request(older_than: Duration, statuses: Sequence[str], batch_size: int, *, dry_run: bool) -> PruneRequest:
    """Return what is to be pruned, checked.

    Raises: UsageError for another status, a batch size below 1 or a negative age.
    """
    names = (statuses,) if isinstance(statuses, str) else tuple(statuses)
    for name in names:
        if name not in PRUNABLE:
            raise UsageError(f"tasks with status {name!r} are not pruned: choose among {', '.join(PRUNABLE)}")
    if type(batch_size) is not int or batch_size < 1:
        raise UsageError(f"batch_size={batch_size!r} must be a whole number of rows, at least 1")
    return PruneRequest(seconds(older_than, name="older_than"), names, batch_size, dry_run)


async def _prune_ticks(conn: Connection, request: PruneRequest, after: str | None) -> Pruned:  # noqa: ARG001 - a step
    """Remove the next old ticks; a dry run counts them all at once."""
    age, alias = request.age_seconds, request.backend_alias
    if request.dry_run:
        found = await count_ticks(conn, age, alias)
        return Pruned(found, found, None)
    removed = await prune_ticks(conn, age, request.batch_size, alias)
    return Pruned(removed, removed, "" if removed == request.batch_size else None)


async def _prune_windows(conn: Connection, request: PruneRequest, after: str | None) -> Pruned:  # noqa: ARG001 - a step
    """Remove the next rate windows and starts that are long over; a dry run counts them all at once."""
    if request.dry_run:
        found = await count_expired(conn)
        return Pruned(found, found, None)
    removed = await prune_windows(conn, request.batch_size)
    return Pruned(removed, removed, "" if removed >= request.batch_size else None)


STEPS: dict[str, Step] = {
    "tasks": prune_step,
    "keys": clean_keys,
    "locks": clean_locks,
    "ticks": _prune_ticks,
    "windows": _prune_windows,
    "batches": prune_batches,
    "workflows": prune_workflows,
}
"""What a prune goes through, in this order: tasks first, since batches stay as long as a task of theirs does.

Every kind of row but the tasks has a count of its name in the report.
"""


def _from(step: Step, request: PruneRequest, after: str | None) -> Callable[[Connection], Awaitable[Pruned]]:
    return lambda conn: step(conn, request, after)


def _with(report: PruneReport, name: str, done: Pruned) -> PruneReport:
    """Return a report after one more transaction of a step."""
    if name == "tasks":
        return replace(report, scanned=report.scanned + done.scanned, removed=report.removed + done.removed)
    return replace(report, **{name: getattr(report, name) + done.removed})
