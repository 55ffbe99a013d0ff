"""What run_tasks does on the test's own thread, in its transaction and outside of any."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import ImproperlyConfigured, SynchronousOnlyOperation
from django.db import connections, transaction
from django.tasks import TaskResultStatus, signals
from django.test import override_settings

from compat_sync.connection import DjangoConnection
from compat_sync.exceptions import UsageError
from compat_sync.operations import BlockingOperations
from compat_sync.results import TaskResult
from compat_sync.shim import run_blocking
from compat_sync.testing import arun_tasks, captured_tasks, moved_clock, run_tasks
from compat_sync.worker.host import DjangoHost
from oxpull_async.domain.outcome import Lease, Settlement, Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.lease import WorkerCard
from oxpull_async.store.lease import register as register_worker
from oxpull_async.store.settle import settle
from tests.compat.testing import tasks
from tests.fixtures import raw

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.dispatch import Signal

READY, FAILED, SUCCESSFUL = TaskResultStatus.READY, TaskResultStatus.FAILED, TaskResultStatus.SUCCESSFUL


def statuses(results: list[TaskResult]) -> list[TaskResultStatus]:
    return [result.status for result in results]


def again(result: TaskResult) -> TaskResult:
    result.refresh()
    return result


def count(alias: str, table: str) -> int:
    with connections[alias].cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        found: int = cursor.fetchone()[0]
        return found


def test_what_is_due_runs_in_order_of_priority_and_is_recorded(place: str) -> None:
    tasks.write.enqueue(1)
    tasks.write.using(priority=5).enqueue(2)
    results = run_tasks()
    assert [result.return_value for result in results] == [2, 1]
    assert [result.attempts for result in results] == [1, 1]
    assert tasks.notes() == [1, 2]
    assert run_tasks() == []


def test_nothing_of_it_remains_after_the_tests_transaction(table: str) -> None:
    with transaction.atomic(using=table):
        tasks.write.enqueue(1)
        run_tasks()
        transaction.set_rollback(True, using=table)
    assert tasks.notes() == []
    assert count(table, "oxpull_task") == 0


def test_no_worker_is_left_behind(place: str) -> None:
    tasks.write.enqueue(1)
    run_tasks()
    assert count(place, "oxpull_worker") == 0


def test_a_task_that_raises_keeps_what_it_wrote_and_is_failed(place: str) -> None:
    failed, fine = tasks.write_and_fail.enqueue(1), tasks.write.enqueue(2)
    assert statuses(run_tasks()) == [FAILED, SUCCESSFUL]
    assert tasks.notes() == [1, 2]
    error = again(failed).errors[0]
    assert error.exception_class is ValueError
    assert "1 is odd" in error.traceback
    assert again(fine).status == SUCCESSFUL


def test_an_error_of_the_database_breaks_nothing_but_its_task(place: str) -> None:
    broken = tasks.break_off.enqueue(1)
    tasks.write.enqueue(7)
    assert statuses(run_tasks()) == [READY, SUCCESSFUL]
    assert again(broken).errors[0].exception_class_path.endswith("IntegrityError")
    assert 7 in tasks.notes()


def test_an_error_of_the_database_takes_back_what_its_task_wrote_where_that_is_lost(inside: str) -> None:
    tasks.break_off.enqueue(1)
    run_tasks()
    is_lost = connections[inside].vendor == "postgresql"
    assert tasks.notes() == ([] if is_lost else [1])


def test_an_error_in_a_savepoint_of_the_tasks_own_is_its_own_affair(place: str) -> None:
    tasks.hide_refusal.enqueue(1)
    assert statuses(run_tasks()) == [SUCCESSFUL]
    assert tasks.notes() == [1, 2]


@pytest.mark.parametrize(("savepoint", "fails"), [(True, False), (True, True), (False, False)])
def test_what_a_task_writes_in_a_transaction_that_it_never_leaves_is_lost_as_under_a_worker(
    place: str, *, savepoint: bool, fails: bool
) -> None:
    tasks.write.enqueue(1)
    run_tasks()
    django = connections[place]
    before = len(django.atomic_blocks), list(django.savepoint_ids)
    tasks.stay_inside.enqueue(2, savepoint=savepoint, fails=fails)
    tasks.write.enqueue(3)
    assert statuses(run_tasks()) == [FAILED if fails else SUCCESSFUL, SUCCESSFUL]
    assert (len(django.atomic_blocks), django.savepoint_ids) == before
    assert tasks.notes() == [1, 3]


def test_a_durable_block_is_the_outermost_in_a_task(place: str) -> None:
    tasks.write_durably.enqueue(1)
    assert statuses(run_tasks(raise_failures=True)) == [SUCCESSFUL]


def test_a_refusal_that_a_task_hides_fails_it_where_it_has_broken_the_transaction(place: str) -> None:
    django = connections[place]
    is_broken = django.vendor == "postgresql" and django.in_atomic_block
    tasks.swallow.enqueue(1)
    tasks.write.enqueue(2)
    assert statuses(run_tasks()) == [FAILED if is_broken else SUCCESSFUL, SUCCESSFUL]
    assert tasks.notes() == ([2] if is_broken else [1, 2])


def test_a_refusal_that_a_task_hides_from_the_orm_fails_it(inside: str) -> None:
    result = tasks.swallow_as_the_orm.enqueue(1)
    tasks.write.enqueue(2)
    assert statuses(run_tasks()) == [FAILED, SUCCESSFUL]
    assert tasks.notes() == [2]
    assert len(again(result).errors) == 1


def test_a_retry_waits_for_its_time(place: str) -> None:
    result = tasks.stumble.enqueue("once more")
    assert statuses(run_tasks()) == [READY]
    assert run_tasks() == []
    with moved_clock() as clock:
        clock.advance(59)
        assert run_tasks() == []
        clock.advance(7)  # a backoff has a little jitter
        assert statuses(run_tasks()) == [READY]
        clock.advance(timedelta(minutes=11))
        assert statuses(run_tasks()) == [FAILED]
    assert [error.attempt for error in again(result).record.errors] == [1, 2, 3]


def test_a_task_asks_for_another_attempt_and_reports_progress(place: str) -> None:
    result = tasks.second_time.enqueue()
    assert statuses(run_tasks()) == [READY]
    assert again(result).progress == {"done": 1, "total": 2, "note": "on it"}
    with moved_clock() as clock:
        clock.advance(30)
        assert [result.return_value for result in run_tasks()] == [2]


def test_a_snoozed_task_is_given_its_attempt_back(place: str) -> None:
    tasks.snooze.enqueue(30)
    [result] = run_tasks()
    assert (result.status, result.record.attempts) == (READY, 0)


def test_a_delayed_task_is_due_when_the_clock_says_so(place: str) -> None:
    with moved_clock() as clock:
        tasks.write.using(run_after=clock.now() + timedelta(hours=1)).enqueue(1)
        assert run_tasks() == []
        clock.advance(timedelta(hours=1))
        assert statuses(run_tasks()) == [SUCCESSFUL]


def test_a_coroutine_runs_on_the_tests_connection(place: str) -> None:
    result = tasks.slowly.enqueue(3)
    assert statuses(run_tasks()) == [SUCCESSFUL, SUCCESSFUL]
    assert again(result).progress == {"done": 3, "total": 3, "note": ""}
    assert tasks.notes() == [3]


def test_a_unique_key_is_held_until_its_task_has_run(place: str) -> None:
    first = tasks.charge.enqueue(1)
    assert tasks.charge.enqueue(1).id == first.id
    assert statuses(run_tasks()) == [SUCCESSFUL]
    assert tasks.charge.enqueue(1).created
    assert tasks.DONE == [1]


def test_a_unique_key_expires_by_the_moved_clock(place: str) -> None:
    with moved_clock() as clock:
        tasks.expire.enqueue(1)
        clock.advance(99)
        assert not tasks.expire.enqueue(1).created
        clock.advance(1)
        assert tasks.expire.enqueue(1).created


def test_a_debounced_task_runs_once_it_was_left_alone(place: str) -> None:
    with moved_clock() as clock:
        tasks.settle_down.enqueue(1)
        clock.advance(50)
        tasks.settle_down.enqueue(1)
        clock.advance(50)
        assert run_tasks() == []
        clock.advance(10)
        assert statuses(run_tasks()) == [SUCCESSFUL]


def test_a_follow_up_runs_after_its_holder(place: str) -> None:
    tasks.once_more.enqueue(1)
    assert statuses(run_tasks()) == [SUCCESSFUL, SUCCESSFUL]
    assert tasks.DONE == [1, 1]


def test_a_running_lock_parks_a_task_until_its_holder_hands_over(place: str) -> None:
    conn = DjangoConnection(place)
    worker_id = "01890000-0000-7000-8000-000000000001"
    card = WorkerCard(worker_id, "default", "elsewhere", 1, None, 1, 60.0)
    run_blocking(register_worker(conn, card))
    tasks.rebuild.enqueue("a")
    request = ClaimRequest(worker_id, "default", ("default",), 1, meets_locks=True)
    [held] = run_blocking(claim(conn, request))
    second = tasks.rebuild.enqueue("a")
    assert run_tasks() == []
    assert again(second).stored_status is TaskStatus.WAITING
    end = Settlement(Lease(held.id, held.epoch), Succeeded("null"), held.rerun_key, held.lock_key)
    run_blocking(settle(conn, [end]))
    assert [result.id for result in run_tasks()] == [second.id]


def test_tasks_enqueued_by_tasks_at_their_commit_run_too(place: str) -> None:
    tasks.chain.enqueue(3)
    assert len(run_tasks()) == 4


def test_what_fails_at_the_commit_of_a_task_fails_the_task(place: str) -> None:
    result = tasks.fail_on_commit.enqueue()
    assert statuses(run_tasks()) == [FAILED]
    assert "at the commit" in again(result).errors[0].traceback


def test_the_tests_own_callbacks_wait_for_its_own_commit(inside: str) -> None:
    called: list[int] = []
    transaction.on_commit(lambda: called.append(1), using=inside)
    tasks.write.enqueue(1)
    run_tasks()
    assert called == []
    assert len(connections[inside].run_on_commit) == 1


def test_signals_are_sent_as_by_a_worker(place: str) -> None:
    heard: list[tuple[str, str, TaskResultStatus]] = []

    def started(task_result: TaskResult, **_: Any) -> None:
        heard.append(("started", task_result.id, task_result.status))

    def finished(task_result: TaskResult, **_: Any) -> None:
        heard.append(("finished", task_result.id, task_result.status))

    def broken(**_: Any) -> None:
        tasks.break_off.func(9)

    receivers: list[tuple[Signal, Callable[..., None]]] = [
        (signals.task_started, started),
        (signals.task_finished, finished),
        (signals.task_started, broken),
    ]
    for signal, receiver in receivers:
        signal.connect(receiver)
    try:
        retried, fine = tasks.stumble.enqueue("x"), tasks.write.enqueue(1)
        run_tasks()
    finally:
        for signal, receiver in receivers:
            signal.disconnect(receiver)
    running = TaskResultStatus.RUNNING
    assert heard == [
        ("started", retried.id, running),
        ("started", fine.id, running),
        ("finished", fine.id, SUCCESSFUL),
    ]


def test_only_the_named_queues_and_so_many_tasks_are_run(place: str) -> None:
    for queue_name in ("mail", "default", "mail"):
        tasks.write.using(queue_name=queue_name).enqueue(len(queue_name) + len(tasks.notes()))
        assert run_tasks(max_tasks=0) == []
        assert run_tasks(queues=["other"]) == []
    assert [result.task.queue_name for result in run_tasks(queues=["mail"], max_tasks=1)] == ["mail"]
    assert [result.task.queue_name for result in run_tasks(queues=["default"])] == ["default"]


def test_a_paused_queue_is_left_alone(place: str) -> None:
    tasks.write.enqueue(1)
    host = DjangoHost.of("default")
    run_blocking(BlockingOperations(host.ox, place).pause("default"))
    assert run_tasks() == []


def test_what_a_task_raises_is_raised_once_it_is_recorded(place: str) -> None:
    result = tasks.write_and_fail.enqueue(1)
    with pytest.raises(ValueError, match="1 is odd"):
        run_tasks(raise_failures=True)
    assert again(result).status == FAILED


def test_a_return_value_that_cannot_be_stored_fails_the_task(place: str) -> None:
    result = tasks.unstorable.enqueue()
    assert statuses(run_tasks()) == [FAILED]
    assert "InvalidPayload" in again(result).errors[0].exception_class_path


def test_a_timeout_is_not_enforced(place: str) -> None:
    tasks.timed.enqueue()
    assert statuses(run_tasks()) == [SUCCESSFUL]


def test_a_task_of_no_known_path_is_left_as_it_was(place: str, caplog: pytest.LogCaptureFixture) -> None:
    result = tasks.write.enqueue(1)
    change = raw.change(DjangoConnection(place), result.id, "task_path = 'gone.tasks.cleared'")
    run_blocking(change)
    assert run_tasks() == []
    assert "gone.tasks.cleared" in caplog.text
    found = again(result)
    assert (found.stored_status, found.record.attempts) == (TaskStatus.READY, 0)


def test_the_one_at_the_keyboard_ends_the_test_run(place: str) -> None:
    tasks.interrupted.enqueue()
    with pytest.raises(KeyboardInterrupt):
        run_tasks()


def test_tasks_are_not_run_inside_of_tasks(place: str) -> None:
    result = tasks.run_inside.enqueue()
    run_tasks()
    assert "inside of a task" in again(result).errors[0].traceback


def test_tasks_that_never_end_are_noticed(inside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compat_sync.testing.running.MOST", 5)
    tasks.for_ever.enqueue()
    with pytest.raises(UsageError, match="5 attempts"):
        run_tasks()


@pytest.mark.parametrize("wrong", [{"queues": "mail"}, {"max_tasks": -1}, {"max_tasks": True}, {"queues": [""]}])
def test_wrong_options_are_refused(inside: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        run_tasks(**wrong)


def test_another_backend_has_nothing_to_run(inside: str) -> None:
    with (
        override_settings(TASKS={"default": {"BACKEND": "django.tasks.backends.dummy.DummyBackend"}}),
        pytest.raises(ImproperlyConfigured, match="OxpullBackend"),
    ):
        run_tasks()


def test_an_async_test_below_a_sync_caller_awaits_its_twin(place: str) -> None:
    async def test() -> list[TaskResult]:
        await tasks.slowly.aenqueue(4)
        with pytest.raises(SynchronousOnlyOperation, match="async twin"):
            run_tasks()
        return await arun_tasks(max_tasks=2)

    assert statuses(async_to_sync(test)()) == [SUCCESSFUL, SUCCESSFUL]
    assert tasks.notes() == [4]


def test_what_was_enqueued_natively_is_run_too(table: str) -> None:
    async def view() -> str:
        return (await tasks.write.aenqueue(1)).id

    id_ = asyncio.run(view())
    assert [result.id for result in run_tasks()] == [id_]


def test_what_tasks_enqueue_is_noted(place: str) -> None:
    tasks.slowly.enqueue(5)
    with captured_tasks() as captured:
        run_tasks()
    captured.assert_enqueued(tasks.write, args=[5], times=1)
