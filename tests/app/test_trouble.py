"""A database that cannot serve: the error says what, why and what to do, and shows no password."""

import asyncio

import pytest

from oxpull_async import Oxpull
from oxpull_async.errors import DatabaseUnavailable, NotMigrated, PoolExhausted, SchemaTooNew
from tests.app.conftest import KINDS
from tests.app.kit import nothing, open_oxpull, unmasked
from tests.fixtures.servers import MakeDatabase

pytestmark = pytest.mark.asyncio


async def test_an_exhausted_pool_names_its_size_and_who_waits(ox: Oxpull) -> None:
    glue = "&" if "?" in unmasked(ox) else "?"
    async with open_oxpull(f"{unmasked(ox)}{glue}acquire_timeout=0.05", pool_size=1) as small:
        async with small.database.connection():
            with pytest.raises(PoolExhausted) as refused:
                await small.task(nothing).enqueue(1)
        await small.task(nothing).enqueue(2)
    assert "pool_size" in str(refused.value)
    assert "0.05 s" in str(refused.value)


async def test_as_many_callers_as_there_are_wait_for_a_small_pool(ox: Oxpull) -> None:
    async with open_oxpull(unmasked(ox), pool_size=1) as small:
        task = small.task(nothing)
        results = await asyncio.gather(*[task.enqueue(number) for number in range(50)])
    assert len({result.id for result in results}) == 50


@pytest.mark.parametrize("kind", KINDS)
async def test_an_unmigrated_database_is_one_clear_sentence(kind: str, make_database: MakeDatabase) -> None:
    async with open_oxpull(make_database(kind)) as ox:  # type: ignore[arg-type]
        for attempt in (ox.task(nothing).enqueue(1), ox.get_result("0" * 32), ox.stats(), ox.check_schema()):
            with pytest.raises(NotMigrated, match=r"run `oxpull migrate`") as refused:
                await attempt
            assert "\n" not in str(refused.value)


async def test_a_newer_schema_is_one_clear_sentence(ox: Oxpull) -> None:
    async with ox.transaction() as tx:
        await tx.execute("INSERT INTO oxpull_schema SELECT 9999, 'x', applied_at FROM oxpull_schema WHERE version = 1")
    words = "the database has schema version 9999, which this version of oxpull-async does not know: upgrade"
    try:
        for attempt in (ox.check_schema(), ox.migrate()):
            with pytest.raises(SchemaTooNew, match=words):
                await attempt
    finally:
        async with ox.transaction() as tx:
            await tx.execute("DELETE FROM oxpull_schema WHERE version = 9999")


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
async def test_a_server_that_does_not_answer_is_named_without_the_password(scheme: str) -> None:
    async with Oxpull(f"{scheme}://ann:s3cr3t@127.0.0.1:1/shop?connect_timeout=5") as ox:
        with pytest.raises(DatabaseUnavailable, match=r"127\.0\.0\.1") as refused:
            await ox.task(nothing).enqueue(1)
    chain: list[BaseException] = [refused.value]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    assert all("s3cr3t" not in f"{error!r} {error}" for error in chain)


async def test_a_file_that_cannot_be_opened_is_named() -> None:
    async with Oxpull("sqlite:////no/such/folder/tasks.db") as ox:
        with pytest.raises(DatabaseUnavailable, match=r"/no/such/folder/tasks.db"):
            await ox.task(nothing).enqueue(1)
