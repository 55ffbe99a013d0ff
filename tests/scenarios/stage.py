"""What every scenario needs: an Oxpull over the URL, migrated, with the workers' processes, and looks at the rows."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from oxpull_async import Oxpull
from oxpull_async.app.result import TaskResult
from oxpull_async.app.task import Call, Task
from oxpull_async.domain.record import TaskRecord, TaskStatus
from oxpull_async.store.health import WorkerState
from oxpull_async.store.results import TaskFilter
from tests.fixtures.processes import Fleet, fleet
from tests.fixtures.waiting import until

APP = "tests.scenarios.app"
EVERYTHING = 1_000_000


@dataclass(frozen=True, slots=True)
class Stage:
    """A scenario's database and its worker processes."""

    ox: Oxpull
    fleet: Fleet

    def task(self, name: str, *, max_attempts: int = 3, timeout: float | None = None) -> Task[..., object]:
        """Name a task of the scenarios' app."""
        return self.ox.remote(f"{APP}.{name}", max_attempts=max_attempts, timeout=timeout)

    async def enqueue(self, calls: Sequence[Call[object]]) -> list[TaskResult[object]]:
        """Store calls."""
        return await self.ox.enqueue_many(calls)

    async def records(self) -> list[TaskRecord]:
        """Read every row, and check what holds for each at any time."""
        rows = [result.record for result in await self.ox.list_results(TaskFilter(limit=EVERYTHING))]
        for row in rows:
            check_row(row)
        return rows

    async def count(self, status: TaskStatus) -> int:
        """Count the rows in a status."""
        return sum(getattr(queue, status.value.lower()) for queue in await self.ox.stats())

    async def reached(self, status: TaskStatus, count: int, within: float = 60.0) -> None:
        """Wait until so many rows are in a status."""

        async def enough() -> bool:
            return await self.count(status) >= count

        await until(enough, within=within, what=f"{count} rows {status}; logs:\n{self.logs()}")

    async def noted(self, kind: str, count: int, within: float = 60.0) -> None:
        """Wait until the ledger has so many notes of a kind."""

        async def enough() -> bool:
            return self.fleet.ledger.total(kind) >= count

        await until(enough, within=within, what=f"{count} notes of {kind!r}; logs:\n{self.logs()}", every=0.01)

    async def workers(self) -> list[WorkerState]:
        """Read the rows of the workers."""
        return (await self.ox.health()).workers

    def logs(self) -> str:
        """Give the end of every worker's log."""
        return "\n".join(f"--- {worker.log_path.name}\n{worker.log[-1500:]}" for worker in self.fleet.workers)


@asynccontextmanager
async def stage(url: str, *, lease_seconds: float) -> AsyncIterator[Stage]:
    """Prepare the database; at the end nothing runs any more."""
    folder = Path(tempfile.mkdtemp(prefix="oxpull-scenario-"))
    try:
        async with Oxpull(url, lease_seconds=lease_seconds) as ox:
            await ox.migrate()
            with fleet(url, folder, lease_seconds=lease_seconds) as started:
                yield Stage(ox, started)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_row(row: TaskRecord) -> None:
    """Fail where a row contradicts itself."""
    assert row.attempts == len(row.worker_ids), f"{row.attempts} attempts but {row.worker_ids}: {row}"
    assert (row.leased_by is not None) == (row.status is TaskStatus.RUNNING), row
    assert (row.started_at is not None) == (row.attempts > 0), row
    assert row.status.is_finished == (row.finished_at is not None), row
