"""Storing new tasks: one or many, in the caller's transaction or not at all."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import DataRefused
from oxpull_async.domain.record import TaskStatus
from oxpull_async.store.enqueue import enqueue, enqueue_many, notify
from oxpull_async.store.results import get_task, get_tasks
from tests.conformance.spy import Spy
from tests.fixtures import make, raw

SECOND = timedelta(seconds=1)


async def test_a_stored_task_is_what_was_given(conn: Connection) -> None:
    when = datetime.now(UTC) + timedelta(hours=1)
    task = make.new_task(
        backend_alias="mail", task_path="shop.tasks.ünïcode", queue_name="bulk 世界", priority=-100,
        args='[1, "x"]', kwargs='{"k": [null]}', run_after=when, max_attempts=32_767, timeout=2.5,
    )  # fmt: skip
    stored = await enqueue(conn, task)
    found = await make.record(conn, task.id)
    assert (found.id, found.backend_alias, found.task_path) == (task.id, "mail", "shop.tasks.ünïcode")
    assert (found.queue_name, found.priority, found.status) == ("bulk 世界", -100, TaskStatus.READY)
    assert (found.args, found.kwargs, found.run_after) == ([1, "x"], {"k": [None]}, when)
    assert (found.max_attempts, found.timeout) == (32_767, 2.5)
    assert (found.enqueued_at, found.available_at) == (stored.enqueued_at, stored.available_at)


async def test_a_new_task_has_no_history(conn: Connection) -> None:
    task = await make.ready(conn)
    assert (task.attempts, task.epoch, task.worker_ids, task.errors) == (0, 0, (), ())
    assert (task.started_at, task.last_attempted_at, task.finished_at, task.leased_by) == (None, None, None, None)
    assert (task.return_value, task.progress, task.cancel_requested, task.waiting_for) == (None, None, False, None)
    assert (task.run_after, task.timeout) == (None, None)


async def test_F1_a_task_is_stamped_by_the_database(conn: Connection) -> None:
    stored = await enqueue(conn, make.new_task())
    assert abs(stored.enqueued_at - datetime.now(UTC)) < 10 * SECOND
    assert stored.available_at == stored.enqueued_at


@pytest.mark.parametrize("distance", [timedelta(days=400), timedelta(seconds=30), -timedelta(days=400)])
async def test_A5_run_after_is_when_a_task_becomes_available(conn: Connection, distance: timedelta) -> None:
    when = datetime.now(UTC) + distance
    stored = await enqueue(conn, make.new_task(run_after=when))
    assert stored.available_at == when


async def test_run_after_may_have_any_time_zone(conn: Connection) -> None:
    when = datetime.fromisoformat("2031-07-01T12:00:00.123456+05:45")
    task = await make.ready(conn, run_after=when)
    assert task.run_after == when
    assert task.available_at == when


async def test_F3_the_session_s_time_zone_does_not_matter(conn: Connection) -> None:
    when = datetime(2031, 7, 1, 12, tzinfo=UTC)
    async with raw.away_from_utc(conn):
        one = await make.ready(conn, run_after=when)
        many = make.new_task(run_after=when)
        [stored] = await enqueue_many(conn, [many])
        assert (one.run_after, one.available_at, stored.available_at) == (when, when, when)
        assert abs(one.enqueued_at - datetime.now(UTC)) < 10 * SECOND
    for task_id in (one.id, many.id):
        assert (await make.record(conn, task_id)).run_after == when


async def test_enqueue_leaves_nothing_when_the_transaction_is_rolled_back(conn: Connection) -> None:
    async with raw.taken_back(conn):
        await enqueue(conn, make.new_task())
        await enqueue_many(conn, [make.new_task()])
    assert await raw.count_tasks(conn) == 0


async def test_an_enqueued_task_is_invisible_before_the_commit(conn: Connection, other: Connection) -> None:
    task = make.new_task()
    async with conn.transaction():
        await enqueue(conn, task)
        assert await get_task(conn, task.id) is not None
        assert await get_task(other, task.id) is None
    assert await get_task(other, task.id) is not None


async def test_many_are_stored_as_given(conn: Connection) -> None:
    when = datetime.now(UTC) + timedelta(hours=1)
    tasks = [
        make.new_task(task_path=f"path.{n}", priority=n, args=json.dumps([n, "ä🌍"]), run_after=when if n % 2 else None)
        for n in range(5)
    ]
    await enqueue_many(conn, tasks)
    found = await get_tasks(conn, [task.id for task in tasks])
    assert [(found[t.id].task_path, found[t.id].priority, found[t.id].args) for t in tasks] == [
        (f"path.{n}", n, [n, "ä🌍"]) for n in range(5)
    ]
    assert [found[t.id].run_after for t in tasks] == [None, when, None, when, None]


async def test_many_answer_in_the_order_of_the_call(conn: Connection) -> None:
    start = datetime.now(UTC) + timedelta(days=1)
    tasks = [make.new_task(run_after=start + n * SECOND) for n in (3, 1, 2, 0)]
    tasks.reverse()
    stored = await enqueue_many(conn, tasks)
    assert [one.available_at for one in stored] == [task.run_after for task in tasks]


async def test_many_of_none_is_nothing(conn: Connection) -> None:
    assert await enqueue_many(conn, []) == []


async def test_many_equal_single_ones(conn: Connection) -> None:
    single, bulk = make.new_task(timeout=0.1, args="[1.0]"), make.new_task(timeout=0.1, args="[1.0]")
    await enqueue(conn, single)
    await enqueue_many(conn, [bulk])
    one, other = await make.record(conn, single.id), await make.record(conn, bulk.id)
    same = ("status", "args", "kwargs", "timeout", "attempts", "epoch", "worker_ids", "errors", "run_after")
    assert [getattr(one, name) for name in same] == [getattr(other, name) for name in same]


async def test_many_of_different_kinds_are_each_what_was_given(conn: Connection) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    options: list[make.Options] = [
        {}, {"priority": 5}, {"queue_name": "bulk"}, {"run_after": soon}, {"timeout": 1.5}, {"max_attempts": 9},
        {"delay": 60.5}, {"lock_key": "l", "lock_limit": 2, "lock_conflict": "discard"}, {"limit_keys": "k"},
        {"waiting_for": "edges"}, {"unique_key": "u", "reruns": True}, {"batch_id": make.new_id()},
        {"workflow_id": make.new_id()}, {"kwargs": '{"x": 1.0}'}, {"backend_alias": "other"},
    ]  # fmt: skip
    pairs = [(make.new_task(**one), make.new_task(**one)) for one in (*options, *options)]
    single = [await enqueue(conn, task) for task, _ in pairs]
    many = await enqueue_many(conn, [task for _, task in pairs])
    for (alone, beside), stored, other in zip(pairs, single, many, strict=True):
        rows = [(await raw.columns(conn, task.id)) for task in (alone, beside)]
        assert rows[0] == rows[1]
        records = [await make.record(conn, task.id) for task in (alone, beside)]
        assert [(one.enqueued_at, one.available_at) for one in records] == [
            (one.enqueued_at, one.available_at) for one in (stored, other)
        ]
        assert other.available_at - other.enqueued_at == stored.available_at - stored.enqueued_at or alone.run_after


async def test_a_delay_beyond_the_calendar_is_refused_and_nothing_is_written(conn: Connection) -> None:
    with pytest.raises(DataRefused):
        await enqueue(conn, make.new_task(delay=1e13))
    with pytest.raises(DataRefused):
        await enqueue_many(conn, [make.new_task(), make.new_task(delay=1e13)])
    assert await raw.count_tasks(conn) == 0


async def test_a_plain_task_is_one_narrow_statement_and_many_are_one_without_a_transaction(conn: Connection) -> None:
    spy = Spy(conn)
    clock = [] if conn.dialect.insert_returns_rows else ["read_clock"]
    await enqueue(spy, make.new_task())
    assert [name for name, _ in spy.sent] == [*clock, "insert_plain_task"]
    spy.sent.clear()
    await enqueue_many(spy, [make.new_task() for _ in range(300)])
    assert [name for name, _ in spy.sent] == [*clock, "insert_tasks"]
    assert spy.transactions == 0


async def test_what_many_tasks_have_in_common_is_sent_once(conn: Connection) -> None:
    spy = Spy(conn)
    await enqueue_many(spy, [make.new_task(task_path="p" * 255, queue_name="q" * 128) for _ in range(100)])
    assert spy.sent[-1][1] < 100 * 255


async def test_A7_many_are_cut_into_statements_the_connection_can_carry(conn: Connection) -> None:
    spy = Spy(conn, max_batch_bytes=2_000)
    tasks = [make.new_task(args=json.dumps(["x" * 500])) for _ in range(7)]
    stored = await enqueue_many(spy, tasks)
    inserts = [size for name, size in spy.sent if name == "insert_tasks"]
    assert len(stored) == await raw.count_tasks(conn) == 7
    assert len(inserts) == 4
    assert max(inserts) <= 2_000


async def test_A7_a_bad_row_in_a_later_chunk_writes_nothing(conn: Connection) -> None:
    tasks = [make.new_task(args=json.dumps(["x" * 500])) for _ in range(7)]
    with pytest.raises(DataRefused):
        await enqueue_many(Spy(conn, max_batch_bytes=2_000), [*tasks, make.new_task(args="{")])
    assert await raw.count_tasks(conn) == 0


async def test_more_than_a_thousand_rows_go_in(conn: Connection) -> None:
    tasks = [make.new_task() for _ in range(1_500)]
    stored = await enqueue_many(conn, tasks)
    assert len(stored) == await raw.count_tasks(conn) == 1_500


async def test_a_large_payload_goes_in(conn: Connection) -> None:
    args = json.dumps(["ä" * 100_000], ensure_ascii=False)
    task = await make.ready(conn, args=args)
    assert task.args == json.loads(args)


async def test_notify_may_be_called_on_every_database(conn: Connection) -> None:
    async with conn.transaction():
        await notify(conn, "a queue's name")
    await notify(conn, make.QUEUE)
