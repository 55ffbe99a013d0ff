"""Unique tasks enqueued by requests, each in a transaction (ATOMIC_REQUESTS) or by itself."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections
from django.tasks import signals
from django.test import override_settings

from compat_sync.exceptions import UniqueEnqueueRace
from tests.cli.support import PATIENCE, until
from tests.compat.promises import shop
from tests.compat.promises.kit import Elsewhere, counts, is_waited
from tests.compat.promises.web import GATE, Broken, Web
from tests.compat.routing import current

type OpenElsewhere = Callable[[str], Elsewhere]


def test_the_second_request_for_an_order_gets_the_first_one_s_task(web: Web) -> None:
    first, second = web.get("order/42"), web.get("order/42")
    assert (first["results"][0]["created"], second["results"][0]["created"]) == (True, False)
    assert first["results"][0]["id"] == second["results"][0]["id"]
    assert first["in_atomic"] == second["in_atomic"] == web.atomic
    assert counts(web.alias) == (1, 1)


def test_one_request_that_enqueues_twice_stores_one_task(web: Web) -> None:
    first, second = web.get("twice/42")["results"]
    assert (first["created"], second["created"], second["id"]) == (True, False, first["id"])
    assert counts(web.alias) == (1, 1)


def test_a_request_that_breaks_takes_task_and_key_back_with_its_transaction(web: Web) -> None:
    assert web.status("broken/42") == 500
    assert counts(web.alias) == ((0, 0) if web.atomic else (1, 1))
    assert web.get("order/42")["results"][0]["created"] == web.atomic


def test_a_block_that_is_undone_frees_the_key_for_the_rest_of_the_request(web: Web) -> None:
    first, second = web.get("undone/42")["results"]
    assert (first["created"], second["created"]) == (True, True)
    assert first["id"] != second["id"]
    assert counts(web.alias) == (1, 1)


@pytest.mark.parametrize("breaks", [False, True])
def test_a_duplicate_waits_for_the_request_whose_transaction_holds_the_key(
    web: Web, open_elsewhere: OpenElsewhere, breaks: bool
) -> None:
    first = open_elsewhere(web.alias).start(web.get, f"slow/42{'?breaks' if breaks else ''}")
    GATE.reached()
    second = open_elsewhere(web.alias).start(web.get, "order/42")
    if web.atomic:
        until(lambda: is_waited(web.alias), "a duplicate that waits")
        assert not second.done()
    else:
        assert not second.result(PATIENCE)["results"][0]["created"]
    GATE.let_go()
    if breaks:
        assert isinstance(first.exception(PATIENCE), Broken)
    else:
        assert first.result(PATIENCE)["results"][0]["created"]
    assert second.result(PATIENCE)["results"][0]["created"] == (web.atomic and breaks)
    assert counts(web.alias) == (1, 1)


def test_a_duplicate_that_waits_too_long_is_a_race_and_writes_nothing(web: Web, open_elsewhere: OpenElsewhere) -> None:
    first = open_elsewhere(web.alias).start(web.get, "slow/42")
    GATE.reached()
    second = open_elsewhere(web.alias)
    second.do(_impatient, web.alias)
    duplicate = second.start(web.get, "order/42")
    if web.atomic:
        race = duplicate.exception(PATIENCE)
        assert isinstance(race, UniqueEnqueueRace)
        assert "nothing was written" in str(race)
        assert isinstance(race.__cause__, Exception)
    else:
        assert not duplicate.result(PATIENCE)["results"][0]["created"]
    GATE.let_go()
    assert first.result(PATIENCE)["results"][0]["created"]
    assert counts(web.alias) == (1, 1)


def test_the_signal_is_sent_before_the_request_commits_and_not_for_a_duplicate(
    web: Web, open_elsewhere: OpenElsewhere
) -> None:
    elsewhere, seen = open_elsewhere(web.alias), []

    def look(task_result: Any, **_: Any) -> None:
        if connections[web.alias].vendor == "sqlite":
            seen.append((connections[web.alias].in_atomic_block, 0))
        else:
            seen.append((connections[web.alias].in_atomic_block, elsewhere.do(counts, web.alias)[0]))

    signals.task_enqueued.connect(look)
    try:
        web.get("twice/42")
        web.get("order/42")
    finally:
        signals.task_enqueued.disconnect(look)
    assert seen == [(True, 0)]


def test_an_async_view_below_a_sync_server_deduplicates_on_django_s_connection(web: Web) -> None:
    first, second = web.get("awaited/42")["results"]
    assert (first["created"], second["created"], second["id"]) == (True, False, first["id"])


def test_an_async_view_deduplicates_against_what_sync_requests_enqueued(web: Web) -> None:
    held = web.get("order/42")["results"][0]
    first, second = asyncio.run(web.aget("awaited/42"))["results"]
    assert (first["created"], second["created"]) == (False, False)
    assert first["id"] == second["id"] == held["id"]


def test_below_a_sync_only_middleware_an_async_view_is_in_the_transaction_of_its_thread(web: Web) -> None:
    with override_settings(MIDDLEWARE=["tests.compat.promises.web.undoing"]):
        first, second = asyncio.run(web.aget("awaited/42"))["results"]
    assert (first["created"], second["created"]) == (True, False)
    assert counts(web.alias) == (0, 0)


def test_the_stored_task_is_the_one_the_request_was_told_about(web: Web) -> None:
    said = web.get("order/42")["results"][0]
    found = shop.charge.get_result(said["id"])
    assert (found.args, found.task.queue_name, current["alias"]) == ([42], "default", web.alias)


def _impatient(alias: str) -> None:
    """Have this thread's connection give up on a lock as soon as its database can."""
    sql = {
        "postgresql": "SET lock_timeout = '20ms'",
        "mysql": "SET SESSION innodb_lock_wait_timeout = 1",
        "sqlite": "PRAGMA busy_timeout = 20",
    }
    with connections[alias].cursor() as cursor:
        cursor.execute(sql[connections[alias].vendor])
