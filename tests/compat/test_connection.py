"""The core's Connection over Django's: it joins whatever the caller has opened, and assumes nothing about it."""

import asyncio
import json
import sqlite3
import threading
from datetime import UTC, datetime

import pytest
from django.core.exceptions import SynchronousOnlyOperation
from django.db import connections, transaction
from django.db.transaction import TransactionManagementError

from compat_sync import exceptions
from compat_sync.connection import DjangoConnection
from compat_sync.shim import WrongWorld, run_blocking
from oxpull_async.db.contract import MAX_BATCH_BYTES
from oxpull_async.domain.errors import (
    ConnectionLost,
    DatabaseTrouble,
    DatabaseUnavailable,
    DataRefused,
    LockTimeout,
    UsageError,
)
from oxpull_async.domain.outcome import Succeeded
from oxpull_async.store import queues
from oxpull_async.store.enqueue import enqueue, enqueue_many
from tests.compat.conftest import Kind, MakeAlias
from tests.compat.django_aliases import add_alias, drop_alias
from tests.fixtures import make


class Regret(Exception):
    pass


def count(alias: str) -> int:
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM oxpull_task")
        return int(cursor.fetchone()[0])


def test_a_task_of_the_caller_s_transaction_goes_with_it(conn: DjangoConnection) -> None:
    with transaction.atomic(using=conn.alias):
        run_blocking(enqueue(conn, make.new_task()))
        assert count(conn.alias) == 1
        transaction.set_rollback(True, using=conn.alias)
    assert count(conn.alias) == 0


def test_a_task_of_the_caller_s_savepoint_goes_with_it(conn: DjangoConnection) -> None:
    with transaction.atomic(using=conn.alias):
        run_blocking(enqueue(conn, make.new_task()))
        with transaction.atomic(using=conn.alias):
            run_blocking(enqueue_many(conn, [make.new_task()]))
            transaction.set_rollback(True, using=conn.alias)
    assert count(conn.alias) == 1


def test_without_a_transaction_a_task_is_there_at_once(conn: DjangoConnection) -> None:
    run_blocking(enqueue(conn, make.new_task()))
    connections[conn.alias].close()
    assert count(conn.alias) == 1


def test_a_failure_inside_the_core_leaves_the_caller_s_transaction_usable(conn: DjangoConnection) -> None:
    with transaction.atomic(using=conn.alias):
        run_blocking(enqueue(conn, make.new_task()))
        with pytest.raises(DataRefused):
            run_blocking(enqueue_many(conn, [make.new_task(), make.new_task(args="{")]))
        assert count(conn.alias) == 1
    assert count(conn.alias) == 1


def test_a_block_of_the_core_is_an_atomic_block_to_django(conn: DjangoConnection) -> None:
    async def core() -> None:
        async with conn.transaction():
            assert connections[conn.alias].in_atomic_block
            await enqueue(conn, make.new_task())
        assert not connections[conn.alias].in_atomic_block

    run_blocking(core())
    assert count(conn.alias) == 1


def test_after_commit_waits_for_the_caller_s_outermost_block(conn: DjangoConnection) -> None:
    called: list[str] = []

    async def core() -> None:
        async with conn.transaction():
            conn.after_commit(lambda: called.append("committed"))

    with transaction.atomic(using=conn.alias):
        run_blocking(core())
        assert called == []
    assert called == ["committed"]


def test_a_callback_that_fails_hurts_nobody(conn: DjangoConnection, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise Regret

    called: list[str] = []
    with transaction.atomic(using=conn.alias):
        conn.after_commit(fail)
        conn.after_commit(lambda: called.append("second"))
        run_blocking(enqueue(conn, make.new_task()))
    assert called == ["second"]
    assert count(conn.alias) == 1
    assert "Regret" in caplog.text


def test_with_autocommit_off_the_caller_commits(conn: DjangoConnection) -> None:
    called: list[str] = []
    transaction.set_autocommit(autocommit=False, using=conn.alias)
    try:
        run_blocking(enqueue_many(conn, [make.new_task()]))
        conn.after_commit(lambda: called.append("unseen"))
        transaction.rollback(using=conn.alias)
        assert count(conn.alias) == 0
        run_blocking(enqueue_many(conn, [make.new_task()]))
        transaction.commit(using=conn.alias)
    finally:
        transaction.set_autocommit(autocommit=True, using=conn.alias)
    assert count(conn.alias) == 1
    assert called == []


def test_with_autocommit_off_a_block_of_the_core_is_a_savepoint(conn: DjangoConnection) -> None:
    transaction.set_autocommit(autocommit=False, using=conn.alias)
    try:
        run_blocking(enqueue(conn, make.new_task()))
        with pytest.raises(DataRefused):
            run_blocking(enqueue_many(conn, [make.new_task(), make.new_task(args="{")]))
        transaction.commit(using=conn.alias)
    finally:
        transaction.set_autocommit(autocommit=True, using=conn.alias)
    assert count(conn.alias) == 1


def test_a_broken_block_of_the_caller_is_trouble_and_names_djangos_own_error(conn: DjangoConnection) -> None:
    with transaction.atomic(using=conn.alias):
        transaction.set_rollback(True, using=conn.alias)
        with pytest.raises(DatabaseTrouble) as broken:
            run_blocking(enqueue(conn, make.new_task()))
        assert isinstance(broken.value.__cause__, TransactionManagementError)
    assert count(conn.alias) == 0


def test_a_block_of_ours_does_not_end_in_a_rollback_in_silence(conn: DjangoConnection) -> None:

    async def write_and_hide() -> None:
        async with conn.transaction():
            await enqueue(conn, make.new_task())
            transaction.set_rollback(True, using=conn.alias)

    with pytest.raises(DatabaseTrouble, match="rolled back"):
        run_blocking(write_and_hide())
    assert count(conn.alias) == 0
    with transaction.atomic(using=conn.alias):
        run_blocking(enqueue(conn, make.new_task()))
        with pytest.raises(DatabaseTrouble, match="rolled back"):
            run_blocking(write_and_hide())
    assert count(conn.alias) == 1


def test_errors_that_are_named_already_stay_as_they_are(conn: DjangoConnection) -> None:
    named = exceptions.LockTimeout("from a callback")

    def call() -> None:
        raise named

    async def write() -> None:
        async with conn.transaction():
            transaction.on_commit(call, using=conn.alias)

    with pytest.raises(exceptions.LockTimeout) as caught:
        run_blocking(write())
    assert caught.value is named


def test_django_s_hooks_around_statements_see_the_core_s(conn: DjangoConnection) -> None:
    seen: list[str] = []

    def note(execute, sql, params, many, context):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        seen.append(sql)
        return execute(sql, params, many, context)

    with connections[conn.alias].execute_wrapper(note):
        run_blocking(enqueue(conn, make.new_task()))
    assert any("INSERT INTO oxpull_task" in sql for sql in seen)


def test_each_thread_uses_its_own_connection(conn: DjangoConnection) -> None:
    def in_a_thread() -> None:
        run_blocking(enqueue(conn, make.new_task()))
        connections[conn.alias].close()

    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join(10)
    assert count(conn.alias) == 1


def test_a_running_loop_is_refused_before_django_is_asked(conn: DjangoConnection) -> None:
    async def view() -> None:
        with pytest.raises(WrongWorld):
            run_blocking(enqueue(conn, make.new_task()))

    asyncio.run(view())
    assert count(conn.alias) == 0


def test_awaiting_the_connection_under_a_loop_is_django_s_to_refuse(conn: DjangoConnection) -> None:
    with pytest.raises(SynchronousOnlyOperation):
        asyncio.run(enqueue(conn, make.new_task()))


def test_a_lost_connection_is_replaced_by_the_next_call(conn: DjangoConnection, kind: Kind) -> None:
    if kind == "sqlite":
        return  # a file has no sessions to lose
    run_blocking(enqueue(conn, make.new_task()))
    end_session(conn.alias, kind)
    with pytest.raises(ConnectionLost):
        run_blocking(enqueue(conn, make.new_task()))
    run_blocking(enqueue(conn, make.new_task()))
    assert count(conn.alias) == 2


def test_a_connection_lost_inside_atomic_is_replaced_after_it(conn: DjangoConnection, kind: Kind) -> None:
    if kind == "sqlite":
        return

    def lose() -> None:
        with transaction.atomic(using=conn.alias):
            run_blocking(enqueue(conn, make.new_task()))
            end_session(conn.alias, kind)
            run_blocking(enqueue(conn, make.new_task()))

    with pytest.raises(ConnectionLost):
        lose()
    run_blocking(enqueue(conn, make.new_task()))
    assert count(conn.alias) == 1


def end_session(alias: str, kind: Kind) -> None:
    django = connections[alias]
    helper = django.copy()
    with django.cursor() as cursor, helper.cursor() as other:
        cursor.execute("SELECT pg_backend_pid()" if kind == "postgres" else "SELECT connection_id()")
        session = int(cursor.fetchone()[0])
        other.execute(f"SELECT pg_terminate_backend({session}, 5000)" if kind == "postgres" else f"KILL {session}")
    helper.close()


@pytest.mark.parametrize("url", ["postgresql://root@127.0.0.1:1/nowhere", "mysql://root@127.0.0.1:1/nowhere"])
def test_a_server_that_is_not_there_is_unavailable_and_not_lost(url: str) -> None:
    add_alias("nowhere", url)
    with pytest.raises(DatabaseUnavailable) as caught:
        run_blocking(queues.paused_queues(DjangoConnection("nowhere"), make.ALIAS))
    drop_alias("nowhere")
    assert type(caught.value) is DatabaseUnavailable


def test_a_file_that_cannot_be_opened_is_unavailable() -> None:
    add_alias("nowhere", "sqlite:////nonexistent/folder/tasks.db")
    with pytest.raises(DatabaseUnavailable):
        run_blocking(queues.paused_queues(DjangoConnection("nowhere"), make.ALIAS))
    drop_alias("nowhere")


def test_a_database_of_another_kind_is_refused_by_name() -> None:
    add_alias("odd", "sqlite:///odd.db")
    connections["odd"].vendor = "oracle"
    with pytest.raises(UsageError, match=r"DATABASES\['odd'\] is a oracle database.*name another alias"):
        run_blocking(queues.paused_queues(DjangoConnection("odd"), make.ALIAS))
    drop_alias("odd")


def test_A7_a_batch_is_bounded_by_what_the_server_takes(conn: DjangoConnection, kind: Kind) -> None:
    limit = conn.max_batch_bytes
    if kind != "mysql":
        assert limit == MAX_BATCH_BYTES
        return
    with connections[conn.alias].cursor() as cursor:
        cursor.execute("SELECT @@max_allowed_packet")
        assert limit == min(MAX_BATCH_BYTES, cursor.fetchone()[0] // 4)


def test_A7_the_server_is_asked_for_its_packet_size_once_a_connection(make_alias: MakeAlias) -> None:
    conn = DjangoConnection(make_alias("mysql"))
    seen: list[str] = []

    def note(execute, sql, params, many, context):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        seen.append(sql)
        return execute(sql, params, many, context)

    with connections[conn.alias].execute_wrapper(note):
        assert len({conn.max_batch_bytes for _ in range(3)}) == 1
        assert len(seen) == 1
        connections[conn.alias].close()
        assert conn.max_batch_bytes > 0
    assert len(seen) == 2


def test_F3_a_session_that_counts_changed_rows_only_is_no_obstacle(make_alias: MakeAlias) -> None:
    conn = DjangoConnection(make_alias("mysql", client_flag=0))

    async def life() -> None:
        worker = await make.worker(conn)
        task = await make.running(conn, worker)
        assert await make.settled(conn, task, Succeeded("1")) == "SUCCESSFUL"
        assert await queues.set_paused(conn, make.ALIAS, "q", paused=True)
        assert not await queues.set_paused(conn, make.ALIAS, "q", paused=True)

    run_blocking(life())


@pytest.mark.parametrize("level", ["read uncommitted", "repeatable read", "serializable"])
def test_F3_the_session_s_isolation_level_is_no_obstacle(make_alias: MakeAlias, level: str) -> None:
    conn = DjangoConnection(make_alias("mysql", isolation_level=level))
    task = run_blocking(make.successful(conn))
    assert task.status == "SUCCESSFUL"


def test_F3_values_bound_by_the_server_are_no_obstacle(make_alias: MakeAlias) -> None:
    conn = DjangoConnection(make_alias("postgres", server_side_binding=True))

    async def life() -> None:
        for status, build in make.BUILDERS.items():
            when = datetime(2031, 7, 1, tzinfo=UTC)
            task = await build(conn, queue_name=str(status), priority=-7, timeout=1.5, args=json.dumps(["ü", 1.0]))
            assert (task.status, task.priority, task.timeout, task.args) == (status, -7, 1.5, ["ü", 1.0])
            assert (await make.ready(conn, run_after=when)).available_at == when
        await queues.peek(conn, make.ALIAS)
        await queues.promote(conn, 10)
        await queues.stats(conn, make.ALIAS)

    run_blocking(life())


@pytest.mark.parametrize("mode", [None, "DEFERRED", "IMMEDIATE", "EXCLUSIVE"])
def test_F3_every_transaction_mode_of_a_file_works(make_alias: MakeAlias, mode: str | None) -> None:
    alias = make_alias("sqlite", transaction_mode=mode)
    conn = DjangoConnection(alias)
    with transaction.atomic(using=alias):
        task = run_blocking(make.successful(conn))
    assert task.status == "SUCCESSFUL"
    assert vars(connections[alias])["transaction_mode"] == mode


def test_a_block_of_the_core_waits_for_a_file_s_other_writer_instead_of_failing_at_its_first_write(
    make_alias: MakeAlias,
) -> None:
    conn, rival = (DjangoConnection(make_alias("sqlite", timeout=0.05)) for _ in range(2))

    async def read_then_write() -> None:
        async with conn.transaction():
            await queues.paused_queues(conn, make.ALIAS)
            with pytest.raises(LockTimeout):
                await enqueue(rival, make.new_task())
            await enqueue(conn, make.new_task())

    run_blocking(read_then_write())
    assert count(conn.alias) == 1


def test_a_caller_s_deferred_transaction_that_is_out_of_date_says_that_it_is_lost(make_alias: MakeAlias) -> None:
    conn, rival = (DjangoConnection(make_alias("sqlite", timeout=0.05)) for _ in range(2))
    with transaction.atomic(using=conn.alias):
        count(conn.alias)
        run_blocking(enqueue(rival, make.new_task()))
        with pytest.raises(LockTimeout) as caught:
            run_blocking(enqueue(conn, make.new_task()))
        assert not caught.value.transaction_survived
        assert isinstance(caught.value.__cause__, Exception)
        assert isinstance(caught.value.__cause__.__cause__, sqlite3.OperationalError)
        transaction.set_rollback(True, using=conn.alias)


def test_F4_django_and_the_core_agree_about_the_type_of_ids(conn: DjangoConnection, kind: Kind) -> None:
    expected = {"postgres": {"uuid"}, "mysql": {"uuid", "char(32)"}, "sqlite": {"char(32)"}}
    assert run_blocking(conn.uuid_type()) in expected[kind]


def test_F4_a_server_whose_uuid_does_not_sort_by_time_is_refused(make_alias: MakeAlias) -> None:
    conn = DjangoConnection(make_alias("mysql"))
    django = connections[conn.alias]
    vars(django)["mysql_version"] = (10, 11, 4)
    vars(django)["data_types"] = {"UUIDField": "uuid"}
    with pytest.raises(DatabaseTrouble, match=r"upgrade it to 10\.11\.5"):
        run_blocking(conn.uuid_type())
