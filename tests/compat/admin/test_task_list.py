"""The list of tasks: what it shows, how it is narrowed, and how far it looks."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.test import Client

from compat_sync import actions
from compat_sync.admin import TaskAdmin, base
from compat_sync.models import OxpullTask
from oxpull_async.domain.record import TaskStatus
from tests.compat import shop
from tests.compat.admin.conftest import LogIn
from tests.compat.admin.pages import LIST, ids_on, text
from tests.compat.operations.rows import one_of_each


def test_the_newest_tasks_come_first(admin_site: str, viewer: Client) -> None:
    ids = [shop.send_invoice.enqueue(number).id for number in range(3)]
    page = text(viewer.get(LIST))
    assert sorted(ids, key=page.index) == ids[::-1]
    assert "3 tasks" in page
    assert shop.send_invoice.module_path in page


@pytest.mark.parametrize("status", TaskStatus, ids=str)
def test_a_status_filters_the_list(admin_site: str, viewer: Client, status: TaskStatus) -> None:
    stored = one_of_each(admin_site)
    assert ids_on(viewer, status=status) == {stored[status].id}


def test_follow_ups_and_deferred_tasks_are_found_by_status(admin_site: str, viewer: Client) -> None:
    later = shop.send_invoice.using(run_after=datetime.now(UTC) + timedelta(hours=1)).enqueue(1)
    shop.remind.enqueue(2)
    assert later.id in ids_on(viewer, status="READY")
    assert ids_on(viewer, status="READY", queue="default") == {later.id}


def test_queue_and_path_filter_the_list(admin_site: str, viewer: Client) -> None:
    invoice, reminder = shop.send_invoice.enqueue(1), shop.remind.enqueue(1)
    assert ids_on(viewer, queue="mail") == {reminder.id}
    assert ids_on(viewer, task=shop.send_invoice.module_path) == {invoice.id}
    assert ids_on(viewer, queue="mail", task=shop.send_invoice.module_path) == set()
    page = text(viewer.get(LIST))
    assert "?queue=mail" in page
    assert f"?task={shop.remind.module_path}" in page


def test_queues_that_were_ever_paused_are_offered(admin_site: str, viewer: Client) -> None:
    actions.pause("reports")
    assert "?queue=reports" in text(viewer.get(LIST))


def test_the_search_finds_ids_keys_and_beginnings_of_paths(admin_site: str, viewer: Client) -> None:
    invoice, charge = shop.send_invoice.enqueue(1), shop.charge.enqueue(1)
    key = OxpullTask.objects.get(pk=charge.id).unique_key
    assert key is not None
    assert ids_on(viewer, q=invoice.id) == ids_on(viewer, q=f" {invoice.id.replace('-', '')} ") == {invoice.id}
    assert ids_on(viewer, q=key) == {charge.id}
    assert ids_on(viewer, q="tests.compat.shop.send") == {invoice.id}
    assert ids_on(viewer, q="tests.compat") == {invoice.id, charge.id}
    assert ids_on(viewer, q=str(uuid4())) == ids_on(viewer, q="x" * 64) == ids_on(viewer, q="shop.send") == set()


@pytest.mark.parametrize("query", [{"status": "BROKEN"}, {"id__lte": "no id"}, {"o": "4"}, {"p": "7"}, {"q": "%_"}])
def test_odd_addresses_break_nothing(admin_site: str, viewer: Client, query: dict[str, str]) -> None:
    shop.send_invoice.enqueue(1)
    assert viewer.get(LIST, query).status_code in {200, 302}


def test_a_narrowed_list_looks_so_far_back_and_offers_to_look_further(
    admin_site: str, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TaskAdmin, "look_back", 3)
    old = shop.remind.enqueue(1)
    ids = [shop.send_invoice.enqueue(number).id for number in range(3)]
    page = text(viewer.get(LIST, {"queue": "mail"}))
    assert f"{old.id}/change/" not in page
    assert "among the newest 3 tasks" in page
    assert f"?id__lte={old.id}&amp;queue=mail" in page
    assert ids_on(viewer, queue="mail", id__lte=old.id) == {old.id}
    assert "Look further back" not in text(viewer.get(LIST, {"queue": "mail", "id__lte": old.id}))
    assert ids_on(viewer) == {old.id, *ids}
    assert ids_on(viewer, status="READY", queue="mail") == ids_on(viewer, q=old.id) == {old.id}


def test_pages_end_where_counting_ends(admin_site: str, viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MOST", 2)
    for number in range(3):
        shop.send_invoice.enqueue(number)
    assert "There are more than 2 tasks" in text(viewer.get(LIST))


def test_the_list_is_for_those_who_may_look(log_in: LogIn) -> None:
    assert log_in().get(LIST).status_code == 403
    assert log_in("view_oxpullworker").get(LIST).status_code == 403
    assert Client().get(LIST).status_code == 302


def test_nobody_adds_changes_or_deletes_rows(admin_site: str, log_in: LogIn) -> None:
    task = shop.send_invoice.enqueue(1)
    client = log_in(
        *(f"{verb}_oxpulltask" for verb in ("view", "add", "change", "delete")),
    )
    page = f"{LIST}{task.id}/"
    assert client.get(f"{LIST}add/").status_code == 403
    assert client.get(f"{page}delete/").status_code == 403
    assert client.post(f"{page}change/", {"status": "FAILED"}).status_code == 403
    assert OxpullTask.objects.get().status == "READY"


def test_values_in_the_list_are_escaped(admin_site: str, viewer: Client) -> None:
    shop.send_invoice.using(queue_name="<script>alert(1)</script>").enqueue(1)
    page = text(viewer.get(LIST))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
