"""A table as it is after a while: most rows have ended, many are not due yet, few are ready or running."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from oxpull_async import Oxpull
from oxpull_async.domain.record import WorkerId, wire_id
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.enqueue import enqueue_many
from tests.fixtures import make

FINISHED, DEFERRED, READY, RUNNING = 12_000, 8_000, 2_000, 100
QUEUES = ("bulk", "default", "mail")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded database: who runs tasks there, and the ids of those that run, as JSON text."""

    ox: Oxpull
    worker_id: WorkerId
    running: str
    outcomes: str


async def load(ox: Oxpull) -> Loaded:
    """Fill a migrated database that holds no tasks."""
    async with ox.database.connection() as conn:
        await enqueue_many(conn, [make.new_task(queue_name=QUEUES[n % 3]) for n in range(FINISHED)])
        await conn.run_script("UPDATE oxpull_task SET status = 'SUCCESSFUL', due = NULL, finished_at = enqueued_at")
        later = datetime.now(UTC) + timedelta(days=1)
        await enqueue_many(
            conn,
            [
                make.new_task(queue_name=QUEUES[n % 3], priority=n % 201 - 100, run_after=later + timedelta(seconds=n))
                for n in range(DEFERRED)
            ],
        )
        await enqueue_many(conn, [make.new_task(queue_name=QUEUES[n % 2], priority=n % 5) for n in range(READY)])
        worker_id = await make.worker(conn)
        tasks = await claim(conn, ClaimRequest(worker_id, make.ALIAS, QUEUES, RUNNING))
    outcomes = [
        {"id": wire_id(task.id), "epoch": task.epoch, "status": "SUCCESSFUL", "value": "1", "error": None,
         "delay": None, "refund": False}
        for task in tasks
    ]  # fmt: skip
    return Loaded(ox, worker_id, json.dumps([row["id"] for row in outcomes]), json.dumps(outcomes))
