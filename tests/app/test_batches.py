"""Batches through the public API: built in a block or step by step, run by workers, followed by their callbacks."""

import asyncio
from typing import Any

import pytest

from oxpull_async import BatchInfo, Oxpull, TaskContext, TaskStatus, Worker
from oxpull_async.domain.durations import Duration
from oxpull_async.errors import BatchDoesNotExist, BatchMemberExists, BatchSealed, InvalidTask, UsageError
from oxpull_async.store.results import TaskFilter
from tests.app import kit
from tests.fixtures import raw

pytestmark = pytest.mark.asyncio
seen: list[tuple[str, Any]] = []


async def summary(batch: BatchInfo, title: str) -> None:
    seen.append((title, batch))


def summary_in_thread(context: TaskContext, batch: BatchInfo, title: str) -> None:
    seen.append((title, (context.attempt, batch.counts.total)))


@pytest.fixture(autouse=True)
def _seen() -> None:
    seen.clear()


async def test_a_block_stores_a_sealed_batch_whose_callbacks_follow_its_members(ox: Oxpull) -> None:
    add, fail, told = ox.task(kit.add), ox.task(max_attempts=1)(kit.fail), ox.task(takes_batch=True)(summary)
    async with ox.batch(
        "nightly",
        on_complete=told.call("complete"),
        on_success=told.call("success"),
        on_failure=told.using(queue_name="alarms", priority=9).call(title="failure"),
    ) as batch:
        one = await batch.add(add, 1, b=2)
        await batch.add_many([add.call(1), fail.call()])
    progress = await batch.progress()
    assert (progress.total, progress.pending, progress.status) == (3, 3, "SEALED")
    await kit.work(ox)
    await one.refresh()
    assert one.return_value == 3
    progress = await (await ox.get_batch(batch.id)).progress()
    assert (progress.succeeded, progress.failed, progress.finished, progress.status) == (2, 1, 3, "COMPLETE")
    assert sorted(title for title, _ in seen) == ["complete", "failure"]
    assert {info.id for _, info in seen} == {batch.id}
    assert {(info.name, info.counts) for _, info in seen} == {("nightly", progress)}


async def test_an_error_in_the_block_leaves_nothing_behind(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    async with kit.rolled_back(ox.batch("nightly")) as batch:
        await batch.add(add, 1)
    assert await kit.count(ox) == 0
    with pytest.raises(BatchDoesNotExist):
        await batch.progress()


async def test_a_block_may_seal_its_batch_itself(ox: Oxpull) -> None:
    async with ox.batch("nightly") as batch:
        await batch.seal()
    assert (await batch.progress()).status == "COMPLETE"


async def test_step_by_step_a_batch_is_built_in_transactions_of_its_own(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    batch = await ox.create_batch("steps")
    await batch.add(add, 1)
    await kit.work(ox)
    again = await ox.get_batch(batch.id)
    assert again.name == "steps"
    await asyncio.gather(*(again.add(add, number) for number in range(5)))
    await batch.seal()
    for late in (batch.add(add, 1), batch.add_many([add.call(1)]), batch.seal()):
        with pytest.raises(BatchSealed):
            await late
    await kit.work(ox)
    assert (await batch.progress()).succeeded == 6
    assert await kit.count(ox) == 6


async def test_a_member_adds_members_to_its_own_batch(ox: Oxpull) -> None:
    add = ox.task(kit.add)

    @ox.task(takes_batch=True)
    async def fan_out(info: BatchInfo, count: int) -> None:
        own = await ox.get_batch(info.id)
        await own.add_many([add.call(number) for number in range(count)])
        await own.seal()

    batch = await ox.create_batch("grows")
    await batch.add(fan_out, 4)
    await kit.work(ox)
    progress = await batch.progress()
    assert (progress.total, progress.succeeded, progress.status) == (5, 5, "COMPLETE")


async def test_a_function_takes_its_context_and_then_its_batch(ox: Oxpull) -> None:
    told = ox.task(takes_context=True, takes_batch=True)(summary_in_thread)
    async with ox.batch("empty", on_success=told.call("done")):
        pass
    await kit.work(ox)
    assert seen == [("done", (1, 0))]


async def test_a_task_that_takes_its_batch_is_refused_without_one(ox: Oxpull) -> None:
    told = ox.task(takes_batch=True)(summary)
    with pytest.raises(InvalidTask, match="takes its batch"):
        await told.enqueue("alone")
    await ox.enqueue("elsewhere.unknown", 1)
    await ox.remote(told.path).enqueue("by name")
    await kit.work(ox)
    [result] = [one for one in await ox.list_results(TaskFilter()) if one.task_path == told.path]
    assert (result.status, seen) == (TaskStatus.FAILED, [])
    with pytest.raises(InvalidTask, match="takes no context, batch"):
        ox.task(takes_context=True, takes_batch=True)(_takes_one)  # type: ignore[arg-type]


async def _takes_one(context: object) -> None:
    pass


async def test_a_pending_unique_task_becomes_a_member_once(ox: Oxpull) -> None:
    add = ox.task(unique=True)(kit.add)
    pending = await add.enqueue(1)
    batch = await ox.create_batch("unique")
    taken = await batch.add(add, 1)
    assert (taken.id, taken.created) == (pending.id, False)
    with pytest.raises(BatchMemberExists):
        await batch.add(add, 1)
    results = await batch.add_many([add.call(1), add.call(2), add.call(2)])
    assert [result.created for result in results] == [False, True, False]
    await batch.seal()
    worker = Worker(ox)
    running = asyncio.create_task(worker.run())
    await kit.eventually(batch.progress, lambda progress: progress.status == "COMPLETE")
    worker.stop()
    await running
    assert (await batch.progress()).succeeded == 2


async def test_what_a_batch_refuses_is_refused_before_anything_is_written(ox: Oxpull) -> None:
    add, unique = ox.task(kit.add), ox.task(unique=True)(kit.subtract)
    with pytest.raises(UsageError, match="at most 128"):
        await ox.create_batch("n" * 129)
    with pytest.raises(UsageError, match="expire_after"):
        await ox.create_batch("n", expire_after=0)
    with pytest.raises(InvalidTask, match="is no call"):
        await ox.create_batch("n", on_complete=add)  # type: ignore[arg-type]
    with pytest.raises(InvalidTask, match="is unique"):
        await ox.create_batch("n", on_success=unique.call(1, 2))
    with pytest.raises(UsageError):
        await ox.create_batch("n", on_success=add.call(object()))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="did you mean 'on_complete'"):
        await ox.create_batch("n", on_completed=add.call(1))  # type: ignore[call-arg]
    with pytest.raises(BatchDoesNotExist):
        await ox.get_batch("no id")
    batch = await ox.create_batch("")
    with pytest.raises(InvalidTask, match="is no task"):
        await batch.add(kit.add, 1)  # type: ignore[arg-type]
    assert (await batch.progress()).total == 0


async def test_another_alias_does_not_know_the_batch(ox: Oxpull) -> None:
    batch = await ox.create_batch("mine")
    async with kit.open_oxpull(kit.unmasked(ox), alias="other") as other:
        with pytest.raises(BatchDoesNotExist):
            await other.get_batch(batch.id)


async def test_a_cancelled_batch_completes_as_a_failure(ox: Oxpull) -> None:
    add, told = ox.task(kit.add), ox.task(takes_batch=True)(summary)
    batch = await ox.create_batch("cancelled", on_failure=told.call("failure"), on_success=told.call("success"))
    await batch.add(add, 1)
    assert await batch.cancel()
    assert not await batch.cancel()
    await kit.work(ox)
    assert [(title, info.counts.unattributed) for title, info in seen] == [("failure", 1)]


@pytest.mark.parametrize("expire_after", [None, 3600])
async def test_D5_a_batch_that_was_open_for_a_day_is_named_by_health(ox: Oxpull, expire_after: Duration | None) -> None:
    batch = await ox.create_batch("forgotten", expire_after=expire_after)
    assert (await ox.health()).problems == []
    async with ox.database.connection() as conn:
        await conn.run_script("UPDATE oxpull_batch SET created_at = '2020-01-01 00:00:00', expires_at = created_at")
    [problem] = (await ox.health()).problems
    assert f"batch {batch.id} ('forgotten') has been open for" in problem


async def test_a_worker_cancels_what_has_expired_and_finds_what_was_deleted(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    expired = await ox.create_batch("expired")
    async with ox.batch("deleted") as gone:
        task = await gone.add(add.using(queue_name="nobody"), 1)
    async with ox.database.connection() as conn:
        await raw.delete(conn, task.id)
        await conn.run_script("UPDATE oxpull_batch SET expires_at = created_at WHERE name = 'expired'")
    worker = Worker(ox, queues=["mail"])
    running = asyncio.create_task(worker.run())
    for batch in (expired, gone):
        await kit.eventually(batch.progress, lambda progress: progress.status == "COMPLETE")
    worker.stop()
    await running
    assert (await gone.progress()).unattributed == 1
    assert (await ox.health()).problems == []


async def test_D2_prune_removes_a_batch_after_its_tasks(ox: Oxpull) -> None:
    add = ox.task(kit.add)
    async with ox.batch("old", on_complete=add.call(2)) as batch:
        await batch.add(add, 1)
    await kit.work(ox)
    dry = await ox.prune(older_than=0, dry_run=True)
    assert (dry.removed, dry.batches) == (2, 1)
    report = await ox.prune(older_than=0)
    assert (report.removed, report.batches) == (2, 1)
    with pytest.raises(BatchDoesNotExist):
        await batch.progress()
