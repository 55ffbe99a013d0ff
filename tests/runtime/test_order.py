"""A5: priority descending, then available_at, then id; deferred tasks as if enqueued when they are due."""

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from oxpull_async import Oxpull
from oxpull_async.domain.events import TaskSettled, TaskStarted
from tests.fixtures.workers import drain, working

if TYPE_CHECKING:
    from oxpull_async.app.task import Call

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize("concurrency", [1, 7])
async def test_A5_tasks_start_by_priority_then_age_then_position_in_a_bulk_call(ox: Oxpull, concurrency: int) -> None:
    ran: list[tuple[int, float, int]] = []

    @ox.task
    async def noted(priority: int, age: float, position: int) -> None:
        ran.append((-priority, -age, position))

    now = datetime.now(UTC)
    calls: list[Call[None]] = []
    for position in range(40):
        priority, age = random.choice((-100, 0, 7, 100)), random.choice((5.0, 60.0))
        due = noted.using(priority=priority, run_after=now - timedelta(seconds=age))
        calls.append(due.call(priority, age, position))
    await ox.enqueue_many(calls)
    await drain(ox, concurrency=concurrency)
    assert ran == sorted(ran)


async def test_A5_a_deferred_task_is_never_early_and_is_found_without_a_wake_up(ox: Oxpull) -> None:
    @ox.task
    async def short() -> None: ...

    async with working(ox) as (_, witness):
        results = [
            await short.using(run_after=datetime.now(UTC) + timedelta(seconds=seconds)).enqueue()
            for seconds in (0.3, 0.6, 0.9)
        ]
        await witness.seen(TaskSettled, count=3)
    for result in results:
        await result.refresh()
        assert result.last_attempted_at is not None
        assert result.run_after is not None
        assert result.last_attempted_at >= result.run_after
    assert [event.task_id for event in witness.of(TaskStarted)] == [result.id for result in results]
