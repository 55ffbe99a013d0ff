"""Django's two backends for development and tests, with this queue's options.

Neither needs a database.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from asgiref.sync import sync_to_async
from django.core.checks import CheckMessage
from django.db import DEFAULT_DB_ALIAS
from django.tasks.backends.dummy import DummyBackend as DjangoDummy
from django.tasks.backends.immediate import ImmediateBackend as DjangoImmediate

from compat_sync.declaring import WithPolicy
from compat_sync.django_types import AnyTask
from compat_sync.exceptions import translated
from compat_sync.native import NativeDatabase
from compat_sync.options import examine
from compat_sync.results import TaskResult, result_of
from compat_sync.signals import send_enqueued
from compat_sync.tasks import core_task, numbered_calls
from compat_sync.testing.in_memory import run_at_once, stored_now
from compat_sync.watching import tell
from oxpull_async.app.oxpull import Oxpull
from oxpull_async.app.task import Call
from oxpull_async.domain.record import NewTask, TaskRecord

__all__ = ["DummyBackend", "ImmediateBackend"]

type Arguments = tuple[Sequence[Any], Mapping[str, Any]]


class _WithoutDatabase(WithPolicy):
    """Takes our options and checks them, and what is enqueued, as OxpullBackend does; nothing is deduplicated."""

    @cached_property
    def ox(self) -> Oxpull:
        """What checks calls; its database is never used."""
        return Oxpull.over(NativeDatabase(DEFAULT_DB_ALIAS), self.setup.settings)

    def check(self, **_kwargs: Any) -> list[CheckMessage]:
        """Return what is wrong with this alias's settings."""
        return [problem.message() for problem in examine(self.alias, self._params)[1]]

    def enqueue(self, task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TaskResult:
        """Take a call; raises InvalidArguments and InvalidTask."""
        self.validate_task(task)
        with translated():
            call = Call(core_task(self.ox, task, self.setup), tuple(args), dict(kwargs))
            [(_, new)] = self.ox.enqueuer.parts(call).tasks()
        return self._take(task, call, new)

    def enqueue_many(self, task: AnyTask, calls: Iterable[Arguments]) -> list[TaskResult]:
        """Take calls of one task, (args, kwargs) each, once all are checked; results in their order."""
        self.validate_task(task)
        with translated():
            made = numbered_calls(core_task(self.ox, task, self.setup), calls)
            tasks = dict(self.ox.enqueuer.numbered_parts(made).tasks())
        return [self._take(task, call, tasks[position]) for position, call in enumerate(made)]

    async def aenqueue_many(self, task: AnyTask, calls: Iterable[Arguments]) -> list[TaskResult]:
        """Take calls as `enqueue_many` does."""
        return await sync_to_async(self.enqueue_many, thread_sensitive=True)(task, calls)

    def _take(self, task: AnyTask, call: Call[Any], new: NewTask) -> TaskResult:
        """Deal with one call that was checked."""
        record = stored_now(new)
        send_enqueued(type(self), [_result(task, record)])
        result = self._deal_with(task, call, record)
        tell([call], [result])
        return result

    def _deal_with(self, task: AnyTask, call: Call[Any], record: TaskRecord) -> TaskResult:
        raise NotImplementedError


class DummyBackend(_WithoutDatabase, DjangoDummy):
    """Keeps results in its list `results`, never runs them, and forgets them by `clear()`.

    Each thread has its own.
    """

    def _deal_with(self, task: AnyTask, call: Call[Any], record: TaskRecord) -> TaskResult:  # noqa: ARG002
        self.results.append(_result(task, record))
        return _result(task, record)


class ImmediateBackend(_WithoutDatabase, DjangoImmediate):
    """Runs a task once, before `enqueue` returns, in whatever transaction is open.

    Retries, timeouts, unique keys and running locks are not for it.
    """

    def _deal_with(self, task: AnyTask, call: Call[Any], record: TaskRecord) -> TaskResult:
        return _result(task, run_at_once(call.task, record, self.worker_id, type(self)))


def _result(task: AnyTask, record: TaskRecord) -> TaskResult:
    """Return a result of its own, of the very task that was enqueued."""
    result = result_of(record, created=True)
    object.__setattr__(result, "task", task)
    return result
