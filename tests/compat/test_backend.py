"""The backend's promises: what is stored, what is answered, and what a rollback takes back."""

import asyncio
import math
import pickle
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import pytest
from asgiref.sync import async_to_sync
from django import db
from django.core.exceptions import SynchronousOnlyOperation
from django.db import DatabaseError, connections, transaction
from django.dispatch import Signal
from django.tasks import TaskResultStatus, signals, task_backends
from django.tasks.exceptions import InvalidTask, TaskException
from django.tasks.exceptions import TaskResultDoesNotExist as DjangoDoesNotExist
from django.test import override_settings

from compat_sync import actions
from compat_sync.backend import OxpullBackend
from compat_sync.exceptions import (
    AlreadyEnqueued,
    Conflict,
    ConnectionLost,
    Contended,
    DatabaseTrouble,
    DataRefused,
    InvalidArguments,
    LockTimeout,
    NotMigrated,
    PoolExhausted,
    TaskResultDoesNotExist,
    UniqueEnqueueRace,
    UsageError,
)
from compat_sync.models import OxpullQueue
from compat_sync.operations import operations_of
from compat_sync.results import TaskResult
from compat_sync.shim import run_blocking
from oxpull_async import Unique, errors
from oxpull_async.domain.record import TaskStatus
from tests.compat import shop
from tests.compat.conftest import Kind
from tests.compat.worker.sessions import kill_own


class Heard:
    """A receiver that keeps what it was sent."""

    def __init__(self, signal: Signal) -> None:
        self.results: list[TaskResult] = []
        self.in_transaction: list[bool] = []
        self._signal = signal

    def __enter__(self) -> Self:
        self._signal.connect(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        self._signal.disconnect(self._hear)

    def _hear(self, task_result: TaskResult, **_: Any) -> None:
        self.results.append(task_result)


def backend() -> OxpullBackend:
    found = task_backends["default"]
    assert isinstance(found, OxpullBackend)
    return found


def stored(result: TaskResult) -> TaskResult:
    return backend().get_result(result.id)


def test_an_enqueued_task_is_read_back_as_it_was_enqueued(site: str) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    result = shop.send_invoice.using(priority=7, queue_name="mail", run_after=later).enqueue(42, copy=True)
    found = stored(result)
    assert (found.args, found.kwargs) == ([42], {"copy": True})
    assert (found.task.priority, found.task.queue_name, found.task.run_after) == (7, "mail", later)
    assert found.task.func is shop.send_invoice.func
    assert found.status == result.status == TaskResultStatus.READY
    assert (found.stored_status, found.attempts, found.errors, found.worker_ids) == (TaskStatus.READY, 0, [], [])
    assert found.enqueued_at == result.enqueued_at
    assert found.backend == "default"


def test_a_rollback_takes_the_task_and_its_key_back(site: str) -> None:
    with transaction.atomic(using=site):
        gone = shop.charge.enqueue(1)
        assert shop.charge.enqueue(1).id == gone.id
        transaction.set_rollback(True, using=site)
    with pytest.raises(TaskResultDoesNotExist):
        stored(gone)
    assert shop.charge.enqueue(1).created


def test_a_duplicate_answers_with_the_pending_task(site: str) -> None:
    first, second, other = shop.charge.enqueue(1), shop.charge.using(priority=9).enqueue(1), shop.charge.enqueue(2)
    assert (first.created, second.created, other.created) == (True, False, True)
    assert first.id == second.id != other.id
    assert second.task.priority == 0


def test_raise_carries_the_holder_as_a_result_of_django(site: str) -> None:
    first = shop.remind.enqueue(1)
    with pytest.raises(AlreadyEnqueued) as refused:
        shop.remind.enqueue(1)
    assert isinstance(refused.value.existing, TaskResult)
    assert refused.value.existing.id == first.id
    assert isinstance(refused.value, errors.AlreadyEnqueued)
    assert isinstance(refused.value, TaskException)


def test_unique_is_switched_off_for_a_call(site: str) -> None:
    assert shop.charge.enqueue(1).id != shop.charge.using(unique=False).enqueue(1).id


def test_the_options_of_a_declaration_are_stored(site: str) -> None:
    found = stored(shop.remind.enqueue(1))
    assert (found.max_attempts, found.task.priority, found.task.queue_name) == (7, 5, "mail")
    locked = stored(shop.rebuild_index.enqueue("a"))
    assert locked.max_attempts == 3


def test_bulk_keeps_the_order_and_deduplicates(site: str) -> None:
    held = shop.charge.enqueue(1)
    results = backend().enqueue_many(shop.charge, [([1], {}), ([2], {}), ([2], {}), ([3], {})])
    assert [result.created for result in results] == [False, True, False, True]
    assert results[0].id == held.id
    assert results[1].id == results[2].id
    assert backend().enqueue_many(shop.charge, []) == []


def test_a_bad_call_of_a_bulk_writes_nothing(site: str) -> None:
    with pytest.raises(InvalidArguments, match="call 1"):
        backend().enqueue_many(shop.charge, [([1], {}), ([object()], {})])
    with pytest.raises(InvalidTask, match="call 1"):
        backend().enqueue_many(shop.charge, [([1], {}), 2])  # type: ignore[list-item] # wrong on purpose
    assert shop.charge.enqueue(1).created


@pytest.mark.parametrize("wrong", [object(), float("nan"), "\0", {1: 1, "1": 2}])
def test_arguments_that_are_no_json_are_refused(site: str, wrong: object) -> None:
    with pytest.raises(InvalidArguments) as refused:
        shop.send_invoice.enqueue(wrong)
    assert isinstance(refused.value, TypeError)
    assert isinstance(refused.value, errors.InvalidArguments)


@pytest.mark.parametrize("id_", ["", "not an id", "0" * 32, "00000000-0000-7000-8000-000000000000"])
def test_an_unknown_id_does_not_exist(site: str, id_: str) -> None:
    with pytest.raises(DjangoDoesNotExist):
        backend().get_result(id_)


def test_the_signal_is_sent_inside_the_transaction_and_not_for_a_duplicate(site: str) -> None:
    seen: list[bool] = []

    def look(**_: Any) -> None:
        seen.append(connections[site].in_atomic_block)

    signals.task_enqueued.connect(look)
    try:
        with Heard(signals.task_enqueued) as heard:
            first = shop.charge.enqueue(1)
            shop.charge.enqueue(1)
    finally:
        signals.task_enqueued.disconnect(look)
    assert [result.id for result in heard.results] == [first.id]
    assert seen == [True]


def test_a_receiver_that_raises_keeps_nobody_from_enqueuing(site: str) -> None:
    def broken(**_: Any) -> None:
        raise RuntimeError

    signals.task_enqueued.connect(broken)
    try:
        assert stored(shop.send_invoice.enqueue(1)).status == TaskResultStatus.READY
    finally:
        signals.task_enqueued.disconnect(broken)


def test_a_result_is_readable_without_the_code(site: str) -> None:
    ox = backend().ox
    result = asyncio.run(ox.enqueue("gone.tasks.cleared", 1))
    found = backend().get_result(result.id)
    assert found.task.module_path == "gone.tasks.cleared"
    with pytest.raises(ImportError, match=r"gone\.tasks\.cleared"):
        found.task.call()


def test_refresh_reads_what_has_changed(site: str) -> None:
    result = shop.send_invoice.enqueue(1)
    with connections[site].cursor() as cursor:
        cursor.execute("UPDATE oxpull_task SET status = 'DISCARDED', due = NULL")
    result.refresh()
    assert (result.status, result.stored_status) == (TaskResultStatus.FAILED, TaskStatus.DISCARDED)


def test_a_task_of_ours_is_pickled(site: str) -> None:
    assert pickle.loads(pickle.dumps(shop.remind)) == shop.remind  # noqa: S301 - our own


def test_below_a_sync_caller_aenqueue_joins_its_transaction(site: str) -> None:
    with transaction.atomic(using=site):
        gone = async_to_sync(shop.send_invoice.aenqueue)(1)
        transaction.set_rollback(True, using=site)
    with pytest.raises(TaskResultDoesNotExist):
        stored(gone)


def test_with_no_sync_caller_aenqueue_goes_native_and_opens_no_connection_of_django(site: str) -> None:
    connections[site].close()

    async def view() -> TaskResult:
        result = await shop.charge.aenqueue(1)
        again = await shop.charge.aenqueue(1)
        assert (result.created, again.created, again.id) == (True, False, result.id)
        await result.arefresh()
        return result

    result = asyncio.run(view())
    assert connections[site].connection is None
    assert stored(result).args == [1]


def test_natively_the_signal_is_sent_after_the_commit_to_coroutines_too(site: str) -> None:
    heard: list[str] = []

    async def hear(task_result: TaskResult, **_: Any) -> None:
        found = await backend().aget_result(task_result.id)
        heard.append(found.id)

    async def view() -> str:
        return (await shop.send_invoice.aenqueue(1)).id

    signals.task_enqueued.connect(hear)
    try:
        assert asyncio.run(view()) == heard[0]
    finally:
        signals.task_enqueued.disconnect(hear)


def test_async_bulk_deduplicates_as_the_sync_one(site: str) -> None:

    async def view() -> list[TaskResult]:
        return await backend().aenqueue_many(shop.charge, [([1], {}), ([1], {})])

    first, second = asyncio.run(view())
    assert first.id == second.id


def test_a_key_function_is_checked_when_the_task_is_declared(site: str) -> None:
    with pytest.raises(InvalidTask, match="parameters"):
        shop.send_invoice.using(unique=Unique(key=lambda: "x"))


def error_that_is_raised(alias: str) -> None:
    OxpullQueue._base_manager.using(alias).raw("SELECT nope FROM nowhere")[0]


def error_that_breaks_the_block(alias: str) -> None:
    with suppress(DatabaseError), transaction.mark_for_rollback_on_error(using=alias), connections[alias].cursor() as c:
        c.execute("SELECT nope FROM nowhere")


def error_that_is_swallowed(alias: str) -> None:
    with suppress(DatabaseError), connections[alias].cursor() as cursor:
        cursor.execute("SELECT nope FROM nowhere")


@pytest.mark.parametrize("meet", [error_that_is_raised, error_that_breaks_the_block, error_that_is_swallowed])
def test_a_receiver_that_meets_an_error_of_the_database_takes_no_task_away(
    site: str, meet: Callable[[str], None]
) -> None:
    def receiver(**_: Any) -> None:
        meet(site)

    signals.task_enqueued.connect(receiver)
    try:
        plain, unique = shop.send_invoice.enqueue(1), shop.charge.enqueue(1)
        many = backend().enqueue_many(shop.send_invoice, [([1], {}), ([2], {})])
        with transaction.atomic(using=site):
            joined = shop.send_invoice.enqueue(3)
    finally:
        signals.task_enqueued.disconnect(receiver)
    for result in (plain, unique, *many, joined):
        assert (result.created, stored(result).status) == (True, TaskResultStatus.READY)


def test_what_receivers_write_is_kept_with_the_task(site: str) -> None:
    def receiver(**_: Any) -> None:
        with connections[site].cursor() as cursor:
            cursor.execute("UPDATE oxpull_task SET priority = 9")

    signals.task_enqueued.connect(receiver)
    try:
        result = shop.send_invoice.enqueue(1)
    finally:
        signals.task_enqueued.disconnect(receiver)
    assert stored(result).task.priority == 9


def test_a_receiver_that_closes_the_connection_makes_the_enqueue_fail(site: str) -> None:
    def receiver(**_: Any) -> None:
        connections[site].close()

    signals.task_enqueued.connect(receiver)
    try:
        with pytest.raises(DatabaseTrouble, match="rolled back"):
            shop.send_invoice.enqueue(1)
        with pytest.raises(DatabaseTrouble, match="rolled back"), transaction.atomic(using=site):
            shop.send_invoice.enqueue(2)
    finally:
        signals.task_enqueued.disconnect(receiver)
    assert shop.send_invoice.enqueue(3).created


@pytest.mark.parametrize("kind", ["postgres", "mysql"])
def test_a_result_is_read_again_after_a_lost_session_and_an_action_is_not(site: str, kind: Kind) -> None:
    result = shop.send_invoice.enqueue(1)
    kill_own(site)
    assert stored(result).id == result.id
    kill_own(site)
    assert run_blocking(operations_of("default").explain(result.id)).reasons is not None
    kill_own(site)
    assert run_blocking(operations_of("default").health()) is not None
    kill_own(site)
    with pytest.raises(ConnectionLost):
        actions.pause("mail")
    with suppress(db.Error), transaction.atomic(using=site):
        stored(result)
        kill_own(site)
        with pytest.raises(ConnectionLost):
            stored(result)


def test_errors_of_the_database_are_djangos_too(site: str) -> None:
    assert issubclass(DatabaseTrouble, db.DatabaseError)
    for operational in (Contended, Conflict, LockTimeout, UniqueEnqueueRace, ConnectionLost, PoolExhausted):
        assert issubclass(operational, db.OperationalError)
    assert issubclass(DataRefused, db.DataError)
    assert issubclass(NotMigrated, db.ProgrammingError)
    with connections[site].cursor() as cursor:
        cursor.execute("ALTER TABLE oxpull_task RENAME TO oxpull_gone")
    try:
        with pytest.raises(db.ProgrammingError, match=r"run `manage\.py migrate --database") as lacking:
            shop.send_invoice.enqueue(1)
    finally:
        with connections[site].cursor() as cursor:
            cursor.execute("ALTER TABLE oxpull_gone RENAME TO oxpull_task")
    assert isinstance(lacking.value, errors.NotMigrated)
    assert "\n" not in str(lacking.value)


def test_what_is_no_task_and_what_holds_no_calls_is_refused_by_name(site: str) -> None:
    function: Any = len
    with pytest.raises(InvalidTask, match=r"built-in function len> is no task"):
        backend().enqueue(function, [1], {})
    nothing: Any = None
    with pytest.raises(UsageError, match="None must be a list"):
        backend().enqueue_many(shop.charge, nothing)
    with pytest.raises(UsageError, match="None holds no tasks"):
        actions.discard_many(nothing)


def test_a_task_whose_code_is_gone_is_not_enqueued_again(site: str) -> None:
    gone = backend().get_result(asyncio.run(backend().ox.enqueue("gone.tasks.cleared", 1)).id)
    with pytest.raises(ImportError, match=r"gone\.tasks\.cleared"):
        gone.task.enqueue(1)
    with pytest.raises(ImportError, match=r"gone\.tasks\.cleared"):
        backend().enqueue_many(gone.task, [([1], {})])


def test_a_coroutine_is_told_that_it_must_await(site: str) -> None:
    result = shop.send_invoice.enqueue(1)

    async def view() -> None:
        with pytest.raises(SynchronousOnlyOperation):
            shop.send_invoice.enqueue(1)
        with pytest.raises(SynchronousOnlyOperation, match="await the async twin"):
            backend().get_result(result.id)

    asyncio.run(view())


def test_a_declaration_may_ask_for_no_timeout_whatever_the_settings_say(site: str) -> None:
    ours = {"BACKEND": "compat_sync.backend.OxpullBackend", "QUEUES": [], "OPTIONS": {"TASK_TIMEOUT": 300}}
    with override_settings(TASKS={"default": ours}):
        assert stored(shop.send_invoice.enqueue(1)).record.timeout == 300
        assert stored(shop.send_invoice.using(timeout=math.inf).enqueue(1)).record.timeout is None
