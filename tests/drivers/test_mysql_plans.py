"""The plans of the statements that must stay cheap whatever the table holds."""

import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import aiomysql
import pytest
import pytest_asyncio
import uuid_utils

from oxpull_async.db.contract import Scalar
from oxpull_async.db.statements import FORMAT, load_statement
from oxpull_async.domain.low_water import WHOLE
from oxpull_async.domain.record import NewTask, wire_id
from oxpull_async.drivers.aiomysql import AiomysqlDatabase, OwnSession
from oxpull_async.drivers.url import parse_url
from oxpull_async.store import enqueue, lease, operate, schema
from oxpull_async.store.id_lists import LISTED_AT_ONCE
from oxpull_async.store.stretches import last_mark
from tests.fixtures import innodb
from tests.fixtures.servers import MakeDatabase

ROWS = 3_000
IDS = json.dumps([wire_id(str(uuid_utils.uuid7())) for _ in range(3)])
LEASES = json.dumps([{"id": id_, "epoch": 1, "status": "SUCCESSFUL", "refund": False} for id_ in json.loads(IDS)])
REWRITES = json.dumps([{"id": id_, "args": "[]", "kwargs": "{}", "priority": 0} for id_ in json.loads(IDS)])
KEYS = json.dumps(["a", "b", "c"])
HOLDERS = json.dumps([
    {"unique_key": key, "holder_id": id_, "old_id": id_, "follow_up_id": id_}
    for key, id_ in zip(json.loads(KEYS), json.loads(IDS), strict=True)
])  # fmt: skip
WORKER = wire_id(str(uuid_utils.uuid7()))


@pytest.fixture(scope="module", params=["native", "char(32)"])
def place(request: pytest.FixtureRequest, make_database: MakeDatabase) -> tuple[str, str]:
    """Name a database for each column type of ids."""
    return make_database("mysql"), request.param


def new_task(number: int) -> NewTask:
    later = datetime.now(UTC) + timedelta(hours=1) if number % 3 == 0 else None
    id_, queue_name = str(uuid_utils.uuid7()), f"q{number % 4}"
    return NewTask(id_, "plans", "shop.send", queue_name, number % 5, "[]", "{}", later, 3, None)


@pytest_asyncio.fixture
async def session(place: tuple[str, str]) -> AsyncIterator[OwnSession]:
    """Lend a connection to a table with due, deferred and finished rows."""
    url, id_type = place
    database = AiomysqlDatabase(parse_url(url))
    async with database.connection() as conn:
        assert isinstance(conn, OwnSession)
        if await schema.migrate(conn, await database.uuid_type() if id_type == "native" else id_type):
            await lease.register(conn, lease.WorkerCard(WORKER, "plans", "host", 1, None, 1, 3_600))
            tasks = [new_task(number) for number in range(ROWS)]
            await enqueue.enqueue_many(conn, tasks)
            await operate.discard(conn, [task.id for task in tasks[::2]])
            cursor = await conn.link.cursor(aiomysql.Cursor)
            await cursor.execute("ANALYZE TABLE oxpull_task")
            await cursor.fetchall()
        yield conn
    await database.close()


async def plan(session: OwnSession, name: str, **values: Scalar) -> dict[str, Any]:
    """Explain a statement; gives the step that reads each table, by the table's alias."""
    statement = load_statement("mysql", name, FORMAT)
    cursor = await session.link.cursor(aiomysql.DictCursor)
    await cursor.execute(b"EXPLAIN " + session.rendered(statement.sql, statement.bind(values)))
    steps: Sequence[dict[str, Any]] = await cursor.fetchall()
    return {str(step["table"]): step for step in steps}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["claim_candidates", "locked_candidates"])
async def test_a_claim_walks_the_ready_index_in_order(session: OwnSession, name: str) -> None:
    mark = last_mark(WHOLE) if name == "claim_candidates" else {}
    steps = await plan(session, name, backend_alias="plans", queue_name="q1", limit=100, excluded_paths='["a"]', **mark)
    assert steps["t"]["key"] == "oxpull_task_ready"
    assert steps["t"]["type"] == ("range" if mark else "ref")
    assert "filesort" not in (steps["t"]["Extra"] or "")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("claimed_tasks", {"ids": IDS, "worker_id": WORKER}),
        ("settle", {"outcomes": LEASES}),
        ("mark_begun", {"attempts": LEASES}),
        ("retry_tasks", {"ids": IDS, "include_discarded": True}),
        ("discard_tasks", {"ids": IDS}),
        ("cancel_tasks", {"ids": IDS}),
        ("prune_tasks", {"ids": IDS}),
        ("get_tasks", {"ids": IDS}),
        ("keys_of_tasks", {"ids": IDS}),
        ("park_tasks", {"ids": IDS}),
        ("unpark_tasks", {"ids": IDS}),
        ("refuse_tasks", {"tasks": LEASES}),
    ],
)
async def test_rows_given_by_id_are_read_by_id_in_the_order_given(
    session: OwnSession, name: str, values: dict[str, Scalar]
) -> None:
    steps = await plan(session, name, **values)
    assert (steps["t"]["key"], steps["t"]["type"]) == ("PRIMARY", "eq_ref")
    assert next(iter(steps)) != "t"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("claim", {"worker_id": WORKER, "later_paths": "[]", "before": None}),
        ("lock_outcomes", {}),
        ("settle_locked", {}),
    ],
)
@pytest.mark.parametrize("count", [2, LISTED_AT_ONCE])
async def test_rows_in_a_list_are_read_by_id_however_long_it_is(
    session: OwnSession, name: str, values: dict[str, Scalar], count: int
) -> None:
    ids = tuple(wire_id(str(uuid_utils.uuid7())) for _ in range(count))
    step = next(
        step for table, step in (await plan(session, name, ids=ids, **values)).items() if table in {"t", "oxpull_task"}
    )
    assert (step["key"], step["type"]) == ("PRIMARY", "range")
    assert int(step["rows"]) <= count


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("lock_keys", {"keys": KEYS}),
        ("lock_free_keys", {"keys": KEYS}),
        ("find_holders", {"keys": KEYS}),
        ("find_follow_ups", {"keys": KEYS}),
        ("drop_follow_ups", {"keys": KEYS}),
        ("promote_keys", {"keys": KEYS, "ids": IDS}),
        ("inserted_keys", {"keys": HOLDERS}),
        ("take_keys", {"keys": HOLDERS}),
        ("set_follow_ups", {"keys": HOLDERS}),
    ],
)
async def test_lock_rows_given_by_key_are_read_by_key_in_the_order_given(
    session: OwnSession, name: str, values: dict[str, Scalar]
) -> None:
    steps = await plan(session, name, **values)
    assert (steps["u"]["key"], steps["u"]["type"]) == ("PRIMARY", "eq_ref")
    assert next(iter(steps)) == "j"


@pytest.mark.asyncio
async def test_marked_rows_are_found_in_the_leased_index_in_order(session: OwnSession) -> None:
    steps = await plan(session, "find_rechecks", limit=100)
    assert (steps["t"]["key"], steps["t"]["type"]) == ("oxpull_task_leased", "ref")
    assert int(steps["t"]["rows"]) < 10
    assert "filesort" not in (steps["t"]["Extra"] or "")


@pytest.mark.asyncio
async def test_a_promotion_reads_the_deferred_index(session: OwnSession) -> None:
    steps = await plan(session, "promote", limit=100)
    assert (steps["d"]["key"], steps["d"]["type"]) == ("oxpull_task_deferred", "range")
    assert "filesort" not in (steps["d"]["Extra"] or "")
    assert (steps["t"]["key"], steps["t"]["type"]) == ("PRIMARY", "eq_ref")


@pytest.mark.asyncio
async def test_a_look_at_the_queues_steps_from_queue_to_queue(session: OwnSession) -> None:
    steps = await plan(session, "peek_queue", backend_alias="plans", after="q1")
    assert steps.keys() & {"t", "d"} == set()  # the least values are read off the indexes while planning


@pytest.mark.asyncio
@pytest.mark.parametrize(("name", "values"), [("expired_tasks", {"limit": 100}), ("held_tasks", {"worker_id": WORKER})])
async def test_running_rows_are_found_by_their_worker(
    session: OwnSession, name: str, values: dict[str, Scalar]
) -> None:
    steps = await plan(session, name, **values)
    assert next(iter(steps.values()))["key"] == "oxpull_task_leased"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("find_parkable", {"lock_key": "k", "held": 1, "limit": 1000}),
        ("find_waiters", {"lock_key": "k", "place": "5 plansq1", "held": 0, "free": 1}),
        ("taken_slots", {"keys": '["k", "l"]'}),
    ],
)
async def test_rows_of_a_running_lock_are_found_in_their_order(
    session: OwnSession, name: str, values: dict[str, Scalar]
) -> None:
    steps = await plan(session, name, **values)
    assert (steps["t"]["key"], steps["t"]["type"]) == ("oxpull_task_lock", "ref")
    assert "filesort" not in (steps["t"]["Extra"] or "")


@pytest.mark.asyncio
async def test_the_places_of_waiters_are_gone_to_directly(session: OwnSession) -> None:
    steps = await plan(session, "waiting_places", keys='["k", "l"]')
    assert [(steps[name]["key"], steps[name]["type"]) for name in ("t", "h")] == [("oxpull_task_lock", "ref")] * 2
    assert "filesort" not in (steps["t"]["Extra"] or "")
    steps = await plan(session, "next_place", lock_key="k", place="5 plansq1")
    assert "t" not in steps  # read off the index while planning


@pytest.mark.asyncio
async def test_a_look_for_free_slots_reads_the_best_rows_and_the_holders_of_their_keys(session: OwnSession) -> None:
    steps = await plan(
        session, "find_startable", backend_alias="plans", queue_name="q1", limit=100, excluded_paths='["a"]'
    )
    assert (steps["t"]["key"], steps["t"]["type"]) == ("oxpull_task_ready", "ref")
    assert "filesort" not in (steps["t"]["Extra"] or "")
    assert (steps["h"]["key"], steps["h"]["type"]) == ("oxpull_task_lock", "ref")


@pytest.mark.asyncio
async def test_a_claim_locks_only_what_it_takes(session: OwnSession) -> None:
    async with session.transaction():
        where: dict[str, Scalar] = {"backend_alias": "plans", "queue_name": "q1", "limit": 50, "excluded_paths": "[]"}
        taken = await session.fetch("claim_candidates", **where, **last_mark(WHOLE))
        cursor = await session.link.cursor(aiomysql.Cursor)
        await cursor.execute(innodb.REPORT)
        locked = innodb.row_locks(await cursor.fetchall(), session.link.thread_id())
    assert len(taken) == 50
    assert 0 < locked <= 2 * len(taken)  # the entry in the ready index and the row
