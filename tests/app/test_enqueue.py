"""Enqueueing: one task or many, by itself or by name; all is checked before anything is written."""

from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async import Oxpull, Task, TaskStatus
from oxpull_async.errors import InvalidArguments, InvalidTask
from tests.app.kit import add, count, fail, nothing, open_oxpull, rolled_back, statuses, subtract, unmasked, work

pytestmark = pytest.mark.asyncio
LATER = datetime(2999, 1, 1, tzinfo=UTC)


async def test_a_coroutine_and_a_function_run_and_their_values_come_back(ox: Oxpull) -> None:
    first, second = await ox.task(add).enqueue(1, b=2), await ox.task(subtract).enqueue(5, 2)
    await work(ox)
    await first.refresh()
    await second.refresh()
    assert (first.return_value, second.return_value) == (3, 3)
    assert (first.args, first.kwargs, first.attempts, len(first.worker_ids)) == ([1], {"b": 2}, 1, 1)


async def test_a_new_result_shows_what_was_stored(ox: Oxpull) -> None:
    task = ox.task(queue_name="mail", priority=5, max_attempts=7)(add)
    result = await task.using(run_after=LATER).enqueue(1, 2)
    read = await ox.get_result(result.id)
    assert result.record == read.record
    assert (result.created, read.created) == (True, False)
    assert (read.queue_name, read.priority, read.max_attempts, read.run_after) == ("mail", 5, 7, LATER)
    assert (read.status, read.task_path, read.attempts) == (TaskStatus.READY, "tests.app.kit.add", 0)
    assert abs(read.enqueued_at - datetime.now(UTC)) < timedelta(minutes=1)


async def test_using_changes_a_copy_and_leaves_the_task_as_it_was(ox: Oxpull) -> None:
    task = ox.task(add)
    urgent = task.using(priority=100, queue_name="fast", timeout=timedelta(minutes=1), max_attempts=1)
    plain, fast = await task.enqueue(1), await urgent.using(priority=99).enqueue(1)
    assert (plain.queue_name, plain.priority, plain.max_attempts) == ("default", 0, 3)
    assert (fast.queue_name, fast.priority, fast.max_attempts, fast.record.timeout) == ("fast", 99, 1, 60.0)


async def test_calling_a_task_calls_the_function_and_stores_nothing(ox: Oxpull) -> None:
    assert await ox.task(add)(1, 2) == 3
    assert ox.task(subtract)(5, 2) == 3
    assert await count(ox) == 0


async def test_a_task_may_be_named_by_its_path(ox: Oxpull) -> None:
    task = ox.task(queue_name="mail")(add)
    results = [await ox.enqueue(task, 1, 2), await ox.enqueue("tests.app.kit.add", 1, b=2)]
    await work(ox)
    assert [(await result.wait()).return_value for result in results] == [3, 3]
    assert [result.queue_name for result in results] == ["mail", "mail"]


async def test_a_task_whose_code_is_elsewhere_is_enqueued_by_name(ox: Oxpull) -> None:
    remote = ox.remote("tests.app.kit.add", queue_name="mail")
    results = [await remote.enqueue(1, b=2), *await ox.enqueue_many([remote.using(priority=3).call(4)])]
    async with open_oxpull(unmasked(ox)) as worker:
        worker.task(add)
        await work(worker)
    assert [(await result.wait()).return_value for result in results] == [3, 4]


async def test_the_arguments_of_a_task_may_have_the_names_of_ours(ox: Oxpull) -> None:
    async def named(task: int, ox: int, self: int) -> int:
        return task + ox + self

    task = ox.task(named)
    results = [await ox.enqueue(task, task=1, ox=2, self=3), await ox.enqueue(task.path, task=1, ox=2, self=3)]
    await work(ox)
    assert [(await result.wait()).return_value for result in results] == [6, 6]


async def test_many_calls_of_mixed_tasks_answer_in_their_order(ox: Oxpull) -> None:
    plus, minus, bad = ox.task(add), ox.task(subtract), ox.task(max_attempts=1)(fail)
    calls = [
        call for n in range(20) for call in (plus.call(n, 1), minus.using(priority=n).call(n, 1), bad.call(str(n)))
    ]
    results = await ox.enqueue_many(calls)
    await work(ox)
    for result in results:
        await result.refresh()
    assert [result.args for result in results] == [list(call.args) for call in calls]
    assert statuses(results) == [TaskStatus.SUCCESSFUL, TaskStatus.SUCCESSFUL, TaskStatus.FAILED] * 20
    assert [result.return_value for result in results[::3]] == [n + 1 for n in range(20)]


async def test_no_calls_are_no_results(ox: Oxpull) -> None:
    assert await ox.enqueue_many([]) == []


async def test_ten_thousand_calls_are_stored_in_one_transaction(ox: Oxpull) -> None:
    task = ox.task(nothing)
    results = await ox.enqueue_many(task.call(n) for n in range(10_000))
    assert [result.args for result in results] == [[n] for n in range(10_000)]
    assert len({result.id for result in results}) == 10_000
    assert await count(ox) == 10_000
    async with rolled_back(ox.transaction()):
        await ox.enqueue_many(task.call(n) for n in range(10_000))
    assert await count(ox) == 10_000


async def test_a_bad_argument_in_row_9999_writes_nothing_and_is_named(ox: Oxpull) -> None:
    task = ox.task(nothing)
    calls = [task.call(n) for n in range(10_000)]
    calls[9_999] = task.call(float("nan"))  # type: ignore[arg-type]
    with pytest.raises(InvalidArguments, match=r"^call 9999 \(tests\.app\.kit\.nothing\): args\[0\]: nan"):
        await ox.enqueue_many(calls)
    assert await count(ox) == 0


async def test_a_call_that_is_none_is_refused_by_its_position(ox: Oxpull) -> None:
    task = ox.task(add)
    with pytest.raises(InvalidTask, match=r"^call 1: <Task tests\.app\.kit\.add .*> is no call: pass task\.call"):
        await ox.enqueue_many([task.call(1), task])  # type: ignore[list-item]
    assert await count(ox) == 0


async def test_a_task_of_another_oxpull_is_refused(ox: Oxpull) -> None:
    stranger = open_oxpull(unmasked(ox)).task(add)
    with pytest.raises(InvalidTask, match=r"tests\.app\.kit\.add was declared on another Oxpull; enqueue it there"):
        await ox.enqueue(stranger, 1)
    with pytest.raises(InvalidTask, match=r"^call 0 \(tests\.app\.kit\.add\): .* another Oxpull"):
        await ox.enqueue_many([stranger.call(1)])


@pytest.mark.parametrize(
    ("args", "words"), [((), "missing"), ((1, 2, 3), "too many"), ((object(),), r"args\[0\]: <object")]
)
async def test_arguments_that_do_not_fit_are_refused_before_anything_is_written(
    ox: Oxpull, args: tuple[object, ...], words: str
) -> None:
    task: Task[..., int] = ox.task(add)
    with pytest.raises(InvalidArguments, match=words):
        await task.enqueue(*args)
    assert await count(ox) == 0


async def test_arguments_may_be_as_large_as_the_setting_says(ox: Oxpull) -> None:
    async def take(text: str) -> int:
        return len(text)

    task = ox.task(take)
    result = await task.enqueue("x" * (1_048_576 - 4))
    with pytest.raises(InvalidArguments, match="takes 1048577 bytes of JSON, and at most 1048576 are stored"):
        await task.enqueue("x" * (1_048_576 - 3))
    await work(ox)
    assert (await result.wait()).return_value == 1_048_572
    assert await count(ox) == 1


async def test_many_large_calls_are_cut_into_statements_that_the_server_takes(ox: Oxpull) -> None:
    async def take(text: str) -> int:
        return len(text)

    task = ox.task(take)
    results = await ox.enqueue_many(task.call("ä" * 100_000) for _ in range(30))
    await work(ox)
    assert [(await result.wait()).return_value for result in results] == [100_000] * 30
