"""Workers and workflows: marks and what was changed by hand are seen to, and a node's context knows its upstreams."""

import asyncio
import contextvars

import pytest

from oxpull_async import Node, Oxpull, TaskContext, TaskStatus, Upstream, WorkflowProgress
from oxpull_async.domain.events import WorkflowsReconciled
from oxpull_async.errors import UsageError
from tests.app import kit
from tests.fixtures import raw
from tests.fixtures.workers import drain, working

pytestmark = pytest.mark.asyncio


def is_complete(progress: WorkflowProgress) -> bool:
    return progress.status == "COMPLETE"


async def test_C5_a_node_whose_upstream_ends_before_its_commit_is_released_by_the_next_pass(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    flow = await ox.create_workflow("late")
    await flow.add("a", add, 1)
    async with ox.transaction():
        await flow.add("b", add, 2, depends_on="a")
        if ox.database.dialect.skips_locked:  # elsewhere nobody ends a task while this transaction is open
            await asyncio.create_task(drain(ox), context=contextvars.Context())
    await flow.seal()
    async with working(ox):
        progress = await kit.eventually(flow.progress, is_complete)
    assert progress.succeeded == 2


async def test_D2_a_node_that_was_deleted_by_hand_is_found_and_discards_what_is_behind_it(ox: Oxpull) -> None:
    add = ox.task(kit.add).using(queue_name="nobody")
    async with ox.workflow("deleted") as flow:
        gone = await flow.add("gone", add, 1)
        await flow.add("behind", add, 2, depends_on="gone")
        await flow.add("anyway", ox.task(kit.subtract), 2, 1, depends_on="gone", on_failure="run")
    async with ox.database.connection() as conn:
        await raw.delete(conn, gone.id)
    async with working(ox, queues=["default"]) as (_, witness):
        progress = await kit.eventually(flow.progress, is_complete)
        [event] = await witness.seen(WorkflowsReconciled)
    assert (event.workflow_id, event.missing, event.unforeseen) == (flow.id, 1, 0)
    assert (progress.succeeded, progress.unattributed) == (1, 2)
    assert (await ox.health()).problems == []


async def test_a_move_that_nobody_followed_is_put_right_and_told(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    async with ox.workflow("by hand") as flow:
        await flow.add("a", add.using(queue_name="nobody"), 1)
        await flow.add("b", add, 2, depends_on="a")
    async with ox.database.connection() as conn:
        await conn.run_script(
            "UPDATE oxpull_task SET status = 'SUCCESSFUL', return_value = '1', finished_at = enqueued_at "
            "WHERE queue_name = 'nobody'"
        )
    async with working(ox, queues=["default"]) as (worker, witness):
        await kit.eventually(flow.progress, is_complete)
        [event] = await witness.seen(WorkflowsReconciled)
        assert (event.missing, event.unforeseen) == (0, 1)
        await kit.eventually(ox.health, lambda health: any("a bug, or somebody" in text for text in health.problems))
    assert worker.running == 0


async def test_A8_a_long_cascade_goes_on_by_itself(ox: Oxpull) -> None:
    add, fail = ox.task(kit.add), ox.task(max_attempts=1)(kit.fail)
    async with ox.workflow("doomed") as flow:
        await flow.add("bad", fail)
        await flow.add_many([Node(str(n), add.call(n), str(n - 2) if n > 1 else "bad") for n in range(2_500)])
    async with working(ox):
        progress = await kit.eventually(flow.progress, is_complete)
    assert (progress.failed, progress.unattributed) == (1, 2_500)


async def test_a_coroutine_awaits_its_upstreams_and_a_function_does_not(ox: Oxpull) -> None:
    found: list[object] = []

    @ox.task(takes_context=True)
    async def coroutine(context: TaskContext) -> None:
        with pytest.raises(UsageError, match=r"await context\.upstream_results"):
            context.get_upstream_results()
        found.append(await context.upstream_results())

    @ox.task(takes_context=True)
    def function(context: TaskContext) -> None:
        found.append(context.get_upstream_results())

    async with ox.workflow("contexts") as flow:
        await flow.add("a", coroutine)
        await flow.add("b", function, depends_on="a")
    await drain(ox)
    assert found == [{}, {"a": Upstream(TaskStatus.SUCCESSFUL, None)}]


async def test_a_released_node_wakes_the_workers_of_its_queue(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    async with working(ox, queues=["first"]), working(ox, queues=["second"]):
        async with ox.workflow("two queues") as flow:
            for place in range(20):
                queue = ("first", "second")[place % 2]
                await flow.add(
                    str(place), add.using(queue_name=queue), place, depends_on=str(place - 1) if place else None
                )
        progress = await kit.eventually(flow.progress, is_complete)
    assert progress.succeeded == 20
