"""Requests that wait for `aenqueue` hold nothing but the pool's connections; the proofs send ten times as many."""

import pytest

from tests.compat.conftest import KINDS, Kind
from tests.fixtures.servers import MakeDatabase
from tests.scenarios.django_leaks import calls_from_sync_views
from tests.scenarios.django_requests import concurrent_requests


@pytest.mark.parametrize("kind", KINDS)
def test_waiting_requests_hold_the_pool_and_no_threads(kind: Kind, make_database: MakeDatabase) -> None:
    found = concurrent_requests(make_database(kind), requests=100, sync_at_once=15)
    assert found.connections <= 10
    assert found.threads_with_djangos_own_signals > found.threads


@pytest.mark.parametrize("kind", KINDS)
def test_async_to_sync_in_a_sync_view_leaves_nothing_behind(kind: Kind, make_database: MakeDatabase) -> None:
    found = calls_from_sync_views(make_database(kind), calls=100)
    assert found.calls == 100
