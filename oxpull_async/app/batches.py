"""Batches as users hold them: create, add members, seal, watch, cancel."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast
from uuid import UUID

import uuid_utils

from oxpull_async.app.changes import ANY_QUEUE
from oxpull_async.app.task import Call, Task
from oxpull_async.domain.batch import (
    BatchId,
    BatchProgress,
    BatchRecord,
    BatchStatus,
    Callback,
    NewBatch,
    checked_expiry,
    checked_name,
)
from oxpull_async.domain.durations import Duration
from oxpull_async.domain.errors import BatchDoesNotExist, InvalidTask
from oxpull_async.domain.record import NewTask
from oxpull_async.domain.settings import refuse_unknown
from oxpull_async.store import batches as store

if TYPE_CHECKING:
    from oxpull_async.app.enqueuer import Enqueuer
    from oxpull_async.app.oxpull import Oxpull
    from oxpull_async.app.result import TaskResult


class BatchKeywords(TypedDict, total=False):
    """What a batch may be created with."""

    on_complete: Call[Any] | None
    on_success: Call[Any] | None
    on_failure: Call[Any] | None
    expire_after: Duration | None


class Batch:
    """A stored batch; what it holds is read when it is asked for."""

    __slots__ = ("_ox", "_record")

    def __init__(self, ox: "Oxpull", record: BatchRecord) -> None:
        self._ox = ox
        self._record = record

    def __repr__(self) -> str:
        return f"<Batch {self.id} {self.name!r}>"

    @property
    def id(self) -> str:
        """Its id, for `ox.get_batch`."""
        return self._record.id

    @property
    def name(self) -> str:
        """The name that it was created with."""
        return self._record.name

    async def add[**P, R](self, task: Task[P, R], /, *args: P.args, **kwargs: P.kwargs) -> "TaskResult[R]":
        """Store a call as a member; a unique task that is pending becomes one as it is.

        Raises: BatchSealed, BatchMemberExists for a pending task that is in this batch already, BatchDoesNotExist, and
        what `task.enqueue` raises; nothing is written then.
        """
        if not isinstance(task, Task):
            raise InvalidTask(f"{task!r:.80} is no task: pass one made by @ox.task or ox.remote(…)")
        return await self._ox.enqueuer.enqueue(Call(task, args, kwargs), self.id)

    async def add_many(self, calls: Iterable[Call[Any]]) -> "list[TaskResult[Any]]":
        """Store calls as members, all or none; results in their order.

        A unique task that is pending becomes a member once, whether it is in this batch already or not.

        Raises: BatchSealed, BatchDoesNotExist, and what `ox.enqueue_many` raises; nothing is written then.
        """
        return await self._ox.enqueuer.enqueue_many(list(calls), self.id)

    async def seal(self) -> None:
        """Take no more members; the batch completes when all have ended, at once if they have.

        Raises: BatchSealed, BatchDoesNotExist.
        """
        await self._ox.operate(lambda conn: store.seal(conn, self.id))
        await self._ox.wake(ANY_QUEUE)

    async def progress(self) -> BatchProgress:
        """Read how far it is; raises BatchDoesNotExist."""
        self._record = await self._ox.operate(lambda conn: store.read_batch(conn, self.id))
        return self._record.progress

    async def cancel(self) -> bool:
        """Cancel the members that have not ended, and seal it; it completes as a failure.

        False when it is complete. Raises: BatchDoesNotExist.
        """
        cancelled = await self._ox.operate(lambda conn: store.cancel_batch(conn, self.id))
        await self._ox.wake(ANY_QUEUE)
        return cancelled


class Batches:
    """The part of Oxpull that makes and finds batches."""

    async def create_batch(self, name: str, **options: Unpack[BatchKeywords]) -> Batch:
        """Store an open batch, to be sealed when it has all its members.

        `on_complete`, `on_success` and `on_failure` are calls to store when it completes: the first always, and one of
        the others. `expire_after` (seconds or timedelta) cancels a batch that is still open then.

        Raises: UsageError or InvalidTask for a value out of range, InvalidArguments for a callback's arguments.
        """
        refuse_unknown("create_batch()", options.keys(), BatchKeywords.__annotations__)
        ox = cast("Oxpull", self)
        batch_id = str(uuid_utils.uuid7())
        callbacks = callbacks_of(ox.enqueuer, options, batch_id)
        expiry = checked_expiry(options.get("expire_after"))
        batch = NewBatch(batch_id, ox.settings.alias, checked_name(name), callbacks, expiry)
        return Batch(ox, await ox.operate(lambda conn: store.create_batch(conn, batch)))

    async def get_batch(self, id_: str) -> Batch:
        """Return the handle of a stored batch; raises BatchDoesNotExist."""
        ox, batch_id = cast("Oxpull", self), checked_batch_id(id_)
        record = await ox.operate(lambda conn: store.read_batch(conn, batch_id))
        if record.backend_alias != ox.settings.alias:
            raise BatchDoesNotExist(f"no batch has the id {batch_id}")
        return Batch(ox, record)

    @asynccontextmanager
    async def batch(self, name: str, **options: Unpack[BatchKeywords]) -> AsyncIterator[Batch]:
        """Create a batch, add members in the block, and seal it at its end, all in one transaction.

        An error in the block leaves nothing behind. Takes what `create_batch` takes.
        """
        ox = cast("Oxpull", self)
        async with ox.transaction():
            batch = await self.create_batch(name, **options)
            yield batch
            if (await batch.progress()).status is BatchStatus.OPEN:
                await batch.seal()


def callbacks_of(enqueuer: "Enqueuer", options: BatchKeywords, batch_id: BatchId | None) -> list[Callback]:
    """Return the callbacks that options name; raises as `callback_task` does."""
    given = (
        ("complete", options.get("on_complete")),
        ("success", options.get("on_success")),
        ("failure", options.get("on_failure")),
    )
    return [
        Callback(when, callback_task(enqueuer, f"on_{when}", call, batch_id))
        for when, call in given
        if call is not None
    ]


def callback_task(enqueuer: "Enqueuer", where: str, call: Call[Any], batch_id: BatchId | None = None) -> NewTask:
    """Return the task that a callback stores; raises InvalidTask for what cannot be one."""
    if not isinstance(call, Call):
        raise InvalidTask(f"{where}={call!r:.80} is no call: pass task.call(…)")
    if call.task.options.unique is not None:
        raise InvalidTask(
            f"{where}: {call.task.path} is unique, so two of these could share one run of it: "
            "pass task.using(unique=False).call(…)"
        )
    return enqueuer.callback(call, batch_id)


def checked_batch_id(id_: object) -> BatchId:
    """Return a batch's id in its usual text form; raises BatchDoesNotExist when it is no UUID."""
    try:
        return str(UUID(str(id_)))
    except ValueError:
        raise BatchDoesNotExist(f"no batch has the id {str(id_)[:60]!r}: ids are UUIDs") from None
