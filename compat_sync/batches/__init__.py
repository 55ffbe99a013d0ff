"""Batches of Django's tasks: counted together, with callbacks when all of them have ended.

Sync calls work on Django's connection, in whatever transaction is open there; those with an `a` before their names go
where `aenqueue` would. `reconcile` is a task for projects that schedule one; no project has to.
"""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Unpack
from uuid import UUID

import uuid_utils
from django.db import transaction

from compat_sync.batches.callbacks import BatchKeywords, callbacks
from compat_sync.batches.handle import Batch, BatchProgress
from compat_sync.batches.places import awaited, blocking, home
from compat_sync.batches.reconciling import reconcile_task
from compat_sync.blocks import one_transaction
from compat_sync.exceptions import translated
from oxpull_async.app.batches import checked_batch_id
from oxpull_async.domain.batch import BatchStatus, NewBatch, checked_expiry, checked_name
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.settings import refuse_unknown
from oxpull_async.store import batches as store

__all__ = ["Batch", "BatchProgress", "abatch", "acreate", "aget", "batch", "create", "get", "reconcile"]


def create(name: str, **options: Unpack[BatchKeywords]) -> Batch:
    """Store an open batch, to be sealed when it has all its members.

    `on_complete`, `on_success` and `on_failure` are tasks, or their dotted paths, with `…_args` and `…_kwargs`. The
    first is enqueued when the batch completes, and one of the others. `expire_after` (seconds or timedelta) cancels a
    batch that is still open then.

    Raises: ValueError for a name over 128 characters, ImproperlyConfigured for what is wrong with a callback.
    """
    new = _new(name, options)
    return Batch(blocking(lambda conn: store.create_batch(conn, new)))


async def acreate(name: str, **options: Unpack[BatchKeywords]) -> Batch:
    """Store an open batch, as `create` does."""
    new = _new(name, options)
    return Batch(await awaited(lambda conn: store.create_batch(conn, new)))


def get(batch_id: UUID | str) -> Batch:
    """Return the handle of a stored batch; raises BatchDoesNotExist, for a malformed id too."""
    with translated():
        id_ = checked_batch_id(batch_id)
    return Batch(blocking(lambda conn: store.read_batch(conn, id_)))


async def aget(batch_id: UUID | str) -> Batch:
    """Return the handle of a stored batch, as `get` does."""
    with translated():
        id_ = checked_batch_id(batch_id)
    return Batch(await awaited(lambda conn: store.read_batch(conn, id_)))


@contextmanager
def batch(name: str, **options: Unpack[BatchKeywords]) -> Generator[Batch]:
    """Create a batch, add members in the block, and seal it at its end, all in one transaction.

    An error in the block leaves nothing behind. Takes what `create` takes.
    """
    with transaction.atomic(using=home().database):
        made = create(name, **options)
        yield made
        if made.status == BatchStatus.OPEN:
            made.seal()


@asynccontextmanager
async def abatch(name: str, **options: Unpack[BatchKeywords]) -> AsyncGenerator[Batch]:
    """Create a batch, add members in the block, and seal it at its end, as `batch` does.

    The transaction belongs to the asyncio task that enters the block: members are added in that one, by async calls.
    """
    async with one_transaction(home()):
        made = await acreate(name, **options)
        yield made
        if (await made.aprogress()).status == BatchStatus.OPEN:
            await made.aseal()


def _new(name: str, options: BatchKeywords) -> NewBatch:
    refuse_unknown("create()", options.keys(), BatchKeywords.__annotations__)
    backend = home()
    try:
        checked = checked_name(name)
    except UsageError as wrong:
        raise ValueError(str(wrong)) from None
    with translated():
        expiry = checked_expiry(options.get("expire_after"))
    batch_id = str(uuid_utils.uuid7())
    return NewBatch(batch_id, backend.alias, checked, callbacks(options, batch_id), expiry)


def __getattr__(name: str) -> Any:
    """Make the task `reconcile` when it is asked for: settings need not be there at import."""
    if name == "reconcile":
        return reconcile_task()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
