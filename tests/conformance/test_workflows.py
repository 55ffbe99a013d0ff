"""Workflows: what ends a node releases or ends what is behind it, and the last one completes it, in one transaction."""

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import UnknownWorkflowNode, WorkflowDoesNotExist, WorkflowNodeExists, WorkflowSealed
from oxpull_async.store.workflows import list_nodes, read_workflow, seal_workflow
from tests.conformance.flowing import BROKEN, COMPLETE, DIAMOND, DONE, FAILURE, OPEN, SEALED, SUCCESS, run, sealed
from tests.fixtures import workflows as made


async def test_a_node_waits_for_its_edges_and_a_root_is_ready(conn: Connection) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, *DIAMOND)
    assert await made.statuses(conn, workflow.id) == {"a": "READY", "b": "WAITING", "c": "WAITING", "d": "WAITING"}
    found = await made.progress(conn, workflow.id)
    assert (found.total, found.pending, found.blocked, found.status.value) == (4, 4, 3, OPEN)


async def test_a_diamond_runs_in_order_and_completes_in_its_last_settle(conn: Connection) -> None:
    workflow = await sealed(conn, *DIAMOND)
    await run(conn, workflow.id, DONE, "a")
    assert await made.counts(conn, workflow.id) == (4, 3, 1, 0, 0, SEALED)
    await run(conn, workflow.id, DONE, "b", "c")
    assert await made.fired(conn, workflow) == []
    await run(conn, workflow.id, DONE, "d")
    assert await made.counts(conn, workflow.id) == (4, 0, 4, 0, 0, COMPLETE)
    assert await made.fired(conn, workflow) == SUCCESS


async def test_a_failure_ends_all_that_is_behind_it_in_its_own_transaction(conn: Connection) -> None:
    workflow = await sealed(conn, *DIAMOND, made.node("e"))
    await run(conn, workflow.id, BROKEN, "a", "e")
    assert await made.statuses(conn, workflow.id) == {
        "a": "FAILED", "b": "DISCARDED", "c": "DISCARDED", "d": "DISCARDED", "e": "FAILED",
    }  # fmt: skip
    assert await made.counts(conn, workflow.id) == (5, 0, 0, 2, 3, COMPLETE)
    assert await made.fired(conn, workflow) == FAILURE


async def test_nodes_may_be_added_one_by_one_and_an_unknown_upstream_writes_nothing(conn: Connection) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"))
    await made.add(conn, workflow.id, made.node("b", "a"))
    with pytest.raises(UnknownWorkflowNode, match="'c', 'x'"):
        await made.add(conn, workflow.id, made.node("c", "a", "c", "x"))
    with pytest.raises(WorkflowNodeExists):
        await made.add(conn, workflow.id, made.node("b"))
    await seal_workflow(conn, workflow.id)
    with pytest.raises(WorkflowSealed):
        await made.add(conn, workflow.id, made.node("d"))
    with pytest.raises(WorkflowSealed):
        await made.add(conn, workflow.id, made.node("d", "x"))
    with pytest.raises(WorkflowSealed):
        await seal_workflow(conn, workflow.id)
    nodes = await list_nodes(conn, workflow.id)
    assert [(node.name, dict(node.upstreams)) for node in nodes] == [("a", {}), ("b", {"a": "discard"})]


async def test_a_workflow_that_is_not_there_is_said_to_be_missing(conn: Connection) -> None:
    for operation in (seal_workflow, read_workflow):
        with pytest.raises(WorkflowDoesNotExist):
            await operation(conn, "01890000-0000-7000-8000-000000000000")
