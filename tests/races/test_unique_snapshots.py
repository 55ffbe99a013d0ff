"""What a snapshot does to the other modes, to bulk calls, and to the second look on a connection apart."""

import asyncio
import re
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import pytest
from msgspec.structs import replace as replaced

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import Conflict, DatabaseTrouble, LockTimeout, UniqueEnqueueRace
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.unique import Unique
from oxpull_async.domain.unique_plan import UniqueCall
from oxpull_async.drivers.asyncpg import AsyncpgDatabase
from oxpull_async.store.unique import enqueue_unique, enqueue_unique_many
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.conformance.wrapper import Wrapper
from tests.fixtures.waiting import until
from tests.races.callers import Joined, execute, opened
from tests.races.settings import SETTINGS
from tests.races.stage import WAITING, Stage, call, claimed, enqueue, settled, stored

pytestmark = pytest.mark.asyncio
SNAPSHOTS = [setting for setting in SETTINGS if setting.name in {"pg-rr", "pg-ser", "my-rr"}]
POSTGRES = [setting for setting in SNAPSHOTS if setting.family == "postgres"]
REFUSE = Unique(on_duplicate="raise")
RERUN = Unique(on_duplicate="rerun")
snapshots = pytest.mark.parametrize("setting", SNAPSHOTS, ids=str)
postgres = pytest.mark.parametrize("setting", POSTGRES, ids=str)


async def try_with(stage: Stage, unique: Unique) -> UniqueAnswer:
    return await stage.here.do(lambda conn: enqueue_unique(conn, call(unique)))


@snapshots
async def test_a_holder_that_settled_meanwhile_refuses_nobody(stage: Stage) -> None:
    await stored(stage)
    await stage.begin()
    await settled(stage)
    if stage.setting.family == "postgres":
        with pytest.raises(UniqueEnqueueRace, match="which held the key, became SUCCESSFUL"):
            await try_with(stage, REFUSE)
    else:
        assert (await try_with(stage, REFUSE)).created


@snapshots
async def test_a_holder_that_started_meanwhile_still_refuses(stage: Stage) -> None:
    id_ = await stored(stage)
    await stage.begin()
    await stage.beside(claimed)
    answer = await try_with(stage, REFUSE)
    assert (answer.refused, answer.record.id) == (True, id_)


@snapshots
async def test_a_key_held_until_the_start_is_free_once_the_holder_started_meanwhile(stage: Stage) -> None:
    await stored(stage)
    await stage.begin()
    await stage.beside(claimed)
    if stage.setting.family == "postgres":
        with pytest.raises(UniqueEnqueueRace, match="became RUNNING"):
            await try_with(stage, Unique(until="started"))
    else:
        assert (await try_with(stage, Unique(until="started"))).created


@snapshots
async def test_a_holder_that_started_meanwhile_is_not_rewritten(stage: Stage) -> None:
    id_ = await stored(stage)
    await stage.begin()
    await stage.beside(claimed)
    if stage.setting.family == "postgres":
        with pytest.raises(UniqueEnqueueRace, match="after the snapshot"):
            await try_with(stage, Unique(on_duplicate="replace"))
    else:
        answer = await try_with(stage, Unique(on_duplicate="replace"))
        assert (answer.changed, answer.record.id, answer.record.status) == (False, id_, TaskStatus.RUNNING)


@snapshots
async def test_a_follow_up_that_was_added_meanwhile_stays_the_only_one(stage: Stage) -> None:
    await stage.beside(lambda conn: enqueue_unique(conn, call(RERUN)))
    await stage.beside(claimed)
    await stage.begin()
    await stage.beside(lambda conn: enqueue_unique(conn, call(RERUN)))
    with pytest.raises(UniqueEnqueueRace, match=r"after the (transaction's )?snapshot"):
        await try_with(stage, RERUN)
    await stage.here.end(commit=False)
    assert len(await execute(stage.watcher, "SELECT id FROM oxpull_task WHERE status = 'WAITING'")) == 1


@snapshots
async def test_a_follow_up_of_a_holder_that_ended_meanwhile_is_not_released_twice(stage: Stage) -> None:
    """The recheck would release it; the snapshot does not show that the holder ended."""
    await stage.beside(lambda conn: enqueue_unique(conn, call(RERUN)))
    await stage.beside(claimed)
    await stage.beside(lambda conn: enqueue_unique(conn, call(RERUN)))
    await stage.begin()
    await stage.beside(lambda conn: conn.run_script("UPDATE oxpull_task SET status = 'LOST' WHERE status = 'RUNNING'"))
    with pytest.raises(UniqueEnqueueRace):
        await try_with(stage, Unique())


@snapshots
async def test_a_bulk_call_verifies_every_holder_it_answers_with(stage: Stage) -> None:
    def calls() -> list[UniqueCall]:
        made = [(at, key, call()) for at, key in enumerate("abc")]
        return [replace(one, position=at, task=replaced(one.task, unique_key=key)) for at, key, one in made]

    first = await stage.beside(lambda conn: enqueue_unique_many(conn, calls()[:2]))
    await stage.begin()
    await stage.beside(lambda conn: conn.run_script("UPDATE oxpull_task SET status = 'FAILED' WHERE unique_key = 'b'"))
    if stage.setting.family == "postgres":
        with pytest.raises(UniqueEnqueueRace, match=f"task {first[1].record.id}, which held the key, became FAILED"):
            await stage.here.do(lambda conn: enqueue_unique_many(conn, calls()))
        await stage.here.end(commit=True)
        assert len(await execute(stage.watcher, "SELECT id FROM oxpull_task")) == 2
    else:
        answers = await stage.here.do(lambda conn: enqueue_unique_many(conn, calls()))
        assert [answers[at].created for at in range(3)] == [False, True, True]


@postgres
async def test_a_race_names_the_level_the_database_and_the_refusal(stage: Stage) -> None:
    await stored(stage)
    await stage.begin()
    await settled(stage)
    with pytest.raises(UniqueEnqueueRace) as race:
        await stage.enqueue()
    level = {"pg-rr": "REPEATABLE READ", "pg-ser": "SERIALIZABLE"}[stage.setting.name]
    assert re.search(rf"\[{level}, PostgreSQL, database \w+\]", str(race.value))
    assert "READ COMMITTED, or outside of one" in str(race.value)
    assert isinstance(race.value.__cause__, Conflict)


@postgres
async def test_a_second_look_that_waits_for_a_migration_gives_up_and_says_so(stage: Stage) -> None:
    await stored(stage)
    await stage.begin()
    await stage.here.do(lambda conn: conn.fetch("find_holders", keys="[]"))
    await stage.here.do(lambda conn: conn.fetch("get_tasks", ids="[]"))
    await settled(stage)
    async with opened(stage.database.label) as migration:
        altering = asyncio.create_task(execute(migration, "ALTER TABLE oxpull_task ADD COLUMN more integer"))
        await until(lambda: execute(stage.watcher, WAITING), every=0.01)
        with pytest.raises(UniqueEnqueueRace, match="migration's, may be waiting for this very transaction") as race:
            await stage.enqueue()
        assert isinstance(race.value.__cause__, LockTimeout)
        assert race.value.transaction_survived
        await stage.here.end(commit=True)
        await altering
        await execute(migration, "ALTER TABLE oxpull_task DROP COLUMN more")


@pytest.mark.parametrize("kind", ["joined"])
@postgres
async def test_a_second_look_that_cannot_connect_leaves_the_transaction_usable(stage: Stage) -> None:
    await stored(stage)
    await stage.begin()
    await settled(stage)
    assert isinstance(stage.here, Joined)
    assert isinstance(stage.database, AsyncpgDatabase)
    elsewhere = AsyncpgDatabase(replace(stage.database.url, port=1))
    joined = await elsewhere.join(stage.here.raw)
    with pytest.raises(UniqueEnqueueRace, match="could not be read on a connection of its own: cannot connect") as race:
        await enqueue(joined)
    assert isinstance(race.value.__cause__, DatabaseTrouble)
    assert race.value.transaction_survived
    assert await stage.here.do(lambda conn: conn.fetch("installation"))


@snapshots
async def test_a_second_look_leaves_no_connection_behind(stage: Stage) -> None:
    await stored(stage)
    await stage.begin()
    await stage.beside(claimed)
    before = await _connections(stage)
    await stage.enqueue()
    await until(lambda: _no_more_than(stage, before), every=0.01)


@pytest.mark.parametrize("setting", [one for one in SETTINGS if one.name in {"pg-rc", "my-rc", "pg-none"}], ids=str)
async def test_read_committed_takes_no_second_look(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stored(stage)
    await stage.begin()
    await stage.beside(claimed)

    assert (await stage.here.do(lambda conn: enqueue(_Alone(conn)))).record.status is TaskStatus.RUNNING


class _Alone(Wrapper):
    """A connection that nobody may look beside."""

    def apart(self) -> AbstractAsyncContextManager[Connection]:
        raise AssertionError


@pytest.mark.parametrize("setting", [one for one in SETTINGS if one.name in {"pg-rc", "pg-rr"}], ids=str)
async def test_a_lock_timeout_leaves_the_transaction_usable(stage: Stage) -> None:
    await stage.begin()
    await stage.here.do(lambda conn: conn.run_script("SET LOCAL lock_timeout = '20ms'"))
    async with stage.in_flight(enqueue):
        with pytest.raises(UniqueEnqueueRace, match="lock timeout") as race:
            await stage.enqueue()
    assert isinstance(race.value.__cause__, LockTimeout)
    assert race.value.transaction_survived
    await stage.here.end(commit=True)
    assert len(await execute(stage.watcher, "SELECT n FROM race_marker")) == 1


async def _connections(stage: Stage) -> int:
    sql = {
        "postgres": "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()",
        "mysql": "SELECT 1 FROM information_schema.processlist WHERE db = DATABASE()",
    }
    return len(await execute(stage.watcher, sql[stage.setting.family]))


async def _no_more_than(stage: Stage, before: int) -> bool:
    return await _connections(stage) <= before
