"""Carrying tasks over in the transaction that is open: lock, plan, store here, delete there."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from compat_sync.connection import DjangoConnection
from compat_sync.move import rows as move_rows
from compat_sync.move.plan import Planner, UnmovableError
from compat_sync.move.rows import MovedTask, OldTask, Place
from oxpull_async.domain.record import TaskId
from oxpull_async.store.enqueue import notify
from oxpull_async.store.results import get_tasks

__all__ = ["LOCKED", "Carried", "Carrier"]

HERE_ALREADY = "a task with this id is here already"
KEY_HELD = "a pending task here holds its unique key. Run this again when that one has ended"
LOCKED = "another transaction had it locked. Run this again"


@dataclass(slots=True)
class Carried:
    """What became of tasks.

    `seen` could be locked, `left` were seen and stay, `moved` are here now.
    """

    seen: set[TaskId] = field(default_factory=set)
    left: dict[TaskId, str] = field(default_factory=dict)
    moved: list[MovedTask] = field(default_factory=list)

    @property
    def pending(self) -> list[MovedTask]:
        """Those that are still to run."""
        return [task for task in self.moved if not task.old.status.is_finished]

    @property
    def keys(self) -> list[str]:
        """The unique keys that came along."""
        return [task.unique_key for task in self.moved if task.unique_key is not None]


class Carrier:
    """Carries tasks over that nobody else has locked."""

    def __init__(self, conn: DjangoConnection, *, has_app: bool, with_results: bool) -> None:
        self._conn = conn
        self._has_app = has_app
        self._with_results = with_results
        self._planner = Planner()

    async def carry(self, ids: Sequence[TaskId], place: Place | None = None) -> Carried:
        """Carry tasks over, in order of their ids; in a place here those that have ended too."""
        conn, done = self._conn, Carried()
        locked = await move_rows.lock_old(conn, ids)
        done.seen = {task.id for task in locked}
        wanted = self._with_results or place is not None
        old = [task for task in locked if wanted or not task.status.is_finished]
        if not old:
            return done
        keys = await move_rows.old_keys(conn, ids[0], ids[-1]) if self._has_app else {}
        planned = self._planned(old, place, await self._obstacles(ids, place), done)
        done.moved = await self._keep(planned, keys, done)
        await move_rows.insert_moved(conn, done.moved)
        await move_rows.remove_old(conn, [task.old.id for task in done.moved], done.keys)
        for queue_name in sorted({task.old.queue_name for task in done.pending}):
            await notify(conn, queue_name)
        return done

    def _planned(
        self, old: Collection[OldTask], place: Place | None, obstacles: Mapping[TaskId, str], done: Carried
    ) -> list[MovedTask]:
        """Return the tasks that can be moved as far as they themselves go; the others are left."""
        tasks = []
        for task in old:
            try:
                if task.id in obstacles:
                    done.left[task.id] = obstacles[task.id]
                else:
                    tasks.append(MovedTask(task, self._planner.plan(task, place), place=place))
            except UnmovableError as reason:
                done.left[task.id] = str(reason)
        return tasks

    async def _obstacles(self, ids: Sequence[TaskId], place: Place | None) -> dict[TaskId, str]:
        """Return which tasks are here already, or bound to others that do not come along."""
        found = dict.fromkeys(await get_tasks(self._conn, ids), HERE_ALREADY)
        if self._has_app and place is None:
            for id_, (kind, name) in (await move_rows.old_members(self._conn, ids[0], ids[-1])).items():
                found[id_] = f"the {kind} {name!r} of the oxpull app counts it, and is not complete"
        return found

    async def _keep(self, tasks: Sequence[MovedTask], keys: dict[TaskId, str], done: Carried) -> list[MovedTask]:
        """Let pending tasks hold their unique keys here; those whose key is held already are left."""
        wanted = {keys[task.old.id]: task.old.id for task in tasks if task.plan is not None and task.old.id in keys}
        held = await move_rows.hold_keys(self._conn, wanted)
        kept = []
        for task in tasks:
            key = None if task.plan is None else keys.get(task.old.id)
            if key is None or key in held:
                kept.append(MovedTask(task.old, task.plan, key, task.place))
            else:
                done.left[task.old.id] = KEY_HELD
        return kept
