"""The page of one task: everything that is stored, why it does not run, and nothing that a browser would run."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import connections
from django.test import Client
from django.utils.html import escape

from compat_sync import actions
from compat_sync.connection import DjangoConnection
from compat_sync.models import OxpullTask
from compat_sync.operations import backend_of
from compat_sync.shim import run_blocking
from oxpull_async.domain.record import TaskStatus
from tests.compat import shop
from tests.compat.admin.conftest import LogIn
from tests.compat.admin.pages import LIST, page_of
from tests.compat.operations.rows import one_of_each
from tests.fixtures import make, raw

EVIL = "<script>alert('x')</script>"


@pytest.mark.parametrize("status", TaskStatus, ids=str)
def test_a_task_in_every_status_has_a_page(admin_site: str, viewer: Client, status: TaskStatus) -> None:
    task = one_of_each(admin_site)[status]
    page = page_of(viewer, task.id)
    assert status in page
    assert task.task_path in page
    for error in task.errors:
        assert escape(error.exception_class_path) in page
        assert "Traceback" in page


def test_every_failed_attempt_is_shown_with_its_traceback(admin_site: str, viewer: Client) -> None:
    result = shop.send_invoice.enqueue(1)
    errors = [
        {"exception_class_path": f"shop.Error{n}", "traceback": f"line {n}\nof it", "attempt": n, "worker_id": "w"}
        for n in (1, 2)
    ]
    change(admin_site, result.id, errors=errors)
    page = page_of(viewer, result.id)
    assert page.index("Attempt 2: shop.Error2") < page.index("Attempt 1: shop.Error1")
    assert "line 1\nof it" in page
    assert "line 2\nof it" in page


def change(alias: str, id_: str, **columns: object) -> None:
    """Store JSON in columns of a task."""
    with connections[alias].cursor() as cursor:
        for name, value in columns.items():
            cursor.execute(f"UPDATE oxpull_task SET {name} = %s", [json.dumps(value)])


def test_whatever_users_stored_is_escaped(admin_site: str, viewer: Client) -> None:
    result = shop.send_invoice.using(queue_name=EVIL).enqueue(EVIL, copy=EVIL)
    error = {"exception_class_path": EVIL, "traceback": EVIL, "attempt": 1, "worker_id": EVIL}
    change(admin_site, result.id, errors=[error], progress={"at": EVIL}, return_value=EVIL, worker_ids=[EVIL])
    for status in (TaskStatus.READY, TaskStatus.SUCCESSFUL, TaskStatus.FAILED):
        run_blocking(raw.change(DjangoConnection(admin_site), result.id, f"status = '{status}'"))
        page = page_of(viewer, result.id)
        assert "<script>alert" not in page
        assert page.count(escape(EVIL)) >= 6


def test_arguments_progress_and_return_value_are_readable(admin_site: str, viewer: Client) -> None:
    result = shop.send_invoice.enqueue(42, copy=True)
    change(admin_site, result.id, progress={"done": 3}, return_value={"invoice": "é"})
    run_blocking(raw.change(DjangoConnection(admin_site), result.id, "status = 'SUCCESSFUL'"))
    page = page_of(viewer, result.id)
    for value in ("[\n  42\n]", '{\n  "copy": true\n}', '{\n  "done": 3\n}', '{\n  "invoice": "é"\n}'):
        assert escape(value) in page


def test_a_page_says_why_the_task_does_not_run(admin_site: str, viewer: Client) -> None:
    result = shop.send_invoice.using(run_after=datetime.now(UTC) + timedelta(hours=1)).enqueue(1)
    actions.pause("default")
    page = page_of(viewer, result.id)
    for sentence in ("it is due at", "is paused; `actions.resume(", "no worker serves queue"):
        assert escape(sentence) in page
    assert "`oxpull" not in page


def test_a_task_that_may_be_claimed_is_called_so(admin_site: str, viewer: Client) -> None:
    result = shop.send_invoice.enqueue(1)
    run_blocking(make.worker(DjangoConnection(admin_site)))
    assert "a worker may claim it now" in page_of(viewer, result.id)


def test_unique_key_and_holder_are_linked(admin_site: str, viewer: Client) -> None:
    first = shop.charge.enqueue(1)
    key = OxpullTask.objects.get(pk=first.id).unique_key
    assert f"/oxpulluniquekey/{key}/change/" in page_of(viewer, first.id)
    assert "this task" in page_of(viewer, first.id)
    actions.discard(first.id)
    second = shop.charge.enqueue(1)
    assert f"/oxpulltask/{second.id}/change/" in page_of(viewer, first.id)


def test_running_lock_and_its_holders_are_linked(admin_site: str, viewer: Client) -> None:
    conn = DjangoConnection(admin_site)
    waits = run_blocking(make.ready(conn, lock_key="tenant", lock_limit=1, lock_conflict="wait"))
    options: make.Options = {"lock_key": "tenant", "lock_limit": 1, "lock_conflict": "wait", "queue_name": "locked"}
    holder = run_blocking(make.running(conn, **options))
    page = page_of(viewer, waits.id)
    assert "/oxpulllock/tenant/change/" in page
    assert f'<a href="/admin/compat_sync/oxpulltask/{holder.id}/change/">' in page
    assert "its running lock" in page


def test_a_task_of_an_alias_that_is_not_here_has_a_page(admin_site: str, viewer: Client) -> None:
    task = run_blocking(make.ready(DjangoConnection(admin_site), backend_alias="elsewhere"))
    page = page_of(viewer, task.id)
    assert escape("TASKS has no alias 'elsewhere' here (there is 'default')") in page
    assert "connection" not in page


def test_a_task_whose_code_is_not_here_has_a_page(admin_site: str, viewer: Client) -> None:
    result = asyncio.run(backend_of("default").ox.enqueue("gone.tasks.cleared", 1))
    assert "gone.tasks.cleared" in page_of(viewer, result.id)


def test_a_task_that_is_not_there_leads_back(admin_site: str, viewer: Client) -> None:
    for id_ in (str(uuid4()), "no-id"):
        assert viewer.get(f"{LIST}{id_}/change/").status_code == 302


def test_actions_are_offered_to_those_who_may_operate(admin_site: str, log_in: LogIn) -> None:
    result = shop.send_invoice.enqueue(1)
    assert "discard_selected" not in page_of(log_in("view_oxpulltask"), result.id)
    assert "discard_selected" in page_of(log_in("view_oxpulltask", "change_oxpulltask"), result.id)
    assert log_in("view_oxpullworker").get(f"{LIST}{result.id}/change/").status_code == 403
