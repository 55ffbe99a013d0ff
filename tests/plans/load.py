"""A table as it is after a while: most rows have ended, many are not due yet, few are ready or running."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from oxpull_async import Oxpull
from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import WorkerId, wire_id
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.enqueue import enqueue_many
from tests.fixtures import make, raw, workflows

FINISHED, DEFERRED, READY, RUNNING, NODES = 12_000, 8_000, 2_000, 100, 1_200
QUEUES = ("bulk", "default", "mail")
KEY = "5" * 64


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded database: who runs tasks there, and the ids of those that run, as JSON text.

    `chain`: a run of nodes of a workflow, each of which waits for the one before it.
    """

    ox: Oxpull
    worker_id: WorkerId
    running: str
    outcomes: str
    workflow_id: str
    chain: list[str]


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
        workflow = await workflows.opened(conn)
        await _finish_workflow(conn, wire_id(make.new_id()))
        names = [f"n{n}" for n in range(NODES)]
        chain = [workflows.node(names[0]), *(workflows.node(name, before) for before, name in pairwise(names))]
        nodes = await workflows.add(conn, workflow.id, *chain)
        tasks = await claim(conn, ClaimRequest(worker_id, make.ALIAS, QUEUES, RUNNING))
        await raw.hold_key(conn, KEY, tasks[0].id)
        await conn.run_script(
            "INSERT INTO oxpull_unique (unique_key, holder_id, first_at)"
            " SELECT CAST(id AS char(36)), id, enqueued_at FROM oxpull_task WHERE status = 'SUCCESSFUL'"
        )
    outcomes = [
        {"id": wire_id(task.id), "epoch": task.epoch, "status": "SUCCESSFUL", "value": "1", "error": None,
         "delay": None, "refund": False}
        for task in tasks
    ]  # fmt: skip
    part = [wire_id(id_) for id_ in nodes[1_000:1_101]]
    ids = json.dumps([row["id"] for row in outcomes])
    return Loaded(ox, worker_id, ids, json.dumps(outcomes), wire_id(workflow.id), part)


async def _finish_workflow(conn: Connection, workflow_id: str) -> None:
    """Make the tasks that have ended nodes of a workflow, each with an edge."""
    await conn.run_script(
        "INSERT INTO oxpull_workflow_node (task_id, workflow_id, name, unmet, counted, cascaded)"
        f" SELECT id, '{workflow_id}', CAST(id AS char(36)), 0, 'succeeded', false"
        " FROM oxpull_task WHERE status = 'SUCCESSFUL'"
    )
    await conn.run_script(
        "INSERT INTO oxpull_workflow_edge (upstream_id, downstream_id, on_failure, state)"
        " SELECT id, id, 'discard', 'met' FROM oxpull_task WHERE status = 'SUCCESSFUL'"
    )
