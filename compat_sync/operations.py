"""The operator's calls on Django's connection: the core's own operations, without a loop."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.tasks import task_backends

from compat_sync import clock
from compat_sync.backend import OxpullBackend
from compat_sync.connection import DjangoConnection
from compat_sync.declared import declared_task
from compat_sync.enqueuing import Request
from compat_sync.repeating import repeat_blocking
from compat_sync.results import TaskResult
from compat_sync.tasks import core_task
from oxpull_async.app.operations import Health, Operations
from oxpull_async.app.oxpull import Oxpull
from oxpull_async.app.task import Task as CoreTask
from oxpull_async.db.contract import Connection
from oxpull_async.domain.explanation import Explanation
from oxpull_async.domain.record import TaskId, TaskStatus
from oxpull_async.store import overview
from oxpull_async.store.enqueue import notify
from oxpull_async.store.queues import QueueStats

__all__ = ["BlockingOperations", "backend_of", "operations_of", "our_aliases"]

_COMMAND = re.compile(r"`oxpull (?P<verb>worker|retry|resume)(?: (?P<about>[^`]+))?`")


def backend_of(alias: str) -> OxpullBackend:
    """Return the backend of an alias of TASKS.

    Raises: ImproperlyConfigured where there is no such alias, or it is no backend of compat_sync.
    """
    backend = task_backends[alias]
    if not isinstance(backend, OxpullBackend):
        ours = ", ".join(map(repr, our_aliases())) or "none"
        raise ImproperlyConfigured(
            f"TASKS[{alias!r}] is no backend of compat_sync: name an alias whose BACKEND is "
            f"'compat_sync.backend.OxpullBackend' (there is {ours})"
        )
    return backend


def our_aliases() -> list[str]:
    """Return the aliases of TASKS whose backends are compat_sync's, in order."""
    return sorted(alias for alias in task_backends if isinstance(task_backends[alias], OxpullBackend))


def operations_of(alias: str) -> "BlockingOperations":
    """Return the operations of an alias of TASKS; raises what `backend_of` raises."""
    backend = backend_of(alias)
    return BlockingOperations(backend.ox, backend.database)


class _OnDjango(Operations):
    """The core's operations on Django's connection; those that only read may be done again after a lost one."""

    def __init__(self, ox: Oxpull, database: str, *, only_reads: bool) -> None:
        self.settings = ox.settings
        self.database = ox.database
        self.wakeups = ox.wakeups
        self._alias = database
        self._only_reads = only_reads
        self._home = ox

    @property
    def home(self) -> Oxpull:
        """The Oxpull of the alias."""
        return self._home

    def task_named(self, path: str) -> CoreTask[..., Any]:
        """Return the core task of a Django task, or a task that is known by name only."""
        found = declared_task(path)
        setup = backend_of(self.settings.alias).setup
        return self._home.task_named(path) if found is None else core_task(self._home, found, setup)

    async def operate[T](self, operation: Callable[[Connection], Awaitable[T]]) -> T:
        """Run a store operation on Django's connection.

        Again after a deadlock, where no transaction is open.
        """
        conn = DjangoConnection(self._alias, clock_offset=clock.offset())
        attempt = partial(operation, conn)
        return await repeat_blocking(conn, attempt, once_lost=attempt if self._only_reads else None)


class BlockingOperations(_OnDjango):
    """What operators ask of a backend, in whatever transaction is open on Django's connection.

    Its methods are coroutines that never wait: run them with `run_blocking`.
    """

    def __init__(self, ox: Oxpull, database: str) -> None:
        super().__init__(ox, database, only_reads=False)
        self._reading = _OnDjango(ox, database, only_reads=True)

    async def stats(self) -> list[QueueStats]:
        """Count the tasks of every queue by status, queues in order of name."""
        return await self._reading.stats()

    async def overview(self, limit: int) -> overview.Overview:
        """Look at the queues of this alias, at most at `limit` tasks of each kind."""
        return await self._reading.operate(lambda conn: overview.overview(conn, self.settings.alias, limit))

    async def unfinished_tasks(self, status: TaskStatus, queue_name: str | None, limit: int) -> list[TaskId]:
        """Return ids of READY, RUNNING or WAITING tasks without looking at those that have ended."""
        alias = self.settings.alias
        return await self._reading.operate(
            lambda conn: overview.unfinished_tasks(conn, alias, status, queue_name, limit)
        )

    async def health(self) -> Health:
        """Look at workers and backlog, and say what is wrong."""
        found = await self._reading.health()
        return replace(found, problems=[_in_django(problem) for problem in found.problems])

    async def explain(self, id_: str) -> Explanation:
        """Say whether a worker may claim a task now, and if not, everything that keeps it."""
        found = await self._reading.explain(id_)
        reasons = tuple(replace(reason, text=_in_django(reason.text)) for reason in found.reasons)
        return replace(found, reasons=reasons)

    async def run_schedule(self, name: str) -> TaskResult:
        """Enqueue the call of a schedule once, now; its ticks and its pause stay as they are."""
        call = await self.call_of_schedule(name)
        return backend_of(self.settings.alias).enqueuing.on_django(Request.of_one(self.home, call))[0]

    async def wake(self, queue_name: str) -> None:
        """Wake the workers of a queue ("": of all) by the commit."""
        await self.operate(partial(_notify, queue_name))


async def _notify(queue_name: str, conn: Connection) -> None:
    await notify(conn, queue_name)


def _in_django(sentence: str) -> str:
    """Name a command of ours as it is called in a Django project."""
    return _COMMAND.sub(_call, sentence)


def _call(found: re.Match[str]) -> str:
    if found["verb"] == "worker":
        return "`manage.py oxpull_worker`"
    return f"`actions.{found['verb']}({found['about'] or ''!r})`"
