"""What attempts come to on sql/mysql, on databases with both column types of ids."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Cancelled, Failed, Lease, Outcome, Released, Settlement, Snoozed, Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.drivers.aiomysql import AiomysqlDatabase
from oxpull_async.store import enqueue, lease, operate, results, settle
from tests.drivers.mysql_kit import ID_TYPES, claim, finish, migrated, new_alias, new_task, read, register, run_one
from tests.fixtures.servers import MakeDatabase

ABANDONED = json.dumps({"exception_class_path": "oxpull_async.errors.TaskAbandoned", "attempt": 1})


@pytest.fixture(scope="module", params=ID_TYPES)
def place(request: pytest.FixtureRequest, make_database: MakeDatabase) -> tuple[str, str]:
    """Name a database for each column type of ids."""
    return make_database("mysql"), request.param


@pytest_asyncio.fixture
async def database(place: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AiomysqlDatabase]:
    async with migrated(*place, monkeypatch) as database:
        yield database


@pytest_asyncio.fixture
async def conn(database: AiomysqlDatabase) -> AsyncIterator[Connection]:
    async with database.connection() as conn:
        yield conn


@pytest.fixture
def alias() -> str:
    return new_alias()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "args",
    ["[]", '["\\ud83d\\ude00 \\"q\\" \\\\ \\u0001 \' %s %% :now"]', "[1.0, 1e100, -0.0, 5e-324, 0.1]",
     "[18446744073709551615, -9223372036854775808]", '["' + '\\"' * 2000 + '"]'],
    ids=["empty", "text", "floats", "integers", "quotes"],
)  # fmt: skip
async def test_json_comes_back_value_for_value(conn: Connection, alias: str, args: str) -> None:
    one, many = new_task(alias, args=args), new_task(alias, args=args)
    await enqueue.enqueue(conn, one)
    await enqueue.enqueue_many(conn, [many])
    worker_id = await register(conn, alias)
    expected = json.dumps(json.loads(args))
    claimed = await claim(conn, alias, worker_id)
    assert [json.dumps(json.loads(task.args)) for task in claimed] == [expected, expected]
    for task in claimed:
        record = await finish(conn, task, Succeeded(args))
        assert json.dumps(record.return_value) == json.dumps(record.args) == expected


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("outcome", "status", "attempts"),
    [
        (Succeeded('{"x": [1]}'), TaskStatus.SUCCESSFUL, 1),
        (Failed('{"traceback": "t"}', None), TaskStatus.FAILED, 1),
        (Failed('{"traceback": "t"}', 5.0), TaskStatus.READY, 1),
        (Failed('{"traceback": "t"}', 0.0), TaskStatus.READY, 1),
        (Snoozed(5.0), TaskStatus.READY, 0),
        (Released(), TaskStatus.READY, 0),
        (Cancelled('{"traceback": "t"}'), TaskStatus.DISCARDED, 1),
    ],
    ids=str,
)
async def test_an_outcome_is_written(
    conn: Connection, alias: str, outcome: Outcome, status: TaskStatus, attempts: int
) -> None:
    _, claimed = await run_one(conn, alias)
    record = await finish(conn, claimed, outcome)
    assert (record.status, record.attempts, len(record.worker_ids)) == (status, attempts, attempts)
    assert record.epoch == claimed.epoch + (attempts == 0)
    assert (record.started_at is None) == (record.last_attempted_at is None) == (attempts == 0)
    assert [error.traceback for error in record.errors] == ["t"] * isinstance(outcome, Failed | Cancelled)
    assert all(error.at is not None for error in record.errors)
    assert (record.finished_at is not None) == record.status.is_finished
    assert record.leased_by is None


@pytest.mark.asyncio
@pytest.mark.parametrize("delay", [1e-05, 0.000001, 0.1, 7.654321, 86_400.5, 1e7])
async def test_a_delay_is_kept_to_the_microsecond(conn: Connection, alias: str, delay: float) -> None:
    _, claimed = await run_one(conn, alias)
    record = await finish(conn, claimed, Failed('{"traceback": "t"}', delay))
    (error,) = record.errors
    assert error.at is not None
    assert record.available_at - error.at == timedelta(seconds=delay)


@pytest.mark.asyncio
async def test_each_failure_is_added_to_the_ones_before(conn: Connection, alias: str) -> None:
    worker_id, claimed = await run_one(conn, alias)
    await finish(conn, claimed, Failed('{"traceback": "first \\ud83d\\ude00", "attempt": 1}', 0.0))
    (again,) = await claim(conn, alias, worker_id)
    record = await finish(conn, again, Failed('{"traceback": "second", "attempt": 2}', None))
    assert [(error.traceback, error.attempt) for error in record.errors] == [("first 😀", 1), ("second", 2)]
    assert len(record.worker_ids) == 2


@pytest.mark.asyncio
async def test_one_batch_writes_outcomes_of_every_kind(conn: Connection, alias: str) -> None:
    outcomes: list[Outcome] = [
        Succeeded("null"),
        Failed("{}", None),
        Failed("{}", 9.0),
        Snoozed(9.0),
        Released(),
        Cancelled("{}"),
    ]
    await enqueue.enqueue_many(conn, [new_task(alias) for _ in outcomes])
    claimed = await claim(conn, alias, await register(conn, alias))
    leases = [Lease(task.id, task.epoch) for task in claimed]
    batch = [Settlement(lease_, outcome) for lease_, outcome in zip(leases, outcomes, strict=True)]
    written = await settle.settle(conn, batch[::-1])
    assert [written[lease_].value for lease_ in leases] == [
        "SUCCESSFUL", "FAILED", "READY", "READY", "READY", "DISCARDED",
    ]  # fmt: skip
    records = await results.get_tasks(conn, [task.id for task in claimed])
    assert {id_: record.status for id_, record in records.items()} == {
        lease_.task_id: status for lease_, status in written.items()
    }


@pytest.mark.asyncio
async def test_a_requested_cancel_ends_the_attempt_unless_it_succeeds(conn: Connection, alias: str) -> None:
    await enqueue.enqueue_many(conn, [new_task(alias), new_task(alias)])
    first, second = await claim(conn, alias, await register(conn, alias))
    assert await operate.cancel(conn, [first.id, second.id]) == 2
    failed = await finish(conn, first, Failed("{}", 5.0))
    assert (failed.status, failed.finished_at is not None) == (TaskStatus.DISCARDED, True)
    assert (await finish(conn, second, Succeeded("1"))).status is TaskStatus.SUCCESSFUL
    assert await claim(conn, alias, await register(conn, alias)) == []


@pytest.mark.asyncio
async def test_a_lost_lease_settles_nothing(conn: Connection, alias: str) -> None:
    _, claimed = await run_one(conn, alias)
    stale = Settlement(Lease(claimed.id, claimed.epoch - 1), Succeeded("1"))
    assert await settle.settle(conn, [stale]) == {}
    assert not await settle.report_progress(conn, stale.lease, "{}")
    good = Lease(claimed.id, claimed.epoch)
    assert await settle.report_progress(conn, good, '{"done": 1}')
    assert await settle.report_progress(conn, good, '{"done": 1}')
    assert (await read(conn, claimed.id)).progress == {"done": 1}


@pytest.mark.asyncio
async def test_an_attempt_that_never_began_is_given_back(database: AiomysqlDatabase, alias: str) -> None:
    async with database.connection() as conn:
        await enqueue.enqueue(conn, new_task(alias))
        later = frozenset({"shop.tasks.send"})
        (claimed,) = await claim(conn, alias, await register(conn, alias), later_paths=later)
        database.clock_offset = 31.0
        await lease.bury_dead_workers(conn, 0.0)
        (row,) = (row for row in await lease.expired(conn, 1000) if row.task_id == claimed.id)
        await lease.reap(conn, row, ABANDONED)
        record = await read(conn, claimed.id)
        assert (record.status, record.attempts, record.worker_ids) == (TaskStatus.READY, 0, ())
        assert (record.started_at, record.last_attempted_at) == (None, None)


@pytest.mark.asyncio
async def test_the_last_attempt_of_a_silent_worker_is_lost_until_its_late_outcome(
    database: AiomysqlDatabase, alias: str
) -> None:
    async with database.connection() as conn:
        await enqueue.enqueue(conn, new_task(alias, max_attempts=1))
        (claimed,) = await claim(conn, alias, await register(conn, alias))
        database.clock_offset = 31.0
        await lease.bury_dead_workers(conn, 0.0)
        (row,) = (row for row in await lease.expired(conn, 1000) if row.task_id == claimed.id)
        await lease.reap(conn, row, ABANDONED)
        lost = await read(conn, claimed.id)
        assert (lost.status, len(lost.errors)) == (TaskStatus.LOST, 1)
        assert await settle.settle(conn, [Settlement(Lease(claimed.id, claimed.epoch), Released())]) == {}
        late = await finish(conn, claimed, Succeeded("7"))
        assert (late.status, late.return_value, late.errors) == (TaskStatus.SUCCESSFUL, 7, ())
