from collections import Counter

import pytest

from tests.fixtures.ledger import check_complete
from tests.scenarios import crash


@pytest.mark.asyncio
async def test_A2_a_killed_workers_tasks_are_finished_by_another_and_no_effect_is_lost(url: str) -> None:
    figures = await crash.killed_worker(url, tasks=20, concurrency=10, seconds=0.2)
    assert figures.effects >= figures.tasks


@pytest.mark.asyncio
async def test_A2_A4_a_paused_worker_overwrites_nothing_and_cancels_what_it_ran(url: str) -> None:
    figures = await crash.paused_worker(url, tasks=5)
    assert figures.cancelled >= 5


@pytest.mark.asyncio
async def test_A2_a_blocked_loop_keeps_its_lease_and_the_log_names_the_task(url: str) -> None:
    await crash.blocked_loop(url, seconds=6.0)


@pytest.mark.asyncio
async def test_a_terminated_worker_hands_back_what_runs_with_the_attempt_refunded(url: str) -> None:
    await crash.terminated_worker(url, coroutines=5, functions=4, drain_timeout=1.0)


@pytest.mark.asyncio
async def test_A3_a_task_that_kills_its_process_is_lost_after_a_bounded_number_of_deaths(url: str) -> None:
    await crash.deadly_task(url, max_attempts=1)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.asyncio
async def test_G2_the_scenario_fails_where_nobody_takes_over(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OXPULL_TEST_NO_REAPER", "1")
    with pytest.raises(AssertionError, match="20 rows SUCCESSFUL"):
        await crash.killed_worker(url, tasks=20, concurrency=10, seconds=0.1, lease_seconds=1.0, patience=1.0)


def test_G2_the_ledgers_checker_sees_a_lost_effect_and_a_strange_one() -> None:
    with pytest.raises(AssertionError, match="1 effects are lost"):
        check_complete(Counter({"0": 1, "2": 1}), 3)
    with pytest.raises(AssertionError, match="nobody asked for"):
        check_complete(Counter({"0": 1, "1": 2}), 1)
