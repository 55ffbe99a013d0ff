"""The pages of schedules: stored ones are added, changed, paused and deleted, with what is wrong beside its field."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client, override_settings

from compat_sync.models import OxpullSchedule, OxpullTask
from compat_sync.schedules import create_schedule
from compat_sync.testing import run_schedules
from tests.compat.admin.conftest import LogIn
from tests.compat.admin.pages import messages_of, text

PAGES = "/admin/compat_sync/oxpullschedule/"
PATH = "tests.compat.shop.send_invoice"
OPTIONS: dict[str, Any] = {
    "SCHEDULABLE_TASKS": {
        "invoice": PATH,
        "guarded": {"task": "tests.compat.shop.charge", "permission": "auth.add_user"},
    },
    "SCHEDULES": {"declared": {"task": PATH, "every": 600, "args": [1]}},
}
FORM = {
    "backend": "default", "name": "reports", "task_key": "invoice", "arguments": '{"order_id": 5}',
    "cron": "0 3 * * *", "every_seconds": "", "phase_seconds": "", "tz": "Europe/Vienna", "repeated_hour": "once",
    "catch_up": "latest", "starting_deadline_seconds": "", "overlap": "skip", "enabled": "on", "end_time_0": "",
    "end_time_1": "", "queue_name": "", "priority": "",
}  # fmt: skip


@pytest.fixture
def project(admin_site: str) -> Iterator[str]:
    """Give the site schedules and tasks that may be scheduled."""
    backend = {"BACKEND": "compat_sync.backend.OxpullBackend", "QUEUES": [], "OPTIONS": OPTIONS}
    with override_settings(TASKS={"default": backend}):
        yield admin_site


@pytest.fixture
def editor(project: str, log_in: LogIn) -> Client:
    """Log somebody in who may do everything with schedules."""
    return log_in(*(f"{verb}_oxpullschedule" for verb in ("view", "add", "change", "delete")))


def only() -> OxpullSchedule:
    return OxpullSchedule.objects.get(declared=False)


def test_a_schedule_is_added_changed_and_deleted(editor: Client) -> None:
    assert "invoice (tests.compat.shop.send_invoice)" in text(editor.get(f"{PAGES}add/"))
    assert "was added successfully" in messages_of(editor.post(f"{PAGES}add/", FORM, follow=True))[0]
    row = only()
    assert (row.cron, row.kwargs, row.overlap, row.queue_name) == ("0 3 * * *", {"order_id": 5}, "skip", None)
    page = text(editor.get(f"{PAGES}{row.pk}/change/"))
    assert "0 3 * * *" in page
    changes = FORM | {"cron": "", "every_seconds": "900", "queue_name": "low", "name": "invoices"}
    assert "was changed successfully" in messages_of(editor.post(f"{PAGES}{row.pk}/change/", changes, follow=True))[0]
    changed = only()
    assert (changed.pk, changed.name, changed.every, changed.cron, changed.queue_name) == (
        row.pk, "invoices", 900, None, "low",
    )  # fmt: skip
    editor.post(f"{PAGES}{row.pk}/delete/", {"post": "yes"})
    assert not OxpullSchedule.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"cron": "61 * * * *"}, "is not 0 to 59"), ({"cron": ""}, "either cron or every_seconds"),
        ({"tz": "Mars"}, "no IANA"),
        ({"name": "declared"}, "declared in code or settings"), ({"arguments": "[1]"}, "must be an object"),
        ({"task_key": "guarded"}, "needs the permission auth.add_user"),
        ({"every_seconds": "5"}, "either cron or every"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_on_the_page_and_nothing_is_stored(editor: Client, wrong: Any, says: str) -> None:
    assert says in text(editor.post(f"{PAGES}add/", FORM | wrong))
    assert not OxpullSchedule.objects.exists()


def test_schedules_are_paused_and_resumed_from_the_list(editor: Client) -> None:
    create_schedule(name="reports", task_key="invoice", cron="@daily", arguments={"order_id": 5})
    run_schedules()
    chosen = [str(row.pk) for row in OxpullSchedule.objects.all()]
    for action, paused in (("pause", True), ("resume", False)):
        form = {"action": action, "index": "0", "_selected_action": chosen}
        assert messages_of(editor.post(PAGES, form, follow=True)) == [f"2 schedules {action}d"]
        assert {row.paused for row in OxpullSchedule.objects.all()} == {paused}


def test_schedules_are_enqueued_once_from_the_list_and_what_is_refused_is_said_of_each(editor: Client) -> None:
    create_schedule(name="reports", task_key="invoice", cron="@daily", arguments={"order_id": 5})
    create_schedule(name="guarded", task_key="guarded", cron="@daily", arguments={"order_id": 5})
    run_schedules()
    chosen = [str(row.pk) for row in OxpullSchedule.objects.all()]
    said = messages_of(editor.post(PAGES, {"action": "run_now", "_selected_action": chosen}, follow=True))
    assert said[0] == "2 schedules enqueued"
    assert [line.partition(":")[0] for line in said[1:]] == ["Schedule 'guarded'"]
    assert sorted(task.args + list(task.kwargs.values()) for task in OxpullTask.objects.all()) == [[1], [5]]


def test_a_declared_schedule_is_shown_and_not_to_be_changed(editor: Client) -> None:
    run_schedules()
    row = OxpullSchedule.objects.get(declared=True)
    page = text(editor.get(f"{PAGES}{row.pk}/change/"))
    assert "every 600 s" in page
    assert 'name="cron"' not in page
    assert editor.post(f"{PAGES}{row.pk}/change/", FORM).status_code == 403


def test_who_may_only_look_changes_nothing(project: str, log_in: LogIn) -> None:
    row = create_schedule(name="reports", task_key="invoice", cron="@daily", arguments={"order_id": 5})
    viewer = log_in("view_oxpullschedule")
    assert "reports" in text(viewer.get(PAGES))
    assert "@daily" in text(viewer.get(f"{PAGES}{row.pk}/change/"))
    assert viewer.post(f"{PAGES}{row.pk}/change/", FORM).status_code == 403
    assert viewer.get(f"{PAGES}add/").status_code == 403
