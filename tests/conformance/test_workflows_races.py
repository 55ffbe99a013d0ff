"""Two connections at one workflow: whoever commits second sees the first, and each node is released or ended once."""

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import LockTimeout, UniqueEnqueueRace, WorkflowSealed
from oxpull_async.domain.outcome import Outcome
from oxpull_async.domain.workflow import NewWorkflow
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_calls
from oxpull_async.store.operate import discard, retry
from oxpull_async.store.revival import retry_from
from oxpull_async.store.workflow_care import recheck_nodes, recount_nodes
from oxpull_async.store.workflows import cancel_workflow, create_workflow, node_ids, seal_workflow
from tests.conformance.flowing import (
    BROKEN,
    COMPLETE,
    DONE,
    FAILURE,
    OPEN,
    SEALED,
    SUCCESS,
    claimed,
    run,
    sealed,
    settle_node,
)
from tests.conformance.meanwhile import Meanwhile
from tests.conformance.spy import Spy
from tests.fixtures import make, raw
from tests.fixtures import workflows as made

LOCKS_OF_ROWS = {"lock_tasks", "lock_followed_tasks", "lock_node_tasks", "lock_waiting_nodes", "lock_nodes"}


@pytest.mark.parametrize("outcome", [DONE, BROKEN], ids=["success", "failure"])
async def test_C5_an_upstream_that_settles_between_write_and_commit_is_seen(
    conn: Connection, other: Connection, outcome: Outcome
) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"))
    [running] = await claimed(conn)
    async with conn.transaction():
        await made.add(conn, workflow.id, made.node("b", "a"), made.node("c", "b"))
        if other.dialect.skips_locked:  # else nobody else writes meanwhile
            await settle_node(other, running, outcome)
    await settle_node(other, running, outcome)
    await seal_workflow(conn, workflow.id)
    await recheck_nodes(other, 10)
    expected = ["SUCCESSFUL", "READY", "WAITING"] if outcome is DONE else ["FAILED", "DISCARDED", "DISCARDED"]
    assert [*(await made.statuses(conn, workflow.id)).values()] == expected
    assert (await recount_nodes(conn, workflow.id, None, 10)).unforeseen == 0


async def test_C5_an_upstream_that_is_discarded_between_write_and_commit_is_seen(
    conn: Connection, other: Connection
) -> None:
    workflow = await made.opened(conn)
    ids = await made.add(conn, workflow.id, made.node("a"))
    async with conn.transaction():
        await made.add(conn, workflow.id, made.node("b", "a"))
        if other.dialect.skips_locked:
            await discard(other, ids)
    await discard(other, ids)
    await seal_workflow(conn, workflow.id)
    await recheck_nodes(other, 10)
    assert await made.counts(conn, workflow.id) == (2, 0, 0, 0, 2, COMPLETE)
    assert await made.fired(conn, workflow) == FAILURE


async def test_C5_an_adopted_root_that_settles_between_write_and_commit_is_followed(
    conn: Connection, other: Connection
) -> None:
    await enqueue_calls(conn, EnqueueCalls({}, [make.unique_call()]))
    [running] = await claimed(conn)
    workflow = await made.opened(conn)
    async with conn.transaction():
        call = make.unique_call(workflow_id=workflow.id)
        await made.add_unique(conn, workflow.id, made.node("a"), call)
        await made.add(conn, workflow.id, made.node("b", "a"))
        if other.dialect.skips_locked:
            await settle_node(other, running, DONE)
    await settle_node(other, running, DONE)
    while await recheck_nodes(other, 10):
        pass
    await run(conn, workflow.id, DONE, "b")
    await seal_workflow(conn, workflow.id)
    assert await made.fired(conn, workflow) == SUCCESS


async def test_C5_adding_a_node_locks_no_task_and_no_node(conn: Connection) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"))
    spy = Spy(conn)
    await made.add(spy, workflow.id, made.node("b", "a"))
    sent = {name for name, _ in spy.sent}
    assert not sent & {*LOCKS_OF_ROWS, "lock_workflow_counts"}


async def test_D1_an_open_add_keeps_no_settle_of_the_workflow_waiting(conn: Connection, other: Connection) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"), made.node("b", "a"))
    [running] = await claimed(conn)
    await raw.hurry(other)
    async with conn.transaction():
        await made.add(conn, workflow.id, made.node("c", "a"))
        if other.dialect.skips_locked:
            await settle_node(other, running, DONE)
            assert (await made.statuses(other, workflow.id))["b"] == "READY"
    await settle_node(other, running, DONE)
    await recheck_nodes(other, 10)
    await run(conn, workflow.id, DONE, "b", "c")


async def test_D1_an_add_beside_an_open_seal_waits_and_is_refused(conn: Connection, other: Connection) -> None:
    workflow = await made.opened(conn)
    await raw.hurry(other)
    async with conn.transaction():
        await seal_workflow(conn, workflow.id)
        with pytest.raises(LockTimeout):
            await made.add(other, workflow.id, made.node("a"))
    with pytest.raises(WorkflowSealed):
        await made.add(other, workflow.id, made.node("a"))
    assert await made.counts(conn, workflow.id) == (0, 0, 0, 0, 0, COMPLETE)


async def test_a_settle_beside_an_open_seal_waits_and_then_ends_what_is_behind(
    conn: Connection, other: Connection
) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"), made.node("b", "a"))
    [running] = await claimed(conn)
    await raw.hurry(other)
    async with conn.transaction():
        await seal_workflow(conn, workflow.id)
        with pytest.raises(LockTimeout):
            await settle_node(other, running, BROKEN)
    assert await made.counts(conn, workflow.id) == (2, 2, 0, 0, 0, SEALED)
    await settle_node(other, running, BROKEN)
    assert await made.counts(conn, workflow.id) == (2, 0, 0, 1, 1, COMPLETE)


async def test_a_seal_beside_an_open_settle_waits_and_then_ends_what_is_behind(
    conn: Connection, other: Connection
) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"), made.node("b", "a"))
    [running] = await claimed(conn)
    await raw.hurry(other)
    async with conn.transaction():
        await settle_node(conn, running, BROKEN)
        with pytest.raises(LockTimeout):
            await seal_workflow(other, workflow.id)
    assert await made.counts(conn, workflow.id) == (2, 1, 0, 1, 0, OPEN)
    await seal_workflow(other, workflow.id)
    assert await made.fired(conn, workflow) == FAILURE


async def test_two_upstreams_settled_side_by_side_release_the_join_once(conn: Connection, other: Connection) -> None:
    workflow = await sealed(conn, made.node("a"), made.node("b"), made.node("c", "a", "b"))
    first, second = await claimed(conn)
    await raw.hurry(other)
    async with conn.transaction():
        await settle_node(conn, first, DONE)
        with pytest.raises(LockTimeout):
            await settle_node(other, second, DONE)
    assert (await made.statuses(conn, workflow.id))["c"] == "WAITING"
    await settle_node(other, second, DONE)
    await run(conn, workflow.id, DONE, "c")
    assert await made.fired(conn, workflow) == SUCCESS


@pytest.mark.parametrize("outcome", [DONE, BROKEN], ids=["success", "failure"])
async def test_A8_a_node_whose_row_is_locked_is_marked_and_looked_at_by_the_next_pass(
    conn: Connection, other: Connection, outcome: Outcome
) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"), made.node("c"))
    answers = await made.add_unique(conn, workflow.id, made.node("b", "a"), make.unique_call(workflow_id=workflow.id))
    await seal_workflow(conn, workflow.id)
    running, _ = await claimed(conn)
    await raw.hurry(other)
    async with conn.transaction():
        await raw.change(conn, answers[0].record.id, "progress = '{}'")
        if other.dialect.skips_locked:
            await settle_node(other, running, outcome)
            assert await made.counts(other, workflow.id) != (3, 3, 0, 0, 0, SEALED)
            assert await recheck_nodes(other, 10) == 0
    await settle_node(other, running, outcome)
    await recheck_nodes(other, 10)
    assert (await made.statuses(conn, workflow.id))["b"] == ("READY" if outcome is DONE else "DISCARDED")
    assert await recheck_nodes(other, 10) == 0


async def test_a_retry_after_the_settle_of_its_upstream_leaves_no_node_waiting(
    conn: Connection, other: Connection
) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"), made.node("b", "a"), made.node("c", "b"))
    ids = await node_ids(conn, workflow.id)
    await discard(conn, [ids["b"]])
    [running] = await claimed(conn)

    await settle_node(other, running, DONE)
    await retry(conn, [ids["b"]], include_discarded=True)
    await run(conn, workflow.id, DONE, "b")
    assert (await made.statuses(conn, workflow.id))["c"] == "READY"


async def test_a_retry_that_saw_an_open_edge_is_released_by_itself(conn: Connection, other: Connection) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"), made.node("b", "a"))
    ids = await node_ids(conn, workflow.id)
    await discard(conn, [ids["b"]])
    [running] = await claimed(conn)

    async def settles(_: Connection) -> None:
        await settle_node(other, running, DONE)

    if other.dialect.skips_locked:
        await retry(Meanwhile(conn, "lock_followed_tasks", settles), [ids["b"]], include_discarded=True)
    else:
        await retry(conn, [ids["b"]], include_discarded=True)
        await settles(other)
    await run(conn, workflow.id, DONE, "b")


async def test_D3_a_unique_workflow_in_an_open_transaction_keeps_the_key(conn: Connection, other: Connection) -> None:
    await raw.hurry(other)
    first = NewWorkflow(make.new_id(), make.ALIAS, "etl", (), None, "key")
    second = NewWorkflow(make.new_id(), make.ALIAS, "etl", (), None, "key")
    async with conn.transaction():
        assert (await create_workflow(conn, first))[1]
        with pytest.raises(LockTimeout):
            await create_workflow(other, second)
        if other.dialect.skips_locked:
            with pytest.raises(UniqueEnqueueRace):
                async with other.transaction():
                    await create_workflow(other, second)
    assert (await create_workflow(other, second))[0].id == first.id


async def test_C6_a_key_that_the_snapshot_does_not_show_is_a_race(conn: Connection, other: Connection) -> None:
    first = NewWorkflow(make.new_id(), make.ALIAS, "etl", (), None, "key")
    second = NewWorkflow(make.new_id(), make.ALIAS, "etl", (), None, "key")
    async with raw.snapshot(conn):
        if other.dialect.skips_locked:  # else nobody else writes meanwhile
            await create_workflow(other, first)
            with pytest.raises(UniqueEnqueueRace) as race:
                await create_workflow(conn, second)
            assert race.value.transaction_survived
    assert (await create_workflow(conn, second))[1] is not other.dialect.skips_locked


async def test_a_key_that_is_taken_while_it_is_looked_at_has_its_holder_found(
    conn: Connection, other: Connection
) -> None:
    first = NewWorkflow(make.new_id(), make.ALIAS, "etl", (), None, "key")
    second = NewWorkflow(make.new_id(), make.ALIAS, "etl", (), None, "key")

    async def takes(_: Connection) -> None:
        await create_workflow(other, first)

    found, created = await create_workflow(Meanwhile(conn, "find_workflow_of_key", takes), second)
    assert (found.id, created) == (first.id, False)


async def test_a_cancel_and_a_settle_side_by_side_release_nothing(conn: Connection, other: Connection) -> None:
    workflow = await sealed(conn, made.node("a"), made.node("b", "a"))
    [running] = await claimed(conn)

    async def settles(_: Connection) -> None:
        await settle_node(other, running, DONE)

    assert await cancel_workflow(Meanwhile(conn, "scan_nodes", settles), workflow.id)
    assert await made.statuses(conn, workflow.id) == {"a": "SUCCESSFUL", "b": "DISCARDED"}
    assert await made.counts(conn, workflow.id) == (2, 0, 1, 0, 1, COMPLETE)


async def test_two_operators_who_retry_from_a_node_revive_it_once(conn: Connection, other: Connection) -> None:
    workflow = await sealed(conn, made.node("a"), made.node("b", "a"))
    await run(conn, workflow.id, BROKEN, "a")

    async def retries(_: Connection) -> None:
        assert await retry_from(other, workflow.id, "a", callbacks=False) == 2

    hurried = conn if not other.dialect.skips_locked else Meanwhile(conn, "find_cone", retries)
    found = await retry_from(hurried, workflow.id, "a", callbacks=False)
    assert found == (0 if other.dialect.skips_locked else 2)
    await run(conn, workflow.id, DONE, "a")
    await run(conn, workflow.id, DONE, "b")


async def test_D4_two_workflows_that_adopt_one_holder_side_by_side_do_it_once(
    conn: Connection, other: Connection
) -> None:
    holder = make.unique_call()
    await enqueue_calls(conn, EnqueueCalls({}, [holder]))
    first, second = await made.opened(conn), await made.opened(conn)

    async def adopts(_: Connection) -> None:
        await made.add_unique(other, first.id, made.node("a"), make.unique_call(workflow_id=first.id))

    hurried = conn if not other.dialect.skips_locked else Meanwhile(conn, "find_holder", adopts)
    if not other.dialect.skips_locked:
        await adopts(other)
    answers = await made.add_unique(hurried, second.id, made.node("a"), make.unique_call(workflow_id=second.id))
    assert [(answer.refused, answer.record.id) for answer in answers.values()] == [(True, holder.task.id)]
    assert await node_ids(conn, second.id) == {}
