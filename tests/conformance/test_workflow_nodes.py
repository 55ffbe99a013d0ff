"""Nodes as they are added: names, edges, unique and locked ones, many at once; and what a workflow's key holds."""

from dataclasses import replace
from datetime import timedelta

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import AlreadyEnqueued, WorkflowNodeExists
from oxpull_async.domain.outcome import Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.unique import Unique
from oxpull_async.domain.unique_plan import UniqueCall
from oxpull_async.domain.workflow import NewWorkflow
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_again, enqueue_calls
from oxpull_async.store.nodes import Placement
from oxpull_async.store.operate import retry, run_now
from oxpull_async.store.results import get_tasks
from oxpull_async.store.workflow_care import recheck_nodes, recount_nodes
from oxpull_async.store.workflows import (
    cancel_workflow,
    create_workflow,
    list_nodes,
    node_ids,
    seal_workflow,
    upstream_results,
)
from tests.conformance.conftest import Clock
from tests.conformance.flowing import BROKEN, COMPLETE, DONE, OPEN, SEALED, claimed, run, sealed, settle_node
from tests.conformance.spy import Spy
from tests.fixtures import make, raw
from tests.fixtures import workflows as made


async def test_names_are_compared_exactly(conn: Connection) -> None:
    workflow = await made.opened(conn)
    names = ["a", "A", "a ", "ä", "Ä", "x" * 128]
    await made.add(conn, workflow.id, *(made.node(name) for name in names), made.node("last", *names))
    assert sorted(await node_ids(conn, workflow.id)) == sorted([*names, "last"])
    with pytest.raises(WorkflowNodeExists):
        await made.add(conn, workflow.id, made.node("new"), made.node("a "))
    with pytest.raises(WorkflowNodeExists):
        await made.add(conn, workflow.id, made.node("new"), made.node("new"))
    assert (await made.counts(conn, workflow.id))[0] == 7


async def test_a_refused_node_leaves_the_transaction_usable_and_writes_nothing(conn: Connection) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"))
    task = made.new_task(workflow.id)
    async with conn.transaction():
        with pytest.raises(WorkflowNodeExists):
            await enqueue_calls(conn, EnqueueCalls({0: task}, (), placement=Placement(workflow.id, [made.node("a")])))
        await made.add(conn, workflow.id, made.node("b", "a"))
    assert await get_tasks(conn, [task.id]) == {}
    assert await made.statuses(conn, workflow.id) == {"a": "READY", "b": "WAITING"}


async def test_what_is_rolled_back_was_never_added(conn: Connection) -> None:
    workflow = await made.opened(conn)
    async with raw.taken_back(conn):
        await made.add(conn, workflow.id, made.node("a"), made.node("b", "a"))
    assert await made.counts(conn, workflow.id) == (0, 0, 0, 0, 0, OPEN)
    assert await node_ids(conn, workflow.id) == {}


async def test_a_node_behind_one_that_has_succeeded_is_ready_at_once(conn: Connection) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"))
    await run(conn, workflow.id, DONE, "a")
    await made.add(conn, workflow.id, made.node("b", "a"), made.node("c", "b"))
    assert await recheck_nodes(conn, 10) == 0
    await run(conn, workflow.id, DONE, "b")
    await run(conn, workflow.id, DONE, "c")


async def test_A5_a_released_node_keeps_its_own_run_after(conn: Connection, clock: Clock) -> None:
    now = await make.moment(conn)
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"))
    later, sooner = now + timedelta(seconds=60), now - timedelta(seconds=60)
    await made.add(conn, workflow.id, made.node("later", "a"), run_after=later)
    await made.add(conn, workflow.id, made.node("sooner", "a"), run_after=sooner)
    await run(conn, workflow.id, DONE, "a")
    ids = await node_ids(conn, workflow.id)
    records = await get_tasks(conn, [ids["later"], ids["sooner"]])
    assert records[ids["later"]].available_at == later
    assert records[ids["sooner"]].available_at >= now
    assert records[ids["sooner"]].run_after == sooner
    await run(conn, workflow.id, DONE, "sooner")
    assert await run_now(conn, [ids["later"]]) == 1


async def test_D5_in_an_open_workflow_bad_ends_wait_for_the_seal(conn: Connection) -> None:
    workflow = await made.opened(conn)
    await made.add(
        conn, workflow.id, made.node("a"), made.node("b"), made.node("c", "a"), made.node("d", run=("a",)),
        made.node("e", "b"), made.node("f", "d", "c"),
    )  # fmt: skip
    a, b = await claimed(conn)
    await settle_node(conn, a, BROKEN)
    await settle_node(conn, b, DONE)
    assert await recheck_nodes(conn, 10) == 0
    found = await made.statuses(conn, workflow.id)
    assert [found[name] for name in "cdef"] == ["WAITING", "WAITING", "READY", "WAITING"]
    await seal_workflow(conn, workflow.id)
    found = await made.statuses(conn, workflow.id)
    assert [found[name] for name in "cdef"] == ["DISCARDED", "READY", "READY", "DISCARDED"]
    await run(conn, workflow.id, DONE, "d", "e")
    assert (await made.counts(conn, workflow.id))[-1] == COMPLETE


async def test_D3_run_lets_a_node_run_whatever_became_of_its_upstream(conn: Connection) -> None:
    workflow = await sealed(conn, made.node("a"), made.node("b", "a"), made.node("c", run=("a", "b")))
    await run(conn, workflow.id, BROKEN, "a")
    found = await node_ids(conn, workflow.id)
    results = await upstream_results(conn, found["c"])
    assert {name: (one.status.value, one.value) for name, one in results.items()} == {
        "a": ("FAILED", None), "b": ("DISCARDED", None),
    }  # fmt: skip
    await run(conn, workflow.id, DONE, "c")
    assert await made.counts(conn, workflow.id) == (3, 0, 1, 1, 1, COMPLETE)


async def test_a_node_reads_what_its_upstreams_returned(conn: Connection) -> None:
    workflow = await sealed(conn, made.node("a"), made.node("b", "a"))
    await run(conn, workflow.id, Succeeded('{"rows": 3}'), "a")
    ids = await node_ids(conn, workflow.id)
    [found] = (await upstream_results(conn, ids["b"])).values()
    assert (found.status, found.value) == (TaskStatus.SUCCESSFUL, {"rows": 3})
    await raw.delete(conn, ids["a"])
    [found] = (await upstream_results(conn, ids["b"])).values()
    assert (found.status, found.value) == (TaskStatus.SUCCESSFUL, None)
    assert await upstream_results(conn, ids["a"]) == {}
    assert [(node.name, node.status) for node in await list_nodes(conn, workflow.id)] == [("a", None), ("b", "READY")]


async def test_D3_a_lost_node_that_succeeds_late_does_not_revive_what_is_behind_it(conn: Connection) -> None:
    workflow = await sealed(conn, made.node("a"), made.node("b", "a"))
    [lost] = await claimed(conn)
    await raw.change(conn, lost.id, "status = 'LOST', leased_by = NULL")
    await recount_nodes(conn, workflow.id, None, 100)
    assert await made.counts(conn, workflow.id) == (2, 0, 0, 0, 2, COMPLETE)
    await settle_node(conn, lost, DONE)
    assert await made.counts(conn, workflow.id) == (2, 0, 1, 0, 1, COMPLETE)
    assert await made.statuses(conn, workflow.id) == {"a": "SUCCESSFUL", "b": "DISCARDED"}


async def test_D4_a_unique_node_with_a_free_key_may_stand_anywhere(conn: Connection) -> None:
    workflow = await made.opened(conn)
    await made.add_unique(conn, workflow.id, made.node("a"), call(workflow.id, "one"))
    answers = await made.add_unique(conn, workflow.id, made.node("b", "a"), call(workflow.id, "two"))
    assert (answers[0].created, answers[0].record.status.value) == (True, "WAITING")
    await run(conn, workflow.id, DONE, "a")
    await run(conn, workflow.id, DONE, "b")


async def test_D4_a_root_whose_key_is_held_adopts_the_holder(conn: Connection) -> None:
    holder = make.unique_call()
    await enqueue_calls(conn, EnqueueCalls({}, [holder]))
    workflow = await made.opened(conn)
    answers = await made.add_unique(conn, workflow.id, made.node("a"), call(workflow.id))
    assert (answers[0].created, answers[0].record.id) == (False, holder.task.id)
    await made.add(conn, workflow.id, made.node("b", "a"))
    await seal_workflow(conn, workflow.id)
    [task] = await claimed(conn)
    assert task.workflow_id is None
    assert await recheck_nodes(conn, 10)
    await settle_node(conn, task, DONE)
    await run(conn, workflow.id, DONE, "b")
    assert await made.counts(conn, workflow.id) == (2, 0, 2, 0, 0, COMPLETE)


async def test_C5_an_adopted_root_that_ended_before_the_pass_is_followed_by_it(conn: Connection) -> None:
    await enqueue_calls(conn, EnqueueCalls({}, [make.unique_call()]))
    workflow = await made.opened(conn)
    await made.add_unique(conn, workflow.id, made.node("a"), call(workflow.id))
    await made.add(conn, workflow.id, made.node("b", "a"))
    await seal_workflow(conn, workflow.id)
    [task] = await claimed(conn)
    await settle_node(conn, task, BROKEN)
    assert await made.counts(conn, workflow.id) == (2, 2, 0, 0, 0, SEALED)
    assert await recheck_nodes(conn, 10)
    assert await made.counts(conn, workflow.id) == (2, 0, 0, 1, 1, COMPLETE)


async def test_D4_a_holder_that_is_a_node_already_refuses_the_call_and_nothing_is_written(conn: Connection) -> None:
    workflow, other = await made.opened(conn), await made.opened(conn)
    first = call(workflow.id)
    await made.add_unique(conn, workflow.id, made.node("a"), first)
    for place in (made.node("b"), made.node("c", "x")):
        await made.add(conn, other.id, made.node("x")) if place.upstreams else None
        answers = await made.add_unique(conn, other.id, place, call(other.id))
        assert [(answer.refused, answer.record.id) for answer in answers.values()] == [(True, first.task.id)]
    assert await made.counts(conn, other.id) == (1, 1, 0, 0, 0, OPEN)


async def test_D4_a_dependent_whose_key_is_held_refuses_the_whole_call(conn: Connection) -> None:
    await enqueue_calls(conn, EnqueueCalls({}, [make.unique_call()]))
    workflow = await made.opened(conn)
    place = Placement(workflow.id, [made.node("a"), made.node("b", "a")])
    calls = EnqueueCalls({0: made.new_task(workflow.id)}, [replace(call(workflow.id), position=1)], placement=place)
    answers = await enqueue_calls(conn, calls)
    assert [(position, answer.refused) for position, answer in answers.items()] == [(1, True)]
    assert await node_ids(conn, workflow.id) == {}
    assert await get_tasks(conn, [calls.plain[0].id]) == {}


async def test_D4_two_nodes_of_one_call_with_one_key_are_refused(conn: Connection) -> None:
    workflow = await made.opened(conn)
    place = Placement(workflow.id, [made.node("a"), made.node("b")])
    calls = [call(workflow.id), replace(call(workflow.id), position=1)]
    with pytest.raises(AlreadyEnqueued, match="call 1 has the unique key of call 0") as refused:
        await enqueue_calls(conn, EnqueueCalls({}, calls, placement=place))
    assert refused.value.position == 1
    assert await node_ids(conn, workflow.id) == {}


async def test_D4_a_replacing_enqueue_leaves_a_node_waiting_for_its_edges(conn: Connection) -> None:
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"))
    answers = await made.add_unique(conn, workflow.id, made.node("b", "a"), call(workflow.id))
    await enqueue_calls(conn, EnqueueCalls({}, [make.unique_call(Unique(on_duplicate="replace"), args="[2]")]))
    record = await make.record(conn, answers[0].record.id)
    assert (record.args, record.status.value, record.waiting_for) == ([2], "WAITING", "edges")


async def test_A12_a_node_meets_its_running_lock_after_its_edges(conn: Connection) -> None:
    lock: make.Options = {"lock_key": "lock", "lock_limit": 1, "lock_conflict": "wait"}
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"))
    await made.add(conn, workflow.id, made.node("b", "a"), made.node("c", "a"), **lock)
    await seal_workflow(conn, workflow.id)
    await run(conn, workflow.id, DONE, "a")
    [first] = await claimed(conn, 1)
    assert await claimed(conn) == []
    assert sorted((await made.statuses(conn, workflow.id)).values()) == ["RUNNING", "SUCCESSFUL", "WAITING"]
    await settle_node(conn, first, DONE)
    [second] = await claimed(conn)
    await settle_node(conn, second, DONE)
    assert await made.counts(conn, workflow.id) == (3, 0, 3, 0, 0, COMPLETE)


async def test_B2_a_node_refused_by_its_running_lock_ends_what_is_behind_it(conn: Connection) -> None:
    lock: make.Options = {"lock_key": "lock", "lock_limit": 1, "lock_conflict": "discard"}
    elsewhere: make.Options = {"queue_name": "elsewhere"}
    await make.running(conn, **(lock | elsewhere))
    workflow = await made.opened(conn)
    await made.add(conn, workflow.id, made.node("a"), **lock)
    await made.add(conn, workflow.id, made.node("b", "a"))
    await seal_workflow(conn, workflow.id)
    assert await claimed(conn) == []
    assert await made.counts(conn, workflow.id) == (2, 0, 0, 0, 2, COMPLETE)


async def test_an_enqueue_of_nodes_may_be_repeated_after_a_lost_answer(conn: Connection) -> None:
    workflow = await made.opened(conn)
    place = Placement(workflow.id, [made.node("a"), made.node("b", "a")])
    calls = EnqueueCalls({at: made.new_task(workflow.id) for at in (0, 1)}, (), placement=place)
    await enqueue_again(conn, calls)
    await seal_workflow(conn, workflow.id)
    answers = await enqueue_again(conn, calls)
    assert [answers[at].created for at in (0, 1)] == [True, True]
    assert await made.statuses(conn, workflow.id) == {"a": "READY", "b": "WAITING"}


async def test_many_nodes_are_added_with_one_statement_a_chunk(conn: Connection) -> None:
    workflow = await made.opened(conn)
    spy = Spy(conn)
    nodes = [made.node("n0"), *(made.node(f"n{at}", f"n{at - 1}", "n0") for at in range(1, 2_500))]
    await made.add(spy, workflow.id, *nodes)
    sent = [name for name, _ in spy.sent]
    assert {name: sent.count(name) for name in ("insert_tasks", "insert_nodes", "insert_edges")} == {
        "insert_tasks": 3, "insert_nodes": 1, "insert_edges": 1,
    }  # fmt: skip
    assert (await made.progress(conn, workflow.id)).blocked == 2_499


async def test_what_a_settle_costs_does_not_grow_with_the_workflow(conn: Connection) -> None:
    sent = []
    for size in (3, 300):
        leaves = [made.node(f"leaf{number}", "b") for number in range(size)]
        workflow = await sealed(conn, made.node("a"), made.node("b", "a"), *leaves)
        [task] = await claimed(conn)
        spy = Spy(conn)
        await settle_node(spy, task, DONE)
        sent.append([name for name, _ in spy.sent if name != "notify"])
        await cancel_workflow(conn, workflow.id)
    assert sent[0] == sent[1]
    assert len(sent[0]) <= 10


async def test_D3_a_unique_workflow_is_made_once_until_it_is_complete(conn: Connection) -> None:
    first, second = NewWorkflow(make.new_id(), make.ALIAS, "etl", (), None, "key"), make.new_id()
    stored, created = await create_workflow(conn, first)
    assert created
    assert (stored.id, (await create_workflow(conn, replace(first, id=second)))[1]) == (first.id, False)
    assert (await create_workflow(conn, replace(first, id=make.new_id(), unique_key="other")))[1]
    assert (await create_workflow(conn, replace(first, id=make.new_id(), unique_key=None)))[1]
    await seal_workflow(conn, first.id)
    assert (await create_workflow(conn, replace(first, id=second)))[1]


async def test_a_retry_of_a_node_that_ran_is_ready_and_counted_as_pending(conn: Connection) -> None:
    workflow = await sealed(conn, made.node("a"), made.node("b", "a"), made.node("c"))
    await run(conn, workflow.id, DONE, "a", "c")
    await run(conn, workflow.id, BROKEN, "b")
    ids = await node_ids(conn, workflow.id)
    assert await retry(conn, [ids["b"]], include_discarded=False) == 1
    assert await made.counts(conn, workflow.id) == (3, 1, 2, 0, 0, COMPLETE)
    await run(conn, workflow.id, DONE, "b")
    assert await made.counts(conn, workflow.id) == (3, 0, 3, 0, 0, COMPLETE)


def call(workflow_id: str, key: str = make.KEY) -> UniqueCall:
    return make.unique_call(key=key, workflow_id=workflow_id, max_attempts=1)
