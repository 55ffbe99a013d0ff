"""A unique enqueue in the caller's transaction: task and key stand or fall with it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections, transaction
from django.db.transaction import TransactionManagementError
from django.tasks import signals, task_backends
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from compat_sync.backend import OxpullBackend
from compat_sync.exceptions import AlreadyEnqueued, DatabaseTrouble, InvalidArguments
from tests.compat.conftest import Kind
from tests.compat.promises import shop
from tests.compat.promises.kit import Elsewhere, Mode, counts, opened, site_of

BACKEND = "compat_sync.backend.OxpullBackend"


def test_a_rollback_discards_the_task_and_its_key(own_site: str, mode: Mode) -> None:
    with opened(own_site, mode):
        first = shop.charge.enqueue(1)
        assert counts(own_site) == (1, 1)
    stands = mode == "autocommit"
    assert counts(own_site) == ((1, 1) if stands else (0, 0))
    assert (shop.charge.enqueue(1).id == first.id) == stands


def test_a_commit_keeps_both(own_site: str) -> None:
    with transaction.atomic(using=own_site):
        first = shop.charge.enqueue(1)
    assert counts(own_site) == (1, 1)
    assert shop.charge.enqueue(1).id == first.id


def test_a_commit_by_hand_keeps_both(own_site: str) -> None:
    transaction.set_autocommit(False, using=own_site)
    try:
        first = shop.charge.enqueue(1)
        transaction.commit(using=own_site)
    finally:
        transaction.set_autocommit(True, using=own_site)
    assert counts(own_site) == (1, 1)
    assert shop.charge.enqueue(1).id == first.id


def test_a_savepoint_that_is_undone_takes_both_back_and_leaves_the_rest(own_site: str) -> None:
    with transaction.atomic(using=own_site):
        kept = shop.charge.enqueue(1)
        with transaction.atomic(using=own_site):
            shop.charge.enqueue(2)
            transaction.set_rollback(True, using=own_site)
        assert shop.charge.enqueue(2).created
    assert shop.charge.enqueue(1).id == kept.id
    assert counts(own_site) == (2, 2)


def test_the_transaction_is_not_seen_from_elsewhere_before_its_commit(
    own_site: str, open_elsewhere: Callable[[str], Elsewhere]
) -> None:
    elsewhere = open_elsewhere(own_site)
    with transaction.atomic(using=own_site):
        first = shop.charge.enqueue(1)
        assert elsewhere.do(counts, own_site) == (0, 0)
    assert elsewhere.do(lambda: shop.charge.enqueue(1).id) == first.id


def test_an_enqueue_that_is_refused_leaves_the_transaction_usable_and_nothing_behind(inside: str) -> None:
    with pytest.raises(InvalidArguments):
        shop.charge.enqueue(object())
    shop.remind.enqueue(1)
    with pytest.raises(AlreadyEnqueued, match="nothing was written"):
        shop.remind.enqueue(1)
    assert counts(inside) == (1, 1)
    assert shop.charge.enqueue(1).created


def test_in_a_block_that_is_broken_already_nothing_is_enqueued(own_site: str) -> None:
    with transaction.atomic(using=own_site):
        transaction.set_rollback(True, using=own_site)
        with pytest.raises(DatabaseTrouble, match="end of the 'atomic' block") as refused:
            shop.charge.enqueue(1)
    assert isinstance(refused.value.__cause__, TransactionManagementError)
    assert counts(own_site) == (0, 0)


def test_receivers_run_before_the_commit_and_on_commit_defers(own_site: str, mode: Mode) -> None:
    heard: list[str] = []

    def hear(**_: Any) -> None:
        heard.append("sent")
        if mode != "by hand":
            transaction.on_commit(lambda: heard.append("committed"), using=own_site)

    signals.task_enqueued.connect(hear)
    try:
        with opened(own_site, mode):
            shop.charge.enqueue(1)
            shop.charge.enqueue(1)
            assert heard == (["sent", "committed"] if mode == "autocommit" else ["sent"])
    finally:
        signals.task_enqueued.disconnect(hear)


def test_bulk_deduplicates_in_the_caller_s_transaction(inside: str) -> None:
    held = shop.charge.enqueue(1)
    backend = task_backends["default"]
    assert isinstance(backend, OxpullBackend)
    results = backend.enqueue_many(shop.charge, [([1], {}), ([2], {}), ([2], {})])
    assert [one.created for one in results] == [False, True, False]
    assert (results[0].id, results[2].id) == (held.id, results[1].id)
    assert counts(inside) == (2, 2)


def test_bulk_is_all_or_nothing(inside: str) -> None:
    shop.remind.enqueue(2)
    backend = task_backends["default"]
    assert isinstance(backend, OxpullBackend)
    with pytest.raises(AlreadyEnqueued) as refused:
        backend.enqueue_many(shop.remind, [([1], {}), ([2], {})])
    assert refused.value.position == 1
    assert counts(inside) == (1, 1)


def test_a_plain_task_writes_its_row_and_nothing_else(own_site: str) -> None:
    shop.send_invoice.enqueue(1)
    with CaptureQueriesContext(connections[own_site]) as captured:
        shop.send_invoice.enqueue(1)
    written = [query["sql"] for query in captured if "INSERT" in query["sql"]]
    assert len(written) == 1
    assert "oxpull_unique" not in written[0]
    assert counts(own_site) == (2, 0)


def test_a_duplicate_writes_nothing(inside: str) -> None:
    shop.charge.enqueue(1)
    with CaptureQueriesContext(connections[inside]) as captured:
        assert not shop.charge.enqueue(1).created
    changes = [sql for sql in (query["sql"] for query in captured) if sql.lstrip().startswith(("UPDATE", "DELETE"))]
    assert changes == []
    assert counts(inside) == (1, 1)


def test_a_task_is_made_unique_in_the_settings(inside: str) -> None:
    options = {"UNIQUE_TASKS": [shop.send_invoice.module_path]}
    with override_settings(TASKS={"default": {"BACKEND": BACKEND, "QUEUES": [], "OPTIONS": options}}):
        first, second = shop.send_invoice.enqueue(1), shop.send_invoice.enqueue(1)
        assert (first.created, second.created, second.id) == (True, False, first.id)
        assert shop.send_invoice.using(unique=False).enqueue(1).created
    assert shop.send_invoice.enqueue(1).created


def test_dead_connections_do_not_hide_what_is_committed(url_of: Callable[[Kind], str], kind: Kind) -> None:
    with site_of(url_of(kind)) as alias:
        first = shop.charge.enqueue(1)
        connections[alias].close()
        assert shop.charge.enqueue(1).id == first.id
