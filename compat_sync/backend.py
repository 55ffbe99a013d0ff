"""Django's task backend: one core, on Django's connection or by the native driver."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django.core.checks import CheckMessage
from django.tasks.backends.base import BaseTaskBackend

from compat_sync import checks, clock, native
from compat_sync.caller import has_sync_caller
from compat_sync.connection import DjangoConnection
from compat_sync.declaring import WithPolicy
from compat_sync.django_types import AnyTask
from compat_sync.enqueuing import Enqueuing, Request
from compat_sync.exceptions import TaskResultDoesNotExist, translated
from compat_sync.hosts import oxpull_of
from compat_sync.placement import check_placement, database_alias
from compat_sync.repeating import repeat_blocking
from compat_sync.results import TaskResult, result_of
from compat_sync.shim import run_blocking
from compat_sync.tasks import core_task, numbered_calls
from compat_sync.threads import on_django
from oxpull_async.app.operations import checked_id
from oxpull_async.app.oxpull import Oxpull
from oxpull_async.app.task import Call
from oxpull_async.domain.record import TaskId, TaskRecord
from oxpull_async.store.results import get_task

__all__ = ["OxpullBackend"]

type Arguments = tuple[Sequence[Any], Mapping[str, Any]]


class OxpullBackend(WithPolicy, BaseTaskBackend):
    """Keeps tasks in the database where routers put compat_sync's tables.

    Sync calls work on Django's connection and in its transaction. Async ones go by the native driver, unless a sync
    caller waits for them or the native driver cannot express the DATABASES entry: then on Django's connection.
    """

    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    @property
    def database(self) -> str:
        """The alias of the database; raises ImproperlyConfigured where routers split the tables."""
        return database_alias()

    @property
    def ox(self) -> Oxpull:
        """The same tasks for asyncio, by the native driver."""
        return oxpull_of(self.setup, self.database)

    def enqueue(self, task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TaskResult:
        """Store a call in Django's open transaction or at once, or answer with its key's holder.

        Raises: InvalidArguments and InvalidTask before anything is written, AlreadyEnqueued and UniqueEnqueueRace for a
        unique task only.
        """
        with translated():
            return self.enqueuing.on_django(self._request(task, args, kwargs))[0]

    async def aenqueue(self, task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TaskResult:
        """Store a call in a sync caller's transaction, else by the native driver at once."""
        if not self.goes_native:
            return await on_django(self.enqueue, task, args, kwargs)
        with translated():
            return (await self.enqueuing.natively(self._request(task, args, kwargs)))[0]

    def enqueue_many(self, task: AnyTask, calls: Iterable[Arguments]) -> list[TaskResult]:
        """Store calls of one task, (args, kwargs) each, all or none; results in their order.

        Those of a unique task are deduplicated, as the same calls one after another would be.
        """
        check_placement()
        with translated():
            made = self._calls(task, calls)
            return self.enqueuing.on_django(Request.of_many(self.ox, made)) if made else []

    async def aenqueue_many(self, task: AnyTask, calls: Iterable[Arguments]) -> list[TaskResult]:
        """Store calls as `enqueue_many` does, where `aenqueue` would."""
        if not self.goes_native:
            return await on_django(self.enqueue_many, task, calls)
        check_placement()
        with translated():
            made = self._calls(task, calls)
            return await self.enqueuing.natively(Request.of_many(self.ox, made)) if made else []

    def get_result(self, result_id: str) -> TaskResult:
        """Return the result of a stored task, of whatever alias; or raise TaskResultDoesNotExist."""
        with translated():
            checked = checked_id(result_id)
            conn = DjangoConnection(self.database, clock_offset=clock.offset())
            read = partial(get_task, conn, checked)
            return _result(checked, run_blocking(repeat_blocking(conn, read, once_lost=read)))

    async def aget_result(self, result_id: str) -> TaskResult:
        """Return the result of a stored task, read where `aenqueue` would write it."""
        if not self.goes_native:
            return await on_django(self.get_result, result_id)
        with translated():
            checked = checked_id(result_id)
            return _result(checked, await self.ox.operate(lambda conn: get_task(conn, checked)))

    def check(self, **_kwargs: Any) -> list[CheckMessage]:
        """Return what is wrong with this alias's settings."""
        return checks.backend_messages(self.alias, self._params)

    @property
    def enqueuing(self) -> Enqueuing:
        """What stores this backend's calls."""
        return Enqueuing(self.ox, self.database, type(self))

    @property
    def goes_native(self) -> bool:
        """Whether a coroutine may use a native connection: no sync caller waits for it."""
        return not has_sync_caller() and native.may_go_native(self.database)

    def _request(self, task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Request:
        return Request.of_one(self.ox, Call(core_task(self.ox, task, self.setup), tuple(args), dict(kwargs)))

    def _calls(self, task: AnyTask, calls: Iterable[Arguments]) -> list[Call[Any]]:
        return numbered_calls(core_task(self.ox, task, self.setup), calls)


def _result(id_: TaskId, record: TaskRecord | None) -> TaskResult:
    if record is None:
        raise TaskResultDoesNotExist(f"no task has the id {id_}")
    return result_of(record)
