"""Running locks through the public API: what is stored, and that workers keep them."""

import datetime as dt
import hashlib
import json
import logging
import math
from typing import Any

import pytest

from oxpull_async import Oxpull, RunningLock, TaskStatus, Unique
from oxpull_async.errors import InvalidArguments, InvalidTask
from tests.app.kit import add, count, nothing, open_oxpull, statuses, unmasked, work
from tests.app.lock_kit import Stage, all_settled, key_of, lock_of, playing, status

pytestmark = pytest.mark.asyncio

BY_NUMBER = RunningLock(key=lambda number=0: f"{number % 2}")
FOR_ALL = RunningLock(name="mail server")
WAITING, DISCARDED, SUCCESSFUL = TaskStatus.WAITING, TaskStatus.DISCARDED, TaskStatus.SUCCESSFUL


def hashed(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, separators=(",", ":"), sort_keys=True).encode()).hexdigest()


async def bill(order: int, day: dt.date) -> None:
    pass


async def test_a_plain_lock_is_about_the_path_and_the_arguments_and_is_stored_with_the_task(ox: Oxpull) -> None:
    task = ox.task(running_lock=True)(nothing)
    path = "tests.app.kit.nothing"
    assert await lock_of(ox, await task.enqueue(7)) == (hashed("default", "lock", path, [[7], {}]), 1, "wait")
    by_name = await task.enqueue(number=7)
    assert await key_of(ox, by_name) == hashed("default", "lock", path, [[], {"number": 7}])


async def test_limit_and_on_conflict_are_stored_with_the_task(ox: Oxpull) -> None:
    task = ox.task(running_lock=RunningLock(limit=3, on_conflict="discard"))(nothing)
    assert (await lock_of(ox, await task.enqueue()))[1:] == (3, "discard")


async def test_a_task_without_a_lock_stores_none_and_using_switches_it_on_and_off(ox: Oxpull) -> None:
    task = ox.task(nothing)
    locked = task.using(running_lock=True)
    results = [await each.enqueue(1) for each in (task, locked, locked.using(running_lock=False))]
    assert [await lock_of(ox, result) != (None, None, None) for result in results] == [False, True, False]


async def test_another_queue_or_priority_is_the_same_lock_and_another_task_or_alias_is_not(ox: Oxpull) -> None:
    task = ox.task(running_lock=True)(nothing)
    other = ox.task(running_lock=True)(add)
    first, *alike = [await each.enqueue(1) for each in (task, task.using(queue_name="mail"), task.using(priority=9))]
    assert {await key_of(ox, result) for result in alike} == {await key_of(ox, first)}
    assert await key_of(ox, await other.enqueue(1)) != await key_of(ox, first)
    async with open_oxpull(unmasked(ox), alias="other") as named:
        assert await key_of(named, await named.task(running_lock=True)(nothing).enqueue(1)) != await key_of(ox, first)


async def test_arguments_are_compared_as_they_are_stored(ox: Oxpull) -> None:
    task = ox.task(running_lock=True)(bill)
    typed = await task.enqueue(1, dt.date(2026, 1, 2))
    stored = await ox.remote(task.path, running_lock=True).enqueue(1, "2026-01-02")
    assert await key_of(ox, typed) == await key_of(ox, stored)


async def test_a_name_without_a_key_is_one_lock_for_everything_under_it(ox: Oxpull) -> None:
    calls = [ox.task(running_lock=FOR_ALL)(nothing).call(1), ox.task(running_lock=FOR_ALL)(add).call(2)]
    results = await ox.enqueue_many([*calls, ox.remote("shop.tasks.send", running_lock=FOR_ALL).call()])
    assert {await key_of(ox, result) for result in results} == {hashed("default", "lock", "mail server", "")}


async def test_a_name_with_a_key_shares_each_key_between_tasks(ox: Oxpull) -> None:
    lock = RunningLock(name="tenant", key=lambda *args, **_: f"{args[0]}")
    tasks = [ox.task(running_lock=lock)(nothing), ox.remote("shop.tasks.send", running_lock=lock)]
    keys = [await key_of(ox, await task.enqueue(number)) for task in tasks for number in (1, 2)]
    assert keys == [hashed("default", "lock", "tenant", text) for text in "1212"]


async def test_a_key_function_gets_the_python_values_as_they_were_passed(ox: Oxpull) -> None:
    seen: list[Any] = []

    def key(order: int, day: dt.date) -> str:
        seen.append((order, day))
        return f"{order}"

    task = ox.task(running_lock=RunningLock(key=key))(bill)
    first, second = await task.enqueue(1, dt.date(2026, 1, 2)), await task.enqueue(order=1, day=dt.date(2027, 1, 2))
    assert seen == [(1, dt.date(2026, 1, 2)), (1, dt.date(2027, 1, 2))]
    assert await key_of(ox, first) == await key_of(ox, second) == hashed("default", "lock", task.path, "1")


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "x" * 100_000, "ä\n"])
async def test_any_text_is_a_key(ox: Oxpull, text: str) -> None:
    task = ox.task(running_lock=RunningLock(key=lambda *_, **__: text))(nothing)
    assert await key_of(ox, await task.enqueue(1)) == hashed("default", "lock", task.path, text)


async def test_empty_text_is_logged_once(ox: Oxpull, caplog: pytest.LogCaptureFixture) -> None:
    task = ox.task(running_lock=RunningLock(key=lambda *_, **__: ""))(nothing)
    with caplog.at_level(logging.WARNING, "oxpull_async"):
        await ox.enqueue_many([task.call(number) for number in range(3)])
    logged = [record.getMessage() for record in caplog.records if record.name == "oxpull_async.enqueue"]
    assert logged == ["the running lock's key of tests.app.kit.nothing is empty text: all its calls share one lock"]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (lambda number=0: number, r"returned 1, not text"),
        (lambda *_, **__: None, r"returned None, not text"),
        (lambda *_, **__: 1 // 0, r"raised ZeroDivisionError"),
    ],
)
async def test_a_key_that_cannot_be_had_writes_nothing_and_names_the_task(ox: Oxpull, key: Any, words: str) -> None:
    task, plain = ox.task(running_lock=RunningLock(key=key))(nothing), ox.task(add)
    with pytest.raises(InvalidArguments, match=rf"^tests\.app\.kit\.nothing, running_lock: the key function .*{words}"):
        await task.enqueue(1)
    with pytest.raises(InvalidArguments, match=rf"^call 1 \(tests\.app\.kit\.nothing\): .*running_lock.*{words}"):
        await ox.enqueue_many([plain.call(1), task.call(1)])
    assert await count(ox) == 0


async def test_a_key_function_is_asked_only_about_arguments_that_fit(ox: Oxpull) -> None:
    asked: list[int] = []

    def key(a: int, b: int = 0) -> str:
        asked.append(a)
        return f"{a} {b}"

    task: Any = ox.task(running_lock=RunningLock(key=key))(add)
    for args in ((), (1, 2, 3), (math.nan,)):
        with pytest.raises(InvalidArguments):
            await task.enqueue(*args)
    assert asked == []


async def test_a_key_function_that_cannot_take_the_arguments_is_refused_where_it_is_declared(ox: Oxpull) -> None:
    wrong = RunningLock(key=lambda order: f"{order}")
    with pytest.raises(InvalidTask, match=r"kit\.nothing, running_lock: the key function .* cannot take the task's"):
        ox.task(running_lock=wrong)(nothing)
    with pytest.raises(InvalidTask, match="cannot take the task's arguments"):
        ox.task(nothing).using(running_lock=wrong)
    assert ox.remote("tests.app.kit.nothing", running_lock=wrong).options.running_lock is wrong


@pytest.mark.parametrize("wrong", [None, "yes", 1, RunningLock])
async def test_what_is_no_lock_is_refused(ox: Oxpull, wrong: Any) -> None:
    with pytest.raises(InvalidTask, match=r"running_lock=.* must be True, False or RunningLock\(…\)"):
        ox.task(running_lock=wrong)(nothing)


@pytest.mark.parametrize(
    "unique",
    [
        Unique(key=lambda *_, **__: "one", on_duplicate="replace"),
        Unique(key=lambda *_, **__: "one", on_duplicate="debounce", wait=60),
        Unique(key=lambda *_, **__: "one", on_duplicate="rerun"),
    ],
)
async def test_C4_new_arguments_are_stored_with_the_lock_that_is_theirs(ox: Oxpull, unique: Unique) -> None:
    task = ox.task(unique=unique, running_lock=BY_NUMBER)(nothing)
    first = await task.enqueue(1)
    assert await key_of(ox, first) == hashed("default", "lock", task.path, "1")
    again = await task.using(running_lock=RunningLock(key=BY_NUMBER.key, limit=5, on_conflict="discard")).enqueue(2)
    assert again.id == first.id
    assert await lock_of(ox, first) == (hashed("default", "lock", task.path, "0"), 5, "discard")
    await task.using(running_lock=False).enqueue(2)
    assert await lock_of(ox, first) == (None, None, None)


@pytest.mark.parametrize("limit", [1, 2])
async def test_no_more_than_the_limit_run_at_once_and_all_run_in_the_end(ox: Oxpull, limit: int) -> None:
    stage = Stage()
    task = ox.task(running_lock=RunningLock(name="stage", limit=limit))(stage.play)
    results = await ox.enqueue_many([task.call(number) for number in range(6)])
    async with playing(ox, stage, limit):
        for waiter in results[limit:]:
            await status(waiter, {WAITING})
        stage.open()
        assert await all_settled(results) == [SUCCESSFUL] * 6
    assert (stage.most, stage.started) == (limit, list(range(6)))


async def test_a_taken_lock_does_not_hold_up_other_tasks(ox: Oxpull) -> None:
    stage = Stage()
    task, free = ox.task(running_lock=FOR_ALL, priority=50)(stage.play), ox.task(nothing)
    locked = await ox.enqueue_many([task.call(number) for number in range(30)])
    others = await ox.enqueue_many([free.call()] * 5)
    async with playing(ox, stage, 1, concurrency=2):
        assert await all_settled(others) == [SUCCESSFUL] * 5
        assert stage.running == [0]
        stage.open()
        assert set(await all_settled(locked)) == {SUCCESSFUL}
    assert stage.most == 1


async def test_waiters_start_by_priority_then_age(ox: Oxpull) -> None:
    stage = Stage()
    task = ox.task(running_lock=FOR_ALL)(stage.play)
    first = await task.using(priority=100).enqueue(0)
    later = await ox.enqueue_many([task.using(priority=priority).call(priority) for priority in (1, 3, 2)])
    async with playing(ox, stage, 1):
        for waiter in later:
            await status(waiter, {WAITING})
        stage.open()
        await all_settled([first, *later])
    assert stage.started == [0, 3, 2, 1]


async def test_discard_ends_a_task_that_finds_the_lock_taken_and_names_the_holder(ox: Oxpull) -> None:
    stage = Stage()
    task = ox.task(running_lock=RunningLock(name="stage", on_conflict="discard"))(stage.play)
    holder = await task.using(priority=1).enqueue(0)
    async with playing(ox, stage, 1):
        refused = await task.enqueue(1)
        await status(refused, {DISCARDED})
        stage.open()
        await all_settled([holder])
        late = await task.enqueue(2)
        assert await all_settled([late]) == [SUCCESSFUL]
    assert stage.started == [0, 2]
    assert (refused.attempts, [error.exception_class_path for error in refused.errors]) == (
        0, ["oxpull_async.errors.RunningLockTaken"],
    )  # fmt: skip
    assert holder.id in refused.errors[0].traceback


async def test_a_task_that_fails_or_is_discarded_hands_its_lock_on(ox: Oxpull) -> None:
    async def fail(number: int) -> None:
        raise ValueError(number)

    results = await ox.enqueue_many(
        [ox.task(running_lock=FOR_ALL, max_attempts=1)(fail).call(1), ox.task(running_lock=FOR_ALL)(nothing).call(2)]
    )
    await work(ox)
    for result in results:
        await result.refresh()
    assert statuses(results) == [TaskStatus.FAILED, SUCCESSFUL]
