"""What a worker of Django's tasks serves, and how any worker here finds them by name."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.tasks import signals, task_backends

from compat_sync.backend import OxpullBackend
from compat_sync.declared import declared_task
from compat_sync.django_types import AnyTask
from compat_sync.options import BackendOptions
from compat_sync.results import result_of
from compat_sync.signals import asend_enqueued, is_wanted
from compat_sync.tasks import core_task
from compat_sync.worker.around import Around, Teller
from oxpull_async import Oxpull
from oxpull_async import Task as CoreTask
from oxpull_async.app.schedules import scheduled_calls
from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import NotMigrated, SchemaTooNew
from oxpull_async.domain.record import TaskRecord
from oxpull_async.domain.schedule import DeclaredSchedule, StoredSchedule
from oxpull_async.domain.settings import Settings
from oxpull_async.runtime.host import Host, RunnableTask
from oxpull_async.runtime.lookup import RESOLVERS
from oxpull_async.store.enqueue_calls import EnqueueCalls

__all__ = ["DjangoHost", "find_task", "installed_packages", "oxpull_backend", "register"]


@dataclass(frozen=True, slots=True)
class DjangoHost:
    """The tasks of one alias of TASKS, by the native driver of their database."""

    setup: BackendOptions
    placed_in: str
    ox: Oxpull

    @classmethod
    def of(cls, alias: str) -> "DjangoHost":
        """Return the host of an alias; raises ImproperlyConfigured for a wrong one, or not ours."""
        backend = oxpull_backend(alias)
        if backend is None:
            raise ImproperlyConfigured(
                f"TASKS[{alias!r}] is no backend of compat_sync: name an alias whose BACKEND is "
                "'compat_sync.backend.OxpullBackend'"
            )
        return cls(backend.setup, backend.database, backend.ox)

    @property
    def settings(self) -> Settings:
        """The alias's settings."""
        return self.ox.settings

    @property
    def database(self) -> Database:
        """Where the tasks are."""
        return self.ox.database

    @property
    def tasks(self) -> Mapping[str, RunnableTask]:
        """Nothing: tasks are found by their paths when a row names them."""
        return self.ox.tasks

    @property
    def schedules(self) -> Mapping[str, DeclaredSchedule]:
        """The schedules of the alias's settings."""
        return self.ox.schedules

    def scheduled_calls(self, schedule: StoredSchedule, ticks: int) -> EnqueueCalls:
        """Return the call of a schedule once for each tick, its task bound to this alias.

        Raises: UsageError where its arguments or options do not fit the task.
        """
        return scheduled_calls(self.ox, schedule, ticks, self.task_named)

    def task_named(self, path: str) -> CoreTask[..., Any]:
        """Return the core task of a Django task, or a task that is known by name only."""
        found = declared_task(path)
        return self.ox.task_named(path) if found is None else core_task(self.ox, found, self.setup)

    async def announce_scheduled(self, records: Sequence[TaskRecord]) -> None:
        """Wake the workers of these tasks' queues, and tell receivers of `task_enqueued`."""
        await self.ox.announce_scheduled(records)
        if is_wanted(signals.task_enqueued):
            backend = oxpull_backend(self.settings.alias)
            sender = OxpullBackend if backend is None else type(backend)
            await asend_enqueued(sender, [result_of(record, created=True) for record in records])

    async def check_schema(self) -> None:
        """Raise NotMigrated or SchemaTooNew unless the schema is this version's."""
        try:
            await self.ox.check_schema()
        except SchemaTooNew:
            raise
        except NotMigrated as lacking:
            text = str(lacking).partition(":")[0]
            raise NotMigrated(f"{text}: run `manage.py migrate --database {self.placed_in}`") from None

    def on_wake(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call `callback` with the queue's name at every enqueue here; returns what ends that."""
        return self.ox.on_wake(callback)

    async def announce(self, queue_name: str) -> None:
        """Wake the workers here and elsewhere: this queue, or for "" any, may have changed."""
        await self.ox.announce(queue_name)

    def result_of(self, record: TaskRecord) -> Any:
        """Return the core's handle for a record."""
        return self.ox.result_of(record)


def oxpull_backend(alias: str) -> OxpullBackend | None:
    """Return the backend of an alias of TASKS, or None where it is none of ours."""
    try:
        backend = task_backends[alias]
    except ImproperlyConfigured:
        return None
    return backend if isinstance(backend, OxpullBackend) else None


def register() -> None:
    """Let every worker of this process find Django's tasks; safe to repeat."""
    if find_task not in RESOLVERS:
        RESOLVERS.append(find_task)


def find_task(host: Host, path: str) -> RunnableTask | None:
    """Return the task of a dotted path, or None.

    Django's tasks are found for any worker, the core's for a worker of Django's.

    Raises: InvalidTask or ImproperlyConfigured where its options or the settings are wrong.
    """
    django_task = declared_task(path)
    if django_task is not None:
        return _runnable(host, django_task)
    return _module_task(path) if isinstance(host, DjangoHost) else None


def installed_packages() -> frozenset[str]:
    """Return the top packages of the installed apps, below which tasks are looked for."""
    return frozenset(config.name.partition(".")[0] for config in apps.get_app_configs())


def _runnable(host: Host, task: AnyTask) -> RunnableTask | None:
    """Return a Django task as the worker of an alias runs it, by that alias's options where it has some."""
    alias = host.settings.alias
    backend = oxpull_backend(alias) or oxpull_backend(task.backend)
    if backend is None:
        return None
    lenient = replace(backend.ox.settings, queues=frozenset())  # the row's queue counts, not that of the declaration
    core = core_task(Oxpull.over(backend.ox.database, lenient), task, backend.setup)
    return _surrounded(core, Teller(type(backend), alias))


def _module_task(path: str) -> RunnableTask | None:
    module, _, name = path.rpartition(".")
    found = getattr(sys.modules.get(module), name, None)
    return _surrounded(found, None) if isinstance(found, CoreTask) and found.path == path else None


def _surrounded(task: CoreTask[..., Any], teller: Teller | None) -> RunnableTask | None:
    if task.body is None:
        return None
    body = replace(task.body, surroundings=Around(task.body.is_coroutine, teller))
    return CoreTask(task.ox, task.path, task.options, body)
