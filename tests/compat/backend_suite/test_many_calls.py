"""`async_to_sync(task.aenqueue)`, many times, leaves nothing behind; `make proof` has a thousand."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path

from tests.cli.support import until
from tests.compat.backend_suite import tasks
from tests.compat.conftest import Kind
from tests.compat.promises.kit import counts, site_of
from tests.compat.promises.web import Browser
from tests.compat.worker.sessions import others

TIMES = 200


def different(_request: HttpRequest, times: int) -> HttpResponse:
    """Enqueue different calls, one after another, from a sync view."""
    ids = {async_to_sync(tasks.nothing.aenqueue)(number).id for number in range(times)}
    return HttpResponse(str(len(ids)))


def repeated(_request: HttpRequest, times: int) -> HttpResponse:
    """Enqueue one call of a unique task again and again."""
    ids = {async_to_sync(tasks.once.aenqueue)(1).id for _ in range(times)}
    return HttpResponse(str(len(ids)))


urlpatterns = [path("different/<int:times>", different), path("repeated/<int:times>", repeated)]


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture(params=[True, False], ids=["atomic_requests", "no_atomic_requests"])
def served(request: pytest.FixtureRequest, url_of: Callable[[Kind], str], kind: Kind) -> Iterator[str]:
    """Serve the views above, with ATOMIC_REQUESTS on and off; the connection is open."""
    views = override_settings(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["testserver"], MIDDLEWARE=[])
    with views, site_of(url_of(kind), atomic_requests=request.param) as alias:
        Browser().get("/repeated/1")
        yield alias


@pytest.mark.parametrize(("place", "stored"), [("different", TIMES), ("repeated", 1)])
def test_many_calls_leave_no_connection_thread_or_descriptor(served: str, place: str, stored: int) -> None:
    sessions, threads, open_files = len(others(served)), threading.active_count(), descriptors()
    assert Browser().get(f"/{place}/{TIMES}").content.decode() == str(stored)
    assert counts(served)[0] == (stored if place == "repeated" else stored + 1)
    until(lambda: threading.active_count() <= threads, "the end of the last loop's thread")
    until(lambda: len(others(served)) <= sessions, "the end of sessions")
    until(lambda: descriptors() <= open_files, "the end of descriptors")
