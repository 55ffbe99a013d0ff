"""Results: read again, waited for, and readable without the task's code."""

import asyncio
from typing import Any

import pytest

from oxpull_async import Oxpull, TaskStatus, Worker
from oxpull_async.errors import TaskResultDoesNotExist
from oxpull_async.store.operate import PruneRequest, prune_step
from tests.app.kit import add, fail, nothing, open_oxpull, unmasked, work

pytestmark = pytest.mark.asyncio
NOBODY = "01890000-0000-7000-8000-000000000000"
MALFORMED: tuple[Any, ...] = ("", "1", "not-an-id", NOBODY + "0", NOBODY[:-1] + "g", "\0", None, 5, b"x")


async def test_refresh_reads_the_task_again(ox: Oxpull) -> None:
    result = await ox.task(add).enqueue(1, 2)
    await work(ox)
    assert (result.status, result.is_finished) == (TaskStatus.READY, False)
    await result.refresh()
    assert (result.status, result.is_finished, result.return_value) == (TaskStatus.SUCCESSFUL, True, 3)
    assert result.started_at is not None
    assert result.finished_at is not None
    assert result.enqueued_at <= result.started_at <= result.finished_at
    assert result.started_at == result.last_attempted_at
    assert repr(result) == f"<TaskResult {result.id} tests.app.kit.add SUCCESSFUL>"


async def test_wait_returns_when_the_task_has_ended(ox: Oxpull) -> None:
    result = await ox.task(add).enqueue(1, 2)
    worker = Worker(ox)
    running = asyncio.create_task(worker.run())
    assert await result.wait(timeout=30) is result
    assert result.return_value == 3
    worker.stop()
    await running


async def test_wait_gives_up_after_its_timeout(ox: Oxpull) -> None:
    result = await ox.task(add).enqueue(1, 2)
    words = rf"^task {result.id} \(tests\.app\.kit\.add\) is still READY after 0\.05 s$"
    with pytest.raises(TimeoutError, match=words):
        await result.wait(timeout=0.05)
    with pytest.raises(TimeoutError):
        await result.wait(timeout=0)
    await work(ox)
    assert (await result.wait(timeout=0)).return_value == 3


async def test_wait_waits_anew_for_a_task_that_was_retried(ox: Oxpull) -> None:
    result = await ox.task(max_attempts=1)(fail).enqueue()
    await work(ox)
    await result.wait()
    assert await ox.retry(result.id)
    with pytest.raises(TimeoutError, match="is still READY"):
        await result.wait(timeout=0)


async def test_a_return_value_is_there_only_after_success(ox: Oxpull) -> None:
    result = await ox.task(max_attempts=1)(fail).enqueue("broken")
    with pytest.raises(ValueError, match=rf"^task {result.id} is READY, so it has no return value$"):
        _ = result.return_value
    await work(ox)
    await result.refresh()
    with pytest.raises(ValueError, match=r"is FAILED, so it has no return value; its last error was builtins\.Value"):
        _ = result.return_value
    [error] = result.errors
    assert (error.exception_class_path, error.attempt, error.worker_id) == (
        "builtins.ValueError",
        1,
        result.worker_ids[0],
    )
    assert "ValueError: broken" in error.traceback
    assert error.at == result.finished_at


@pytest.mark.parametrize("id_", MALFORMED)
async def test_a_malformed_id_is_no_task(ox: Oxpull, id_: Any) -> None:
    for operation in (ox.get_result, ox.retry, ox.discard, ox.cancel):
        with pytest.raises(TaskResultDoesNotExist, match=r"no task has the id .*: ids are UUIDs"):
            await operation(id_)


async def test_an_id_that_nobody_has_is_no_task(ox: Oxpull) -> None:
    with pytest.raises(TaskResultDoesNotExist, match=f"no task has the id {NOBODY}"):
        await ox.get_result(NOBODY)
    assert not await ox.retry(NOBODY)
    assert not await ox.discard(NOBODY)
    assert not await ox.cancel(NOBODY)


@pytest.mark.parametrize("spell", [str.upper, lambda id_: id_.replace("-", "")], ids=["capitals", "no dashes"])
async def test_an_id_may_be_spelled_in_any_way_a_uuid_can(ox: Oxpull, spell: Any) -> None:
    result = await ox.task(nothing).enqueue(1)
    assert (await ox.get_result(spell(result.id))).id == result.id


async def test_a_result_is_readable_without_the_code(ox: Oxpull) -> None:
    result = await ox.task(add).enqueue(1, b=2)
    await work(ox)
    async with open_oxpull(unmasked(ox)) as stranger:
        read = await stranger.get_result(result.id)
    assert (read.args, read.kwargs, read.return_value, read.status) == ([1], {"b": 2}, 3, TaskStatus.SUCCESSFUL)


async def test_a_result_of_another_alias_is_not_found(ox: Oxpull) -> None:
    result = await ox.task(add).enqueue(1)
    async with open_oxpull(unmasked(ox), alias="other") as other:
        with pytest.raises(TaskResultDoesNotExist):
            await other.get_result(result.id)


async def test_a_result_whose_row_was_pruned_says_so(ox: Oxpull) -> None:
    result = await ox.task(add).enqueue(1)
    await work(ox)
    request = PruneRequest(-60, (TaskStatus.SUCCESSFUL,), 10, dry_run=False)
    await ox.operate(lambda conn: prune_step(conn, request, None))
    with pytest.raises(TaskResultDoesNotExist, match=f"no task has the id {result.id}"):
        await result.wait()


async def test_an_unknown_attribute_of_a_result_is_an_attribute_error(ox: Oxpull) -> None:
    result: Any = await ox.task(add).enqueue(1)
    with pytest.raises(AttributeError, match="TaskResult has no attribute 'epoch'"):
        _ = result.epoch
