"""What operators look at: workers, how long due tasks have waited, what is kept."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.record import WorkerId, instant, task_id


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A worker as the database knows it.

    `lease_left` is in seconds, and negative once the lease has expired.
    """

    worker_id: WorkerId
    hostname: str
    pid: int
    queues: tuple[str, ...] | None
    concurrency: int
    started_at: datetime
    renewed_at: datetime
    lease_left: float
    dead: bool
    notes: dict[str, Any]
    running: int

    @property
    def is_alive(self) -> bool:
        """Whether its lease is good."""
        return not self.dead and self.lease_left > 0


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many seconds the oldest due task has waited, and how many tasks run unattended.

    `oldest_due` is None when none is due; `orphans` are RUNNING under a worker that is dead or gone.
    """

    oldest_due: float | None
    orphans: int


MANY_DEAD, SOME_DEAD, HELD_LONG = 100_000, 10_000, 300.0


@dataclass(frozen=True, slots=True)
class Kept:
    """How many dead rows the task table keeps beside its live ones.

    `held_by` has kept such from being cleaned up for `held_for` seconds.
    """

    dead: int
    live: int
    held_for: float | None = None
    held_by: str | None = None

    def problems(self) -> list[str]:
        """Say what is wrong, with what to do."""
        found = []
        if self.held_for is not None and self.held_for >= HELD_LONG and self.dead >= SOME_DEAD:
            found.append(
                f"{self.held_by} has had a transaction open for {self.held_for:.0f} s, and {self.dead} dead rows of "
                "tasks cannot be cleaned up meanwhile: end it, or set idle_in_transaction_session_timeout"
            )
        elif self.dead >= MANY_DEAD and self.dead >= self.live:
            found.append(
                f"{self.dead} dead rows of tasks stand beside {self.live} live ones: autovacuum does not keep up, "
                "run VACUUM oxpull_task and see that it is on"
            )
        return found


async def kept(conn: Connection) -> Kept:
    """Return what cannot be cleaned up, where the database tells."""
    row = await conn.fetchrow("kept_rows") if conn.dialect.tells_what_is_kept else None
    return Kept(0, 0) if row is None else Kept(*row)


async def workers(conn: Connection, backend_alias: str) -> list[WorkerState]:
    """Return every worker that is known, oldest first."""
    rows = await conn.fetch("workers", backend_alias=backend_alias)
    return [_worker(row) for row in rows]


async def backlog(conn: Connection, backend_alias: str) -> Backlog:
    """Return how long due tasks have waited and how many rows run without a living worker."""
    row = (await conn.fetch("waiting_time", backend_alias=backend_alias))[0]
    return Backlog(None if row[0] is None else float(row[0]), row[1])


def _worker(row: Row) -> WorkerState:
    return WorkerState(
        worker_id=task_id(row[0]),
        hostname=row[1],
        pid=row[2],
        queues=None if row[3] is None else tuple(json.loads(row[3])),
        concurrency=row[4],
        started_at=instant(row[5]),
        renewed_at=instant(row[6]),
        lease_left=float(row[7]),
        dead=bool(row[8]),
        notes=json.loads(row[9]),
        running=row[10],
    )
