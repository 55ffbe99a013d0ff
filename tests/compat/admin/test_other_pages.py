"""The pages of unique keys, running locks and workers."""

from typing import TYPE_CHECKING, Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client, override_settings

from compat_sync import actions
from compat_sync.admin import LockAdmin, TaskAdmin, UniqueKeyAdmin, WorkerAdmin
from compat_sync.connection import DjangoConnection
from compat_sync.models import OxpullLock, OxpullTask, OxpullUniqueKey, OxpullWorker
from compat_sync.shim import run_blocking
from tests.compat import shop
from tests.compat.admin.conftest import LogIn
from tests.compat.admin.pages import LIST, QUEUES, act, page_of, text
from tests.compat.routing import CurrentRouter
from tests.fixtures import make

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

PAGES = "/admin/compat_sync/oxpull{}/"
ADMINS: dict[Any, Any] = {
    TaskAdmin: OxpullTask,
    UniqueKeyAdmin: OxpullUniqueKey,
    LockAdmin: OxpullLock,
    WorkerAdmin: OxpullWorker,
}


class NoReplica(CurrentRouter):
    """Fails whoever would read tasks from a replica."""

    def db_for_read(self, _model: type, **_hints: Any) -> str:
        """Name the database to read from."""
        assert not _model.__module__.startswith("compat_sync"), f"{_model.__name__} is read from a replica"
        return super().db_for_read(_model, **_hints)


def test_a_unique_key_leads_to_its_holder(admin_site: str, viewer: Client) -> None:
    holder = shop.charge.enqueue(1)
    key = OxpullUniqueKey.objects.get().unique_key
    for address in ("", f"?q={key[:10]}", f"{key}/change/"):
        page = text(viewer.get(PAGES.format("uniquekey") + address))
        assert f"/oxpulltask/{holder.id}/change/" in page
    assert "READY" in page
    assert key not in text(viewer.get(PAGES.format("uniquekey"), {"q": "nothing"}))
    actions.discard(holder.id)
    assert "DISCARDED" in text(viewer.get(PAGES.format("uniquekey") + f"{key}/change/"))


def test_a_running_lock_leads_to_its_holders(admin_site: str, viewer: Client) -> None:
    conn = DjangoConnection(admin_site)
    options: make.Options = {"lock_key": "tenant", "lock_limit": 2, "lock_conflict": "wait"}
    holder = run_blocking(make.running(conn, **options))
    assert "tenant" in text(viewer.get(PAGES.format("lock")))
    assert f"/oxpulltask/{holder.id}/change/" in text(viewer.get(PAGES.format("lock") + "tenant/change/"))
    actions.cancel(holder.id)


def test_workers_are_alive_or_silent(admin_site: str, viewer: Client) -> None:
    conn = DjangoConnection(admin_site)
    alive, silent = run_blocking(make.worker(conn)), run_blocking(make.dead_worker(conn))
    page = text(viewer.get(PAGES.format("worker")))
    assert page.index(silent) < page.index("silent</span>") < page.index(alive) < page.index("alive</span>")
    assert "host.test" in text(viewer.get(PAGES.format("worker") + f"{alive}/change/"))


@pytest.mark.parametrize("name", ["uniquekey", "lock", "worker"])
def test_the_pages_are_for_those_who_may_look_and_for_nobody_to_change(
    admin_site: str, log_in: LogIn, name: str
) -> None:
    page = PAGES.format(name)
    assert log_in("view_oxpulltask").get(page).status_code == 403
    client = log_in(*(f"{verb}_oxpull{name}" for verb in ("view", "add", "change", "delete")))
    assert client.get(page).status_code == 200
    assert client.get(f"{page}add/").status_code == 403


def test_the_index_names_every_page(viewer: Client) -> None:
    page = text(viewer.get("/admin/"))
    for name in ("task", "uniquekey", "lock", "worker"):
        assert PAGES.format(name) in page


def test_pages_never_ask_a_replica(admin_site: str, operator: Client) -> None:
    task = shop.charge.enqueue(1)
    router = f"{NoReplica.__module__}.NoReplica"
    with override_settings(DATABASE_ROUTERS=[router]):
        key = OxpullUniqueKey.objects.get().unique_key
        for address in (LIST, f"{LIST}?status=READY", f"{LIST}?q={key}", f"{LIST}?task=x", QUEUES):
            text(operator.get(address))
        page_of(operator, task.id)
        act(operator, "cancel_selected", [task.id])
        client = Client()
        client.force_login(User.objects.create_superuser("root"))
        for name in ("uniquekey", "lock", "worker"):
            text(client.get(PAGES.format(name)))
        text(client.get(PAGES.format("uniquekey") + f"{key}/change/"))
    User.objects.filter(username="root").delete()


@pytest.mark.parametrize("kind_of_page", ADMINS, ids=lambda found: found.__name__)
def test_django_finds_no_fault_with_the_pages(kind_of_page: "type[ModelAdmin[Any]]") -> None:
    assert kind_of_page(ADMINS[kind_of_page], admin.site).check() == []
