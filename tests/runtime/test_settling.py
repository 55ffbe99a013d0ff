"""A7: a value that only the database refuses ends its own task and no other."""

from collections import Counter
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from oxpull_async import Oxpull
from oxpull_async.domain.events import OutcomeIgnored
from oxpull_async.domain.record import TaskStatus
from tests.fixtures.workers import drain

pytestmark = pytest.mark.asyncio
REFUSE = {
    "postgres": "ALTER TABLE oxpull_task ADD CONSTRAINT refuse CHECK (return_value <> '\"poison\"'::jsonb)",
    "mysql": "ALTER TABLE oxpull_task ADD CONSTRAINT refuse CHECK (return_value <> '\"poison\"')",
    "sqlite": "CREATE TRIGGER refuse BEFORE UPDATE ON oxpull_task WHEN NEW.return_value = '\"poison\"'"
    " BEGIN SELECT RAISE(ABORT, 'poison is refused'); END",
}
ALLOW = {
    "postgres": "ALTER TABLE oxpull_task DROP CONSTRAINT refuse",
    "mysql": "ALTER TABLE oxpull_task DROP CONSTRAINT refuse",
    "sqlite": "DROP TRIGGER refuse",
}


@pytest_asyncio.fixture
async def picky(ox: Oxpull) -> AsyncIterator[Oxpull]:
    """Give an Oxpull whose database refuses one return value."""
    name = ox.database.dialect.name
    async with ox.database.connection() as conn:
        await conn.run_script(REFUSE[name])
    yield ox
    async with ox.database.connection() as conn:
        await conn.run_script(ALLOW[name])


async def test_A7_a_value_that_the_database_refuses_fails_its_own_task_only(picky: Oxpull) -> None:
    ran: Counter[int] = Counter()

    @picky.task(backoff=[0])
    async def returns(number: int) -> str:
        ran[number] += 1
        return "poison" if number in {7, 13} else "food"

    results = await picky.enqueue_many([returns.call(number) for number in range(20)])
    events = await drain(picky)
    for number, result in enumerate(results):
        await result.refresh()
        expected = TaskStatus.FAILED if number in {7, 13} else TaskStatus.SUCCESSFUL
        assert (result.status, result.attempts) == (expected, 1), number
    assert "refuse" in results[7].errors[0].traceback
    assert results[7].errors[0].exception_class_path.endswith(".DataRefused")
    assert set(ran.values()) == {1}
    assert not events.of(OutcomeIgnored)
