"""Rate limits through the public API: what is stored, and that workers keep them."""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from oxpull_async import Oxpull, RateLimit, Retry, TaskResult, TaskStatus, Unique
from oxpull_async.domain.events import WorkerStopped
from oxpull_async.domain.limit_keys import key_of
from oxpull_async.domain.record import wire_id
from oxpull_async.errors import InvalidArguments
from tests.app.kit import add, count, eventually, nothing, open_oxpull, statuses, unmasked
from tests.fixtures.ticking import START, put_clock
from tests.fixtures.workers import drain, working

pytestmark = pytest.mark.asyncio

PATH, SHOP = "tests.app.kit.nothing", "shop.tasks.send"
MINUTES = 600
READY, SUCCESSFUL = TaskStatus.READY, TaskStatus.SUCCESSFUL


def by_number(number: int = 0, *_: Any) -> str:
    return f"{number % 2}"


def api(limit: int = 3, *, queues: Sequence[str] = (), **more: Any) -> dict[str, RateLimit]:
    """Declare one limit on a task, in windows of ten minutes."""
    return {"api": RateLimit(limit, MINUTES, tasks=[PATH, SHOP], queues=queues, **more)}


def limited(ox: Oxpull, **settings: Any) -> Oxpull:
    """Open the same database with limits, its clock at the beginning of a window."""
    return open_oxpull(unmasked(ox), **settings)


async def keys_of(ox: Oxpull, result: TaskResult[Any]) -> str | None:
    """Read the limit keys that a task was stored with."""
    async with ox.transaction() as tx:
        [row] = await tx.fetch(f"SELECT limit_keys FROM oxpull_task WHERE id = '{wire_id(result.id)}'")
    found: str | None = next(iter(row))
    return found


async def ended(results: Sequence[TaskResult[Any]]) -> int:
    """Count the tasks that succeeded; the others have not been attempted."""
    for result in results:
        await result.refresh()
    left = [result for result in results if result.status is not SUCCESSFUL]
    assert {(result.status, result.attempts) for result in left} <= {(READY, 0)}
    return len(results) - len(left)


async def run(ox: Oxpull, minutes: float = 0) -> WorkerStopped:
    """Let a worker do what it can do now, so many minutes after the first window's begin."""
    await put_clock(ox, START + dt.timedelta(minutes=minutes))
    [stopped] = (await drain(ox)).of(WorkerStopped)
    return stopped


async def test_a_covered_task_is_stored_as_limited_and_others_are_not(ox: Oxpull) -> None:
    async with limited(ox, rate_limits=api(queues=["mail"])) as declaring:
        task, other = declaring.task(nothing), declaring.task(add)
        results = [
            await each.enqueue(1)
            for each in (task, other, other.using(queue_name="mail"), declaring.remote(SHOP), declaring.remote("a.b"))
        ]
        assert [await keys_of(ox, result) for result in results] == ["", None, "", "", None]
    assert await keys_of(ox, await ox.task(nothing).enqueue(1)) is None


async def test_the_key_of_a_limit_is_computed_from_the_values_as_they_were_passed_and_stored(ox: Oxpull) -> None:
    seen: list[Any] = []

    def key(day: dt.date, *, copy: bool = False) -> str:
        seen.append((day, copy))
        return f"{day.year}"

    async def bill(day: dt.date, *, copy: bool = False) -> None: ...

    limits = {"api": RateLimit(1, 60, queues=["mail"], key=key), "all": RateLimit(1, 60, queues=["mail"])}
    async with limited(ox, rate_limits=limits) as declaring:
        task = declaring.task(queue_name="mail")(bill)
        first, second = await task.enqueue(dt.date(2026, 1, 2)), await task.enqueue(dt.date(2026, 7, 1), copy=True)
        third = await task.enqueue(dt.date(2027, 1, 1))
    stored = [await keys_of(ox, result) or "" for result in (first, second, third)]
    assert stored[0] == stored[1] != stored[2]
    assert [key_of(text, "all") for text in stored] == [""] * 3
    assert len({key_of(text, "api") for text in stored}) == 2
    assert seen[:2] == [(dt.date(2026, 1, 2), False), (dt.date(2026, 7, 1), True)]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (lambda number=0: number, r"returned 1, not text"),
        (lambda *_, **__: None, r"returned None, not text"),
        (lambda *_, **__: 1 // 0, r"raised ZeroDivisionError"),
    ],
)
async def test_a_key_that_cannot_be_had_writes_nothing_and_names_task_and_limit(
    ox: Oxpull, key: Callable[..., Any], words: str
) -> None:
    async with limited(ox, rate_limits=api(key=key)) as declaring:
        task, plain = declaring.task(nothing), declaring.task(add)
        with pytest.raises(InvalidArguments, match=rf"^tests\.app\.kit\.nothing, rate limit 'api': .*{words}"):
            await task.enqueue(1)
        with pytest.raises(InvalidArguments, match=rf"^call 1 \(tests\.app\.kit\.nothing\): .*rate limit.*{words}"):
            await declaring.enqueue_many([plain.call(1), task.call(1)])
    assert await count(ox) == 0


@pytest.mark.parametrize(
    "unique",
    [
        Unique(key=lambda *_, **__: "one", on_duplicate="replace"),
        Unique(key=lambda *_, **__: "one", on_duplicate="debounce", wait=60),
        Unique(key=lambda *_, **__: "one", on_duplicate="rerun"),
    ],
)
async def test_C4_new_arguments_are_stored_with_the_limit_keys_that_are_theirs(ox: Oxpull, unique: Unique) -> None:
    async with limited(ox, rate_limits=api(key=by_number)) as declaring:
        task = declaring.task(unique=unique)(nothing)
        first = await task.enqueue(1)
        before = await keys_of(ox, first)
        again = await task.enqueue(2)
        assert again.id == first.id
        assert await keys_of(ox, first) not in (before, None)
        await task.enqueue(3)
        assert await keys_of(ox, first) == before
    await ox.task(unique=unique)(nothing).enqueue(2)
    assert await keys_of(ox, first) is None


async def test_B3_no_more_than_the_limit_start_in_a_window_and_the_rest_stays_as_it_was(ox: Oxpull) -> None:
    async with limited(ox, rate_limits=api()) as worker:
        results = await worker.enqueue_many([worker.task(nothing).call(number) for number in range(10)])
        stopped = await run(worker)
        assert (await ended(results), statuses(results[:3])) == (3, [SUCCESSFUL] * 3)
        assert (stopped.done, stopped.remaining) == (3, 7)
        await run(worker, minutes=9)
        assert await ended(results) == 3
        await run(worker, minutes=10)
        assert await ended(results) == 6


async def test_B6_unlimited_tasks_behind_throttled_ones_run(ox: Oxpull) -> None:
    async with limited(ox, rate_limits=api(1)) as worker:
        task, free = worker.task(priority=50)(nothing), worker.task(add)
        throttled = await worker.enqueue_many([task.call(number) for number in range(30)])
        others = await worker.enqueue_many([free.call(number) for number in range(5)])
        await run(worker)
        assert (await ended(throttled), await ended(others)) == (1, 5)


async def test_a_limit_of_0_lets_nothing_start(ox: Oxpull) -> None:
    async with limited(ox, rate_limits=api(0)) as worker:
        results = await worker.enqueue_many([worker.task(nothing).call()] * 2)
        for minutes in (0, 60):
            await run(worker, minutes)
        assert await ended(results) == 0


async def test_B3_every_attempt_counts(ox: Oxpull) -> None:
    async def fail(number: int) -> None:
        raise ValueError(number)

    async with limited(ox, rate_limits={"api": RateLimit(3, MINUTES, queues=["mail"])}) as worker:
        result = await worker.task(queue_name="mail", max_attempts=5, backoff=[0])(fail).enqueue(1)
        await run(worker)
        await result.refresh()
        assert (result.status, result.attempts) == (READY, 3)
        await run(worker, minutes=10)
        await result.refresh()
        assert (result.status, result.attempts) == (TaskStatus.FAILED, 5)


async def test_a_task_in_several_limits_needs_all_of_them_and_counts_under_each(ox: Oxpull) -> None:
    limits = {"one": RateLimit(2, MINUTES, tasks=[PATH]), "all": RateLimit(5, MINUTES, queues=["default"])}
    async with limited(ox, rate_limits=limits) as worker:
        both = await worker.enqueue_many([worker.task(priority=50)(nothing).call()] * 4)
        others = await worker.enqueue_many([worker.task(add).call(number) for number in range(9)])
        await run(worker)
        assert (await ended(both), await ended(others)) == (2, 3)


async def test_each_key_has_a_budget_of_its_own(ox: Oxpull) -> None:
    async with limited(ox, rate_limits=api(2, key=by_number)) as worker:
        results = await worker.enqueue_many([worker.task(nothing).call(number) for number in (1, 3, 5, 7, 2)])
        await run(worker)
        assert (await ended(results), statuses(results)) == (3, [SUCCESSFUL, SUCCESSFUL, READY, READY, SUCCESSFUL])


async def test_B5_a_task_without_a_key_counts_under_the_limits_empty_key(ox: Oxpull) -> None:
    async with limited(ox, rate_limits=api(1, key=by_number)) as worker:
        unknown = await ox.enqueue_many([ox.task(nothing).call(number) for number in (1, 2)])
        known = await worker.enqueue_many([worker.task(nothing).call(number) for number in (1, 2)])
        await run(worker)
        assert (await ended(unknown), await ended(known)) == (1, 2)


async def test_B5_a_worker_that_declares_nothing_keeps_the_limits_of_others_while_they_live(ox: Oxpull) -> None:
    async with limited(ox, rate_limits=api(2)) as declaring:
        await put_clock(declaring, START)
        task = ox.task(nothing)
        async with working(declaring, queues=["elsewhere"]):
            await eventually(declaring.health, lambda health: any(worker.is_alive for worker in health.workers))
            results = await ox.enqueue_many([task.call(number) for number in range(5)])
            await run(ox)
            assert await ended(results) == 2
        await run(ox)
        assert await ended(results) == 5


async def test_B5_of_the_declarations_of_one_name_the_strictest_holds_over_all_aliases(ox: Oxpull) -> None:
    async with (
        limited(ox, rate_limits=api(5)) as worker,
        limited(ox, alias="other", rate_limits={"api": RateLimit(3, MINUTES * 2, queues=["default"])}) as other,
    ):
        results = await worker.enqueue_many([worker.task(nothing).call(number) for number in range(9)])
        others = await other.enqueue_many([other.task(add).call(number) for number in range(9)])
        await put_clock(other, START)
        async with working(other):
            await eventually(other.stats, lambda seen: [queue.successful for queue in seen] == [3])
            await run(worker)
            assert (await ended(results), await ended(others)) == (0, 3)


async def test_B4_a_sliding_limit_counts_over_any_span_of_its_length(ox: Oxpull) -> None:
    async with limited(ox, rate_limits=api(2, sliding=True)) as worker:
        results = await worker.enqueue_many([worker.task(nothing).call(number) for number in range(9)])
        done = []
        for minutes in (9, 10, 18.9, 19.1, 20, 29.3):
            await run(worker, minutes)
            done.append(await ended(results))
        assert done == [2, 2, 2, 4, 4, 6]


async def test_Retry_slows_the_limit_down_for_the_attempts_key(ox: Oxpull) -> None:
    attempts: list[int] = []

    async def call(number: int) -> None:
        attempts.append(number)
        if attempts.count(1) == 1 and number == 1:
            raise Retry(after=dt.timedelta(minutes=3), slow_down="api")

    limits = {"api": RateLimit(1000, MINUTES, queues=["mail"], key=by_number)}
    async with limited(ox, rate_limits=limits) as worker:
        task = worker.task(queue_name="mail", max_attempts=2)(call)
        await task.using(priority=9).enqueue(1)
        await put_clock(worker, START)
        await drain(worker, concurrency=1)
        await worker.enqueue_many([task.call(number) for number in (3, 2, 4)])
        await run(worker, minutes=2)
        assert attempts == [1, 2, 4]
        await run(worker, minutes=3.1)
        assert sorted(attempts[3:]) == [1, 3]


@pytest.mark.parametrize("name", ["api", "unknown"])
async def test_a_task_slows_no_limit_down_that_does_not_cover_it_and_is_told(ox: Oxpull, name: str) -> None:
    async def complain() -> None:
        raise Retry(after=dt.timedelta(minutes=3), slow_down=name)

    async with limited(ox, rate_limits={"api": RateLimit(1000, MINUTES, queues=["mail"])}) as worker:
        stranger = await worker.task(queue_name="elsewhere", max_attempts=2)(complain).enqueue()
        await put_clock(worker, START)
        await drain(worker)
        covered = await worker.task(queue_name="mail")(nothing).enqueue(1)
        await drain(worker)
        await covered.refresh()
        await stranger.refresh()
    assert covered.status == "SUCCESSFUL"
    assert f"slow_down='{name}' held nothing" in stranger.errors[0].traceback
