"""Rate limits of Django's tasks: what an enqueue stores, and what runs under them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from django.db import transaction
from django.tasks import TaskResultStatus, task_backends
from django.test import override_settings

from compat_sync.backend import OxpullBackend
from compat_sync.connection import DjangoConnection
from compat_sync.exceptions import InvalidArguments
from compat_sync.models import OxpullRateLimit, OxpullRateStart, OxpullRateWindow, OxpullTask
from compat_sync.shim import run_blocking
from compat_sync.testing import moved_clock, run_tasks
from oxpull_async import RateLimit
from oxpull_async.domain.rate_limit import read_limit
from oxpull_async.store.lease import WorkerCard, register, remove
from tests.compat import shop
from tests.fixtures import make

TASK = "tests.compat.shop.send_invoice"
BACKEND = "compat_sync.backend.OxpullBackend"
YEAR = timedelta(days=366)
READY, SUCCESSFUL = TaskResultStatus.READY, TaskResultStatus.SUCCESSFUL


@contextmanager
def limits(**declared: Any) -> Iterator[None]:
    """Declare rate limits on the default alias."""
    tasks = {"default": {"BACKEND": BACKEND, "QUEUES": [], "OPTIONS": {"RATE_LIMITS": declared}}}
    with override_settings(TASKS=tasks):
        yield


def send(*orders: int) -> list[Any]:
    return [shop.send_invoice.enqueue(order) for order in orders]


def ran(results: list[Any]) -> list[bool]:
    for result in results:
        result.refresh()
    assert {result.status for result in results} <= {READY, SUCCESSFUL}
    return [result.status is SUCCESSFUL for result in results]


def stored_keys() -> list[str | None]:
    return list(OxpullTask.objects.order_by("id").values_list("limit_keys", flat=True))


@pytest.mark.parametrize(
    "call", [lambda task: task.enqueue, lambda task: async_to_sync(task.aenqueue)], ids=["sync", "async"]
)
def test_an_enqueue_stores_the_keys_of_the_limits_that_cover_it(site: str, call: Callable[..., Any]) -> None:
    with limits(api={"limit": 1, "per": 60, "tasks": [TASK]}):
        call(shop.send_invoice)(1)
        call(shop.charge)(1)
        with transaction.atomic(using=site):
            call(shop.send_invoice)(2)
    assert stored_keys() == ["", None, ""]


def test_a_bulk_enqueue_stores_the_keys_of_each_call(site: str) -> None:
    limit = RateLimit(1, 60, tasks=[TASK], key=lambda order_id, **_: f"{order_id % 2}")
    with limits(api=limit):
        backend = task_backends["default"]
        assert isinstance(backend, OxpullBackend)
        backend.enqueue_many(shop.send_invoice, [([1], {}), ([2], {}), ([3], {"copy": True})])
    one, two, three = stored_keys()
    assert one == three != two
    assert None not in (one, two)


def test_a_key_that_cannot_be_had_writes_nothing(site: str) -> None:
    with limits(api=RateLimit(1, 60, tasks=[TASK], key=lambda order_id, **_: order_id)):
        with pytest.raises(InvalidArguments, match=r"rate limit 'api': the key function .* returned 1, not text"):
            shop.send_invoice.enqueue(1)
        assert not OxpullTask.objects.exists()


def test_run_tasks_keeps_the_limits_and_goes_on_in_the_next_window(site: str) -> None:
    with limits(api={"limit": 2, "per": YEAR, "tasks": [TASK]}):
        results = send(1, 2, 3, 4, 5)
        free = shop.charge.enqueue(1)
        assert len(run_tasks()) == 3
        assert ran([*results, free]) == [True, True, False, False, False, True]
        assert run_tasks() == []
        with moved_clock() as clock:
            clock.advance(YEAR)
            assert ran(run_tasks()) == [True, True]


def test_run_tasks_keeps_a_sliding_limit_with_keys(site: str) -> None:
    limit = RateLimit(1, 60, tasks=[TASK], key=lambda order_id, **_: f"{order_id % 2}", sliding=True)
    with limits(api=limit):
        results = send(1, 3, 2, 5)
        run_tasks()
        assert ran(results) == [True, False, True, False]
        assert OxpullRateStart.objects.filter(name="api").count() == 2


def test_tasks_that_were_enqueued_before_anybody_declared_the_limit_are_kept_to_it(site: str) -> None:
    with limits():
        results = send(*range(5))
    assert stored_keys() == [None] * 5
    with limits(api={"limit": 3, "per": YEAR, "queues": ["default"]}):
        run_tasks()
        assert ran(results) == [True] * 3 + [False] * 2


def test_a_task_whose_code_is_missing_does_not_keep_run_tasks_from_the_others(site: str) -> None:
    with limits(api={"limit": 5, "per": YEAR, "queues": ["default"]}):
        run_blocking(make.ready(DjangoConnection(site), backend_alias="default", queue_name="default", limit_keys=""))
        results = send(1, 2)
        assert len(run_tasks()) == 2
        assert ran(results) == [True, True]


def test_the_orm_shows_what_is_declared_and_used(site: str) -> None:
    rule = read_limit("api", {"limit": 2, "per": 60, "tasks": [TASK]})
    card = WorkerCard(make.new_id(), "default", "host", 1, None, 1, 60, limits=(rule,))
    run_blocking(register(DjangoConnection(site), card))
    [declared] = OxpullRateLimit.objects.all()
    assert (declared.most, declared.per, declared.tasks, declared.queues) == (2, 60.0, [TASK], [])
    assert (declared.worker_id, str(declared)) == (UUID(card.worker_id), "api (2 in 60 s)")
    run_blocking(remove(DjangoConnection(site), card.worker_id))
    with limits(api={"limit": 2, "per": YEAR, "tasks": [TASK]}):
        send(1)
        run_tasks()
    [window] = OxpullRateWindow.objects.all()
    assert (window.name, window.limit_key, window.used, window.held_until) == ("api", "", 1, None)
    assert window.started_at <= window.expires_at
    assert not OxpullRateLimit.objects.exists()
