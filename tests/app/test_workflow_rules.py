"""What workflows refuse, and the rules of names, unique workflows and unique nodes."""

import asyncio

import pytest

from oxpull_async import BatchInfo, Node, Oxpull, TaskResult, TaskStatus, Unique, Workflow
from oxpull_async.domain.unique import OnDuplicate
from oxpull_async.errors import (
    AlreadyEnqueued,
    InvalidArguments,
    InvalidTask,
    UnknownWorkflowNode,
    UsageError,
    WorkflowDoesNotExist,
    WorkflowNodeExists,
)
from tests.app import kit
from tests.fixtures.workers import working

pytestmark = pytest.mark.asyncio
GOOD = TaskStatus.SUCCESSFUL


async def test_D3_names_stand_before_they_are_used(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    flow = await ox.create_workflow("names")
    await flow.add("a", add, 1)
    with pytest.raises(UnknownWorkflowNode, match="'b'"):
        await flow.add("c", add, 1, depends_on=["a", "b"])
    with pytest.raises(UnknownWorkflowNode, match="'c'"):
        await flow.add_many([Node("b", add.call(1), "c"), Node("c", add.call(1))])
    with pytest.raises(UnknownWorkflowNode):
        await flow.add("self", add, 1, depends_on="self")
    with pytest.raises(WorkflowNodeExists, match="'a'"):
        await flow.add("a", add, 1)
    with pytest.raises(WorkflowNodeExists, match="'b'"):
        await flow.add_many([Node("b", add.call(1)), Node("b", add.call(2))])
    with pytest.raises(UnknownWorkflowNode):
        await (await ox.create_workflow("other")).add("x", add, 1, depends_on="a")
    assert (await flow.progress()).total == 1
    assert await kit.count(ox) == 1


@pytest.mark.parametrize("other", ["A", "ä", "a ", "á"])
async def test_names_are_compared_exactly(ox: Oxpull, other: str) -> None:
    add = ox.task(kit.add)
    async with ox.workflow("names") as flow:
        await flow.add_many([Node("a", add.call(1)), Node(other, add.call(2), "a")])
    await kit.work(ox)
    assert {node.name: node.status for node in await flow.nodes()} == {"a": GOOD, other: GOOD}


async def test_what_a_workflow_refuses_is_refused_before_anything_is_written(ox: Oxpull) -> None:
    add, unique = ox.task(kit.add), ox.task(unique=True)(kit.subtract)
    takes_batch = ox.task(takes_batch=True)(_takes_batch)
    with pytest.raises(UsageError, match="at most 128"):
        await ox.create_workflow("n" * 129)
    with pytest.raises(UsageError, match="must be text"):
        await ox.create_workflow("n", unique="")
    with pytest.raises(InvalidTask, match="is no call"):
        await ox.create_workflow("n", on_complete=add)  # type: ignore[arg-type]
    with pytest.raises(InvalidTask, match="is unique"):
        await ox.create_workflow("n", on_success=unique.call(1, 2))
    with pytest.raises(InvalidTask, match="takes its batch"):
        await ox.create_workflow("n", on_success=takes_batch.call())
    with pytest.raises(TypeError, match="did you mean 'on_complete'"):
        await ox.create_workflow("n", on_completed=add.call(1))  # type: ignore[call-arg]
    with pytest.raises(WorkflowDoesNotExist):
        await ox.get_workflow("no id")
    flow = await ox.create_workflow("")
    with pytest.raises(InvalidTask, match="is no task"):
        await flow.add("a", kit.add, 1)  # type: ignore[arg-type]
    with pytest.raises(InvalidTask, match=r"node 1: .* is no node"):
        await flow.add_many([Node("a", add.call(1)), add.call(1)])  # type: ignore[list-item]
    with pytest.raises(InvalidTask, match=r"call 0: .* is no call"):
        await flow.add_many([Node("a", add)])  # type: ignore[arg-type]
    with pytest.raises(InvalidTask, match="takes its batch"):
        await flow.add("a", takes_batch)
    with pytest.raises(UsageError, match="depends_on"):
        await flow.add("a", add, 1, depends_on=7)  # type: ignore[arg-type]
    with pytest.raises(InvalidArguments, match="call 1"):
        await flow.add_many([Node("a", add.call(1)), Node("b", add.call(object()))])  # type: ignore[arg-type]
    assert (await flow.progress()).total == 0
    assert await kit.count(ox) == 0


async def _takes_batch(batch: BatchInfo) -> None:
    pass


@pytest.mark.parametrize("mode", [OnDuplicate.REPLACE, OnDuplicate.DEBOUNCE, OnDuplicate.RERUN])
async def test_D4_updating_modes_are_refused_on_nodes(ox: Oxpull, mode: OnDuplicate) -> None:
    unique = Unique(on_duplicate="debounce", wait=1) if mode == "debounce" else Unique(on_duplicate=mode.value)
    flow = await ox.create_workflow("unique")
    with pytest.raises(InvalidTask, match="on_duplicate"):
        await flow.add("a", ox.task(unique=unique)(kit.add), 1)


async def test_D4_a_root_takes_the_task_that_is_pending_under_its_key(ox: Oxpull) -> None:
    add = ox.task(unique=True)(kit.add)
    pending = await add.enqueue(1)
    flow = await ox.create_workflow("unique")
    taken = await flow.add("a", add, 1)
    assert (taken.id, taken.created) == (pending.id, False)
    await flow.add("b", add, 2, depends_on="a")
    with pytest.raises(AlreadyEnqueued) as refused:
        await flow.add("c", add, 2, depends_on="a")
    with pytest.raises(AlreadyEnqueued):
        await flow.add_many([Node("d", add.call(5)), Node("e", add.call(1))])
    assert (await flow.progress()).total == 2
    assert isinstance(refused.value.existing, TaskResult)
    assert refused.value.existing.id == (await flow.node_ids())["b"]
    await flow.seal()
    async with working(ox):
        progress = await kit.eventually(flow.progress, lambda progress: progress.status == "COMPLETE")
    assert progress.succeeded == 2


async def test_a_unique_workflow_is_made_once_until_it_is_complete(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    async with ox.workflow("first", unique="june") as flow:
        await flow.add("a", add, 1)
    with pytest.raises(AlreadyEnqueued, match="june") as refused:
        async with ox.workflow("second", unique="june"):
            raise AssertionError("the block is not entered")
    existing = refused.value.existing
    assert isinstance(existing, Workflow)
    assert (existing.id, existing.name) == (flow.id, "first")
    await ox.create_workflow("july", unique="july")
    await kit.work(ox)
    again = await ox.create_workflow("second", unique="june")
    assert again.id != flow.id


async def test_of_many_makers_of_a_unique_workflow_one_makes_it(ox: Oxpull) -> None:
    async def make() -> str:
        try:
            return (await ox.create_workflow("race", unique="june")).id
        except AlreadyEnqueued as held:
            return str(getattr(held.existing, "id", None))

    assert len(set(await asyncio.gather(*(make() for _ in range(8))))) == 1


async def test_another_alias_does_not_know_the_workflow(ox: Oxpull) -> None:
    flow = await ox.create_workflow("mine", unique="june")
    async with kit.open_oxpull(kit.unmasked(ox), alias="other") as other:
        with pytest.raises(WorkflowDoesNotExist):
            await other.get_workflow(flow.id)
        await other.create_workflow("theirs", unique="june")
