"""What a page reads does not grow with the tasks that have ended: counted by each database, with few and with many."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connections, transaction
from django.test import Client

from compat_sync.admin import TaskAdmin, base, filters, queues
from compat_sync.connection import DjangoConnection
from compat_sync.models import OxpullTask
from compat_sync.shim import run_blocking
from oxpull_async.db.contract import Connection
from oxpull_async.store.enqueue import enqueue_many
from tests.compat import shop
from tests.compat.admin.pages import LIST, QUEUES, ids_on, text
from tests.fixtures import make

FEW, MANY = 3_000, 17_000
BOUND = 300
MOST_READ = {"postgresql": 4_000, "mysql": 4_000, "sqlite": 30_000}
"""Rows, calls of the storage engine, steps of SQLite's machine; each is far less than the 20,000 ended rows cost."""
STEPS_PER_CALL = 100
ADDRESSES = (
    LIST,
    f"{LIST}?p=2",
    *(f"{LIST}?status={status}" for status in ("READY", "RUNNING", "WAITING", "FAILED", "SUCCESSFUL")),
    f"{LIST}?queue=mail",
    f"{LIST}?queue=mail&status=READY",
    f"{LIST}?task=gone.task",
    f"{LIST}?q=shop",
    QUEUES,
)

type Counter = Callable[[], int]


@contextmanager
def counting(alias: str) -> Iterator[Counter]:
    """Count what the block reads, in the unit of the database."""
    django = connections[alias]
    with {"postgresql": _rows, "mysql": _calls, "sqlite": _steps}[django.vendor](django) as count:
        yield count


@contextmanager
def _rows(django: Any) -> Iterator[Counter]:
    def count() -> int:
        sql = (
            "SELECT COALESCE(sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid)), 0)"
            " FROM pg_class WHERE relname LIKE 'oxpull%'"
        )
        return int(_ask(django, sql)[0][0])

    with transaction.atomic(using=django.alias):
        before = count()
        yield lambda: count() - before


@contextmanager
def _calls(django: Any) -> Iterator[Counter]:
    def count() -> int:
        return sum(int(row[1]) for row in _ask(django, "SHOW SESSION STATUS LIKE 'Handler_read%'"))

    before = count()
    yield lambda: count() - before


@contextmanager
def _steps(django: Any) -> Iterator[Counter]:
    calls: list[None] = []
    django.ensure_connection()
    django.connection.set_progress_handler(lambda: calls.append(None), STEPS_PER_CALL)
    yield lambda: len(calls) * STEPS_PER_CALL
    django.connection.set_progress_handler(None, 0)


def _ask(django: Any, sql: str) -> list[tuple[Any, ...]]:
    with django.cursor() as cursor:
        cursor.execute(sql)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def store_ended(alias: str, number: int) -> None:
    """Store tasks that have succeeded, and let the database look at what it has now."""
    look = {
        "postgres": "VACUUM ANALYZE oxpull_task",
        "mysql": "ANALYZE TABLE oxpull_task",
        "sqlite": "ANALYZE oxpull_task",
    }

    async def store(conn: Connection) -> None:
        await enqueue_many(conn, [make.new_task(queue_name=("default", "mail")[n % 2]) for n in range(number)])
        await conn.run_script(
            "UPDATE oxpull_task SET status = 'SUCCESSFUL', due = NULL, finished_at = enqueued_at"
            f" WHERE task_path = '{make.PATH}'"
        )
        await conn.run_script(look[conn.dialect.name])

    run_blocking(store(DjangoConnection(alias)))


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages look at fewer rows than the tests store."""
    monkeypatch.setattr(TaskAdmin, "look_back", BOUND)
    monkeypatch.setattr(base, "MOST", BOUND)
    monkeypatch.setattr(filters, "SAMPLE", BOUND)
    monkeypatch.setattr(queues, "LOOKED_AT", BOUND)


def reads(alias: str, client: Client) -> dict[str, int]:
    found = {}
    for address in ADDRESSES:
        with counting(alias) as count:
            text(client.get(address))
            found[address] = count()
    return found


def test_what_a_page_reads_does_not_grow_with_what_has_ended(admin_site: str, viewer: Client, bounds: None) -> None:
    due, later = shop.remind.enqueue(1), datetime.now(UTC) + timedelta(hours=1)
    deferred = shop.send_invoice.using(run_after=later).enqueue(1)
    store_ended(admin_site, FEW)
    few = reads(admin_site, viewer)
    store_ended(admin_site, MANY)
    many = reads(admin_site, viewer)
    most = MOST_READ[connections[admin_site].vendor]
    assert {address: count for address, count in many.items() if count > most} == {}
    assert {address: (few[address], many[address]) for address in few if many[address] > 1.3 * few[address] + 50} == {}
    assert ids_on(viewer, status="READY") == {due.id, deferred.id}
    assert ids_on(viewer, status="READY", queue="mail") == {due.id}


def test_the_count_sees_a_scan(admin_site: str, bounds: None) -> None:
    store_ended(admin_site, FEW)
    with counting(admin_site) as count:
        assert OxpullTask.objects.filter(attempts__gt=5).count() == 0
        assert count() >= FEW
