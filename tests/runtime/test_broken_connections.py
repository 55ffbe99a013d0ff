import pytest

from tests.scenarios.broken_connections import broken_claim, broken_settle

pytestmark = pytest.mark.asyncio


async def test_A1_rows_of_a_claim_whose_answer_was_lost_come_back_and_run_exactly_once(url: str) -> None:
    await broken_claim(url, tasks=10)


@pytest.mark.parametrize("times", [1, 2])
async def test_A7_a_settle_whose_answer_was_lost_counts_once_and_is_told_truthfully(url: str, times: int) -> None:
    await broken_settle(url, tasks=10, delivered=True, times=times)


@pytest.mark.parametrize("times", [1, 2])
async def test_A7_a_settle_that_was_lost_is_repeated(url: str, times: int) -> None:
    await broken_settle(url, tasks=10, delivered=False, times=times)
