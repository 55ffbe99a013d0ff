"""Every statement that runs often finds its rows through the index made for it, whatever else the table holds."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, cast

import pytest
import pytest_asyncio

from oxpull_async import Oxpull
from tests.app.kit import open_oxpull
from tests.fixtures import raw
from tests.fixtures.servers import MakeDatabase
from tests.plans.explain import Plan, explain, explain_text
from tests.plans.load import Loaded, load
from tests.plans.statements import PINNED, Pinned, values
from tests.plans.touched import COST, touched, touched_by_text

if TYPE_CHECKING:
    from tests.servers import Kind

pytestmark = pytest.mark.asyncio(loop_scope="module")
STATISTICS = ("absent", "stale", "fresh")
WORLDS = [*(f"postgres {statistics}" for statistics in STATISTICS), "mysql", "sqlite"]
CASES = [
    pytest.param(world, pinned, id=f"{world}-{pinned}")
    for world in WORLDS
    for pinned in PINNED
    if world.partition(" ")[0] in pinned.dialects
]
each_statement = pytest.mark.parametrize(("world", "pinned"), CASES)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def atlas(make_database: MakeDatabase) -> AsyncIterator[dict[str, Loaded]]:
    """Load a database for each world; PostgreSQL knows nothing about it, something that is no longer true, or all."""
    async with AsyncExitStack() as stack:
        found = {}
        for world in WORLDS:
            kind, _, statistics = world.partition(" ")
            ox = await stack.enter_async_context(open_oxpull(make_database(cast("Kind", kind))))
            await ox.migrate()
            found[world] = await (load_with(ox, statistics) if statistics else load(ox))
        yield found


async def load_with(ox: Oxpull, statistics: str) -> Loaded:
    async with ox.database.connection() as conn:
        await conn.run_script("ALTER TABLE oxpull_task SET (autovacuum_enabled = false)")
        if statistics == "stale":
            await load(ox)
            await conn.run_script("UPDATE oxpull_task SET status = 'SUCCESSFUL', due = NULL, leased_by = NULL")
            await conn.run_script("ANALYZE oxpull_task")
            await raw.empty(conn)
        found = await load(ox)
        if statistics == "fresh":
            await conn.run_script("ANALYZE oxpull_task")
    return found


@pytest.fixture
def loaded(atlas: dict[str, Loaded], world: str) -> Loaded:
    return atlas[world]


def dialect_of(loaded: Loaded) -> str:
    return loaded.ox.database.dialect.name


def check(plan: Plan, pinned: Pinned) -> None:
    assert plan.scans == (), plan.text
    assert plan.indexes == frozenset(pinned.indexes), plan.text
    if not pinned.merges:
        assert plan.sorts == (), plan.text


@each_statement
async def test_a_statement_uses_its_index_and_scans_and_sorts_nothing(loaded: Loaded, pinned: Pinned) -> None:
    for generic in (False, True) if dialect_of(loaded) == "postgres" else (False,):
        check(await explain(loaded.ox, pinned.name, values(pinned.name, loaded), generic=generic), pinned)


@each_statement
async def test_a_statement_reads_no_more_rows_than_it_needs(loaded: Loaded, pinned: Pinned) -> None:
    assert await touched(loaded.ox, pinned.name, values(pinned.name, loaded)) <= pinned.reads * COST[dialect_of(loaded)]


@pytest.mark.parametrize("world", WORLDS)
async def test_the_checks_see_a_scan_and_a_sort(loaded: Loaded) -> None:
    plan = await explain_text(loaded.ox, "SELECT * FROM oxpull_task AS t WHERE timeout > 5 ORDER BY task_path")
    assert plan.scans != ()
    assert plan.sorts != ()
    assert await touched_by_text(loaded.ox, "SELECT * FROM oxpull_task AS t WHERE timeout > 5") > 20_000
