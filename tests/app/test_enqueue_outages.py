"""A server's connection breaks under enqueues that are written together: each caller gets the truth."""

import asyncio

import pytest

from oxpull_async import Oxpull
from oxpull_async.domain.errors import DatabaseUnavailable
from oxpull_async.store.results import TaskFilter
from tests.app.kit import nothing, open_oxpull, unmasked
from tests.fixtures.gated import gated
from tests.fixtures.proxy import proxied

pytestmark = pytest.mark.asyncio
TOGETHER = {"postgres": (b"json_to_recordset", b""), "mysql": (b"UTC_TIMESTAMP", b"JSON_TABLE")}
NUMBERS = list(range(20))


@pytest.fixture(params=["postgres", "mysql"])
def url(request: pytest.FixtureRequest) -> str:
    """Name the database of each kind that is behind a network."""
    found: str = request.getfixturevalue(f"{request.param}_url")
    return found


async def numbers(ox: Oxpull) -> list[int]:
    return sorted(result.args[0] for result in await ox.list_results(TaskFilter(limit=100)))


@pytest.mark.parametrize("delivered", [True, False], ids=["delivered", "lost"])
async def test_A16_the_server_s_answer_to_enqueues_together_is_lost(ox: Oxpull, delivered: bool) -> None:
    after, at = TOGETHER[ox.database.dialect.name]
    async with proxied(unmasked(ox)) as proxy, open_oxpull(proxy.url) as mine:
        task = mine.task(nothing)
        trap = (proxy.lose_reply if delivered else proxy.lose_message)(after=after, at=at)
        results = await asyncio.gather(*[task.enqueue(number) for number in NUMBERS])
        assert trap.sprung.is_set()
    assert [(result.args[0], result.created) for result in results] == [(number, True) for number in NUMBERS]
    assert await numbers(ox) == NUMBERS


async def test_A16_a_server_that_is_away_is_every_caller_s_error_and_later_calls_go_through(ox: Oxpull) -> None:
    async with proxied(unmasked(ox)) as proxy, open_oxpull(proxy.url) as mine:
        task = mine.task(nothing)
        async with gated(mine) as gate:
            callers = [asyncio.create_task(task.enqueue(number)) for number in NUMBERS]
            await gate.reached()
            await proxy.refuse()
            await proxy.cut()
            gate.open()
            answers = await asyncio.gather(*callers, return_exceptions=True)
        assert all(isinstance(answer, DatabaseUnavailable) for answer in answers)
        assert len({id(answer) for answer in answers}) == len(NUMBERS)
        await proxy.accept()
        await task.enqueue(-1)
    assert await numbers(ox) == [-1]
