"""The actions of the list: who may, what changes, and that every selected task is accounted for."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.db import transaction
from django.test import Client

from compat_sync import actions
from compat_sync.admin import bulk, filters
from compat_sync.connection import DjangoConnection
from compat_sync.models import OxpullTask
from compat_sync.shim import run_blocking
from oxpull_async.domain.record import TaskStatus
from tests.compat import shop
from tests.compat.admin.conftest import LogIn
from tests.compat.admin.pages import LIST, act, messages_of, text
from tests.compat.conftest import Kind, MakeAlias
from tests.compat.operations.rows import one_of_each, record, statuses
from tests.fixtures import make, raw

READY, RUNNING, DISCARDED = TaskStatus.READY, TaskStatus.RUNNING, TaskStatus.DISCARDED
TOLD = {
    "retry_selected": (
        "7 selected: 2 ready again, 5 left as they were (1 DISCARDED, 1 READY, 1 RUNNING, 1 SUCCESSFUL, 1 WAITING)"
    ),
    "retry_selected_discarded_too": (
        "7 selected: 3 ready again, 4 left as they were (1 READY, 1 RUNNING, 1 SUCCESSFUL, 1 WAITING)"
    ),
    "run_selected_now": (
        "7 selected: 0 to be run now, 7 left as they were (1 DISCARDED, 1 FAILED, 1 LOST, 1 RUNNING, 1 SUCCESSFUL, "
        "1 WAITING, 1 due already, or changed meanwhile)"
    ),
    "cancel_selected": (
        "7 selected: 3 cancelled or asked to stop, 4 left as they were (1 DISCARDED, 1 FAILED, 1 LOST, 1 SUCCESSFUL)"
    ),
    "discard_selected": "7 selected: 4 discarded, 3 left as they were (1 DISCARDED, 1 RUNNING, 1 SUCCESSFUL)",
}


@pytest.mark.parametrize("action", TOLD)
def test_every_selected_task_is_accounted_for(admin_site: str, operator: Client, action: str) -> None:
    ids = [task.id for task in one_of_each(admin_site).values()]
    assert act(operator, action, ids) == [TOLD[action]]


def test_what_is_selected_changes_and_nothing_else(admin_site: str, operator: Client) -> None:
    ids = [shop.send_invoice.enqueue(number).id for number in range(3)]
    assert act(operator, "discard_selected", ids[:2]) == ["2 selected: 2 discarded, 0 left as they were"]
    assert statuses(admin_site, ids) == [DISCARDED, DISCARDED, READY]


def test_a_deferred_task_is_run_now(admin_site: str, operator: Client) -> None:
    asked = datetime.now(UTC) + timedelta(hours=1)
    result = shop.send_invoice.using(run_after=asked).enqueue(1)
    assert act(operator, "run_selected_now", [result.id]) == ["1 selected: 1 to be run now, 0 left as they were"]
    found = record(admin_site, result.id)
    assert (found.run_after, found.available_at < asked) == (asked, True)


def test_a_running_task_is_asked_to_stop_once(admin_site: str, operator: Client) -> None:
    task = one_of_each(admin_site)[RUNNING]
    act(operator, "cancel_selected", [task.id])
    assert record(admin_site, task.id).cancel_requested
    told = "1 selected: 0 cancelled or asked to stop, 1 left as they were (1 asked to stop already)"
    assert act(operator, "cancel_selected", [task.id]) == [told]


def test_a_whole_list_is_selected_across_its_pages(admin_site: str, operator: Client) -> None:
    ids = [shop.send_invoice.enqueue(number).id for number in range(105)]
    told = act(operator, "discard_selected", ids[:1], select_across="1")
    assert told == ["105 selected: 105 discarded, 0 left as they were"]


def test_a_list_longer_than_one_action_takes_is_said_to_be(
    admin_site: str, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "MOST", 2)
    ids = [shop.send_invoice.enqueue(number).id for number in range(3)]
    done, warning = act(operator, "discard_selected", ids)
    assert done == "2 selected: 2 discarded, 0 left as they were"
    assert warning == "Only the first 2 selected tasks were looked at: repeat it for the others"
    assert sorted(statuses(admin_site, ids)) == [DISCARDED, DISCARDED, READY]


def test_a_list_that_has_not_all_tasks_of_its_status_says_so_where_all_are_selected(
    admin_site: str, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "MOST_UNFINISHED", 2)
    ids = [shop.send_invoice.enqueue(number).id for number in range(5)]
    ready = f"{LIST}?status=READY"
    form = {"action": "discard_selected", "index": "0", "_selected_action": ids[:1], "select_across": "1"}
    done, warning = messages_of(operator.post(ready, form, follow=True))
    assert "left as they were" in done
    assert warning == "There may be more tasks of this status than were selected: look, and repeat it"
    left = OxpullTask.objects.ready().count()
    assert 0 < left < 5
    one = {**form, "_selected_action": [str(OxpullTask.objects.ready()[0].pk)], "select_across": "0"}
    assert len(messages_of(operator.post(ready, one, follow=True))) == 1


def test_what_an_operator_changed_is_in_the_history_of_the_task_and_nothing_else(
    admin_site: str, operator: Client
) -> None:
    stored = one_of_each(admin_site)
    act(operator, "retry_selected", [task.id for task in stored.values()])
    assert {entry.object_id for entry in LogEntry.objects.all()} == {
        stored[status].id for status in (TaskStatus.FAILED, TaskStatus.LOST)
    }
    page = text(operator.get(f"{LIST}{stored[TaskStatus.LOST].id}/history/"))
    assert "Ready again" in page
    assert "ann" in page


def test_of_tasks_that_might_have_changed_only_those_that_did_are_in_the_history(
    admin_site: str, operator: Client
) -> None:
    due = shop.send_invoice.enqueue(1)
    later = shop.send_invoice.using(run_after=datetime.now(UTC) + timedelta(hours=1)).enqueue(1)
    act(operator, "run_selected_now", [due.id, later.id])
    [entry] = LogEntry.objects.all()
    assert (entry.object_id, entry.change_message, entry.user.get_username()) == (later.id, "To be run now", "ann")


def test_a_task_of_an_alias_that_is_not_here_is_left(admin_site: str, operator: Client) -> None:
    task = run_blocking(make.ready(DjangoConnection(admin_site), backend_alias="elsewhere"))
    [told] = act(operator, "discard_selected", [task.id])
    assert "1 of the alias 'elsewhere', which is not in TASKS here" in told
    assert record(admin_site, task.id).status is READY


def test_in_a_transaction_of_the_request_actions_join_it(admin_site: str, operator: Client) -> None:
    result = shop.send_invoice.enqueue(1)
    with transaction.atomic(using=admin_site):
        act(operator, "discard_selected", [result.id])
        transaction.set_rollback(True, using=admin_site)
    assert record(admin_site, result.id).status is READY


def test_a_lock_that_is_not_given_is_told_and_changes_nothing(
    admin_site: str, operator: Client, make_alias: MakeAlias, kind: Kind
) -> None:
    result = shop.send_invoice.enqueue(1)
    other = make_alias(kind)
    run_blocking(raw.hurry(DjangoConnection(admin_site)))
    with transaction.atomic(using=other):
        run_blocking(raw.change(DjangoConnection(other), result.id, "priority = 1"))
        [told] = act(operator, "discard_selected", [result.id])
    assert told.endswith("Whatever did not change is as it was: repeat the action")
    assert record(admin_site, result.id).status is READY


@pytest.mark.parametrize("action", TOLD)
def test_who_may_only_look_changes_nothing(admin_site: str, log_in: LogIn, action: str) -> None:
    client = log_in("view_oxpulltask", "delete_oxpulltask", "add_oxpulltask")
    stored = one_of_each(admin_site)
    assert action not in text(client.get(LIST))
    client.post(LIST, {"action": action, "index": "0", "_selected_action": [task.id for task in stored.values()]})
    assert {status: record(admin_site, task.id) for status, task in stored.items()} == stored


def test_an_action_needs_a_token_of_the_site(admin_site: str, log_in: LogIn) -> None:
    result = shop.send_invoice.enqueue(1)
    client = log_in("view_oxpulltask", "change_oxpulltask", enforce_csrf_checks=True)
    form = {"action": "discard_selected", "index": "0", "_selected_action": [result.id]}
    assert client.post(LIST, form).status_code == 403
    assert record(admin_site, result.id).status is READY


def test_all_actions_are_listed_for_an_operator(admin_site: str, operator: Client) -> None:
    actions.discard(shop.send_invoice.enqueue(1).id)
    page = text(operator.get(LIST))
    assert [name for name in TOLD if f'value="{name}"' in page] == list(TOLD)
    assert "delete_selected" not in page
