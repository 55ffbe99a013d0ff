"""Move the waiting tasks of django-ox and its oxpull app here, in short transactions.

Each transaction removes old rows and inserts the same tasks here, so at any moment a task is in one place. It may run
beside workers of either kind and beside another move, be stopped anywhere, and be repeated.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from compat_sync import clock
from compat_sync.connection import DjangoConnection
from compat_sync.move import rows as move_rows
from compat_sync.move.plan import OLD_STATUS, Planner, UnmovableError
from compat_sync.move.tables import has_oxpull_app
from compat_sync.repeating import repeat_blocking
from compat_sync.shim import run_blocking
from oxpull_async.domain.errors import Contended, DataRefused
from oxpull_async.domain.record import TaskId, TaskStatus
from oxpull_async.store.enqueue import notify
from oxpull_async.store.results import get_tasks

__all__ = ["MoveReport", "MoveRequest", "move"]

HERE_ALREADY = "a task with this id is here already"
KEY_HELD = "a pending task here holds its unique key. Run this again when that one has ended"
LOCKED = "another transaction had it locked. Run this again"


@dataclass(frozen=True, slots=True)
class MoveRequest:
    """What to move, how many rows in one transaction, and whether to take it all back."""

    batch_size: int = 500
    dry_run: bool = False
    with_results: bool = False


@dataclass(slots=True)
class MoveReport:
    """What came over, and what stays where it was, and why."""

    ready: int = 0
    keys: int = 0
    results: int = 0
    stale_keys: int = 0
    left: dict[TaskId, str] = field(default_factory=dict)

    def add(self, other: "MoveReport") -> None:
        """Count what one transaction did."""
        self.ready += other.ready
        self.keys += other.keys
        self.results += other.results
        self.left |= other.left

    @property
    def by_reason(self) -> Iterator[tuple[str, Sequence[TaskId]]]:
        """The tasks that stay, by reason, those of most tasks first."""
        groups: dict[str, list[TaskId]] = {}
        for id_, reason in self.left.items():
            groups.setdefault(reason, []).append(id_)
        yield from sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def move(database: str, request: MoveRequest) -> MoveReport:
    """Move every task that waits in the old tables of a database.

    One pass by id: what old producers enqueue meanwhile may need another call. Returns what was moved and what was
    left.

    Raises: ImproperlyConfigured where some of the old tables are missing, DatabaseTrouble where the database fails;
    what was moved by then stays moved.
    """
    conn = DjangoConnection(database, clock_offset=clock.offset())
    return run_blocking(_Pass(conn, request, has_oxpull_app(database)).run())


class _DryRun(Exception):
    """Takes a transaction back."""


class _Pass:
    """One walk through the old tasks."""

    def __init__(self, conn: DjangoConnection, request: MoveRequest, has_app: bool) -> None:
        self._conn = conn
        self._request = request
        self._has_app = has_app
        self._planner = Planner()
        self._report = MoveReport()

    async def run(self) -> MoveReport:
        limit, after = self._request.batch_size, None
        while rows := await move_rows.scan_old(self._conn, after, limit, settled=self._request.with_results):
            self._report.left |= {id_: OLD_STATUS[status] for id_, status in rows if status in OLD_STATUS}
            await self._move([id_ for id_, status in rows if status not in OLD_STATUS])
            after = rows[-1][0]
        if self._has_app:
            self._report.stale_keys = await move_rows.count_stale_old_keys(self._conn)
        return self._report

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
        with suppress(_DryRun):
            async with self._conn.transaction():
                seen = await self._carry_out(ids, done)
                if self._request.dry_run:
                    raise _DryRun
        there = await move_rows.old_statuses(self._conn, set(ids) - seen)
        done.left |= {id_: OLD_STATUS.get(status, LOCKED) for id_, status in there.items()}
        return done

    async def _carry_out(self, ids: Sequence[TaskId], done: MoveReport) -> set[TaskId]:
        """Do it, and count it in `done`; returns the old tasks that this transaction could lock."""
        conn = self._conn
        locked = await move_rows.lock_old(conn, ids)
        seen = {task.id for task in locked}
        old = [task for task in locked if self._request.with_results or not task.status.is_finished]
        if not old:
            return seen
        keys = await move_rows.old_keys(conn, ids[0], ids[-1]) if self._has_app else {}
        tasks = await self._keep(self._planned(old, await self._obstacles(ids), done), keys, done)
        await move_rows.insert_moved(conn, tasks)
        moved_keys = [task.unique_key for task in tasks if task.unique_key is not None]
        await move_rows.remove_old(conn, [task.old.id for task in tasks], moved_keys)
        ready = [task.old for task in tasks if task.old.status is TaskStatus.READY]
        for queue_name in sorted({task.queue_name for task in ready}):
            await notify(conn, queue_name)
        done.ready, done.keys, done.results = len(ready), len(moved_keys), len(tasks) - len(ready)
        return seen

    def _planned(
        self, old: Collection[move_rows.OldTask], obstacles: Mapping[TaskId, str], done: MoveReport
    ) -> list[move_rows.MovedTask]:
        """Return the tasks that can be moved as far as they themselves go; the others are left."""
        tasks = []
        for task in old:
            try:
                if task.id in obstacles:
                    done.left[task.id] = obstacles[task.id]
                else:
                    tasks.append(move_rows.MovedTask(task, self._planner.plan(task)))
            except UnmovableError as reason:
                done.left[task.id] = str(reason)
        return tasks

    async def _obstacles(self, ids: Sequence[TaskId]) -> dict[TaskId, str]:
        """Return which tasks are bound to others, or here already."""
        found = dict.fromkeys(await get_tasks(self._conn, ids), HERE_ALREADY)
        if self._has_app:
            for id_, (kind, name) in (await move_rows.old_members(self._conn, ids[0], ids[-1])).items():
                found[id_] = f"the {kind} {name!r} of the oxpull app counts it, and is not complete"
        return found

    async def _keep(
        self, tasks: Sequence[move_rows.MovedTask], keys: dict[TaskId, str], done: MoveReport
    ) -> list[move_rows.MovedTask]:
        """Let pending tasks hold their unique keys here; those whose key is held already are left."""
        wanted = {keys[task.old.id]: task.old.id for task in tasks if task.plan is not None and task.old.id in keys}
        held = await move_rows.hold_keys(self._conn, wanted)
        kept = []
        for task in tasks:
            key = None if task.plan is None else keys.get(task.old.id)
            if key is None or key in held:
                kept.append(move_rows.MovedTask(task.old, task.plan, key))
            else:
                done.left[task.old.id] = KEY_HELD
        return kept
