"""Workflows of Django's tasks: nodes that run when those they depend on have ended.

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
from compat_sync.batches.places import awaited, blocking, home
from compat_sync.blocks import one_transaction
from compat_sync.exceptions import AlreadyEnqueued, translated
from compat_sync.workflows.adding import Node
from compat_sync.workflows.handle import Workflow
from compat_sync.workflows.reconciling import reconcile_task
from oxpull_async.app.enqueuer import racing
from oxpull_async.app.workflows import checked_workflow_id
from oxpull_async.domain.batch import checked_expiry, checked_name
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.keys import workflow_key
from oxpull_async.domain.settings import refuse_unknown
from oxpull_async.domain.workflow import NewWorkflow, Upstream, WorkflowProgress, WorkflowRecord, WorkflowStatus
from oxpull_async.domain.workflow_plan import checked_unique_text
from oxpull_async.store import workflows as store

__all__ = [
    "Node",
    "Upstream",
    "Workflow",
    "WorkflowProgress",
    "acreate",
    "aget",
    "aworkflow",
    "create",
    "get",
    "reconcile",
    "workflow",
]


class WorkflowKeywords(BatchKeywords, total=False):
    """What a workflow may be created with; callbacks are tasks or their dotted paths."""

    unique: str | None


def create(name: str, **options: Unpack[WorkflowKeywords]) -> Workflow:
    """Store an open workflow, to be sealed when it has all its nodes.

    `on_complete`, `on_success` and `on_failure` are tasks, or their dotted paths, with `…_args` and `…_kwargs`. The
    first is enqueued when the workflow completes, and one of the others. `expire_after` (seconds or timedelta) cancels
    a workflow that is still open then. `unique` is text under which no second one is made before this is complete.

    Raises: AlreadyEnqueued whose `existing` is the workflow that has this text, UniqueEnqueueRace; ValueError for a
    name over 128 characters, ImproperlyConfigured for what is wrong with a callback.
    """
    new = _new(name, options)
    with translated(), racing(is_unique=new.unique_key is not None, own=True):
        record, created = blocking(lambda conn: store.create_workflow(conn, new))
    return _created(options, record, created=created)


async def acreate(name: str, **options: Unpack[WorkflowKeywords]) -> Workflow:
    """Store an open workflow, as `create` does."""
    new = _new(name, options)
    with translated(), racing(is_unique=new.unique_key is not None, own=True):
        record, created = await awaited(lambda conn: store.create_workflow(conn, new))
    return _created(options, record, created=created)


def get(workflow_id: UUID | str) -> Workflow:
    """Return the handle of a stored workflow; raises WorkflowDoesNotExist for any other id."""
    with translated():
        id_ = checked_workflow_id(workflow_id)
    return Workflow(blocking(lambda conn: store.read_workflow(conn, id_)))


async def aget(workflow_id: UUID | str) -> Workflow:
    """Return the handle of a stored workflow, as `get` does."""
    with translated():
        id_ = checked_workflow_id(workflow_id)
    return Workflow(await awaited(lambda conn: store.read_workflow(conn, id_)))


@contextmanager
def workflow(name: str, **options: Unpack[WorkflowKeywords]) -> Generator[Workflow]:
    """Create a workflow, add nodes in the block, and seal it at its end, all in one transaction.

    An error in the block leaves nothing behind. Takes what `create` takes.
    """
    with transaction.atomic(using=home().database):
        made = create(name, **options)
        yield made
        if made.status == WorkflowStatus.OPEN:
            made.seal()


@asynccontextmanager
async def aworkflow(name: str, **options: Unpack[WorkflowKeywords]) -> AsyncGenerator[Workflow]:
    """Create a workflow, add nodes in the block, and seal it at its end, as `workflow` does.

    The transaction belongs to the asyncio task that enters the block: nodes are added in that one, by async calls.
    """
    async with one_transaction(home()):
        made = await acreate(name, **options)
        yield made
        if (await made.aprogress()).status == WorkflowStatus.OPEN:
            await made.aseal()


def _new(name: str, options: WorkflowKeywords) -> NewWorkflow:
    refuse_unknown("create()", options.keys(), WorkflowKeywords.__annotations__)
    backend = home()
    try:
        checked = checked_name(name)
    except UsageError as wrong:
        raise ValueError(str(wrong)) from None
    with translated():
        expiry, text = checked_expiry(options.get("expire_after")), checked_unique_text(options.get("unique"))
    return NewWorkflow(
        str(uuid_utils.uuid7()),
        backend.alias,
        checked,
        callbacks(options, None),
        expiry,
        None if text is None else workflow_key(backend.alias, text),
    )


def _created(options: WorkflowKeywords, record: WorkflowRecord, *, created: bool) -> Workflow:
    if created:
        return Workflow(record)
    raise AlreadyEnqueued(
        f"workflow {record.id} ({record.name!r}) has unique={options.get('unique')!r:.60} and is not complete; nothing "
        "was written. It is this error's `existing`",
        existing=Workflow(record),
    )


def __getattr__(name: str) -> Any:
    """Make the task `reconcile` when it is asked for: settings need not be there at import."""
    if name == "reconcile":
        return reconcile_task()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
