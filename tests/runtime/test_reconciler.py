"""The reconciler's walk: a piece at a time, whatever one piece costs, and truthful about what it put right."""

import pytest

from oxpull_async import Oxpull
from oxpull_async.runtime import reconciler
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.lookout import Lookout
from oxpull_async.runtime.reconciler import Reconciler
from tests.app import kit
from tests.fixtures import raw

pytestmark = pytest.mark.asyncio


async def test_a_walk_whose_time_is_over_at_every_batch_comes_to_the_next_one_all_the_same(
    ox: Oxpull, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciler, "MOST_TIME", -1.0)
    task = ox.task(kit.nothing)
    batches = [await ox.create_batch(f"batch {number}") for number in range(3)]
    results = [await batch.add(task) for batch in batches]
    async with ox.database.connection() as conn:
        for result in results:
            await raw.delete(conn, result.id)
    lease = LeaseState(3.0)
    looking = Reconciler(ox.database, lease, Lookout(ox.database, ox.settings.alias, lease), Hub())
    assert [await looking.walk() for _ in batches] == [1, 1, 1]
    assert [(await batch.progress()).unattributed for batch in batches] == [1, 1, 1]
    assert looking.unforeseen == 0
