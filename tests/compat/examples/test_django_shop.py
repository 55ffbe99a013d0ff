"""docs/examples/django_shop from scratch: a server, one worker, and a client that places orders over HTTP."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.cli.support import ask, until
from tests.compat.examples.places import DJANGO, PASSWORD, Place

SERVERS = {
    "runserver": ("manage.py", "runserver", "--noreload", "{port}"),
    "uvicorn": ("-m", "uvicorn", "django_shop.asgi:application", "--port", "{port}"),
}
TEA = {"product": "tea", "quantity": 2}


@pytest.fixture(scope="module", params=SERVERS)
def shop(request: pytest.FixtureRequest, place: Place) -> Iterator[httpx.Client]:
    """Serve the shop by WSGI and by ASGI, with one worker beside it."""
    with place.started(DJANGO, "manage.py", "oxpull_worker"), place.served(DJANGO, *SERVERS[request.param]) as client:
        yield client


def placed(shop: httpx.Client, path: str) -> dict[str, Any]:
    """Place an order."""
    answer = shop.post(path, json=TEA)
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found


def invoiced(shop: httpx.Client, reference: str) -> bool:
    """Tell whether an order is there and has its invoice."""
    answer = shop.get(f"/orders/{reference}/")
    return answer.is_success and bool(answer.json()["invoiced"])


def done(shop: httpx.Client, task: str) -> dict[str, Any]:
    """Wait until a task is SUCCESSFUL, and return what the shop tells about it."""

    def told() -> dict[str, Any]:
        answer: dict[str, Any] = shop.get(f"/tasks/{task}/").json()
        return answer if answer["status"] == "SUCCESSFUL" else {}

    return until(told, "the end of a task")


def rows(place: Place) -> tuple[int, int]:
    """Count the orders and the tasks for invoices."""

    async def count(ox: Any) -> tuple[int, int]:
        async with ox.transaction() as tx:
            [[orders]] = await tx.fetch("SELECT count(*) FROM shop_order")
            [[tasks]] = await tx.fetch("SELECT count(*) FROM oxpull_task WHERE task_path = 'shop.tasks.send_invoice'")
        return orders, tasks

    return ask(place.url, count)


def test_an_order_of_the_sync_view_gets_its_invoice_from_the_worker(shop: httpx.Client) -> None:
    order = placed(shop, "/orders/")
    until(lambda: invoiced(shop, order["reference"]), "the invoice")
    told = done(shop, order["task"])
    assert told["task"] == "shop.tasks.send_invoice"
    assert told["value"] == f"invoice for 2 tea ({order['reference']})"


def test_an_order_of_the_async_view_is_stored_and_invoiced_by_the_worker(shop: httpx.Client) -> None:
    order = placed(shop, "/orders/later/")
    until(lambda: invoiced(shop, order["reference"]), "the order with its invoice")
    assert done(shop, order["task"])["task"] == "shop.tasks.store_order"


def test_a_view_that_raises_after_enqueue_leaves_no_task_and_no_order(shop: httpx.Client, place: Place) -> None:
    before = rows(place)
    assert shop.post("/orders/broken/", json=TEA).status_code == 500
    assert rows(place) == before


def test_the_admin_shows_the_task(shop: httpx.Client) -> None:
    order = placed(shop, "/orders/")
    done(shop, order["task"])
    with httpx.Client(base_url=shop.base_url, timeout=30, follow_redirects=True) as browser:
        form = browser.get("/admin/login/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)
        assert token is not None, form
        sent = {"username": "ann", "password": PASSWORD, "csrfmiddlewaretoken": token[1], "next": "/admin/"}
        assert "Tasks" in browser.post("/admin/login/", data=sent).text
        assert "shop.tasks.send_invoice" in browser.get("/admin/compat_sync/oxpulltask/").text
        page = browser.get(f"/admin/compat_sync/oxpulltask/{order['task']}/change/").text
    assert "SUCCESSFUL" in page
    assert order["reference"] in page


def test_an_unknown_task_is_not_found(shop: httpx.Client) -> None:
    assert shop.get("/tasks/00000000-0000-7000-8000-000000000000/").status_code == 404
