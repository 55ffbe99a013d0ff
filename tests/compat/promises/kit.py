"""Sites with databases of their own, other threads of the same site, and what holds a key's task."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Literal
from uuid import uuid4

from django.db import connections, transaction
from django.utils.connection import ConnectionDoesNotExist

from compat_sync.connection import DjangoConnection
from compat_sync.shim import run_blocking
from oxpull_async.domain.record import ClaimedTask, TaskId
from oxpull_async.store.lease import expired, reap
from tests.cli.support import PATIENCE
from tests.compat import routing
from tests.compat.django_aliases import add_alias, drop_alias
from tests.fixtures import innodb, make, raw

type Mode = Literal["autocommit", "atomic", "by hand"]
MODES: tuple[Mode, ...] = ("autocommit", "atomic", "by hand")

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


class Regret(Exception):
    """What undoes a transaction on purpose."""


@contextmanager
def site_of(url: str, *, atomic_requests: bool = False, **options: object) -> Iterator[str]:
    """Keep the tasks of the site in a database under an alias that no thread has seen; the tables are empty."""
    before, alias = routing.current["alias"], f"promises-{uuid4().hex[:8]}"
    add_alias(alias, url, **options)
    connections.settings[alias]["ATOMIC_REQUESTS"] = atomic_requests
    routing.current["alias"] = alias
    run_blocking(raw.empty(DjangoConnection(alias)))
    try:
        yield alias
    finally:
        routing.current["alias"] = before
        drop_alias(alias)


@contextmanager
def opened(alias: str, mode: Mode) -> Iterator[None]:
    """Have a transaction of that kind open on this thread's connection, and undo it at the end."""
    if mode == "autocommit":
        yield
    elif mode == "atomic":
        with transaction.atomic(using=alias):
            yield
            transaction.set_rollback(True, using=alias)
    else:
        transaction.set_autocommit(False, using=alias)
        try:
            yield
        finally:
            transaction.rollback(using=alias)
            transaction.set_autocommit(True, using=alias)


class Elsewhere:
    """Another thread of the site, whose connections are its own."""

    def __init__(self, alias: str) -> None:
        self._alias = alias
        self._thread = ThreadPoolExecutor(1)

    def start[**P, R](self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> "Future[R]":
        """Begin to run something there."""
        return self._thread.submit(function, *args, **kwargs)

    def do[**P, R](self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run something there to its end."""
        return self.start(function, *args, **kwargs).result(PATIENCE)

    def close(self) -> None:
        """End the thread and its connection."""
        self.do(self._disconnect)
        self._thread.shutdown()

    def _disconnect(self) -> None:
        with suppress(ConnectionDoesNotExist):  # nothing was done here
            connections[self._alias].close()


def is_waited(alias: str) -> bool:
    """Whether somebody waits for a lock; SQLite cannot tell, and says yes."""
    vendor = connections[alias].vendor
    if vendor == "sqlite":
        return True
    if vendor == "postgresql":
        return bool(answer(alias, _WAITING)[0][0])
    ours = {row[0] for row in answer(alias, innodb.SESSIONS)}
    return bool(ours & innodb.waiting(answer(alias, innodb.REPORT)))


def answer(alias: str, sql: str) -> list[tuple[Any, ...]]:
    """Ask the database something by Django's cursor."""
    with connections[alias].cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall()) if cursor.description else []


def counts(alias: str) -> tuple[int, int]:
    """Count the tasks and the unique keys' lock rows."""
    (tasks,), (keys,) = answer(alias, "SELECT count(*) FROM oxpull_task UNION ALL SELECT count(*) FROM oxpull_unique")
    return tasks, keys


def claimed(alias: str) -> ClaimedTask:
    """Let a worker begin the task that is due, which must be the only one."""

    async def claim(conn: DjangoConnection) -> ClaimedTask:
        [task] = await make.claimed(conn, await make.worker(conn))
        return task

    return run_blocking(claim(DjangoConnection(alias)))


def reaped(alias: str, id_: TaskId) -> None:
    """Let the worker of a running task fall silent, and a reaper find it."""

    async def bury(conn: DjangoConnection) -> None:
        task = await make.record(conn, id_)
        assert task.leased_by is not None
        await raw.forget_worker(conn, task.leased_by)
        [row] = [row for row in await expired(conn, 1000) if row.task_id == id_]
        assert await reap(conn, row, make.ERROR) is not None

    run_blocking(bury(DjangoConnection(alias)))
