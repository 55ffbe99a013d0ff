"""Migrations, at a small size; `make proof` runs the same scenarios at full size."""

import pytest

from oxpull_async import Oxpull, TaskStatus
from oxpull_async.db.schema import migrations as schema_files
from oxpull_async.store import schema
from tests.app.kit import add, open_oxpull, work
from tests.fixtures import raw
from tests.fixtures.databases import KINDS
from tests.fixtures.servers import MakeDatabase
from tests.scenarios import migrations

pytestmark = pytest.mark.asyncio


@pytest.fixture(params=KINDS)
def empty_url(request: pytest.FixtureRequest, make_database: MakeDatabase) -> str:
    return make_database(request.param)


async def test_three_migrations_at_once_all_succeed_and_one_applies_it(empty_url: str) -> None:
    met = await migrations.migrations_at_once(empty_url, rounds=1, processes=3)
    assert met.applied == 1


async def test_a_migration_killed_between_any_two_statements_is_finished_by_the_next(empty_url: str) -> None:
    finished = await migrations.killed_between_statements(empty_url)
    assert finished.deaths >= finished.statements


async def test_a_migrating_process_that_is_killed_blocks_nobody(empty_url: str) -> None:
    await migrations.killed_processes(empty_url, lives=(3,))


async def test_a_second_migration_does_nothing(empty_url: str) -> None:
    async with Oxpull(empty_url) as ox:
        assert await ox.migrate() == [file.name for file in schema_files("sqlite", "")]
        result = await ox.task(add).enqueue(1, 2)
        assert await ox.migrate() == []
        assert (await ox.get_result(result.id)).args == [1, 2]


async def test_ids_of_32_characters_serve_as_well_as_the_servers_own_type(mysql_url: str) -> None:
    async with open_oxpull(mysql_url) as ox:
        async with ox.database.connection() as conn:
            await raw.drop(conn)
            await schema.migrate(conn, "char(32)")
        results = [await ox.task(add).enqueue(1, 2), *await ox.enqueue_many([ox.task(add).call(3)])]
        await work(ox)
        for result in results:
            await result.refresh()
            assert result.status is TaskStatus.SUCCESSFUL
            assert (await ox.get_result(result.id)).worker_ids == result.worker_ids
        assert await ox.discard_many([result.id for result in results]) == (0, 2)
        async with ox.transaction() as tx:
            types = await tx.fetch(
                "SELECT column_type FROM information_schema.columns WHERE table_schema = database() "
                "AND table_name = 'oxpull_task' AND column_name IN ('id', 'leased_by')"
            )
        assert [tuple(row) for row in types] == [("char(32)",)] * 2
        async with ox.database.connection() as conn:
            await raw.drop(conn)
