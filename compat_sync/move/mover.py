"""Move what waits in django-ox and its oxpull app here, in short transactions.

Each transaction removes old rows and stores the same here, so at any moment a task is in one place. It may run beside
workers of either kind and beside another move, be stopped anywhere, and be repeated.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from compat_sync import clock
from compat_sync.connection import DjangoConnection
from compat_sync.move import rows as move_rows
from compat_sync.move.batches import BatchMover
from compat_sync.move.carrier import LOCKED, Carrier
from compat_sync.move.dry_run import DryRun
from compat_sync.move.plan import OLD_STATUS
from compat_sync.move.report import MoveReport, MoveRequest
from compat_sync.move.schedules import ScheduleMover
from compat_sync.move.tables import has_oxpull_app, has_schedules
from compat_sync.move.workflows import WorkflowMover
from compat_sync.repeating import repeat_blocking
from compat_sync.shim import run_blocking
from oxpull_async.domain.errors import Contended, DataRefused
from oxpull_async.domain.record import TaskId

__all__ = ["MoveReport", "MoveRequest", "move"]


def move(database: str, request: MoveRequest) -> MoveReport:
    """Move what waits in the old tables of a database.

    First the batches and workflows that are not complete, then every other task, then the schedules. One pass by id:
    what old producers enqueue meanwhile may need another call. Returns what was moved and what was left.

    Raises: ImproperlyConfigured where some of the old tables are missing, DatabaseTrouble where the database fails;
    what was moved by then stays moved.
    """
    conn = DjangoConnection(database, clock_offset=clock.offset())
    report = MoveReport()
    has_app = has_oxpull_app(database)
    carrier = Carrier(conn, has_app=has_app, with_results=request.with_results)
    carried: set[TaskId] = set()
    for mover in (BatchMover, WorkflowMover) if has_app else ():
        carried |= run_blocking(mover(conn, request, carrier, report).run())
    run_blocking(_Pass(conn, request, carrier, report).run(carried))
    if has_app:
        report.stale_keys = run_blocking(move_rows.count_stale_old_keys(conn))
    if has_schedules(database):
        run_blocking(ScheduleMover(conn, request, report).run())
    return report


class _Pass:
    """One walk through the tasks that are bound to nothing else."""

    def __init__(self, conn: DjangoConnection, request: MoveRequest, carrier: Carrier, report: MoveReport) -> None:
        self._conn = conn
        self._request = request
        self._carrier = carrier
        self._report = report

    async def run(self, carried: set[TaskId]) -> None:
        """Move what it finds, but for tasks that a dry run has carried over and taken back."""
        limit, after = self._request.batch_size, None
        while rows := await move_rows.scan_old(self._conn, after, limit, settled=self._request.with_results):
            found = [(id_, status) for id_, status in rows if id_ not in carried]
            self._report.left |= {id_: OLD_STATUS[status] for id_, status in found if status in OLD_STATUS}
            await self._move([id_ for id_, status in found if status not in OLD_STATUS])
            after = rows[-1][0]

    async def _move(self, ids: Sequence[TaskId]) -> None:
        """Move tasks in one transaction; where the database refuses a value, one by one, to leave only that one."""
        if not ids:
            return
        try:
            self._report.add(await repeat_blocking(self._conn, partial(self._attempt, ids), on=(Contended,)))
        except DataRefused as refused:
            if len(ids) == 1:
                self._report.left[ids[0]] = f"the database refuses it: {refused}"
                return
            for id_ in ids:
                await self._move([id_])

    async def _attempt(self, ids: Sequence[TaskId]) -> MoveReport:
        done = MoveReport()
        with suppress(DryRun):
            async with self._conn.transaction():
                carried = await self._carrier.carry(ids)
                done.left = carried.left
                done.ready, done.keys = len(carried.pending), len(carried.keys)
                done.results = len(carried.moved) - done.ready
                if self._request.dry_run:
                    raise DryRun
        there = await move_rows.old_statuses(self._conn, set(ids) - carried.seen)
        done.left |= {id_: OLD_STATUS.get(status, LOCKED) for id_, status in there.items()}
        return done
