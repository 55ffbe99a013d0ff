"""Follow the tasks of one demo run, and remove them at its end."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import batched

from oxpull_async.app.operations import CHUNK, PRUNABLE
from oxpull_async.demo.modules import Totals
from oxpull_async.demo.tasks import ox
from oxpull_async.domain.record import TaskId, TaskRecord, TaskStatus, WorkerId
from oxpull_async.store import lease
from oxpull_async.store.operate import PruneRequest, prune_tasks
from oxpull_async.store.results import get_tasks


class Watch:
    """What is known about the tasks of a run; `look` reads those that had not ended."""

    def __init__(self, files: Sequence[TaskId], totals: TaskId) -> None:
        self.files = files
        self.totals = totals
        self.ended: dict[TaskId, TaskRecord] = {}
        self.running: dict[TaskId, WorkerId] = {}

    @property
    def done(self) -> int:
        """How many file tasks have ended."""
        return len(self.ended.keys() - {self.totals})

    @property
    def is_over(self) -> bool:
        """Whether the totals are there."""
        return self.totals in self.ended

    async def look(self) -> None:
        """Read the tasks that had not ended when last read."""
        open_tasks = [id_ for id_ in (*self.files, self.totals) if id_ not in self.ended]
        self.running.clear()
        for some in batched(open_tasks, CHUNK):
            records = await ox.operate(lambda conn, some=some: get_tasks(conn, some))  # type: ignore[misc]
            self._note(records.values())

    def _note(self, records: Iterable[TaskRecord]) -> None:
        for record in records:
            if record.status.is_finished:
                self.ended[record.id] = record
            elif record.leased_by is not None and record.id != self.totals:
                self.running[record.id] = record.leased_by

    def done_by(self) -> Counter[WorkerId]:
        """Count the ended file tasks by the worker of their last attempt."""
        records = (record for record in self.ended.values() if record.worker_ids and record.id != self.totals)
        return Counter(record.worker_ids[-1] for record in records)

    def held_by(self, worker_id: WorkerId) -> list[TaskId]:
        """Return the file tasks that this worker had when last looked."""
        return [id_ for id_, holder in self.running.items() if holder == worker_id]

    def taken_over(self, held: Iterable[TaskId], worker_id: WorkerId) -> int:
        """Count the tasks among these that another worker has ended."""
        ended = (self.ended[id_] for id_ in held if id_ in self.ended)
        return sum(record.worker_ids[-1:] != (worker_id,) for record in ended)

    def failures(self) -> list[TaskRecord]:
        """Return the tasks that ended without success."""
        return [record for record in self.ended.values() if record.status is not TaskStatus.SUCCESSFUL]

    def result(self) -> Totals:
        """Return what the summing task returned."""
        ended = self.ended[self.totals]
        totals: Totals = ox.result_of(ended).return_value
        return totals

    def seconds(self) -> float:
        """Return the time from the enqueue to the totals, by the database's clock."""
        ended = self.ended[self.totals]
        return ((ended.finished_at or ended.enqueued_at) - ended.enqueued_at).total_seconds()


async def forget(ids: Sequence[TaskId], workers: Sequence[WorkerId]) -> None:
    """Remove the tasks and workers of a run, and nothing else; cancel what has not ended."""
    await ox.cancel_many(ids)
    request = PruneRequest(0.0, PRUNABLE, CHUNK, dry_run=False)
    for some in batched(ids, CHUNK):
        await ox.operate(lambda conn, some=some: prune_tasks(conn, request, some))  # type: ignore[misc]
    for worker_id in workers:
        await ox.operate(lambda conn, worker_id=worker_id: lease.remove(conn, worker_id))  # type: ignore[misc]
