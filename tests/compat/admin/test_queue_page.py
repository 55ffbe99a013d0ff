"""The page of the queues: counts, pauses, and who may switch."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client, override_settings

from compat_sync import actions
from compat_sync.admin import queues
from compat_sync.models import OxpullQueue
from tests.compat import shop
from tests.compat.admin.conftest import LogIn
from tests.compat.admin.pages import LIST, QUEUES, messages_of, text
from tests.compat.operations.rows import one_of_each

SWITCH = f"{QUEUES}switch/"
BACKEND = {"BACKEND": "compat_sync.backend.OxpullBackend", "QUEUES": []}


def table(client: Client) -> dict[str, list[str]]:
    """Read the cells of every queue."""
    rows = re.findall(r"<tr><td>.*?</tr>", text(client.get(QUEUES)), re.DOTALL)
    cells = [
        [re.sub(r"<.*?>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)] for row in rows
    ]
    return {row[1]: row[2:12] for row in cells}


def test_the_queues_are_counted(admin_site: str, viewer: Client) -> None:
    assert "No queue has" in text(viewer.get(QUEUES))
    one_of_each(admin_site)
    shop.send_invoice.enqueue(1)
    actions.pause("empty")
    found = table(viewer)
    assert found["default"] == ["1", "", "", "", "", "", "", "", "0 s", "open"]
    assert found["running"] == ["", "", "1", "", "", "", "", "", "", "open"]
    assert found["failed"][4:8] == ["", "1", "", ""]
    assert found["empty"] == ["", "", "", "", "", "", "", "", "", "paused"]


def test_a_plus_says_that_there_are_more(admin_site: str, viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "LOOKED_AT", 2)
    for number in range(3):
        shop.send_invoice.enqueue(number)
    assert table(viewer)["default"][0] == "2+"


def test_the_task_list_leads_to_the_queues_and_back(admin_site: str, viewer: Client) -> None:
    shop.remind.enqueue(1)
    assert f'href="{QUEUES}"' in text(viewer.get(LIST))
    assert f'href="{LIST}?queue=mail"' in text(viewer.get(QUEUES))


def test_a_queue_is_paused_and_resumed(admin_site: str, operator: Client) -> None:
    shop.send_invoice.enqueue(1)
    form = {"backend": "default", "queue": "default", "paused": "1"}
    told = [messages_of(operator.post(SWITCH, form, follow=True)) for _ in range(2)]
    assert told == [
        ["Queue 'default' is paused: what runs, runs on"],
        ["Queue 'default' was already paused: what runs, runs on"],
    ]
    assert table(operator)["default"][9] == "paused"
    operator.post(SWITCH, {**form, "paused": "0"})
    assert not OxpullQueue.objects.get().paused
    noted = [(entry.object_repr, entry.change_message) for entry in LogEntry.objects.order_by("pk")]
    assert noted == [("default (paused)", "Paused"), ("default (open)", "Resumed")]
    assert "default (paused)" in text(operator.get("/admin/"))


@pytest.mark.parametrize("form", [{}, {"backend": "nowhere", "queue": "default"}, {"backend": "default", "queue": ""}])
def test_a_queue_that_cannot_be_is_refused(admin_site: str, operator: Client, form: dict[str, str]) -> None:
    [told] = messages_of(operator.post(SWITCH, {"paused": "1", **form}, follow=True))
    assert told
    assert not OxpullQueue.objects.exists()


def test_a_queue_that_the_settings_do_not_name_is_not_paused(admin_site: str, operator: Client) -> None:
    with override_settings(TASKS={"default": {**BACKEND, "QUEUES": ["default"]}}):
        form = {"backend": "default", "queue": "mial", "paused": "1"}
        [told] = messages_of(operator.post(SWITCH, form, follow=True))
    assert "'mial' is not one of the declared queues: default" in told
    assert not OxpullQueue.objects.exists()


def test_only_who_may_change_queues_switches_them(admin_site: str, log_in: LogIn) -> None:
    shop.send_invoice.enqueue(1)
    client = log_in("view_oxpulltask", "change_oxpulltask")
    assert "Pause" not in text(client.get(QUEUES))
    form = {"backend": "default", "queue": "default", "paused": "1"}
    assert client.post(SWITCH, form).status_code == 403
    allowed = ("view_oxpulltask", "change_oxpullqueue")
    assert log_in(*allowed).get(SWITCH).status_code == 405
    assert log_in(*allowed, enforce_csrf_checks=True).post(SWITCH, form).status_code == 403
    assert not OxpullQueue.objects.exists()
    assert log_in("change_oxpullqueue").get(QUEUES).status_code == 403
    assert Client().get(QUEUES).status_code == 302


def test_every_alias_has_its_queues(admin_site: str, viewer: Client) -> None:
    with override_settings(TASKS={"default": BACKEND, "other": BACKEND}):
        shop.send_invoice.enqueue(1)
        shop.send_invoice.using(backend="other", queue_name="elsewhere").enqueue(1)
        page = text(viewer.get(QUEUES))
    assert "<td>other</td>" in page
    assert "elsewhere" in page


def test_wrong_settings_are_said_on_the_pages_that_need_them(admin_site: str, viewer: Client) -> None:
    result = shop.send_invoice.enqueue(1)
    wrong = {**BACKEND, "OPTIONS": {"POOL_SIZE": 0}}
    with override_settings(TASKS={"default": wrong, "other": BACKEND}):
        assert "POOL_SIZE" in messages_of(viewer.get(QUEUES))[0]
        page = viewer.get(LIST, {"status": "READY"})
        assert "POOL_SIZE" in messages_of(page)[0]
        assert result.id in text(page)


def test_names_of_queues_are_escaped(admin_site: str, operator: Client) -> None:
    shop.send_invoice.using(queue_name='"><script>alert(1)</script>').enqueue(1)
    page = text(operator.get(QUEUES))
    assert "<script>alert" not in page
    form = {"backend": "default", "queue": '"><script>alert(1)</script>', "paused": "1"}
    assert "<script>alert" not in text(operator.post(SWITCH, form, follow=True))
