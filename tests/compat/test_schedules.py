"""Schedules of a Django project: those of the settings, and stored ones with the names of django-ox."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django import forms
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ImproperlyConfigured, PermissionDenied, ValidationError
from django.db import connections, transaction
from django.tasks import signals
from django.test import override_settings

from compat_sync import registry
from compat_sync.exceptions import ScheduleDoesNotExist, UsageError
from compat_sync.models import OxpullSchedule, OxpullTick
from compat_sync.registry import ArgsForm, ScheduleKind, schedulable
from compat_sync.schedules import (
    create_schedule,
    create_schedules,
    delete_schedule,
    fields_of,
    pause_schedule,
    resume_schedule,
    run_schedule,
    update_schedule,
)
from compat_sync.testing import MovedClock, moved_clock, run_schedules, run_tasks
from tests.compat import shop

PATH = "tests.compat.shop.send_invoice"
NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class InvoiceForm(ArgsForm):
    """What send_invoice takes."""

    order_id = forms.IntegerField(min_value=1)
    copy = forms.BooleanField(required=False)


def tasks(queues: tuple[str, ...] = (), **schedules: Any) -> Any:
    options = {"SCHEDULES": schedules, "SCHEDULABLE_TASKS": {"invoice": PATH}}
    return override_settings(
        TASKS={"default": {"BACKEND": "compat_sync.backend.OxpullBackend", "QUEUES": queues, "OPTIONS": options}}
    )


@pytest.fixture
def clock(site: str) -> Iterator[MovedClock]:
    """Put the database's clock to noon, in a project whose zone is Vienna."""
    with moved_clock(NOON) as moved:
        yield moved


@pytest.fixture
def schedulable_invoice(clock: MovedClock) -> Iterator[MovedClock]:
    """Let stored schedules start send_invoice, by a form and with a permission."""
    registry._registered.clear()
    schedulable("invoice", form=InvoiceForm, permission="shop.add_order")(shop.send_invoice)
    yield clock
    registry._registered.clear()


def times(name: str) -> list[datetime]:
    return list(OxpullTick.objects.filter(name=name).values_list("tick_at", flat=True))


def test_a_schedule_of_the_settings_anchors_first_and_runs_the_latest_missed_tick_only(clock: MovedClock) -> None:
    with tasks(often={"task": PATH, "every": 600, "args": [7]}):
        assert run_schedules() == []
        clock.move_to(NOON + 35 * MINUTE)
        [result] = run_schedules()
        assert (result.args, result.created, result.task.func) == ([7], True, shop.send_invoice.func)
        assert run_schedules() == []
        [ran] = run_tasks()
    assert ran.id == result.id
    assert times("often") == [NOON + 30 * MINUTE]


def test_D6_settings_tick_in_the_projects_zone_and_in_both_passes_of_a_repeated_hour(clock: MovedClock) -> None:
    before = datetime(2027, 10, 30, 22, tzinfo=UTC)
    clock.move_to(before)
    with tasks(
        both={"task": PATH, "cron": "30 2 * * *", "catch_up": "all", "max_age": 86400, "args": [1]},
        once={"task": PATH, "cron": "30 2 * * *", "args": [1], "repeated_hour": "once"},
        utc={"task": PATH, "cron": "30 2 * * *", "args": [1], "tz": "UTC"},
    ):  # fmt: skip
        run_schedules()
        clock.move_to(before + timedelta(hours=5))
        run_schedules()
    first = datetime(2027, 10, 31, 0, 30, tzinfo=UTC)
    assert times("both") == [first, first + timedelta(hours=1)]
    assert times("once") == [first]
    assert times("utc") == [datetime(2027, 10, 31, 2, 30, tzinfo=UTC)]


def test_a_schedules_queue_and_priority_are_its_own(clock: MovedClock) -> None:
    with tasks(often={"task": PATH, "every": 600, "kwargs": {"order_id": 3}, "queue_name": "low", "priority": -7}):
        run_schedules()
        clock.advance(10 * MINUTE)
        [result] = run_schedules()
    assert (result.task.queue_name, result.task.priority, result.kwargs) == ("low", -7, {"order_id": 3})


def test_receivers_of_task_enqueued_hear_of_scheduled_tasks(clock: MovedClock) -> None:
    heard: list[str] = []

    def hear(task_result: Any, **_: Any) -> None:
        heard.append(task_result.id)

    signals.task_enqueued.connect(hear)
    try:
        with tasks(often={"task": PATH, "every": 600, "args": [7]}):
            run_schedules()
            clock.advance(10 * MINUTE)
            assert [result.id for result in run_schedules()] == heard != []
    finally:
        signals.task_enqueued.disconnect(hear)


def test_a_tick_that_is_rolled_back_comes_again(clock: MovedClock, site: str) -> None:
    with tasks(often={"task": PATH, "every": 600, "args": [7]}):
        run_schedules()
        clock.advance(10 * MINUTE)
        with transaction.atomic(using=site):
            assert len(run_schedules()) == 1
            transaction.set_rollback(True, using=site)
        assert times("often") == []
        assert len(run_schedules()) == 1


def test_a_schedule_that_cannot_enqueue_is_named(clock: MovedClock) -> None:
    with tasks(("others",), wrong={"task": PATH, "every": 600}):
        run_schedules()
        clock.advance(10 * MINUTE)
        with pytest.raises(UsageError, match="'wrong' could not enqueue"):
            run_schedules()


def test_a_stored_schedule_is_created_run_changed_and_deleted(schedulable_invoice: MovedClock) -> None:
    clock = schedulable_invoice
    row = create_schedule(name="reports", task_key="invoice", every_seconds=600, arguments={"order_id": "5"})
    assert (row.task_path, row.kwargs, row.tz, row.repeated_hour) == (
        PATH, {"order_id": 5, "copy": False}, "Europe/Vienna", "twice",
    )  # fmt: skip
    clock.move_to(NOON + 14 * MINUTE)
    [result] = run_schedules()
    assert result.kwargs == {"order_id": 5, "copy": False}
    changed = update_schedule(row, name="invoices", arguments={"order_id": 6, "copy": True})
    assert (changed.pk, changed.name, changed.kwargs) == (row.pk, "invoices", {"order_id": 6, "copy": True})
    retimed = update_schedule("invoices", trigger="cron", cron="0 14 * * *", tz="Asia/Tokyo")
    assert (retimed.every, retimed.cron) == (None, "0 14 * * *")
    assert fields_of(retimed)["task_key"] == "invoice"
    assert fields_of(retimed)["trigger"] == "cron"
    assert delete_schedule(retimed)
    with pytest.raises(ScheduleDoesNotExist):
        delete_schedule("invoices")


def test_a_pause_drops_the_ticks_that_it_covers(schedulable_invoice: MovedClock) -> None:
    clock = schedulable_invoice
    row = create_schedule(name="paused", task_key="invoice", every_seconds=600, arguments={"order_id": 5})
    assert pause_schedule(row)
    assert not pause_schedule(row)
    clock.move_to(NOON + 25 * MINUTE)
    assert run_schedules() == []
    assert resume_schedule("paused")
    assert run_schedules() == []
    assert update_schedule(row, enabled=False).paused
    clock.move_to(NOON + 45 * MINUTE)
    update_schedule(row, enabled=True)
    clock.move_to(NOON + 50 * MINUTE)
    run_schedules()
    assert times("paused") == [NOON + 50 * MINUTE]


def test_deadline_and_end_are_those_of_django_ox(schedulable_invoice: MovedClock) -> None:
    clock = schedulable_invoice
    said: Any = {"task_key": "invoice", "every_seconds": 600, "arguments": {"order_id": 5}}
    create_schedule(name="late", starting_deadline_seconds=60, **said)
    create_schedule(name="ends", end_time=NOON + 20 * MINUTE, start_time=NOON + 5 * MINUTE, **said)
    clock.move_to(NOON + 12 * MINUTE)
    run_schedules()
    clock.move_to(NOON + 35 * MINUTE)
    run_schedules()
    assert times("late") == []
    assert times("ends") == [NOON + 10 * MINUTE, NOON + 20 * MINUTE]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"cron": "61 * * * *"}, "cron"), ({"every_seconds": 0.1}, "every_seconds"), ({"tz": "Mars"}, "tz"),
        ({"every_seconds": None}, "__all__"), ({"trigger": "cron"}, "cron"), ({"trigger": "solar"}, "trigger"),
        ({"trigger": "interval", "every_seconds": None}, "every_seconds"), ({"task_key": "absent"}, "task_key"),
        ({"arguments": {"order_id": 0}}, "arguments"), ({"arguments": {"order_id": 1, "x": 1}}, "arguments"),
        ({"name": ""}, "name"), ({"name": "taken"}, "name"), ({"priority": 900}, "priority"),
        ({"phase_seconds": 900}, "phase_seconds"), ({"overlap": "x"}, "overlap"), ({"catch_up": "x"}, "catch_up"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_by_field(schedulable_invoice: MovedClock, wrong: Any, field: str) -> None:
    right: Any = {"name": "new", "task_key": "invoice", "every_seconds": 600, "arguments": {"order_id": 5}}
    create_schedule(**right | {"name": "taken"})
    given = {**right, **wrong}
    if "cron" in wrong:
        del given["every_seconds"]
    with pytest.raises(ValidationError) as refused:
        create_schedule(**given)
    assert list(refused.value.message_dict) == [field]
    assert OxpullSchedule.objects.count() == 1


def test_unknown_fields_and_missing_ones_are_refused(schedulable_invoice: MovedClock) -> None:
    with pytest.raises(TypeError, match="no field 'crom'"):
        create_schedule(name="x", task_key="invoice", crom="* * * * *")  # type: ignore[call-arg]
    with pytest.raises(ValidationError, match="required"):
        create_schedule(name="x")
    row = create_schedule(name="x", task_key="invoice", every_seconds=60, arguments={"order_id": 1})
    with pytest.raises(TypeError, match="create_schedule"):
        update_schedule(row, start_time=NOON)


def test_many_are_created_all_or_none_with_every_fault(schedulable_invoice: MovedClock) -> None:
    right: Any = {"task_key": "invoice", "every_seconds": 600, "arguments": {"order_id": 5}}
    with pytest.raises(ValidationError) as refused:
        create_schedules([right | {"name": "a"}, right | {"name": "b", "tz": "?"}, right | {"name": "a"}])
    assert [line[:15] for line in refused.value.messages] == ["schedule 1 ('b'", "schedule 2 ('a'"]
    assert OxpullSchedule.objects.count() == 0
    assert len(create_schedules([right | {"name": "a"}, right | {"name": "b"}])) == 2


class Person:
    """A user who has what permissions are named."""

    is_active = True

    def __init__(self, *permissions: str, is_superuser: bool = False) -> None:
        self.permissions = permissions
        self.is_superuser = is_superuser

    def has_perm(self, name: str) -> bool:
        return self.is_superuser or name in self.permissions


def test_a_user_needs_the_permission_of_the_task(schedulable_invoice: MovedClock) -> None:
    said: Any = {"task_key": "invoice", "every_seconds": 600, "arguments": {"order_id": 5}}
    with pytest.raises(PermissionDenied):
        create_schedule(user=AnonymousUser(), name="x", **said)
    row = create_schedule(user=Person("shop.add_order"), name="x", **said)
    for change in (update_schedule, pause_schedule, delete_schedule):
        with pytest.raises(PermissionDenied):
            change(row, user=Person("shop.other"))
    registry._registered.clear()
    with pytest.raises(PermissionDenied, match="superuser"):
        pause_schedule(row, user=Person("shop.add_order"))
    assert pause_schedule(row, user=Person(is_superuser=True))


def test_one_key_is_one_task(schedulable_invoice: MovedClock) -> None:
    with pytest.raises(ImproperlyConfigured, match="two tasks"):
        registry.register(ScheduleKind("invoice", shop.charge))
    with tasks():
        assert registry.get("invoice").form is InvoiceForm
        with pytest.raises(KeyError):
            registry.get("absent")


def test_settings_name_schedulable_tasks_too(clock: MovedClock) -> None:
    registry._registered.clear()
    with tasks():
        row = create_schedule(name="x", task_key="invoice", cron="@hourly", arguments={"order_id": 5})
    assert row.task_path == PATH


def test_a_declared_schedule_is_paused_and_not_changed(clock: MovedClock) -> None:
    with tasks(often={"task": PATH, "every": 600, "args": [7]}):
        run_schedules()
        assert pause_schedule("often")
        with pytest.raises(ValidationError, match="change it there"):
            update_schedule("often", cron="@daily")
        clock.advance(10 * MINUTE)
        assert run_schedules() == []


def test_a_schedule_runs_once_now_when_somebody_asks_and_its_ticks_stay(schedulable_invoice: MovedClock) -> None:
    row = create_schedule(name="x", task_key="invoice", every_seconds=600, arguments={"order_id": 1}, priority=7)
    assert pause_schedule(row)
    result = run_schedule("x")
    assert (result.kwargs, result.task.priority, result.created) == ({"order_id": 1, "copy": False}, 7, True)
    after = OxpullSchedule.objects.get(name="x")
    assert (after.paused, after.last_tick_at) == (True, None)
    assert not OxpullTick.objects.exists()
    with pytest.raises(PermissionDenied):
        run_schedule(row, user=AnonymousUser())
    with pytest.raises(ScheduleDoesNotExist):
        run_schedule("absent")


def test_a_schedule_of_the_settings_runs_once_now_while_the_settings_have_it(clock: MovedClock) -> None:
    with tasks(often={"task": PATH, "every": 600, "args": [7]}):
        run_schedules()
        assert run_schedule("often").args == [7]
    with pytest.raises(UsageError, match="not loaded here"):
        run_schedule("often")


def test_a_schedule_is_created_in_the_open_transaction(schedulable_invoice: MovedClock, site: str) -> None:
    with transaction.atomic(using=site):
        create_schedule(name="x", task_key="invoice", every_seconds=60, arguments={"order_id": 1})
        assert connections[site].in_atomic_block
        transaction.set_rollback(True, using=site)
    assert not OxpullSchedule.objects.exists()
