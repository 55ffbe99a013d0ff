"""What happens around a task in a worker: to Django's connections, and by its signals."""

import threading
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from asgiref.sync import SyncToAsync, ThreadSensitiveContext, sync_to_async
from django.db import Error, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.tasks import signals

from compat_sync.context import CURRENT, TaskContext
from compat_sync.results import result_of
from compat_sync.signals import (
    Audience,
    asend_finished,
    asend_started,
    audience,
    send_finished,
    send_started,
)
from oxpull_async.domain.outcome import Outcome
from oxpull_async.domain.record import TaskRecord
from oxpull_async.domain.surroundings import Run

__all__ = ["Around", "Teller", "coroutine_connections", "thread_connections"]

type _Wrapper = BaseDatabaseWrapper


@dataclass(frozen=True, slots=True)
class Teller:
    """Who sends the signals of a task: the class of its backend, and the backend's alias."""

    sender: type
    alias: str


@dataclass(frozen=True, slots=True)
class Around:
    """The surroundings of one task.

    A core task, whose `teller` is None, has no signals and the core's own context.
    """

    is_coroutine: bool
    teller: Teller | None

    def wants_record(self) -> bool:
        """Whether receivers listen that want to see whole results."""
        if self.teller is None:
            return False
        return Audience.RECEIVERS in {audience(signals.task_started), audience(signals.task_finished)}

    def context(self, core: Any, record: TaskRecord) -> Any:
        """Return Django's form of the core's context."""
        return core if self.teller is None else TaskContext(task_result=result_of(record), core=core)

    def around(self, run: Run) -> AbstractContextManager[None]:
        """Return a block in which Django's connections and the module functions work."""
        CURRENT.set(run)  # in the context of this attempt, which ends with it
        return coroutine_connections() if self.is_coroutine else thread_connections()

    def started(self, run: Run) -> None:
        """Send task_started."""
        if self.teller is not None:
            send_started(self.teller.sender, self.teller.alias, run)

    async def astarted(self, run: Run) -> None:
        """Send task_started, coroutine receivers included."""
        if self.teller is not None:
            await asend_started(self.teller.sender, self.teller.alias, run)

    def finished(self, run: Run, outcome: Outcome) -> None:
        """Send task_finished, after what the task left open was rolled back."""
        if self.teller is not None:
            if audience(signals.task_finished) is Audience.RECEIVERS:
                _tidy()
            send_finished(self.teller.sender, self.teller.alias, run, outcome)

    async def afinished(self, run: Run, outcome: Outcome) -> None:
        """Send task_finished as `finished` does, coroutine receivers included."""
        if self.teller is not None:
            if audience(signals.task_finished) is Audience.RECEIVERS and _has_thread():
                await sync_to_async(_tidy)()
            await asend_finished(self.teller.sender, self.teller.alias, run, outcome)


@contextmanager
def thread_connections() -> Generator[None]:
    """Let a task use this thread's connections; none that is dead, old or in use is passed on.

    Connections that may stay, by CONN_MAX_AGE, are looked at again when they are next used, and closed when the thread
    ends.
    """
    for connection in connections.all(initialized_only=True):
        connection.queries_log.clear()
        _make_fit(connection)
    try:
        yield
    finally:
        _tidy()


@contextmanager
def coroutine_connections() -> Generator[None]:
    """Give what a coroutine runs by `sync_to_async` a thread of its own.

    The thread is started when it is first needed. Its connections are closed at the end, for which nobody waits.
    """
    place = ThreadSensitiveContext()
    SyncToAsync.thread_sensitive_context.set(place)  # in the context of this attempt, which ends with it
    try:
        yield
    finally:
        executor: Any = SyncToAsync.context_to_thread_executor.pop(place, None)
        if executor is not None:
            executor.submit(connections.close_all)
            executor.shutdown(wait=False)


def _has_thread() -> bool:
    """Whether this coroutine has run something by `sync_to_async`."""
    return SyncToAsync.thread_sensitive_context.get(None) in SyncToAsync.context_to_thread_executor


class _Closer:
    """Closes what a thread leaves open when its thread-locals go, in the thread itself as Django demands."""

    def __init__(self) -> None:
        self.open: list[_Wrapper] = []

    def __del__(self) -> None:
        for connection in self.open:
            with suppress(Exception):
                connection.close()


_thread = threading.local()


def _tidy() -> None:
    """End every transaction of this thread, and drop connections that must not be used again."""
    for connection in connections.all(initialized_only=True):
        if connection.in_atomic_block:
            _drop(connection)
            continue
        _make_fit(connection)
        _roll_back(connection)
    _closer().open = [each for each in connections.all(initialized_only=True) if each.connection is not None]


def _closer() -> _Closer:
    if not hasattr(_thread, "closer"):
        _thread.closer = _Closer()
    closer: _Closer = _thread.closer
    return closer


def _make_fit(connection: Any) -> None:
    """Close a connection that broke or is too old; have any other tested when it is first used."""
    try:
        connection.close_if_unusable_or_obsolete()
    except Error:
        _drop(connection)
    else:
        connection.health_check_enabled = True


def _roll_back(connection: _Wrapper) -> None:
    """End a transaction that was begun by SQL, of which Django does not know."""
    if connection.connection is None:
        return
    try:
        connection.rollback()
    except Error:
        _drop(connection)


def _drop(connection: _Wrapper) -> None:
    """Close a connection and forget its state; the next use makes a new one."""
    with suppress(Error):
        connection.close()
    del connections[connection.alias]
