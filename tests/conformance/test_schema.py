"""Bringing a database to the newest schema, and saying whether it is there."""

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import NotMigrated, Refused, SchemaTooNew
from oxpull_async.store.results import get_task
from oxpull_async.store.schema import drop, installation, migrate, read_schema, require_current
from tests.conformance.worlds import World
from tests.fixtures import make, raw


@pytest.fixture
def uuid_type(scratch: World) -> str:
    return scratch.uuid_type()


async def test_an_empty_database_lacks_every_migration(unmigrated: Connection, uuid_type: str) -> None:
    state = await read_schema(unmigrated, uuid_type)
    assert (state.applied, state.unknown) == ((), ())
    assert [migration.version for migration in state.pending] == list(range(1, len(state.pending) + 1))
    with pytest.raises(NotMigrated, match=r"0001_tasks.*oxpull migrate"):
        require_current(state)


async def test_migrate_applies_what_is_pending_and_says_so(unmigrated: Connection, uuid_type: str) -> None:
    pending = (await read_schema(unmigrated, uuid_type)).pending
    assert await migrate(unmigrated, uuid_type) == list(pending)
    state = await read_schema(unmigrated, uuid_type)
    assert state.pending == ()
    require_current(state)
    assert (await make.ready(unmigrated)).status == "READY"


async def test_migrating_twice_changes_nothing(unmigrated: Connection, uuid_type: str) -> None:
    await migrate(unmigrated, uuid_type)
    task = await make.ready(unmigrated)
    assert await migrate(unmigrated, uuid_type) == []
    assert await make.record(unmigrated, task.id) == task


async def test_E7_a_migration_whose_note_was_lost_can_be_applied_again_where_ddl_commits_by_itself(
    unmigrated: Connection, uuid_type: str
) -> None:
    await migrate(unmigrated, uuid_type)
    if unmigrated.dialect.has_transactional_ddl:
        return  # there the note and the tables come together or not at all
    task = await make.ready(unmigrated)
    await unmigrated.run_script("DELETE FROM oxpull_schema")
    assert await migrate(unmigrated, uuid_type) != []
    assert await make.record(unmigrated, task.id) == task


async def test_migrating_up_to_a_version_applies_nothing_beyond_it(unmigrated: Connection, uuid_type: str) -> None:
    first, *later = (await read_schema(unmigrated, uuid_type)).pending
    assert await migrate(unmigrated, uuid_type, up_to=0) == []
    assert await migrate(unmigrated, uuid_type, up_to=first.version) == [first]
    assert list((await read_schema(unmigrated, uuid_type)).pending) == later
    await migrate(unmigrated, uuid_type)
    await unmigrated.execute("record_migration", version=9_999, name="9999_from_the_future")
    assert await migrate(unmigrated, uuid_type, up_to=first.version) == []


async def test_E7_dropping_leaves_no_table_and_no_version(unmigrated: Connection, uuid_type: str) -> None:
    await migrate(unmigrated, uuid_type)
    task = await make.ready(unmigrated)
    await make.dead_worker(unmigrated)
    await drop(unmigrated)
    await drop(unmigrated)
    state = await read_schema(unmigrated, uuid_type)
    assert state.applied == ()
    await migrate(unmigrated, uuid_type)
    assert await get_task(unmigrated, task.id) is None
    for table in raw.TABLES:
        await unmigrated.run_script(f"SELECT count(*) FROM {table}")


async def test_E7_dropping_is_refused_while_a_worker_lives(unmigrated: Connection, uuid_type: str) -> None:
    await migrate(unmigrated, uuid_type)
    await make.worker(unmigrated)
    task = await make.ready(unmigrated)
    with pytest.raises(Refused, match=r"1 worker\(s\) still live .*: stop them first"):
        await drop(unmigrated)
    assert await make.record(unmigrated, task.id) == task


async def test_a_newer_schema_is_refused(unmigrated: Connection, uuid_type: str) -> None:
    await migrate(unmigrated, uuid_type)
    await unmigrated.execute("record_migration", version=9_999, name="9999_from_the_future")
    state = await read_schema(unmigrated, uuid_type)
    assert state.unknown == (9_999,)
    with pytest.raises(SchemaTooNew, match=r"9999.*upgrade this process"):
        require_current(state)
    with pytest.raises(SchemaTooNew):
        await migrate(unmigrated, uuid_type)


async def test_F3_an_installation_has_an_id_of_its_own(unmigrated: Connection, uuid_type: str) -> None:
    await migrate(unmigrated, uuid_type)
    first = await installation(unmigrated)
    assert await installation(unmigrated) == first
    await raw.drop(unmigrated)
    await migrate(unmigrated, uuid_type)
    assert await installation(unmigrated) != first
    assert len(first) >= 32


async def test_an_unmigrated_database_has_no_installation(unmigrated: Connection) -> None:
    with pytest.raises(NotMigrated):
        await installation(unmigrated)
