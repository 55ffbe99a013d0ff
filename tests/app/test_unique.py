"""Unique tasks: who answers a second enqueue, alone and among many, and what it writes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from oxpull_async import Oxpull, TaskContext, TaskResult, TaskStatus, Unique
from oxpull_async.errors import AlreadyEnqueued, InvalidTask
from tests.app.kit import add, count, nothing, subtract, work
from tests.app.unique_kit import run

pytestmark = pytest.mark.asyncio

BY_TASK: dict[str, Any] = {"key": lambda *_, **__: "same"}
LATER = datetime(2999, 1, 1, tzinfo=UTC)


async def test_a_duplicate_gets_the_pending_task_as_it_is_stored(ox: Oxpull) -> None:
    task = ox.task(unique=True)(nothing)
    first = await task.using(priority=3).enqueue(1)
    second = await task.using(priority=9, run_after=LATER).enqueue(1)
    assert (second.created, second.record) == (False, first.record)
    assert await count(ox) == 1


async def test_a_duplicate_is_waited_for_like_any_result(ox: Oxpull) -> None:
    task = ox.task(unique=True)(add)
    await task.enqueue(1, 2)
    second = await task.enqueue(1, 2)
    await work(ox)
    assert (await second.wait()).return_value == 3
    assert (await task.enqueue(1, 2)).created


async def test_raise_names_the_task_that_holds_the_key(ox: Oxpull) -> None:
    task = ox.task(unique=Unique(on_duplicate="raise"))(nothing)
    first = await task.enqueue(1)
    with pytest.raises(
        AlreadyEnqueued, match=rf"tests\.app\.kit\.nothing: the unique key is held by task {first.id}"
    ) as no:
        await task.enqueue(1)
    assert isinstance(no.value.existing, TaskResult)
    assert (no.value.existing.record, no.value.existing.created, no.value.position) == (first.record, False, None)
    assert await count(ox) == 1


async def test_replace_writes_what_the_newest_call_says_and_keeps_the_id(ox: Oxpull) -> None:
    task = ox.task(unique=Unique(on_duplicate="replace", **BY_TASK))(add)
    first = await task.enqueue(1, b=1)
    second = await task.using(priority=9, run_after=LATER).enqueue(2, 2)
    assert (second.id, second.created, second.args, second.kwargs) == (first.id, False, [2, 2], {})
    assert (second.priority, second.run_after, second.enqueued_at) == (9, LATER, first.enqueued_at)
    third = await task.enqueue(3)
    assert (third.run_after, third.priority, third.record) == (None, 0, (await ox.get_result(first.id)).record)
    await work(ox)
    assert (await first.wait()).return_value == 3


async def test_debounce_moves_the_start_and_never_past_max_wait(ox: Oxpull) -> None:
    task = ox.task(nothing)
    clock = [await _moment(ox)]
    for number, (wait, max_wait) in enumerate([(60, 90), (80, 90), (1, 90), (100, 100), (100, 10**6), (100, None)]):
        rule = Unique(on_duplicate="debounce", wait=wait, max_wait=max_wait, **BY_TASK)
        result = await task.using(unique=rule).enqueue(number)
        clock.append(await _moment(ox))
        assert (result.created, result.args) == (number == 0, [number])
        assert result.record == (await ox.get_result(result.id)).record
        longest = timedelta(days=99) if max_wait is None else timedelta(seconds=max_wait)
        earliest = min(clock[-2] + timedelta(seconds=wait), clock[0] + longest)
        latest = min(clock[-1] + timedelta(seconds=wait), clock[1] + longest)
        assert result.run_after is not None
        assert earliest <= result.run_after <= latest


async def _moment(ox: Oxpull) -> datetime:
    """Read the database's clock, off a plain task."""
    return (await ox.task(nothing).enqueue(1)).enqueued_at


async def test_debounce_under_fire_starts_at_the_first_enqueue_and_max_wait(ox: Oxpull) -> None:
    task = ox.task(unique=Unique(on_duplicate="debounce", wait=3, max_wait=3, **BY_TASK))(nothing)
    results = [await task.enqueue(number) for number in range(20)]
    assert len({result.id for result in results}) == 1
    assert results[-1].args == [19]
    assert len({result.run_after for result in results[1:]}) == 1


async def test_debounce_and_run_after_are_refused_together(ox: Oxpull) -> None:
    task = ox.task(unique=Unique(on_duplicate="debounce", wait=1))(nothing)
    with pytest.raises(
        InvalidTask, match='run_after is what on_duplicate="debounce" sets; with run_after, use "replace"'
    ):
        task.using(run_after=LATER)


async def test_rerun_of_100_enqueues_during_a_run_one_follow_up_runs_with_the_last_arguments(ox: Oxpull) -> None:
    ran: list[int] = []

    @ox.task(takes_context=True, unique=Unique(on_duplicate="rerun", **BY_TASK))
    async def index(context: TaskContext, number: int) -> None:
        ran.append(number)
        if number == 0:
            results = [await index.enqueue(number) for number in range(1, 101)]
            assert [result.created for result in results] == [True] + [False] * 99
            assert {result.status for result in results} == {TaskStatus.WAITING}
            assert len({result.id for result in results} | {context.task_result.id}) == 2

    await index.enqueue(0)
    await work(ox)
    assert ran == [0, 100]


async def test_a_rerun_of_a_task_that_is_not_declared_so_runs_once_its_holder_has_ended(ox: Oxpull) -> None:
    ran: list[int] = []

    @ox.task(takes_context=True, unique=Unique(**BY_TASK))
    async def index(context: TaskContext, number: int) -> None:
        ran.append(number)
        if number == 0:
            again = index.using(unique=Unique(on_duplicate="rerun", **BY_TASK))
            results = [await again.enqueue(number) for number in (1, 2)]
            assert [(result.created, result.status) for result in results] == [(True, "WAITING"), (False, "WAITING")]

    await index.enqueue(0)
    await work(ox)
    assert ran == [0, 2]


async def test_workers_are_woken_for_what_is_new_or_rewritten_and_for_nothing_else(ox: Oxpull) -> None:
    woken: list[str] = []
    ox.on_wake(woken.append)
    task = ox.task(unique=True)(nothing)
    await task.using(queue_name="new").enqueue(1)
    await task.using(queue_name="new").enqueue(1)
    await ox.enqueue_many([task.using(queue_name="new").call(1), task.using(queue_name="many").call(1)])
    async with ox.transaction():
        await task.using(queue_name="new").enqueue(1)
    await task.using(queue_name="new", unique=Unique(on_duplicate="replace")).enqueue(1)
    assert woken == ["new", "many", "new"]


async def test_C3_plain_and_unique_calls_of_several_tasks_answer_in_their_order(ox: Oxpull) -> None:
    one, plain, other = ox.task(unique=True)(nothing), ox.task(add), ox.task(unique=True)(subtract)
    pending = await other.enqueue(1, 1)
    calls = [one.call(1), plain.call(1), other.call(1, 1), one.call(1), plain.call(1), one.call(2), other.call(1, 1)]
    results = await ox.enqueue_many(calls)
    assert [result.created for result in results] == [True, True, False, False, True, True, False]
    assert [result.task_path for result in results] == [call.task.path for call in calls]
    assert results[3].id == results[0].id
    assert results[2].id == results[6].id == pending.id
    assert sorted(result.id for result in results if result.created) == [r.id for r in results if r.created]
    for result in results:
        assert result.record == (await ox.get_result(result.id)).record
    assert await count(ox) == 5


@pytest.mark.parametrize(("mode", "kept"), [("existing", 1), ("replace", 3), ("debounce", 3), ("rerun", 3)])
async def test_C3_a_bulk_call_keeps_the_first_or_the_last_arguments_as_its_mode_says(
    ox: Oxpull, mode: Any, kept: int
) -> None:
    rule = Unique(on_duplicate=mode, wait=5 if mode == "debounce" else None, **BY_TASK)
    task = ox.task(unique=rule)(nothing)
    results = await ox.enqueue_many(task.call(number) for number in (1, 2, 3))
    assert [(result.created, result.args) for result in results] == [(True, [kept]), (False, [kept]), (False, [kept])]
    assert await count(ox) == 1


async def test_C3_a_refused_call_of_many_is_the_first_and_nothing_is_written(ox: Oxpull) -> None:
    task, plain = ox.task(unique=Unique(on_duplicate="raise"))(nothing), ox.task(add)
    moved = ox.task(unique=Unique(on_duplicate="replace", **BY_TASK))(subtract)
    first, second, kept = await task.enqueue(7), await task.enqueue(5), await moved.enqueue(1, 1)
    calls = [plain.call(1), moved.call(2, 2), task.call(1), task.call(5), task.call(7), task.call(5)]
    with pytest.raises(AlreadyEnqueued, match=rf"^call 3: tests\.app\.kit\.nothing: .* {second.id}") as refused:
        await ox.enqueue_many(calls)
    assert isinstance(refused.value.existing, TaskResult)
    assert (refused.value.position, refused.value.existing.id) == (3, second.id)
    assert await count(ox) == 3
    assert (await ox.get_result(kept.id)).args == [1, 1]
    assert first.created


async def test_C3_a_call_that_meets_its_own_duplicate_in_the_same_bulk_is_refused(ox: Oxpull) -> None:
    task = ox.task(unique=Unique(on_duplicate="raise"))(nothing)
    with pytest.raises(AlreadyEnqueued) as refused:
        await ox.enqueue_many([task.call(1), task.call(2), task.call(1)])
    assert (refused.value.position, refused.value.existing) == (2, None)
    assert await count(ox) == 0


async def test_a_bulk_call_with_duplicates_inside_and_pending_writes_the_new_rows_only(ox: Oxpull) -> None:
    task = ox.task(unique=True)(nothing)
    pending = await ox.enqueue_many(task.call(number) for number in range(200))
    numbers = [*range(700), *range(300, 600)]
    results = await ox.enqueue_many(task.call(number) for number in numbers)
    assert [result.args for result in results] == [[number] for number in numbers]
    assert [result.created for result in results] == [False] * 200 + [True] * 500 + [False] * 300
    assert [result.id for result in results[:200]] == [result.id for result in pending]
    assert [result.id for result in results[700:]] == [result.id for result in results[300:600]]
    assert await count(ox) == 700


async def test_many_large_unique_calls_are_cut_into_statements_that_the_server_takes(ox: Oxpull) -> None:
    async def take(number: int, text: str) -> int:
        return len(text)

    task = ox.task(unique=Unique(key=lambda number, *_, **__: str(number), on_duplicate="replace"))(take)
    for text in ("ä" * 100_000, "ö" * 100_000):
        results = await ox.enqueue_many(task.call(number, text) for number in range(30))
    assert {result.args[1] for result in results} == {"ö" * 100_000}
    assert await count(ox) == 30


async def test_a_key_whose_holder_runs_is_held_and_a_started_rule_is_not(ox: Oxpull) -> None:
    task = ox.task(nothing)
    first = await task.using(unique=True).enqueue(1)
    await run(ox, first)
    assert (await task.using(unique=True).enqueue(1)).status is TaskStatus.RUNNING
    assert (await task.using(unique=Unique(until="started")).enqueue(1)).created
