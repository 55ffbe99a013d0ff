"""The actions: what they change, what they skip, and whose transaction they are in."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import ImproperlyConfigured
from django.db import connections, transaction
from django.test import override_settings

from compat_sync import actions
from compat_sync.connection import DjangoConnection
from compat_sync.exceptions import InvalidTask, UsageError
from compat_sync.models import OxpullQueue, OxpullTask
from compat_sync.shim import run_blocking
from oxpull_async.domain.record import TaskStatus
from tests.compat import shop
from tests.compat.operations.rows import one_of_each, record, statuses
from tests.fixtures import make

READY, WAITING, RUNNING = TaskStatus.READY, TaskStatus.WAITING, TaskStatus.RUNNING
FAILED, LOST, DISCARDED = TaskStatus.FAILED, TaskStatus.LOST, TaskStatus.DISCARDED
TAKES: dict[str, set[TaskStatus]] = {
    "retry": {FAILED, LOST},
    "discard": {READY, WAITING, FAILED, LOST},
    "cancel": {READY, WAITING, RUNNING},
    "run_now": set(),
}
TASKS = {"BACKEND": "compat_sync.backend.OxpullBackend", "QUEUES": []}
DUMMY = "django.tasks.backends.dummy.DummyBackend"
LATER = timedelta(hours=1)


def later() -> datetime:
    return datetime.now(UTC) + LATER


@pytest.mark.parametrize("name", TAKES)
def test_an_action_changes_tasks_in_its_statuses_and_says_false_for_all_others(site: str, name: str) -> None:
    stored = one_of_each(site)
    action = getattr(actions, name)
    assert {status for status, task in stored.items() if action(task.id)} == TAKES[name]
    for status in stored.keys() - TAKES[name]:
        assert record(site, stored[status].id) == stored[status]


@pytest.mark.parametrize("name", TAKES)
def test_the_many_form_counts_what_changed_and_what_was_skipped(site: str, name: str) -> None:
    stored = one_of_each(site)
    ids = [task.id for task in stored.values()]
    many = getattr(actions, f"{name}_many")
    changed = len(TAKES[name])
    assert many([*ids, ids[0], UUID(ids[1]), str(uuid4()), "no id", "no id"]) == (changed, len(ids) - changed + 2)


@pytest.mark.parametrize("name", TAKES)
def test_an_id_that_no_task_has_is_no_error(site: str, name: str) -> None:
    action = getattr(actions, name)
    assert [action(id_) for id_ in (uuid4(), str(uuid4()), "no id", "")] == [False] * 4
    assert getattr(actions, f"{name}_many")([]) == (0, 0)


@pytest.mark.parametrize("name", TAKES)
def test_one_id_where_many_are_wanted_is_refused(site: str, name: str) -> None:
    id_ = str(uuid4())
    for one in (id_, UUID(id_)):
        with pytest.raises(UsageError, match="is one id where several are wanted") as refused:
            getattr(actions, f"{name}_many")(one)
        assert f"pass [{id_!r}]" in str(refused.value)


def test_a_retry_takes_discarded_tasks_on_request_only(site: str) -> None:
    task = one_of_each(site)[DISCARDED]
    assert not actions.retry(task.id)
    assert actions.retry(task.id, include_discarded=True)
    assert record(site, task.id).status is READY
    actions.discard(task.id)
    assert actions.retry_many([task.id], include_discarded=True) == (1, 0)


def test_many_are_given_as_a_queryset_or_as_results(site: str) -> None:
    results = [shop.send_invoice.enqueue(number) for number in range(3)]
    shop.charge.enqueue(1)
    assert actions.discard_many(OxpullTask.objects.ready().of_task(shop.send_invoice)[:2]) == (2, 0)
    assert actions.discard_many(results) == (1, 2)
    assert OxpullTask.objects.ready().get().task_path == shop.charge.module_path


def test_a_queryset_of_something_else_is_refused(site: str) -> None:
    with pytest.raises(UsageError, match=r"a queryset of compat_sync\.OxpullQueue holds no tasks"):
        actions.discard_many(OxpullQueue.objects.all())


def test_a_task_that_is_run_now_keeps_the_time_that_was_asked_for(site: str) -> None:
    asked = later()
    result = shop.send_invoice.using(run_after=asked).enqueue(1)
    assert actions.run_now(result.id)
    assert not actions.run_now(result.id)
    result.refresh()
    assert (result.run_after, result.stored_status) == (asked, READY)
    [claimed] = run_blocking(make.claimed(conn := DjangoConnection(site), run_blocking(make.worker(conn))))
    assert claimed.id == result.id


def test_only_ready_tasks_are_run_now(site: str) -> None:
    gone, stays = (shop.send_invoice.using(run_after=later()).enqueue(number) for number in range(2))
    actions.discard(gone.id)
    assert actions.run_now_many([gone.id, stays.id]) == (1, 1)
    assert record(site, gone.id).available_at > datetime.now(UTC)


def test_a_rollback_takes_actions_back(site: str) -> None:
    stored = one_of_each(site)
    deferred = shop.send_invoice.using(run_after=later()).enqueue(1)
    ids = [task.id for task in stored.values()]
    with transaction.atomic(using=site):
        assert actions.retry_many(ids) == (2, 5)
        assert actions.cancel_many(ids) == (5, 2)
        assert actions.run_now(deferred.id)
        assert actions.pause("default")
        transaction.set_rollback(True, using=site)
    assert statuses(site, ids) == list(stored)
    assert record(site, deferred.id).available_at > datetime.now(UTC)
    assert not actions.resume("default")


def test_a_discarded_holder_frees_its_unique_key(site: str) -> None:
    first = shop.charge.enqueue(1)
    assert actions.discard(first.id)
    assert shop.charge.enqueue(1).created


def test_a_queue_is_paused_and_resumed_once(site: str) -> None:
    assert [actions.pause("mail"), actions.pause("mail")] == [True, False]
    assert OxpullQueue.objects.get().paused
    assert [actions.resume("mail"), actions.resume("mail")] == [True, False]


def test_a_queue_name_that_cannot_be_is_refused(site: str) -> None:
    with pytest.raises(UsageError, match="queue"):
        actions.pause("")


def test_a_queue_that_the_settings_do_not_name_is_not_paused_but_resumed(new_site: str) -> None:
    assert actions.pause("old")
    with override_settings(TASKS={"default": {**TASKS, "QUEUES": ["default", "mail"]}}):
        with pytest.raises(InvalidTask, match="'mial' is not one of the declared queues: default, mail"):
            actions.pause("mial")
        with pytest.raises(InvalidTask, match="'mial'"):
            asyncio.run(actions.apause("mial"))
        assert [queue.queue_name for queue in OxpullQueue.objects.all()] == ["old"]
        assert actions.resume("old")
        assert actions.pause("mail")
        assert asyncio.run(actions.apause("default"))


def test_tasks_of_another_alias_are_left_alone(site: str) -> None:
    result = shop.send_invoice.enqueue(1)
    with override_settings(TASKS={"default": TASKS, "other": TASKS, "dummy": {"BACKEND": DUMMY}}):
        assert not actions.discard(result.id, backend="other")
        assert actions.discard(result.id, backend="default")
        with pytest.raises(ImproperlyConfigured, match=r"there is 'default', 'other'\)"):
            actions.discard(result.id, backend="dummy")
        with pytest.raises(ImproperlyConfigured, match="nowhere"):
            actions.discard(result.id, backend="nowhere")


@pytest.mark.parametrize("name", TAKES)
def test_an_async_action_goes_native_where_nobody_sync_waits(site: str, name: str) -> None:
    stored = one_of_each(site)
    connections[site].close()
    ids = [task.id for task in stored.values()]

    async def view() -> Any:
        return await getattr(actions, f"a{name}_many")([*ids, "no id"])

    assert asyncio.run(view()) == (len(TAKES[name]), 8 - len(TAKES[name]))
    assert connections[site].connection is None


def test_async_actions_answer_as_the_sync_ones(site: str) -> None:
    stored = one_of_each(site)
    deferred = shop.send_invoice.using(run_after=later()).enqueue(1)

    async def view() -> list[bool]:
        return [
            await actions.aretry(stored[FAILED].id),
            await actions.aretry(stored[DISCARDED].id),
            await actions.aretry(stored[DISCARDED].id, include_discarded=True),
            await actions.adiscard(stored[LOST].id),
            await actions.acancel(stored[RUNNING].id),
            await actions.acancel("no id"),
            await actions.arun_now(deferred.id),
            await actions.apause("mail"),
            await actions.aresume("mail"),
            await actions.aresume("mail"),
        ]

    assert asyncio.run(view()) == [True, False, True, True, True, False, True, True, True, False]


def test_an_async_action_takes_a_queryset(new_site: str) -> None:
    shop.send_invoice.enqueue(1)

    async def view() -> tuple[int, int]:
        return await actions.adiscard_many(OxpullTask.objects.ready())

    assert asyncio.run(view()) == (1, 0)


def test_below_a_sync_caller_an_async_action_joins_its_transaction(site: str) -> None:
    result = shop.send_invoice.enqueue(1)
    with transaction.atomic(using=site):
        assert async_to_sync(actions.adiscard)(result.id)
        assert async_to_sync(actions.apause)("mail")
        transaction.set_rollback(True, using=site)
    assert record(site, result.id).status is READY
    assert not OxpullQueue.objects.exists()


def test_everything_of_the_package_has_an_async_form() -> None:
    sync = {name for name in actions.__all__ if f"a{name}" in actions.__all__}
    assert {*sync, *(f"a{name}" for name in sync)} == set(actions.__all__)
