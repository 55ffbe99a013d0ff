"""Key and task of a unique enqueue stand or fall together on Django's connection, whatever the caller has open."""

import pytest
from django.db import transaction

from compat_sync.connection import DjangoConnection
from compat_sync.shim import run_blocking
from oxpull_async.domain.errors import DataRefused
from oxpull_async.store.unique import enqueue_unique, find
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.compat.conftest import MakeAlias
from tests.drivers.sqlite_kit import unique_call


@pytest.fixture(params=["postgres", "sqlite"])
def conn(request: pytest.FixtureRequest, make_alias: MakeAlias) -> DjangoConnection:
    return DjangoConnection(make_alias(request.param))


def put(conn: DjangoConnection, args: str = "[1]") -> UniqueAnswer:
    return run_blocking(enqueue_unique(conn, unique_call(args=args)))


def is_taken(conn: DjangoConnection) -> bool:
    return bool(run_blocking(find(conn, ["k"])))


def refused_midway(conn: DjangoConnection) -> None:
    with pytest.raises(DataRefused):
        put(conn, "no json")


def test_a_key_is_taken_once(conn: DjangoConnection) -> None:
    first, second = put(conn), put(conn)
    assert (first.created, second.created, second.record) == (True, False, first.record)


def test_a_refused_task_leaves_no_lock_row(conn: DjangoConnection) -> None:
    refused_midway(conn)
    assert not is_taken(conn)


def test_a_refused_task_leaves_no_lock_row_in_a_transaction_on_a_file_that_goes_on(make_alias: MakeAlias) -> None:
    conn = DjangoConnection(make_alias("sqlite"))
    with transaction.atomic(using=conn.alias):
        refused_midway(conn)
        kept = run_blocking(enqueue_unique(conn, unique_call(key="other")))
    assert not is_taken(conn)
    assert run_blocking(find(conn, ["other"]))["other"].holder_id == kept.record.id


def test_key_and_task_go_with_the_caller_s_transaction(conn: DjangoConnection) -> None:
    with transaction.atomic(using=conn.alias):
        assert put(conn).created
        transaction.set_rollback(True, using=conn.alias)
    assert not is_taken(conn)
    assert put(conn).created
