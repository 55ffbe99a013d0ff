"""Batches of Django's tasks: in the caller's transaction, sync and async, followed by their callbacks."""

import asyncio
import warnings
from uuid import UUID, uuid4

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import ImproperlyConfigured, ObjectDoesNotExist
from django.db import transaction
from django.tasks import signals, task_backends
from django.tasks.exceptions import TaskException

from compat_sync import batches
from compat_sync.backend import OxpullBackend
from compat_sync.batches.callbacks import BatchKeywords
from compat_sync.connection import DjangoConnection
from compat_sync.exceptions import BatchDoesNotExist, BatchMemberExists, BatchSealed
from compat_sync.models import OxpullBatch, OxpullBatchCounts, OxpullBatchMember, OxpullTask
from compat_sync.shim import run_blocking
from compat_sync.testing import run_tasks
from oxpull_async import BatchInfo
from oxpull_async.errors import BatchSealed as CoreBatchSealed
from tests.compat import batched, shop
from tests.compat.batched import TOLD
from tests.fixtures import raw


@pytest.fixture(autouse=True)
def _nothing_told() -> None:
    TOLD.clear()


def run_all() -> None:
    """Run tasks until none is left, callbacks included."""
    while run_tasks():
        pass


def test_a_block_stores_a_sealed_batch_whose_callbacks_follow_its_members(site: str) -> None:
    with batches.batch(
        "nightly",
        on_complete=batched.report,
        on_complete_args=["complete"],
        on_success="tests.compat.batched.told",
        on_success_args=("success",),
        on_success_kwargs={"shout": True},
        on_failure=batched.told,
        on_failure_args=["failure"],
    ) as batch:
        batch.add(shop.send_invoice, 1, copy=True)
        batch.add_many(shop.send_invoice, [([2], {}), ([3], {"copy": False})])
    progress = batch.progress()
    assert (progress.total, progress.pending, progress.finished, batch.status) == (3, 3, 0, "SEALED")
    run_all()
    progress = batches.get(str(batch.id)).progress()
    assert (progress.succeeded, progress.failed, progress.unattributed, batch.status) == (3, 0, 0, "COMPLETE")
    told = dict(TOLD)
    assert told.keys() == {"complete", "success"}
    info = told["complete"]
    assert isinstance(info, BatchInfo)
    assert (info.id, info.name, info.counts.succeeded) == (str(batch.id), "nightly", 3)
    assert told["success"] is True
    callback = OxpullTask.objects.get(task_path="tests.compat.batched.report")
    assert (callback.queue_name, callback.priority) == ("mail", 7)


def test_a_failed_member_makes_it_a_failure(site: str) -> None:
    with batches.batch("broken", on_failure=batched.told, on_failure_args=["failure"]) as batch:
        batch.add(batched.broken)
    run_all()
    assert TOLD == [("failure", False)]
    assert batch.progress().failed == 1


def test_an_error_in_the_block_leaves_nothing_behind(site: str) -> None:
    def build() -> None:
        with batches.batch("nightly") as batch:
            batch.add(shop.send_invoice, 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        build()
    assert not OxpullBatch.objects.exists()
    assert not OxpullTask.objects.exists()


def test_a_rollback_of_the_caller_takes_back_what_was_added_and_sealed(site: str) -> None:
    batch = batches.create("steps")
    with transaction.atomic(using=site):
        batch.add(shop.send_invoice, 1)
        batch.seal()
        transaction.set_rollback(True, using=site)
    assert (batch.status, batch.progress().total) == ("OPEN", 0)
    batch.add(shop.send_invoice, 1)
    batch.seal()
    for late in (lambda: batch.add(shop.send_invoice, 2), batch.seal):
        with pytest.raises(BatchSealed) as refused:
            late()
        assert isinstance(refused.value, CoreBatchSealed)
        assert isinstance(refused.value, TaskException)
    assert OxpullTask.objects.count() == 1


def test_a_pending_unique_task_is_a_member_once_and_the_transaction_lives_on(site: str) -> None:
    batch = batches.create("unique")
    with transaction.atomic(using=site):
        first = batch.add(shop.charge, 1)
        with pytest.raises(BatchMemberExists):
            batch.add(shop.charge, 1)
        again = batch.add_many(shop.charge, [([1], {}), ([2], {})])
    assert [result.created for result in (first, *again)] == [True, False, True]
    assert batch.progress().total == 2


def test_C5_a_holder_that_ends_between_write_and_commit_is_counted_by_the_next_pass(site: str) -> None:
    shop.charge.enqueue(1)
    batch = batches.create("adopts")
    batch.add(shop.charge, 1)
    batch.seal()
    run_all()
    assert batch.progress().pending == 1
    assert batches.reconcile.call() == 0
    assert (batch.progress().succeeded, batch.status) == (1, "COMPLETE")


def test_reconcile_finds_rows_deleted_by_hand_and_is_a_task_of_this_path(site: str) -> None:
    with batches.batch("deleted") as batch:
        member = batch.add(shop.send_invoice, 1)
    run_blocking(raw.delete(DjangoConnection(site), member.id))
    assert batches.reconcile.module_path == "compat_sync.batches.reconcile"
    batches.reconcile.enqueue()
    run_all()
    assert (batch.progress().unattributed, batch.status) == (1, "COMPLETE")
    assert OxpullTask.objects.get().return_value == 1


def test_a_batch_can_be_cancelled(site: str) -> None:
    batch = batches.create("cancelled")
    batch.add(shop.send_invoice, 1)
    assert batch.cancel()
    assert not batch.cancel()
    assert (batch.progress().unattributed, batch.status) == (1, "COMPLETE")


def test_what_is_not_there_is_said_to_be_missing_by_every_name(site: str) -> None:
    for missing in (uuid4(), "no id"):
        with pytest.raises(BatchDoesNotExist) as refused:
            batches.get(missing)
        assert isinstance(refused.value, ObjectDoesNotExist)
    with pytest.raises(OxpullBatch.DoesNotExist):
        batches.get(uuid4())
    with pytest.raises(BatchDoesNotExist):
        OxpullBatch.objects.get(pk=uuid4())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"on_complete": "tests.compat.batched.nothing"}, "cannot be imported"),
        ({"on_complete": "tests.compat.batched.TOLD"}, "names no task"),
        ({"on_complete": 1}, "neither a task nor"),
        ({"on_complete": shop.charge, "on_complete_args": [1]}, "is unique"),
        ({"on_complete": batched.told, "on_complete_args": "text"}, "must be a list"),
        ({"on_complete": batched.told, "on_complete_kwargs": [1]}, "must be a dict"),
        ({"on_complete": batched.told, "on_complete_args": [object()]}, "on_complete:"),
        ({"on_success_args": [1]}, "without on_success"),
    ],
)
def test_a_callback_that_cannot_run_is_refused_at_creation(site: str, options: BatchKeywords, words: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=words):
        batches.create("wrong", **options)
    assert not OxpullBatch.objects.exists()


def test_a_name_is_text_of_at_most_128_characters(site: str) -> None:
    with pytest.raises(ValueError, match="at most 128"):
        batches.create("n" * 129)
    with pytest.raises(TypeError, match="did you mean 'on_complete'"):
        batches.create("n", on_completed=batched.told)  # type: ignore[call-arg]
    assert batches.create("").name == ""


def test_a_member_must_be_a_task_of_ours(site: str) -> None:
    batch = batches.create("n")
    with pytest.raises(ImproperlyConfigured):
        batch.add(shop.send_invoice.func, 1)  # type: ignore[arg-type]


def test_E1_below_a_sync_caller_the_async_calls_join_its_transaction(site: str) -> None:
    async def build() -> UUID:
        batch = await batches.acreate("async", on_success=batched.told, on_success_args=["done"])
        await batch.aadd(shop.send_invoice, 1)
        await batch.aadd_many(shop.send_invoice, [([2], {})])
        await batch.aseal()
        return batch.id

    with transaction.atomic(using=site):
        batch_id = async_to_sync(build)()
        assert batches.get(batch_id).progress().total == 2
        transaction.set_rollback(True, using=site)
    assert not OxpullBatch.objects.exists()


def test_E1_without_a_sync_caller_the_async_calls_go_native(site: str) -> None:
    async def build() -> UUID:
        batch = await batches.acreate("async", on_success=batched.told, on_success_args=["done"])
        await batch.aadd(shop.send_invoice, 1)
        await batch.aadd_many(shop.send_invoice, [([2], {})])
        await batch.aseal()
        again = await batches.aget(batch.id)
        assert (await again.aprogress()).total == 2
        assert await (await batches.acreate("gone")).acancel()
        backend = task_backends["default"]
        assert isinstance(backend, OxpullBackend)
        await backend.ox.close()
        return batch.id

    batch_id = asyncio.run(build())
    run_all()
    assert batches.get(batch_id).status == "COMPLETE"
    assert TOLD == [("done", False)]


def test_E2_the_signal_of_a_member_is_sent_in_its_transaction(site: str) -> None:
    heard = []

    def hear(**sent: object) -> None:
        heard.append(sent["task_result"])

    batch = batches.create("heard")
    signals.task_enqueued.connect(hear)
    try:
        result = batch.add(shop.send_invoice, 1)
    finally:
        signals.task_enqueued.disconnect(hear)
    assert heard == [result]


def test_the_rows_can_be_read(site: str) -> None:
    batch = batches.create("read")
    result = batch.add(shop.send_invoice, 1)
    row = OxpullBatch.objects.get(pk=batch.id)
    assert (row.name, row.members, row.callbacks, str(row)) == ("read", 1, [], f"read {batch.id}")
    counts = OxpullBatchCounts.objects.get(pk=batch.id)
    assert (counts.status, counts.total, str(counts)) == ("OPEN", None, f"{batch.id} (OPEN)")
    member = OxpullBatchMember.objects.get(batch_id=batch.id)
    assert (str(member.task_id), member.counted) == (result.id, None)
    assert OxpullTask.objects.get(pk=result.id).batch_id == batch.id


def test_the_older_name_of_unattributed_warns(site: str) -> None:
    progress = batches.create("n").progress()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert progress.pruned == 0
    assert [one.category for one in caught] == [DeprecationWarning]
