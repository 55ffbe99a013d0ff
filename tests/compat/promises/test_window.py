"""How long a key is held: while its task is READY or RUNNING, whatever the caller has open."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.tasks import TaskResultStatus

from compat_sync import actions
from compat_sync.connection import DjangoConnection
from compat_sync.models import OxpullUniqueKey
from compat_sync.results import TaskResult
from compat_sync.shim import run_blocking
from oxpull_async.domain.outcome import Failed, Succeeded
from oxpull_async.domain.record import ClaimedTask, TaskStatus
from oxpull_async.store.settle import mark_begun
from tests.compat.promises import shop
from tests.compat.promises.kit import claimed, counts, reaped
from tests.fixtures import make, raw


def settled(alias: str, task: ClaimedTask, outcome: Succeeded | Failed) -> TaskStatus | None:
    return run_blocking(make.settled(DjangoConnection(alias), task, outcome))


def again() -> TaskResult:
    return shop.charge.enqueue(1)


def test_a_duplicate_of_a_ready_task_returns_its_result_and_stores_nothing(inside: str) -> None:
    first = shop.charge.enqueue(1)
    assert (first.created, again().created, again().id) == (True, False, first.id)
    assert counts(inside) == (1, 1)


def test_a_duplicate_of_a_running_task_returns_its_result(inside: str) -> None:
    first = shop.charge.enqueue(1)
    claimed(inside)
    second = again()
    assert (second.id, second.status, second.created) == (first.id, TaskResultStatus.RUNNING, False)


@pytest.mark.parametrize("outcome", [Succeeded("null"), Failed(make.ERROR, None)], ids=["successful", "failed"])
def test_the_key_is_free_once_the_task_has_ended(inside: str, outcome: Succeeded | Failed) -> None:
    first = shop.charge.enqueue(1)
    settled(inside, claimed(inside), outcome)
    second = again()
    assert (second.created, second.id != first.id) == (True, True)
    assert again().id == second.id
    assert counts(inside) == (2, 1)


def test_the_key_is_free_once_the_task_was_discarded(inside: str) -> None:
    first = shop.charge.enqueue(1)
    assert actions.discard(first.id)
    assert again().created


def test_a_failed_attempt_that_will_be_retried_keeps_the_key(inside: str) -> None:
    first = shop.charge.enqueue(1)
    assert settled(inside, claimed(inside), Failed(make.ERROR, 3600.0)) is TaskStatus.READY
    second = again()
    assert (second.id, second.status, second.created) == (first.id, TaskResultStatus.READY, False)
    assert len(second.errors) == 1


def test_a_task_whose_worker_died_keeps_the_key_until_the_reaper_gives_it_back_and_after(inside: str) -> None:
    first = shop.charge.enqueue(1)
    claimed(inside)
    assert again().status == TaskResultStatus.RUNNING
    reaped(inside, first.id)
    second = again()
    assert (second.id, second.stored_status, second.created) == (first.id, TaskStatus.READY, False)


def test_a_task_whose_worker_died_in_its_last_attempt_is_lost_and_frees_the_key(inside: str) -> None:
    first = shop.charge.using(max_attempts=1).enqueue(1)
    run_blocking(begin(inside, claimed(inside)))
    duplicate = again()
    assert (duplicate.id, duplicate.status) == (first.id, TaskResultStatus.RUNNING)
    reaped(inside, first.id)
    duplicate.refresh()
    assert (duplicate.status, duplicate.stored_status) == (TaskResultStatus.FAILED, TaskStatus.LOST)
    second = again()
    assert (second.created, second.id != first.id) == (True, True)


def test_what_a_lost_task_does_later_frees_nobody_s_key(inside: str) -> None:
    first = shop.charge.using(max_attempts=1).enqueue(1)
    task = claimed(inside)
    run_blocking(begin(inside, task))
    reaped(inside, first.id)
    second = again()
    assert settled(inside, task, Succeeded("null")) is TaskStatus.SUCCESSFUL
    assert shop.charge.get_result(first.id).status == TaskResultStatus.SUCCESSFUL
    assert (again().id, again().created) == (second.id, False)


def test_two_runs_of_one_key_may_overlap(inside: str) -> None:
    shop.charge.using(max_attempts=1).enqueue(1)
    first = claimed(inside)
    run_blocking(begin(inside, first))
    reaped(inside, first.id)
    assert again().created
    second = claimed(inside)
    assert (settled(inside, second, Succeeded("null")), settled(inside, first, Succeeded("null"))) == (
        TaskStatus.SUCCESSFUL,
        TaskStatus.SUCCESSFUL,
    )


def test_a_row_that_is_gone_frees_its_key(inside: str) -> None:
    first = shop.charge.enqueue(1)
    run_blocking(raw.delete(DjangoConnection(inside), first.id))
    assert again().created
    assert counts(inside) == (1, 1)


def test_pruning_the_task_frees_its_key_and_takes_the_lock_row_along(own_site: str) -> None:
    shop.charge.enqueue(1)
    settled(own_site, claimed(own_site), Succeeded("null"))
    call_command("oxpull_prune", "--older-than", "0s", stdout=StringIO())
    assert counts(own_site) == (0, 0)
    assert again().created


def test_pruning_leaves_the_lock_row_of_a_pending_task(own_site: str) -> None:
    first = shop.charge.enqueue(1)
    call_command("oxpull_prune", "--older-than", "0s", stdout=StringIO())
    assert again().id == first.id


def test_a_task_that_was_stored_without_a_lock_row_is_not_deduplicated_against(inside: str) -> None:
    first = shop.charge.using(unique=False).enqueue(1)
    second = again()
    assert (second.created, second.id != first.id) == (True, True)
    assert again().id == second.id
    assert counts(inside) == (2, 1)


def test_an_operator_s_retry_of_the_holder_keeps_its_key(inside: str) -> None:
    first = shop.charge.enqueue(1)
    settled(inside, claimed(inside), Failed(make.ERROR, None))
    assert actions.retry(first.id)
    assert (again().id, again().created) == (first.id, False)


def test_an_operator_s_retry_of_a_superseded_task_runs_beside_the_newer_one(inside: str) -> None:
    first = shop.charge.enqueue(1)
    settled(inside, claimed(inside), Failed(make.ERROR, None))
    second = again()
    assert actions.retry(first.id)
    assert {one.status for one in map(shop.charge.get_result, (first.id, second.id))} == {TaskResultStatus.READY}
    assert again().id == second.id
    assert counts(inside) == (2, 1)


def test_the_result_of_a_duplicate_is_the_stored_row_s(inside: str) -> None:
    first = shop.charge.using(priority=3).enqueue(1)
    second = shop.charge.using(priority=9, max_attempts=9).enqueue(1)
    assert (second.task.priority, second.max_attempts, second.id) == (3, 3, first.id)
    assert shop.charge.get_result(first.id).task.priority == 3


def test_the_lock_row_names_its_task_by_a_plain_id(inside: str) -> None:
    first = shop.charge.enqueue(1)
    row = OxpullUniqueKey.objects.get()
    assert str(row.holder_id) == first.id
    run_blocking(raw.delete(DjangoConnection(inside), first.id))
    assert OxpullUniqueKey.objects.count() == 1


async def begin(alias: str, task: ClaimedTask) -> None:
    """Mark a claimed attempt as started, so that a reaper charges it."""
    conn = DjangoConnection(alias)

    await mark_begun(conn, [make.lease(task)])
