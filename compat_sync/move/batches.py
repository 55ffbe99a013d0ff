"""Moving batches of the oxpull app, under their ids: handles find them again."""

import json
from collections.abc import Sequence

from compat_sync.backend import OxpullBackend
from compat_sync.move import old_groups
from compat_sync.move.groups import GroupMover
from compat_sync.move.old_groups import OldGroup
from compat_sync.move.report import MoveReport
from compat_sync.move.rows import Place
from oxpull_async.domain.batch import NewBatch
from oxpull_async.domain.record import TaskId, TaskStatus, wire_id
from oxpull_async.store import batches as store
from oxpull_async.store.batch_counts import count_members
from oxpull_async.store.results import get_tasks

__all__ = ["BatchMover"]


class BatchMover(GroupMover):
    """Moves batches; those that count one task come together."""

    kind = "batch"

    async def bundles(self) -> dict[str, Sequence[str]]:
        """Return the batches that have to come over together, since they share tasks."""
        bundles: dict[str, list[str]] = {}
        for shared in await old_groups.shared_batches(self.conn):
            joined = sorted({other for id_ in shared for other in bundles.get(id_, [id_])})
            bundles |= dict.fromkeys(joined, joined)
        return dict(bundles)

    async def bring(self, old: OldGroup, backend: OxpullBackend, done: MoveReport) -> set[TaskId]:
        """Store a batch here with its members; a sealed one may complete by that."""
        await store.create_batch(self.conn, NewBatch(old.id, backend.alias, old.name, self.callbacks(old)))
        tasks: set[TaskId] = set()
        after = None
        while ids := await old_groups.members(self.conn, old.id, after, self.request.batch_size):
            carried = await self.carry(ids, Place(batch_id=old.id), done)
            await self._join(old.id, ids, {task.old.id: task.status for task in carried.moved})
            tasks.update(ids)
            after = ids[-1]
        await old_groups.forget(self.conn, self.kind, old.id)
        if old.is_sealed:
            await store.seal(self.conn, old.id)
        await old_groups.date_moved(self.conn, self.kind, old)
        done.batches += 1
        return tasks

    async def _join(self, batch_id: str, ids: Sequence[TaskId], moved: dict[TaskId, TaskStatus]) -> None:
        """Make tasks members of a batch, and count them: those that are nowhere have been deleted."""
        here = await get_tasks(self.conn, [id_ for id_ in ids if id_ not in moved])
        members = [{"id": wire_id(id_), "recheck": 1 if id_ in here else None} for id_ in ids]
        await self.conn.execute("insert_members", batch_id=wire_id(batch_id), members=json.dumps(members))
        await self.conn.execute("grow_batch", id=wire_id(batch_id), count=len(ids))
        statuses: dict[TaskId, TaskStatus | None] = dict.fromkeys(ids)
        await count_members(self.conn, statuses | {id_: record.status for id_, record in here.items()} | moved)
