"""Workflows through the public API: built in a block or step by step, run by workers, cancelled and retried."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from oxpull_async import (
    Node,
    Oxpull,
    RunningLock,
    TaskContext,
    TaskStatus,
    Upstream,
    Workflow,
    WorkflowProgress,
)
from oxpull_async.errors import (
    UnknownWorkflowNode,
    UsageError,
    WorkflowDoesNotExist,
    WorkflowSealed,
)
from tests.app import kit
from tests.fixtures.workers import working

pytestmark = pytest.mark.asyncio
GOOD, BAD, OFF = TaskStatus.SUCCESSFUL, TaskStatus.FAILED, TaskStatus.DISCARDED
seen: list[Any] = []


@pytest.fixture(autouse=True)
def _seen() -> None:
    seen.clear()


async def note(text: str) -> None:
    seen.append(text)


async def look(context: TaskContext) -> int:
    seen.append(await context.upstream_results())
    return 7


def look_in_thread(context: TaskContext) -> None:
    seen.append(context.get_upstream_results())


async def statuses(flow: Workflow) -> dict[str, TaskStatus | None]:
    return {node.name: node.status for node in await flow.nodes()}


async def complete(ox: Oxpull, flow: Workflow) -> WorkflowProgress:
    """Run a worker until the workflow is complete."""
    async with working(ox):
        return await kit.eventually(flow.progress, lambda progress: progress.status == "COMPLETE")


async def test_a_block_stores_a_sealed_workflow_that_runs_in_the_order_of_its_edges(ox: Oxpull) -> None:
    told = ox.task(note)
    async with ox.workflow("etl", on_complete=told.call("complete"), on_success=told.call("success")) as flow:
        last = await flow.add("first", told, "first")
        await flow.add("left", told, "left", depends_on="first")
        await flow.add("right", told, "right", depends_on=["first"])
        last = await flow.add("join", told, text="join", depends_on={"left": "discard", "right": "run"})
    progress = await flow.progress()
    assert (progress.total, progress.pending, progress.blocked, progress.status) == (4, 4, 3, "SEALED")
    assert last.status is TaskStatus.WAITING
    await kit.work(ox)
    assert (seen[0], sorted(seen[1:3]), seen[3], sorted(seen[4:])) == (
        "first", ["left", "right"], "join", ["complete", "success"],
    )  # fmt: skip
    progress = await (await ox.get_workflow(flow.id)).progress()
    assert (progress.succeeded, progress.finished, progress.blocked, progress.status) == (4, 4, 0, "COMPLETE")


async def test_an_error_in_the_block_leaves_nothing_behind(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    async with kit.rolled_back(ox.workflow("etl", unique="june")) as flow:
        await flow.add("a", add, 1)
    assert await kit.count(ox) == 0
    with pytest.raises(WorkflowDoesNotExist):
        await flow.progress()
    await ox.create_workflow("etl", unique="june")


async def test_a_block_may_seal_its_workflow_itself_and_an_empty_one_succeeds(ox: Oxpull) -> None:
    async with ox.workflow("empty", on_success=ox.task(note).call("success")) as flow:
        await flow.seal()
    assert (await flow.progress()).status == "COMPLETE"
    await kit.work(ox)
    assert seen == ["success"]


async def test_step_by_step_nodes_run_while_the_workflow_is_open(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    flow = await ox.create_workflow("steps")
    await flow.add("a", add, 1)
    await flow.add("b", add, 2, depends_on="a")
    await kit.work(ox)
    again = await ox.get_workflow(flow.id)
    assert (again.name, await statuses(again)) == ("steps", {"a": GOOD, "b": GOOD})
    third = await again.add("c", add, 3, depends_on=["a", "b"])
    await kit.work(ox)
    await third.refresh()
    assert third.return_value == 3
    await again.seal()
    for late in (flow.add("d", add, 1), flow.add_many([Node("d", add.call(1))]), flow.seal()):
        with pytest.raises(WorkflowSealed):
            await late
    assert (await flow.progress()).status == "COMPLETE"
    assert set(await flow.node_ids()) == {"a", "b", "c"}
    assert (await flow.node_ids())["c"] == third.id


async def test_a_bad_end_discards_what_is_behind_it_unless_that_runs_anyway(ox: Oxpull) -> None:
    add, fail, told = ox.task(kit.add), ox.task(max_attempts=1)(kit.fail), ox.task(note)
    async with ox.workflow("etl", on_failure=told.call("failure"), on_success=told.call("success")) as flow:
        await flow.add_many(
            [
                Node("bad", fail.call()),
                Node("good", add.call(1)),
                Node("gone", add.call(1), ["bad", "good"]),
                Node("behind", add.call(1), "gone"),
                Node("alarm", told.call("alarm"), "bad", on_failure="run"),
                Node("report", told.call("report"), {"behind": "run", "good": "discard"}),
            ]
        )
    await kit.work(ox)
    assert await statuses(flow) == {
        "bad": BAD, "good": GOOD, "gone": OFF, "behind": OFF, "alarm": GOOD, "report": GOOD,
    }  # fmt: skip
    assert sorted(seen) == ["alarm", "failure", "report"]
    gone = await ox.get_result((await flow.node_ids())["gone"])
    [error] = gone.errors
    assert error.exception_class_path == "oxpull_async.errors.UpstreamFailed"
    assert "'bad'" in error.traceback
    assert gone.attempts == 0


async def test_D5_bad_ends_wait_for_the_seal(ox: Oxpull) -> None:
    add, fail = ox.task(kit.add), ox.task(max_attempts=1)(kit.fail)
    flow = await ox.create_workflow("open")
    await flow.add("bad", fail)
    await flow.add("behind", add, 1, depends_on="bad")
    await kit.work(ox)
    assert await statuses(flow) == {"bad": BAD, "behind": TaskStatus.WAITING}
    await flow.seal()
    assert await statuses(flow) == {"bad": BAD, "behind": OFF}
    assert (await flow.progress()).status == "COMPLETE"


async def test_a_node_reads_what_its_upstreams_came_to(ox: Oxpull) -> None:
    read, fail, add = ox.task(takes_context=True)(look), ox.task(max_attempts=1)(kit.fail), ox.task(kit.add)
    in_thread = ox.task(takes_context=True)(look_in_thread)
    async with ox.workflow("results") as flow:
        await flow.add("a", add, 1, b=2)
        await flow.add("bad", fail)
        await flow.add("reads", read, depends_on=["a", "bad"], on_failure="run")
        await flow.add("last", in_thread, depends_on="reads")
    await kit.work(ox)
    assert seen == [{"a": Upstream(GOOD, 3), "bad": Upstream(BAD, None)}, {"reads": Upstream(GOOD, 7)}]


async def test_a_result_comes_to_the_next_node_in_its_type(ox: Oxpull) -> None:
    async def today() -> datetime:
        return datetime(2030, 1, 2, tzinfo=UTC)

    read, day = ox.task(takes_context=True)(look), ox.task(today)
    async with ox.workflow("types") as flow:
        await flow.add("day", day)
        await flow.add("reads", read, depends_on="day")
    await kit.work(ox)
    assert seen == [{"day": Upstream(GOOD, datetime(2030, 1, 2, tzinfo=UTC))}]


async def test_a_task_that_is_no_node_has_no_upstreams(ox: Oxpull) -> None:
    await ox.task(takes_context=True)(look).enqueue()
    await kit.work(ox)
    assert seen == [{}]


async def test_a_cancelled_workflow_completes_as_a_failure_and_releases_nothing(ox: Oxpull) -> None:
    add, told = ox.task(kit.add), ox.task(note)
    flow = await ox.create_workflow("c", on_failure=told.call("failure"), on_success=told.call("success"))
    await flow.add("a", add, 1)
    await flow.add("b", told, "b", depends_on={"a": "run"})
    assert await flow.cancel()
    assert not await flow.cancel()
    await kit.work(ox)
    assert await statuses(flow) == {"a": OFF, "b": OFF}
    assert seen == ["failure"]


async def test_D3_a_workflow_is_retried_from_the_node_that_failed(ox: Oxpull) -> None:
    broken = [True]

    @ox.task(max_attempts=1)
    async def sometimes() -> str:
        if broken[0]:
            raise ValueError("no")
        return "yes"

    told = ox.task(note)
    async with ox.workflow("r", on_failure=told.call("failure"), on_success=told.call("success")) as flow:
        await flow.add("a", told, "a")
        await flow.add("b", sometimes, depends_on="a")
        await flow.add("c", told, "c", depends_on="b")
        await flow.add("d", told, "d", depends_on=["c", "a"])
    await kit.work(ox)
    assert await statuses(flow) == {"a": GOOD, "b": BAD, "c": OFF, "d": OFF}
    assert sorted(seen) == ["a", "failure"]
    broken[0] = False
    assert await flow.retry_from("a") == 0
    with pytest.raises(UnknownWorkflowNode, match="'x'"):
        await flow.retry_from("x")
    assert await flow.retry_from("b", callbacks=True) == 3
    progress = await flow.progress()
    assert (progress.status, progress.succeeded, progress.pending) == ("SEALED", 1, 3)
    await kit.work(ox)
    progress = await flow.progress()
    assert (progress.status, progress.succeeded) == ("COMPLETE", 4)
    assert sorted(seen) == ["a", "c", "d", "failure", "success"]


async def test_D3_callbacks_come_once_unless_asked_for_again(ox: Oxpull) -> None:
    fail, told = ox.task(max_attempts=1)(kit.fail), ox.task(note)
    async with ox.workflow("once", on_complete=told.call("complete")) as flow:
        await flow.add("a", fail)
    await kit.work(ox)
    assert await flow.retry_from("a") == 1
    await kit.work(ox)
    assert (seen, (await flow.progress()).status) == (["complete"], "COMPLETE")
    assert await flow.retry_from("a", callbacks=True) == 1
    await kit.work(ox)
    assert seen == ["complete", "complete"]


async def test_a_node_keeps_its_run_after_and_its_options(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    later = datetime.now(UTC) + timedelta(hours=1)
    async with ox.workflow("later") as flow:
        await flow.add("a", add, 1)
        node = await flow.add("b", add.using(run_after=later, priority=5, queue_name="slow"), 2, depends_on="a")
    await kit.work(ox)
    await node.refresh()
    assert (node.status, node.priority, node.queue_name) == (TaskStatus.READY, 5, "slow")
    assert node.run_after == later
    assert await ox.run_now(node.id)
    await kit.work(ox)
    assert (await flow.progress()).status == "COMPLETE"


async def test_A12_a_node_meets_its_running_lock_after_its_edges(ox: Oxpull) -> None:
    at_once = [0, 0]

    @ox.task(running_lock=RunningLock(name="one"))
    async def alone() -> None:
        at_once[0] += 1
        at_once[1] = max(at_once)
        await asyncio.sleep(0)
        at_once[0] -= 1

    async with ox.workflow("locks") as flow:
        await flow.add("a", ox.task(kit.add), 1)
        await flow.add_many([Node(f"b{n}", alone.call(), "a") for n in range(5)])
    assert (await complete(ox, flow)).succeeded == 6
    assert at_once == [0, 1]


async def test_a_workflow_joins_the_transaction_that_is_open(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    async with ox.transaction():
        await add.enqueue(1)
        async with ox.workflow("inner") as flow:
            first = await flow.add("a", add, 1)
            await flow.add("b", add, 2, depends_on="a")
        with pytest.raises(UsageError, match="enqueued in this transaction"):
            await first.refresh()
    await kit.work(ox)
    assert (await flow.progress()).status == "COMPLETE"


async def test_D5_a_workflow_that_was_open_for_a_day_is_named_by_health(ox: Oxpull) -> None:
    flow = await ox.create_workflow("forgotten")
    assert (await ox.health()).problems == []
    async with ox.database.connection() as conn:
        await conn.run_script("UPDATE oxpull_workflow SET created_at = '2020-01-01 00:00:00'")
    [problem] = (await ox.health()).problems
    assert f"workflow {flow.id} ('forgotten') has been open for" in problem


async def test_a_worker_cancels_a_workflow_that_has_expired(ox: Oxpull) -> None:
    flow = await ox.create_workflow("expired", expire_after=3600)
    await flow.add("a", ox.task(kit.add).using(queue_name="nobody"), 1)
    async with ox.database.connection() as conn:
        await conn.run_script("UPDATE oxpull_workflow SET expires_at = created_at")
    async with working(ox, queues=["mail"]):
        progress = await kit.eventually(flow.progress, lambda progress: progress.status == "COMPLETE")
    assert progress.unattributed == 1


async def test_D2_prune_removes_a_workflow_after_its_tasks(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    async with ox.workflow("old", on_complete=add.call(2)) as flow:
        await flow.add("a", add, 1)
        await flow.add("b", add, 1, depends_on="a")
    await kit.work(ox)
    dry = await ox.prune(older_than=0, dry_run=True)
    assert (dry.removed, dry.workflows) == (3, 1)
    open_one = await ox.create_workflow("open")
    await open_one.add("a", add, 1)
    await kit.work(ox)
    report = await ox.prune(older_than=0)
    assert (report.removed, report.workflows) == (3, 1)
    with pytest.raises(WorkflowDoesNotExist):
        await flow.progress()
    assert await statuses(open_one) == {"a": GOOD}
