"""docs/examples/fastapi_shop beside the Django shop: one database, and each one's worker runs what either enqueued."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.support import until
from tests.compat.examples.places import DJANGO, FASTAPI, Place
from tests.fixtures.processes import ROOT

WORKERS: dict[str, tuple[Any, ...]] = {
    "manage.py oxpull_worker": (DJANGO, ("manage.py", "oxpull_worker", "--import", "fastapi_shop"), {}),
    "oxpull worker": (
        FASTAPI,
        ("-m", "oxpull_async", "worker", "fastapi_shop.tasks:ox", "--import", "shop"),
        {"DJANGO_SETTINGS_MODULE": "django_shop.settings"},
    ),
}
BESIDE = {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, DJANGO, FASTAPI)))}
TEA = {"product": "tea", "quantity": 2}


@pytest.fixture(scope="module")
def shops(place: Place) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    """Serve the Django shop and the FastAPI shop."""
    with ExitStack() as stack:
        django = ("-m", "uvicorn", "django_shop.asgi:application", "--port", "{port}")
        fastapi = ("-m", "uvicorn", "fastapi_shop.app:app", "--port", "{port}")
        yield stack.enter_context(place.served(DJANGO, *django)), stack.enter_context(place.served(FASTAPI, *fastapi))


def post(shop: httpx.Client, path: str, **body: Any) -> dict[str, Any]:
    """Post something that is accepted."""
    answer = shop.post(path, json=body)
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found


def order(shop: httpx.Client, reference: str) -> dict[str, Any]:
    """Ask a shop how far an order is."""
    answer = shop.get(f"/orders/{reference}/")
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("worker", WORKERS)
def test_a_task_of_either_shop_is_run_by_either_s_worker(
    place: Place, shops: tuple[httpx.Client, httpx.Client], worker: str
) -> None:
    django, fastapi = shops
    theirs, ours = post(django, "/orders/", **TEA), post(fastapi, "/orders/", **TEA)
    tasks = [theirs["task"], ours["invoice"], ours["packing"]]
    project, command, environment = WORKERS[worker]
    with place.started(project, *command, **BESIDE, **environment) as started:
        until(lambda: all(_is_done(django, task) for task in tasks), f"three tasks: {started.errors}")
    assert all(_is_done(fastapi, task) for task in tasks)
    assert order(fastapi, theirs["reference"]) == {"order": theirs["order"], "invoiced": True, "packed": False}
    assert order(django, ours["reference"]) == {"order": ours["order"], "invoiced": True, "packed": True}


def test_an_invoice_that_one_shop_asked_for_is_not_asked_for_again_by_the_other(
    shops: tuple[httpx.Client, httpx.Client],
) -> None:
    django, fastapi = shops
    placed = post(django, "/orders/", **TEA)
    assert post(fastapi, f"/orders/{placed['order']}/invoice/") == {"task": placed["task"], "created": False}


def test_a_worker_leaves_what_it_does_not_know_to_the_other(
    place: Place, shops: tuple[httpx.Client, httpx.Client]
) -> None:
    django, fastapi = shops
    ours = post(fastapi, "/orders/", **TEA)
    with place.started(FASTAPI, "-m", "oxpull_async", "worker", "fastapi_shop.tasks:ox", "--burst") as worker:
        assert worker.code() == 0, worker.errors
    assert "Traceback" not in worker.errors
    assert order(django, ours["reference"]) == {"order": ours["order"], "invoiced": False, "packed": True}
    assert fastapi.get(f"/tasks/{ours['invoice']}/").json()["status"] == "READY"


def _is_done(shop: httpx.Client, task: str) -> bool:
    return bool(shop.get(f"/tasks/{task}/").json()["status"] == "SUCCESSFUL")


@pytest.mark.parametrize(
    ("project", "served"), [(DJANGO, "django_shop.asgi:application"), (FASTAPI, "fastapi_shop.app:app")]
)
def test_a_server_that_is_told_to_stop_ends_without_complaint(place: Place, project: Path, served: str) -> None:
    command = ("-m", "uvicorn", served, "--port", "{port}")
    with place.served(project, *command) as shop:
        post(shop, "/orders/later/" if project == DJANGO else "/orders/", **TEA)
        shop.server.process.terminate()
        assert shop.server.code() in {0, -signal.SIGTERM}  # as the version of uvicorn has it
        assert "Traceback" not in shop.server.errors, shop.server.errors
