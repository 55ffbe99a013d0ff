import pytest

from tests.scenarios import crash

pytestmark = pytest.mark.asyncio


async def test_A2_a_killed_workers_tasks_are_finished_by_another_and_no_effect_is_lost(url: str) -> None:
    figures = await crash.killed_worker(url, tasks=20, concurrency=10, seconds=0.2)
    assert figures.effects >= figures.tasks


async def test_A2_A4_a_paused_worker_overwrites_nothing_and_cancels_what_it_ran(url: str) -> None:
    figures = await crash.paused_worker(url, tasks=5)
    assert figures.cancelled >= 5


async def test_A2_a_blocked_loop_keeps_its_lease_and_the_log_names_the_task(url: str) -> None:
    await crash.blocked_loop(url, seconds=6.0)


async def test_a_terminated_worker_hands_back_what_runs_with_the_attempt_refunded(url: str) -> None:
    await crash.terminated_worker(url, coroutines=5, functions=4, drain_timeout=1.0)


async def test_A3_a_task_that_kills_its_process_is_lost_after_a_bounded_number_of_deaths(url: str) -> None:
    await crash.deadly_task(url, max_attempts=1)
