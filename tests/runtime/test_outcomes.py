"""Whatever a task returns or raises, it ends with the reason, at once, and the worker goes on."""

from collections.abc import Callable
from datetime import date

import pytest

from oxpull_async import Oxpull
from oxpull_async.domain.record import TaskStatus
from tests.fixtures import raw
from tests.fixtures.workers import drain

pytestmark = pytest.mark.asyncio
FAILED, SUCCESSFUL, READY = TaskStatus.FAILED, TaskStatus.SUCCESSFUL, TaskStatus.READY

UNSTORABLE: dict[str, Callable[[], object]] = {
    "nul": lambda: "a\0b",
    "nan": lambda: [1.0, float("nan")],
    "infinity": lambda: {"limit": float("inf")},
    "lone surrogate": lambda: "\ud800",
    "10 MB": lambda: "x" * 10_000_000,
    "object": object,
    "set": lambda: {1, 2},
    "too deep": lambda: _nested(200),
}


def _nested(depth: int) -> list[object]:
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


async def test_an_unstorable_return_value_fails_its_task_at_once_with_the_reason(ox: Oxpull) -> None:
    ran: list[str] = []

    @ox.task(backoff=[0])
    async def returns(kind: str) -> object:
        ran.append(kind)
        return UNSTORABLE[kind]()

    @ox.task(backoff=[0])
    def returns_in_a_thread(kind: str) -> object:
        ran.append(kind)
        return UNSTORABLE[kind]()

    @ox.task
    async def sibling() -> str:
        return "stored"

    calls = [task.call(kind) for kind in UNSTORABLE for task in (returns, returns_in_a_thread)]
    results = await ox.enqueue_many([*calls, sibling.call()])
    await drain(ox)
    for result in results[:-1]:
        await result.refresh()
        assert (result.status, result.attempts) == (FAILED, 1), result.args
        assert "return_value" in result.errors[0].traceback, result.errors[0].traceback
    await results[-1].refresh()
    assert results[-1].return_value == "stored"
    assert sorted(ran) == sorted([*UNSTORABLE, *UNSTORABLE])


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Unprintable(Exception):
    def __str__(self) -> str:
        return "nul \0 and surrogate \ud800"


RAISED: dict[str, Callable[[], BaseException]] = {
    "broken text": Mute,
    "unstorable text": Unprintable,
    "SystemExit": lambda: SystemExit(3),
    "KeyboardInterrupt": KeyboardInterrupt,
    "GeneratorExit": GeneratorExit,
    "StopIteration": StopIteration,
    "huge text": lambda: ValueError("x" * 1_000_000),
}


async def test_whatever_a_task_raises_is_its_failure_and_not_the_workers(ox: Oxpull) -> None:
    @ox.task(max_attempts=2, backoff=[0])
    async def raises(kind: str) -> None:
        error = RAISED[kind]()
        raise error

    @ox.task(max_attempts=2, backoff=[0])
    def raises_in_a_thread(kind: str) -> None:
        error = RAISED[kind]()
        raise error

    results = await ox.enqueue_many([task.call(kind) for kind in RAISED for task in (raises, raises_in_a_thread)])
    await drain(ox)
    for result in results:
        await result.refresh()
        assert (result.status, result.attempts, len(result.errors)) == (FAILED, 2, 2), result.args
        assert len(result.errors[0].traceback) < 20_000


async def test_arguments_that_no_longer_fit_the_annotation_fail_the_task_at_once(ox: Oxpull) -> None:
    @ox.task(backoff=[0])
    async def takes_a_date(day: date) -> None: ...

    result = await takes_a_date.enqueue(date(2026, 1, 1))
    async with ox.database.connection() as conn:
        await raw.change(conn, result.id, """args = '["next week"]'""")
    await drain(ox)
    await result.refresh()
    assert (result.status, result.attempts) == (FAILED, 1)
    assert "next week" in result.errors[0].traceback


async def test_a_task_that_is_not_known_here_is_handed_back_untouched_and_left_alone(ox: Oxpull) -> None:
    @ox.task
    async def known() -> None: ...

    stranger = await ox.enqueue("elsewhere.tasks.unknown")
    await known.enqueue()
    events = await drain(ox)
    await stranger.refresh()
    record = stranger.record
    assert (record.status, record.attempts, record.worker_ids, record.errors) == (READY, 0, (), ())
    assert record.started_at is None
    assert len(events.events) < 20, "it was claimed again and again"
