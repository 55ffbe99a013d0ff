"""What is SQLite's own in sql/sqlite: how values are kept, and that no statement ever walks the backlog."""

import json
import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

import oxpull_async
from oxpull_async.db.contract import Connection
from oxpull_async.db.schema import migrations
from oxpull_async.db.statements import QMARK, load_statement
from oxpull_async.domain.errors import DataRefused
from oxpull_async.domain.outcome import Failed, Outcome, Released, Settlement, Snoozed, Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.drivers.aiosqlite import AiosqliteDatabase
from oxpull_async.drivers.url import parse_url
from oxpull_async.store import operate, queues, results, schema
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.enqueue import enqueue, enqueue_many
from oxpull_async.store.settle import settle
from tests.fixtures import make

FOLDER = Path(oxpull_async.__file__).parent / "sql" / "sqlite"
NAMES = sorted(path.stem for path in FOLDER.glob("*.sql") if path.stem != "now")
OTHERS_TABLES = re.compile("django_ox_|oxpull_oxpull")  # those that `oxpull_move` reads
OURS = [name for name in NAMES if not OTHERS_TABLES.search((FOLDER / f"{name}.sql").read_text(encoding="utf-8"))]


@pytest_asyncio.fixture
async def conn(sqlite_url: str) -> AsyncIterator[Connection]:
    database = AiosqliteDatabase(parse_url(sqlite_url))
    async with database.connection() as conn:
        await schema.migrate(conn, "char(32)")
        yield conn
    await database.close()


@pytest.mark.asyncio
async def test_numbers_and_texts_are_stored_as_they_were_given(conn: Connection) -> None:
    args = '[18446744073709551615,-9223372036854775808,0.1,1.0,1e300,"\\u00e9\\ud83d\\ude00"]'
    await enqueue(conn, make.new_task(args=args))
    await enqueue_many(conn, [make.new_task(args=args)])
    claimed = await make.claimed(conn, await make.worker(conn))
    assert [task.args for task in claimed] == [args, args]
    await settle(conn, [Settlement(make.lease(task), Succeeded(args)) for task in claimed])
    values = await conn.fetch("get_tasks", ids=json.dumps([task.id.replace("-", "") for task in claimed]))
    assert [row[22] for row in values] == [args, args]


@pytest.mark.asyncio
async def test_instants_have_the_form_in_which_django_writes_them(conn: Connection) -> None:
    await enqueue(conn, make.new_task(run_after=datetime(2040, 1, 2, 3, 4, 5, 0, UTC)))
    await make.settled(conn, await make.running(conn), Failed(make.ERROR, 2.5))
    rows = await conn.fetch(
        "list_tasks", backend_alias=make.ALIAS, status=None, queue_name=None, task_path=None, limit=9
    )
    instants = [value for row in rows for value in row[9:15] if value is not None]
    instants += [value for row in await conn.fetch("workers", backend_alias=make.ALIAS) for value in row[5:7]]
    assert instants.count("2040-01-02 03:04:05.000000") == 2
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", value) for value in instants)


@pytest.mark.asyncio
@pytest.mark.parametrize("written", ["2000-01-01 00:00:00", "2000-01-01 00:00:00.5"])
async def test_a_due_instant_without_all_its_digits_is_due(conn: Connection, written: str) -> None:
    await enqueue(conn, make.new_task(run_after=datetime(2040, 1, 1, tzinfo=UTC)))
    await conn.run_script(f"UPDATE oxpull_task SET available_at = '{written}', run_after = '{written}'")
    due_in = (await queues.peek(conn, make.ALIAS)).next_due_in
    assert due_in is not None
    assert due_in < -800_000_000
    assert await queues.promote(conn, 10) == 1
    (claimed,) = await make.claimed(conn, await make.worker(conn))
    assert claimed.available_at.year == 2000


@pytest.mark.asyncio
@pytest.mark.parametrize("outcome", [Released(), Snoozed(0.0), Succeeded("1"), Failed("{}", 1.0)], ids=str)
async def test_of_two_epochs_of_one_task_only_the_present_one_settles(conn: Connection, outcome: Outcome) -> None:
    worker_id = await make.worker(conn)
    first = await make.running(conn, worker_id)
    await make.settled(conn, first, Failed("{}", 0.0))
    (second,) = await make.claimed(conn, worker_id)
    both = [Settlement(make.lease(task), outcome) for task in (first, second)]
    assert list(await settle(conn, both)) == [make.lease(second)]


@pytest.mark.asyncio
async def test_a_refund_puts_back_what_the_claim_had_set(conn: Connection) -> None:
    worker_id = await make.worker(conn)
    first = await make.running(conn, worker_id)
    await make.settled(conn, first, Failed("{}", 0.0))
    before = await make.record(conn, first.id)
    (second,) = await make.claimed(conn, worker_id)
    await make.settled(conn, second, Released())
    assert await make.record(conn, first.id) == replace(before, epoch=before.epoch + 2)


@pytest.mark.asyncio
@pytest.mark.parametrize("outcome", [Failed("{}", None), Failed("{}", 1.0), Snoozed(1.0), Released()], ids=str)
async def test_a_cancel_request_turns_every_end_but_success_into_discarded(conn: Connection, outcome: Outcome) -> None:
    stopped, done = await make.running(conn), await make.running(conn)
    assert await operate.cancel(conn, [stopped.id, done.id]) == 2
    assert await make.settled(conn, stopped, outcome) is TaskStatus.DISCARDED
    assert await make.settled(conn, done, Succeeded("1")) is TaskStatus.SUCCESSFUL


@pytest.mark.asyncio
@pytest.mark.parametrize("args", ["not json", "", "[NaN]"])
async def test_what_is_no_json_is_refused(conn: Connection, args: str) -> None:
    with pytest.raises(DataRefused):
        await enqueue(conn, make.new_task(args=args))
    with pytest.raises(DataRefused):
        await enqueue_many(conn, [make.new_task(), make.new_task(args=args)])
    assert await results.list_tasks(conn, make.ALIAS, results.TaskFilter()) == []


@pytest.mark.asyncio
async def test_a_delay_beyond_the_calendar_is_refused(conn: Connection) -> None:
    task = await make.running(conn)
    with pytest.raises(DataRefused):
        await make.settled(conn, task, Snoozed(1e13))
    assert await make.record(conn, task.id) == task


@pytest.mark.asyncio
async def test_each_of_many_queues_gives_its_best(conn: Connection) -> None:
    names = tuple(f"q{number}" for number in range(5))
    tasks = [make.new_task(queue_name=name, priority=priority) for name in names for priority in (1, 9, 5)]
    await enqueue_many(conn, tasks)
    request = ClaimRequest(await make.worker(conn), make.ALIAS, names, 5)
    assert [(task.queue_name, task.priority) for task in await claim(conn, request)] == [(name, 9) for name in names]
    assert [task.priority for task in await claim(conn, replace(request, limit=7))] == [5] * 5 + [1] * 2


def test_counted_statements_begin_with_the_word_that_python_counts_by() -> None:
    words = {name: load_statement("sqlite", name, QMARK).sql.split()[0] for name in NAMES}
    others = {name for name, word in words.items() if word not in {"SELECT", "INSERT", "UPDATE", "DELETE"}}
    assert others == {"create_schema_table", "find_cone", "find_doomed", "glance", "lock_migrations", "settle"}


def statistics(rows: int) -> Iterator[tuple[str, str]]:
    """Give what ANALYZE would say of a table of so many rows."""
    yield "sqlite_autoindex_oxpull_task_1", f"{rows} 1"
    yield "oxpull_task_ready", f"{rows} {rows} {rows} 1 1 1"
    yield "oxpull_task_ready_locked", f"{rows} {rows} {rows} 1 1 1"
    yield "oxpull_task_limited", f"{rows} {rows} {rows} {rows} {rows} 1 1 1"
    yield "oxpull_task_leased", f"{rows} {rows}"
    yield "oxpull_task_deferred", f"{rows} 1"
    yield "oxpull_task_recheck", f"{rows} 1"
    yield "oxpull_task_lock_ready", f"{rows} {rows} 1 1 1"
    yield "oxpull_task_lock_waiting", f"{rows} {rows} {rows} {rows} 1 1 1"
    yield "oxpull_task_lock_running", f"{rows} {rows}"


@pytest.fixture(params=[None, 1, 50, 100_000], ids=["no statistics", "analyzed empty", "small", "large"])
def planner(request: pytest.FixtureRequest) -> Iterator[sqlite3.Connection]:
    """Give an empty migrated database that believes what its statistics say."""
    file = sqlite3.connect(":memory:")
    file.execute(load_statement("sqlite", "create_schema_table", QMARK).sql)
    for migration in migrations("sqlite", "char(32)"):
        for statement in migration.statements:
            file.execute(statement)
    if request.param is not None:
        file.execute("ANALYZE")
        rows = [("oxpull_task", *row) for row in statistics(request.param)]
        rows += [("oxpull_unique", "sqlite_autoindex_oxpull_unique_1", f"{request.param} 1")]
        file.executemany("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", rows)
        file.execute("ANALYZE sqlite_schema")
    yield file
    file.close()


def plan_of(file: sqlite3.Connection, name: str) -> list[str]:
    statement = load_statement("sqlite", name, QMARK)
    values = [7 if parameter == "limit" else "[]" for parameter in statement.parameters]
    commands = statement.dealt(values)
    return [row[3] for sql, share in commands for row in file.execute(f"EXPLAIN QUERY PLAN {sql}", share)]


@pytest.mark.parametrize("name", [name for name in OURS if name not in {"create_schema_table", "stats", "list_tasks"}])
def test_no_statement_walks_the_task_table_whatever_the_statistics_say(planner: sqlite3.Connection, name: str) -> None:
    tables = "oxpull_task|oxpull_unique|[tuhkf]|best"
    walks = re.compile(
        rf"(?:SCAN|BLOOM FILTER ON) ({tables})\b(?! USING INDEX oxpull_task_(deferred|recheck|lock_ready|lock_waiting))"
    )
    assert [step for step in plan_of(planner, name) if walks.match(step)] == []


def test_the_claim_sorts_its_candidates_only(planner: sqlite3.Connection) -> None:
    plan = plan_of(planner, "claim")
    assert "SEARCH t USING INDEX oxpull_task_ready (backend_alias=? AND queue_name=?)" in plan
    inner = plan.index("SEARCH t USING INDEX oxpull_task_ready (backend_alias=? AND queue_name=?)")
    assert [plan.index(step) > inner for step in plan if "TEMP B-TREE" in step] == [True]


def test_only_what_sorts_few_rows_or_counts_sorts(planner: sqlite3.Connection) -> None:
    assert {name for name in OURS if any("TEMP B-TREE" in step for step in plan_of(planner, name))} <= {
        "claim", "claim_past_locked", "claim_candidates", "locked_candidates", "find_startable", "stats",
        "find_idle_locks", "living_workers", "recent_outcomes", "unfinished_by_queue", "rate_limits",
    }  # fmt: skip


def test_the_lock_of_migrations_needs_no_table_and_makes_any_transaction_the_writer(tmp_path: Path) -> None:
    with (
        closing(sqlite3.connect(tmp_path / "new.db", isolation_level=None)) as first,
        closing(sqlite3.connect(tmp_path / "new.db", isolation_level=None, timeout=0)) as second,
    ):
        first.execute("BEGIN DEFERRED")
        first.execute(load_statement("sqlite", "lock_migrations", QMARK).sql).fetchall()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            second.execute("BEGIN IMMEDIATE")
