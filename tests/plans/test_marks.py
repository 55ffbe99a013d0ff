"""Claims from marks read what they take, however much a held snapshot keeps in front of it."""

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from oxpull_async import Oxpull
from oxpull_async.db.contract import Connection, Scalar
from oxpull_async.domain.low_water import LowWater, Place, Stretch
from oxpull_async.domain.outcome import Settlement, Succeeded
from oxpull_async.domain.record import WorkerId, wire_id
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.enqueue import enqueue_many
from oxpull_async.store.settle import settle
from oxpull_async.store.stretches import Stretches, queue_list
from tests.app.kit import open_oxpull, rolled_back
from tests.fixtures import make
from tests.fixtures.servers import MakeDatabase
from tests.plans.explain import compiled, explain
from tests.plans.load import QUEUES
from tests.plans.statements import PINNED, values
from tests.plans.test_plans import WORLDS, atlas, check, dialect_of, loaded  # noqa: F401 - fixtures

CLAIMS = ("claim", "claim_past_locked", "claim_candidates")
TASKS, AT_ONCE, FEW = 3_000, 100, 10
READ = "SELECT pg_stat_get_xact_tuples_returned('oxpull_task_ready'::regclass)"


async def flow(conn: Connection, worker_id: WorkerId) -> LowWater:
    """Have a worker take and settle many tasks, of two priorities; returns how far it has come."""
    water = LowWater()
    for _ in range(TASKS // AT_ONCE):
        await enqueue_many(conn, [make.new_task(priority=number % 2) for number in range(AT_ONCE)])
        tasks = await claim(conn, ClaimRequest(worker_id, make.ALIAS, (make.QUEUE,), AT_ONCE))
        await settle(conn, [Settlement.of(task, Succeeded("1")) for task in tasks])
        water = water.raised(Place(-task.priority, task.available_at, task.id) for task in tasks)
    return water


async def entries(ox: Oxpull, stretches: Stretches) -> int:
    """Count the entries of the ready index that a claim of a few reads, and take its locks back."""
    bound: dict[str, Scalar] = {"backend_alias": make.ALIAS, "limit": FEW, "excluded_paths": "[]"}
    queues = queue_list(ox.database.dialect, (make.QUEUE,), stretches)
    sql, given = compiled(ox, "claim_candidates", bound | {"queues": queues})
    async with rolled_back(ox.transaction()) as tx:
        [[before]] = await tx.fetch(READ)
        assert len(await tx.fetch(sql, *given)) == FEW
        [[after]] = await tx.fetch(READ)
    return int(after - before)


@pytest.mark.asyncio
async def test_beside_a_held_snapshot_a_claim_from_marks_reads_what_it_takes(make_database: MakeDatabase) -> None:
    async with open_oxpull(make_database("postgres")) as ox:
        await ox.migrate()
        async with ox.database.connection() as conn, ox.database.connection() as holder:
            await holder.run_script("BEGIN ISOLATION LEVEL REPEATABLE READ")
            await holder.run_script("SELECT count(*) FROM oxpull_task")
            worker_id = await make.worker(conn)
            water = await flow(conn, worker_id)
            await enqueue_many(conn, [make.new_task(priority=number % 2) for number in range(AT_ONCE)])
            whole = await entries(ox, {})
            marked = await entries(ox, {make.QUEUE: water.stretches()})
            await holder.run_script("ROLLBACK")
    assert whole > TASKS / 2  # a snapshot that holds nothing back would prove nothing
    assert marked <= 2 * FEW


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("world", "name"), [*product(WORLDS[:3], CLAIMS), ("mysql", "claim_candidates")])
async def test_a_claim_from_marks_finds_its_rows_through_the_ready_index(
    loaded: Any,  # noqa: F811 - the fixture
    world: str,
    name: str,
) -> None:
    pinned = next(one for one in PINNED if one.name == name and world.partition(" ")[0] in one.dialects)
    mark = Place(0, datetime.now(UTC) - timedelta(days=1), wire_id(make.new_id()))
    stretches = dict.fromkeys(QUEUES, (Stretch(None, 0), Stretch(mark, None)))
    for generic in (False, True) if dialect_of(loaded) == "postgres" else (False,):
        check(await explain(loaded.ox, name, values(name, loaded, stretches), generic=generic), pinned)
