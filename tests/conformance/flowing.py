"""What the chapters about workflows share: sealed workflows of a shape, and nodes that end."""

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Outcome, Settlement
from oxpull_async.domain.record import ClaimedTask, TaskId
from oxpull_async.domain.workflow import PlannedNode, WorkflowId, WorkflowRecord
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.settle import settle
from oxpull_async.store.workflows import node_ids, seal_workflow
from tests.conformance.batched import BROKEN, COMPLETE, DONE, FAILURE, OPEN, SEALED, SUCCESS
from tests.fixtures import make
from tests.fixtures import workflows as made

__all__ = [
    "BROKEN", "COMPLETE", "DIAMOND", "DONE", "FAILURE", "OPEN", "SEALED", "SUCCESS",
    "claimed", "ids_of", "run", "sealed", "settle_node",
]  # fmt: skip

DIAMOND = (made.node("a"), made.node("b", "a"), made.node("c", "a"), made.node("d", "b", "c"))


async def sealed(conn: Connection, *nodes: PlannedNode) -> WorkflowRecord:
    """Make a sealed workflow of new tasks."""
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, *nodes)
    await seal_workflow(conn, workflow.id)
    return workflow


async def claimed(conn: Connection, limit: int = 10) -> list[ClaimedTask]:
    """Claim what is due, with or without a running lock."""
    worker = await make.worker(conn)
    return await claim(conn, ClaimRequest(worker, make.ALIAS, (make.QUEUE,), limit, meets_locks=True))


async def run(conn: Connection, workflow_id: WorkflowId, outcome: Outcome, *names: str) -> None:
    """Claim what is due, which must be the nodes of these names, and settle them all in one batch of outcomes."""
    found = await claimed(conn)
    by_id = {id_: name for name, id_ in (await ids_of(conn, workflow_id)).items()}
    assert sorted(by_id[task.id] for task in found) == sorted(names)
    await settle(conn, [Settlement.of(task, outcome) for task in found])


async def settle_node(conn: Connection, task: ClaimedTask, outcome: Outcome) -> None:
    await settle(conn, [Settlement.of(task, outcome)])


async def ids_of(conn: Connection, workflow_id: WorkflowId) -> dict[str, TaskId]:
    return await node_ids(conn, workflow_id)
