"""A Django worker keeps the rate limits of the settings, for functions as for coroutines."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.tasks import TaskResultStatus

from oxpull_async import RateLimit
from oxpull_async.domain.events import WorkerStopped
from tests.compat import shop
from tests.compat.worker.conftest import Work
from tests.compat.worker.test_running import backend

YEAR = timedelta(days=366)


def succeeded(results: Sequence[Any]) -> int:
    for result in results:
        result.refresh()
    return sum(result.status is TaskResultStatus.SUCCESSFUL for result in results)


@pytest.mark.parametrize("threads", [1, 10])
def test_no_more_than_the_limit_start_and_the_others_wait(work: Work, threads: int) -> None:
    with backend([], RATE_LIMITS={"api": {"limit": 3, "per": YEAR, "queues": ["default"]}}):
        results = [shop.send_invoice.enqueue(order) for order in range(5)] + [shop.fetch.enqueue("here")]
        free = shop.fetch.using(queue_name="free").enqueue("there")
        [stopped] = work(threads=threads).of(WorkerStopped)
        assert (succeeded(results), succeeded([free]), stopped.remaining) == (3, 1, 3)


def test_a_key_is_that_of_django_s_arguments(work: Work) -> None:
    limit = RateLimit(1, YEAR, tasks=["tests.compat.shop.send_invoice"], key=lambda order_id, **_: f"{order_id}")
    with backend([], RATE_LIMITS={"api": limit}):
        results = [shop.send_invoice.enqueue(order) for order in (1, 1, 2)]
        work()
        assert [succeeded([result]) for result in results] == [1, 0, 1]


def test_a_task_that_the_settings_limit_only_now_is_kept_to_it(work: Work) -> None:
    results = [shop.send_invoice.enqueue(order) for order in range(5)]
    with backend([], RATE_LIMITS={"api": {"limit": 2, "per": YEAR, "queues": ["default"]}}):
        work()
        assert succeeded(results) == 2
