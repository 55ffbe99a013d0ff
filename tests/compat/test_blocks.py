"""Async blocks are one transaction, wherever their calls go."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from asgiref.sync import async_to_sync
from django.db import connections, transaction
from django.tasks import signals, task_backends
from django.test import override_settings

from compat_sync import batches
from compat_sync.backend import OxpullBackend
from compat_sync.exceptions import TransactionElsewhere
from compat_sync.models import OxpullBatch, OxpullBatchMember, OxpullTask
from compat_sync.testing import run_tasks
from tests.compat import shop

OURS = "compat_sync.backend.OxpullBackend"

type Build = Callable[[], Awaitable[None]]


def natively(build: Build) -> None:
    """Run a coroutine with no sync caller above it."""

    async def run() -> None:
        try:
            await build()
        finally:
            for alias in task_backends:
                backend = task_backends[alias]
                if isinstance(backend, OxpullBackend):
                    await backend.ox.close()

    asyncio.run(run())


def below_a_caller(build: Build) -> None:
    """Run a coroutine below a sync caller."""
    async_to_sync(build)()


RUNS = pytest.mark.parametrize("run", [natively, below_a_caller], ids=["native", "below a sync caller"])


async def build_batch() -> None:
    """Make a batch of three."""
    async with batches.abatch("async") as batch:
        await batch.aadd(shop.send_invoice, 1)
        await batch.aadd_many(shop.send_invoice, [([2], {}), ([3], {})])


async def fail_in_the_block() -> None:
    """Make part of a batch."""
    async with batches.abatch("async") as batch:
        await batch.aadd(shop.send_invoice, 1)
        raise ZeroDivisionError


def the_batch() -> batches.Batch:
    """Return the one batch that there is."""
    return batches.get(OxpullBatch.objects.get().id)


@RUNS
def test_an_async_block_stores_a_sealed_batch(site: str, run: Callable[[Build], None]) -> None:
    run(build_batch)
    assert (the_batch().status, the_batch().progress().total) == ("SEALED", 3)
    run_tasks()
    assert the_batch().status == "COMPLETE"


@RUNS
def test_an_error_in_the_block_leaves_nothing_behind(site: str, run: Callable[[Build], None]) -> None:
    with pytest.raises(ZeroDivisionError):
        run(fail_in_the_block)
    assert not OxpullBatch.objects.exists()
    assert not OxpullTask.objects.exists()


def test_E1_below_a_sync_caller_the_block_is_part_of_its_transaction(site: str) -> None:
    with transaction.atomic(using=site):
        with pytest.raises(ZeroDivisionError):
            below_a_caller(fail_in_the_block)
        below_a_caller(build_batch)
        assert the_batch().progress().total == 3
        transaction.set_rollback(True, using=site)
    assert not OxpullBatch.objects.exists()


def test_E6_where_only_django_understands_the_entry_the_block_keeps_one_thread(fallback: str) -> None:
    connections[fallback].close()
    with pytest.raises(ZeroDivisionError):
        asyncio.run(fail_in_the_block())
    assert not OxpullTask.objects.exists()
    asyncio.run(build_batch())
    assert (the_batch().status, the_batch().progress().total) == ("SEALED", 3)


def test_F3_a_native_block_belongs_to_its_task_and_a_child_that_outlives_it_is_free(site: str) -> None:
    async def add_late(batch: batches.Batch, refused: asyncio.Event, ended: asyncio.Event) -> str:
        with pytest.raises(TransactionElsewhere):
            await batch.aadd(shop.send_invoice, 1)
        refused.set()
        await ended.wait()
        return str((await shop.send_invoice.aenqueue(2)).id)

    async def build() -> None:
        refused, ended = asyncio.Event(), asyncio.Event()
        async with asyncio.TaskGroup() as group:
            async with batches.abatch("outer") as batch:
                child = group.create_task(add_late(batch, refused, ended))
                await refused.wait()
                await batch.aadd(shop.send_invoice, 3)
            ended.set()
        heard.append(child.result())

    heard: list[str] = []
    natively(build)
    assert OxpullTask.objects.get(pk=heard[0]).args == [2]
    assert the_batch().progress().total == 1


@RUNS
def test_tasks_of_every_alias_of_ours_join_the_block(site: str, run: Callable[[Build], None]) -> None:
    async def build(*, fails: bool = False) -> None:
        async with batches.abatch("two") as batch:
            await batch.aadd(shop.send_invoice, 1)
            await batch.aadd(shop.send_invoice.using(backend="bulk"), 2)
            if fails:
                raise ZeroDivisionError

    async def fail() -> None:
        await build(fails=True)

    with override_settings(TASKS={"default": {"BACKEND": OURS, "QUEUES": []}, "bulk": {"BACKEND": OURS, "QUEUES": []}}):
        with pytest.raises(ZeroDivisionError):
            run(fail)
        assert not OxpullTask.objects.exists()
        run(build)
    assert set(OxpullTask.objects.values_list("backend_alias", flat=True)) == {"default", "bulk"}
    assert OxpullBatchMember.objects.count() == 2


def test_E2_the_signals_of_a_native_block_are_sent_once_it_stands(site: str) -> None:
    heard: list[tuple[object, bool]] = []
    inside = False

    def hear(**sent: object) -> None:
        heard.append((sent["task_result"], inside))

    async def build() -> None:
        nonlocal inside
        async with batches.abatch("outer") as outer:
            inside = True
            await outer.aadd(shop.send_invoice, 1)
            with pytest.raises(ZeroDivisionError):
                await fail_in_the_block()
            async with batches.abatch("inner") as inner:
                await inner.aadd(shop.send_invoice, 2)
            await outer.aadd(shop.send_invoice, 3)
            inside = False

    signals.task_enqueued.connect(hear)
    try:
        natively(build)
    finally:
        signals.task_enqueued.disconnect(hear)
    assert [(str(result.args), within) for result, within in heard] == [  # type: ignore[attr-defined]
        ("[1]", False), ("[2]", False), ("[3]", False)
    ]  # fmt: skip
