import pytest

from tests.scenarios.outage import ended_sessions, restarted_server

pytestmark = [pytest.mark.asyncio, pytest.mark.parametrize("url", ["postgres", "mysql"], indirect=True)]


async def test_G3_a_server_that_cuts_and_refuses_for_a_while_costs_latency_and_no_attempt(url: str) -> None:
    figures = await restarted_server(url, tasks=20, concurrency=5, seconds=0.2, seconds_away=1.0, lease_seconds=10)
    assert (figures.leases_lost, figures.attempts) == (0, 20)


async def test_G3_an_outage_longer_than_the_lease_loses_no_task_even_of_one_attempt(url: str) -> None:
    figures = await restarted_server(url, tasks=10, concurrency=10, seconds=2.4, seconds_away=2.5, lease_seconds=2)
    assert figures.leases_lost >= 1
    assert figures.runs > figures.tasks, "nothing was running when the lease was lost"


async def test_G3_a_worker_whose_sessions_are_all_ended_goes_on_by_itself(url: str) -> None:
    figures = await ended_sessions(url, tasks=20, seconds=0.2)
    assert (figures.leases_lost, figures.attempts) == (0, 20)
