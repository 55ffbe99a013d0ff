"""A stored batch, as sync and async code hold it."""

from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from typing import Any
from uuid import UUID
from warnings import warn

from django.core.exceptions import ImproperlyConfigured
from django.tasks import Task

from compat_sync.backend import Arguments, OxpullBackend
from compat_sync.batches.places import awaited, blocking
from compat_sync.django_types import AnyTask
from compat_sync.enqueuing import Request
from compat_sync.exceptions import translated
from compat_sync.placement import check_placement
from compat_sync.results import TaskResult
from compat_sync.tasks import core_task, numbered_calls
from compat_sync.threads import on_django
from oxpull_async.app.task import Call
from oxpull_async.domain import batch as domain
from oxpull_async.store import batches as store

__all__ = ["Batch", "BatchProgress"]


class BatchProgress(domain.BatchProgress):
    """How far a batch is; the counts are as the core counts them."""

    @property
    def pruned(self) -> int:
        """The older name of `unattributed`."""
        warn("BatchProgress.pruned is called unattributed", DeprecationWarning, stacklevel=2)
        return self.unattributed


class Batch:
    """A stored batch; what it holds is read when it is asked for."""

    def __init__(self, record: domain.BatchRecord) -> None:
        self._record = record

    def __repr__(self) -> str:
        return f"<Batch {self.id} {self.name!r}>"

    @property
    def id(self) -> UUID:
        """Its id, for `get`."""
        return UUID(self._record.id)

    @property
    def name(self) -> str:
        """The name that it was created with."""
        return self._record.name

    @property
    def status(self) -> str:
        """Read whether it is "OPEN", "SEALED" or "COMPLETE"; raises BatchDoesNotExist."""
        return str(self.progress().status)

    def add(self, task: AnyTask, *args: Any, **kwargs: Any) -> TaskResult:
        """Store a call as a member; a unique task that is pending becomes one as it is.

        Raises: BatchSealed, BatchMemberExists for a pending task that is in this batch already, BatchDoesNotExist,
        ImproperlyConfigured for a task of another backend, and what an enqueue raises; nothing is written then.
        """
        backend = _backend(task)
        with translated():
            call = Call(core_task(backend.ox, task, backend.setup), args, kwargs)
            return backend.enqueuing.on_django(Request.of_one(backend.ox, call, self._record.id))[0]

    async def aadd(self, task: AnyTask, *args: Any, **kwargs: Any) -> TaskResult:
        """Store a call as a member, as `add` does."""
        backend = _backend(task)
        if not backend.goes_native:
            return await on_django(partial(self.add, task, *args, **kwargs))
        with translated():
            call = Call(core_task(backend.ox, task, backend.setup), args, kwargs)
            return (await backend.enqueuing.natively(Request.of_one(backend.ox, call, self._record.id)))[0]

    def add_many(self, task: AnyTask, calls: Iterable[Arguments]) -> list[TaskResult]:
        """Store calls of one task, (args, kwargs) each, as members, all or none.

        Returns the results in their order. A unique task that is pending becomes a member once, whether it is in this
        batch already or not.
        """
        backend = _backend(task)
        with translated():
            made = _calls(backend, task, calls)
            return backend.enqueuing.on_django(Request.of_many(backend.ox, made, self._record.id)) if made else []

    async def aadd_many(self, task: AnyTask, calls: Iterable[Arguments]) -> list[TaskResult]:
        """Store calls as members, as `add_many` does."""
        backend = _backend(task)
        if not backend.goes_native:
            return await on_django(self.add_many, task, calls)
        with translated():
            made = _calls(backend, task, calls)
            return await backend.enqueuing.natively(Request.of_many(backend.ox, made, self._record.id)) if made else []

    def seal(self) -> None:
        """Take no more members; the batch completes when all have ended, at once if they have.

        Raises: BatchSealed, BatchDoesNotExist.
        """
        blocking(lambda conn: store.seal(conn, self._record.id))

    async def aseal(self) -> None:
        """Take no more members, as `seal` does."""
        await awaited(lambda conn: store.seal(conn, self._record.id))

    def progress(self) -> BatchProgress:
        """Read how far it is; raises BatchDoesNotExist."""
        return _progress(blocking(lambda conn: store.read_batch(conn, self._record.id)))

    async def aprogress(self) -> BatchProgress:
        """Read how far it is; raises BatchDoesNotExist."""
        return _progress(await awaited(lambda conn: store.read_batch(conn, self._record.id)))

    def cancel(self) -> bool:
        """Cancel the members that have not ended, and seal it; it completes as a failure.

        False when it is complete. Raises: BatchDoesNotExist.
        """
        return blocking(lambda conn: store.cancel_batch(conn, self._record.id))

    async def acancel(self) -> bool:
        """Cancel the batch, as `cancel` does."""
        return await awaited(lambda conn: store.cancel_batch(conn, self._record.id))


def _progress(record: domain.BatchRecord) -> BatchProgress:
    return BatchProgress(**asdict(record.progress))


def _backend(task: AnyTask) -> OxpullBackend:
    """Return a member's backend; raises ImproperlyConfigured where it is not ours."""
    check_placement()
    if not isinstance(task, Task):
        raise ImproperlyConfigured(f"{task!r:.80} is no task, so it cannot be a member")
    backend = task.get_backend()
    if not isinstance(backend, OxpullBackend):
        raise ImproperlyConfigured(f"{task.module_path} is on TASKS[{task.backend!r}], which is not ours")
    return backend


def _calls(backend: OxpullBackend, task: AnyTask, calls: Iterable[Arguments]) -> list[Call[Any]]:
    return numbered_calls(core_task(backend.ox, task, backend.setup), calls)
