"""Workflows beside the moves of their nodes: retries, cancels, unique nodes, marks, deleted rows, expiry, pruning."""

from dataclasses import replace
from itertools import pairwise

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import UnknownWorkflowNode
from oxpull_async.domain.outcome import Settlement
from oxpull_async.domain.record import TaskStatus
from oxpull_async.store import node_counts, prune_groups, workflow_care
from oxpull_async.store.batch_care import recheck_members
from oxpull_async.store.operate import PruneRequest, discard, prune_step, retry
from oxpull_async.store.results import get_tasks
from oxpull_async.store.revival import retry_from
from oxpull_async.store.settle import settle
from oxpull_async.store.workflow_care import look_after_workflow, open_workflows, recheck_nodes, recount_nodes
from oxpull_async.store.workflows import cancel_workflow, node_ids, seal_workflow
from tests.conformance.conftest import Clock
from tests.conformance.flowing import (
    BROKEN,
    COMPLETE,
    DIAMOND,
    DONE,
    FAILURE,
    SEALED,
    SUCCESS,
    claimed,
    run,
    sealed,
    settle_node,
)
from tests.conformance.spy import Spy
from tests.fixtures import batches, make, raw
from tests.fixtures import workflows as made


async def test_a_retried_node_saves_what_is_behind_it_before_the_workflow_is_sealed(conn: Connection) -> None:
    workflow = await made.opened(conn)
    ids = await made.add(conn, workflow.id, *DIAMOND)
    await run(conn, workflow.id, BROKEN, "a")
    assert (await made.statuses(conn, workflow.id))["b"] == "WAITING"
    assert await retry(conn, ids[:1], include_discarded=False) == 1
    await seal_workflow(conn, workflow.id)
    for names in ("a", "bc", "d"):
        await run(conn, workflow.id, DONE, *names)
    assert await made.counts(conn, workflow.id) == (4, 0, 4, 0, 0, COMPLETE)


async def test_retry_from_runs_the_part_once_more_and_fires_nothing_twice(conn: Connection) -> None:
    workflow = await sealed(conn, *DIAMOND, made.node("e"))
    await run(conn, workflow.id, BROKEN, "a", "e")
    assert await made.fired(conn, workflow) == FAILURE
    assert await retry_from(conn, workflow.id, "a", callbacks=False) == 4
    assert await made.counts(conn, workflow.id) == (5, 4, 0, 1, 0, SEALED)
    assert await made.statuses(conn, workflow.id) == {
        "a": "READY", "b": "WAITING", "c": "WAITING", "d": "WAITING", "e": "FAILED",
    }  # fmt: skip
    assert await retry_from(conn, workflow.id, "a", callbacks=False) == 0
    assert await retry_from(conn, workflow.id, "e", callbacks=False) == 1
    await run(conn, workflow.id, DONE, "a", "e")
    await run(conn, workflow.id, DONE, "b", "c")
    await run(conn, workflow.id, DONE, "d")
    assert await made.counts(conn, workflow.id) == (5, 0, 5, 0, 0, COMPLETE)
    assert await made.fired(conn, workflow) == FAILURE
    with pytest.raises(UnknownWorkflowNode):
        await retry_from(conn, workflow.id, "x", callbacks=False)


async def test_retry_from_fires_the_callbacks_again_on_request(conn: Connection) -> None:
    workflow = await sealed(conn, made.node("a"), made.node("b", "a"))
    await run(conn, workflow.id, BROKEN, "a")
    assert await retry_from(conn, workflow.id, "a", callbacks=True) == 2
    assert await made.fired(conn, workflow) == []
    await run(conn, workflow.id, DONE, "a")
    await run(conn, workflow.id, DONE, "b")
    assert await made.fired(conn, workflow) == SUCCESS


async def test_retry_from_leaves_what_another_upstream_keeps_from_running(conn: Connection) -> None:
    workflow = await sealed(conn, made.node("a"), made.node("b"), made.node("c", "a"), made.node("d", "b", "c"))
    await run(conn, workflow.id, BROKEN, "a", "b")
    assert await retry_from(conn, workflow.id, "a", callbacks=False) == 2
    assert await made.statuses(conn, workflow.id) == {"a": "READY", "b": "FAILED", "c": "WAITING", "d": "DISCARDED"}
    await run(conn, workflow.id, DONE, "a")
    await run(conn, workflow.id, DONE, "c")
    assert await made.counts(conn, workflow.id) == (4, 0, 2, 1, 1, COMPLETE)
    assert await retry_from(conn, workflow.id, "d", callbacks=False) == 0
    assert await retry_from(conn, workflow.id, "b", callbacks=False) == 2
    await run(conn, workflow.id, DONE, "b")
    await run(conn, workflow.id, DONE, "d")
    assert await made.counts(conn, workflow.id) == (4, 0, 4, 0, 0, COMPLETE)


async def test_an_operator_who_retries_a_node_behind_a_failed_one_gets_it_discarded_again(conn: Connection) -> None:
    workflow = await sealed(conn, made.node("a"), made.node("b", "a"), made.node("c"))
    await run(conn, workflow.id, BROKEN, "a", "c")
    ids = await node_ids(conn, workflow.id)
    assert await retry(conn, [ids["b"]], include_discarded=True) == 1
    assert (await made.statuses(conn, workflow.id))["b"] == "DISCARDED"
    assert await retry(conn, [ids["a"], ids["b"]], include_discarded=True) == 2
    assert await made.statuses(conn, workflow.id) == {"a": "READY", "b": "WAITING", "c": "FAILED"}


async def test_a_cancelled_workflow_releases_nothing_and_is_a_failure(conn: Connection) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, *DIAMOND, made.node("always", run=("a",)))
    [running] = await claimed(conn)
    assert await cancel_workflow(conn, workflow.id)
    assert await made.statuses(conn, workflow.id) == {
        "a": "RUNNING", "always": "DISCARDED", "b": "DISCARDED", "c": "DISCARDED", "d": "DISCARDED",
    }  # fmt: skip
    await settle_node(conn, running, BROKEN)
    assert await made.counts(conn, workflow.id) == (5, 0, 0, 0, 5, COMPLETE)
    assert await made.fired(conn, workflow) == FAILURE
    assert not await cancel_workflow(conn, workflow.id)
    assert await retry_from(conn, workflow.id, "a", callbacks=False) == 5
    await run(conn, workflow.id, BROKEN, "a")
    await run(conn, workflow.id, DONE, "always")
    assert await made.counts(conn, workflow.id) == (5, 0, 1, 1, 3, COMPLETE)


async def test_a_node_that_is_retried_after_a_cancel_runs_or_is_discarded_again(conn: Connection) -> None:
    workflow = await sealed(conn, *DIAMOND, made.node("e"))
    assert await cancel_workflow(conn, workflow.id)
    ids = await node_ids(conn, workflow.id)
    assert await retry(conn, [ids["b"]], include_discarded=True) == 1
    assert (await made.statuses(conn, workflow.id))["b"] == "DISCARDED"
    assert await retry(conn, [ids["a"], ids["b"]], include_discarded=True) == 2
    await run(conn, workflow.id, DONE, "a")
    await run(conn, workflow.id, DONE, "b")
    assert await made.counts(conn, workflow.id) == (5, 0, 2, 0, 3, COMPLETE)


async def test_a_cancel_that_was_cut_short_is_finished_by_the_walk(conn: Connection) -> None:
    workflow = await sealed(conn, *DIAMOND)
    await conn.run_script("UPDATE oxpull_workflow_counts SET cancelled = true")
    await run(conn, workflow.id, DONE, "a")
    assert (await made.statuses(conn, workflow.id))["b"] == "WAITING"
    [found] = await open_workflows(conn, None, 10)
    step = await look_after_workflow(conn, found, None, 10)
    assert (found.is_cancelled, step.unforeseen) == (True, 0)
    assert await made.counts(conn, workflow.id) == (4, 0, 1, 0, 3, COMPLETE)


async def test_A8_what_is_too_much_for_one_transaction_is_done_by_the_next_passes(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_counts, "AT_ONCE", 3)
    names = [f"n{number:02}" for number in range(8)]
    chain = [made.node(names[0]), *(made.node(name, before) for before, name in pairwise(names))]
    fan = [made.node("root"), *(made.node(f"leaf{number}", "root") for number in range(8))]
    workflow = await sealed(conn, *chain, *fan)
    await run(conn, workflow.id, BROKEN, "n00", "root")
    found = await made.statuses(conn, workflow.id)
    assert list(found.values()).count("DISCARDED") == 3
    passes = 0
    while await recheck_nodes(conn, 100):
        passes += 1
    assert 3 <= passes <= 6
    assert await made.counts(conn, workflow.id) == (17, 0, 0, 2, 15, COMPLETE)
    assert await made.fired(conn, workflow) == FAILURE


async def test_D2_a_row_deleted_by_hand_ends_what_is_behind_it(conn: Connection) -> None:
    workflow = await sealed(conn, *DIAMOND, made.node("e", run=("a",)))
    await raw.delete(conn, (await node_ids(conn, workflow.id))["a"])
    found = await recount_nodes(conn, workflow.id, None, 10)
    assert (found.missing, found.unforeseen, found.after) == (1, 0, None)
    assert await made.statuses(conn, workflow.id) == {
        "b": "DISCARDED", "c": "DISCARDED", "d": "DISCARDED", "e": "READY",
    }  # fmt: skip


async def test_a_move_that_nobody_followed_is_found_by_the_walk_in_steps(conn: Connection) -> None:
    workflow = await sealed(conn, *DIAMOND)
    await raw.change(conn, (await node_ids(conn, workflow.id))["a"], "status = 'SUCCESSFUL', due = NULL")
    first = await recount_nodes(conn, workflow.id, None, 2)
    assert (first.missing, first.unforeseen, first.after) == (0, 1, "b")
    last = await recount_nodes(conn, workflow.id, first.after, 3)
    assert (last.unforeseen, last.after) == (0, None)
    await run(conn, workflow.id, DONE, "b", "c")


async def test_a_node_that_waits_although_its_edges_are_met_is_found_by_the_walk(conn: Connection) -> None:
    workflow = await sealed(conn, *DIAMOND)
    await conn.run_script("UPDATE oxpull_workflow_node SET counted = 'succeeded' WHERE name = 'a'")
    await conn.run_script("UPDATE oxpull_workflow_counts SET succeeded = 1")
    await raw.change(conn, (await node_ids(conn, workflow.id))["a"], "status = 'SUCCESSFUL', due = NULL")
    assert (await recount_nodes(conn, workflow.id, None, 10)).unforeseen == 2
    assert (await recount_nodes(conn, workflow.id, None, 10)).unforeseen == 0
    await run(conn, workflow.id, DONE, "b", "c")
    await run(conn, workflow.id, DONE, "d")
    assert await made.fired(conn, workflow) == SUCCESS


async def test_D5_an_open_workflow_expires(conn: Connection, clock: Clock) -> None:
    workflow = await made.opened(conn, expire_after=60)
    await made.add(conn, workflow.id, made.node("a"))
    clock.advance(61)
    [found] = await open_workflows(conn, None, 10)
    assert (found.id, found.is_expired, found.is_overdue) == (workflow.id, True, False)
    assert (await look_after_workflow(conn, found, None, 10)).expired
    assert await made.counts(conn, workflow.id) == (1, 0, 0, 0, 1, COMPLETE)


async def test_a_workflow_that_should_be_complete_is_completed_by_the_walk(conn: Connection) -> None:
    workflow = await sealed(conn, made.node("a"))
    await conn.run_script("UPDATE oxpull_workflow_counts SET succeeded = 1")
    await conn.run_script("UPDATE oxpull_workflow_node SET counted = 'succeeded'")
    await raw.change(conn, (await node_ids(conn, workflow.id))["a"], "status = 'SUCCESSFUL', due = NULL")
    [found] = await open_workflows(conn, None, 10)
    assert (await look_after_workflow(conn, found, None, 10)).unforeseen == 1
    assert await made.fired(conn, workflow) == SUCCESS
    assert not await workflow_care.complete_overdue_workflow(conn, workflow.id)


async def test_D2_prune_keeps_nodes_until_their_workflow_is_complete_and_the_counts_after(
    conn: Connection, clock: Clock
) -> None:
    workflow = await sealed(conn, made.node("a"), made.node("b", "a"))
    await run(conn, workflow.id, DONE, "a")
    clock.advance(10)
    request = PruneRequest(5, (TaskStatus.SUCCESSFUL,), 100, dry_run=False)
    assert (await prune_step(conn, request, None)).removed == 0
    await run(conn, workflow.id, DONE, "b")
    clock.advance(10)
    assert (await prune_groups.prune_workflows(conn, request, None)).removed == 0
    assert (await prune_step(conn, request, None)).removed == 2
    assert await node_ids(conn, workflow.id) == {}
    assert await made.counts(conn, workflow.id) == (2, 0, 2, 0, 0, COMPLETE)
    assert (await prune_groups.prune_workflows(conn, request, None)).removed == 0, "its callbacks are left"
    worker = await make.worker(conn)
    for _ in range(2):
        callback = await make.claimed_from(conn, worker, "callbacks")
        await settle(conn, [Settlement.of(callback, DONE)])
    clock.advance(10)
    assert (await prune_groups.prune_workflows(conn, replace(request, dry_run=True), None)).removed == 1
    assert (await prune_step(conn, request, None)).removed == 2
    assert (await prune_groups.prune_workflows(conn, request, None)).removed == 1
    for table in ("oxpull_workflow_node", "oxpull_workflow_edge", "oxpull_workflow_counts"):
        await conn.run_script(f"DELETE FROM {table}")


async def test_a_node_behind_a_pruned_one_that_failed_stays_doomed(conn: Connection, clock: Clock) -> None:
    workflow = await sealed(conn, made.node("a"), made.node("b", "a"))
    await run(conn, workflow.id, BROKEN, "a")
    clock.advance(10)
    assert (await prune_step(conn, PruneRequest(5, (TaskStatus.FAILED,), 100, dry_run=False), None)).removed == 1
    ids = await node_ids(conn, workflow.id)
    assert list(ids) == ["b"]
    assert await retry_from(conn, workflow.id, "b", callbacks=False) == 0


async def test_a_discarded_node_ends_what_is_behind_it(conn: Connection) -> None:
    workflow = await sealed(conn, *DIAMOND)
    ids = await node_ids(conn, workflow.id)
    assert await discard(conn, [ids["b"]]) == 1
    found = await get_tasks(conn, [ids["d"]])
    [error] = found[ids["d"]].errors
    assert (error.exception_class_path, "'b'" in error.traceback) == ("oxpull_async.errors.UpstreamFailed", True)
    await run(conn, workflow.id, DONE, "a")
    await run(conn, workflow.id, DONE, "c")
    assert await made.counts(conn, workflow.id) == (4, 0, 2, 0, 2, COMPLETE)


async def test_a_deep_cascade_takes_few_statements(conn: Connection) -> None:
    names = [f"n{number:03}" for number in range(300)]
    chain = [made.node(names[0]), *(made.node(name, before) for before, name in pairwise(names))]
    rest = [made.node("rest", run=("n250",)), made.node("joins", "n100", "n200", run=("n299",))]
    workflow = await sealed(conn, *chain, *rest)
    [root] = await claimed(conn)
    spy = Spy(conn)
    await settle_node(spy, root, BROKEN)
    assert len(spy.sent) < 40
    found = await made.statuses(conn, workflow.id)
    assert (found.pop("rest"), found.pop("n000"), set(found.values())) == ("READY", "FAILED", {"DISCARDED"})
    assert (await recount_nodes(conn, workflow.id, None, 1_000)).unforeseen == 0
    await run(conn, workflow.id, DONE, "rest")
    assert await made.counts(conn, workflow.id) == (302, 0, 1, 1, 300, COMPLETE)


async def test_a_node_that_is_a_member_of_a_batch_too_is_counted_there_when_a_cascade_ends_it(conn: Connection) -> None:
    workflow, batch = await made.opened(conn), await batches.opened(conn)
    await made.add(conn, workflow.id, made.node("a"))
    await made.add_unique(conn, workflow.id, made.node("b", "a"), make.unique_call(workflow_id=workflow.id))
    await batches.add_unique(conn, batch.id, make.unique_call(batch_id=batch.id))
    await seal_workflow(conn, workflow.id)
    await recheck_members(conn, 10)
    await run(conn, workflow.id, BROKEN, "a")
    assert await made.counts(conn, workflow.id) == (2, 0, 0, 1, 1, COMPLETE)
    assert await recheck_members(conn, 10) == 1
    assert (await batches.counts(conn, batch.id))[:5] == (1, 0, 0, 0, 1)
