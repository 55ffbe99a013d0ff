"""Django tasks that look at what surrounds them."""

import asyncio
import os
import signal
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connections, transaction
from django.tasks import TaskContext, task

from compat_sync.context import TaskContext as OurContext
from compat_sync.context import deadline, remaining
from oxpull_async import Retry, Snooze
from tests.compat.routing import current
from tests.fixtures.waiting import until

type AnyContext = TaskContext[..., Any]

SEEN: list[Any] = []


class Unlucky(Exception):
    """What a task raises that is to be tried again at once."""


def here() -> Any:
    """Give this thread's connection to the database of the tasks."""
    return connections[current["alias"]]


def ask(sql: str = "SELECT 1") -> Any:
    """Ask the database something by Django."""
    with here().cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


@task
def query() -> list[bool]:
    """Use the connection, remember it, and tell in what state it was found."""
    connection = here()
    found = [connection.in_atomic_block, connection.get_autocommit()]
    ask()
    SEEN.append(connection.connection)
    return found


@task
async def aquery() -> list[bool]:
    """Do what `query` does, from a coroutine."""
    found: list[bool] = await sync_to_async(query.func)()
    return found


@task
def leave_atomic() -> None:
    """Enter a transaction and never leave it."""
    transaction.atomic(using=current["alias"]).__enter__()
    ask()


@task
def leave_autocommit_off() -> None:
    """Switch autocommit off and leave it so."""
    here().set_autocommit(False)
    ask()


@task
def leave_begun() -> None:
    """Begin a transaction behind Django's back."""
    ask()
    with here().cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("DELETE FROM oxpull_worker")


@task
def count_workers() -> int:
    """Count the rows that `leave_begun` deletes in a transaction that must not be committed."""
    return int(ask("SELECT count(*) FROM oxpull_worker"))


@task
async def leave_atomic_by_thread() -> None:
    """Leave a transaction open in the thread of a coroutine."""
    await sync_to_async(leave_atomic.func)()


@task
def in_atomic(text: str) -> None:
    """Write in a transaction, and raise."""
    with transaction.atomic(using=current["alias"]), here().cursor() as cursor:
        cursor.execute("DELETE FROM oxpull_worker")
        raise ValueError(text)


@task(takes_context=True)
def tell(context: AnyContext) -> dict[str, Any]:
    """Report progress and tell what the context says."""
    assert isinstance(context, OurContext)
    context.progress(1, 2, "half")
    return {
        "attempt": context.attempt,
        "epoch": context.epoch,
        "status": context.task_result.status,
        "id": context.task_result.id,
        "has_deadline": context.deadline is not None,
        "cancelled": context.cancelled,
    }


@task(takes_context=True)
async def atell(context: AnyContext) -> int:
    """Report progress from a coroutine."""
    assert isinstance(context, OurContext)
    await context.aprogress(2, 2, "done")
    return context.attempt


@task(timeout=600, queue_name="slow")  # type: ignore[call-overload, untyped-decorator]
def time_left() -> list[float | None]:
    """Tell the time that is left, by both functions."""
    until = deadline()
    return [remaining(), None if until is None else until.timestamp()]


@task(backoff=[0.0], max_attempts=2, retry_on=Unlucky)  # type: ignore[call-overload, untyped-decorator]
def unlucky() -> None:
    """Fail every time."""
    raise Unlucky("again")


@task(fail_on=Unlucky)  # type: ignore[call-overload, untyped-decorator]
def doomed() -> None:
    """Fail for good the first time."""
    raise Unlucky("never again")


@task(takes_context=True)
def retry_once(context: AnyContext) -> int:
    """Ask to be tried again, once."""
    if context.attempt == 1:
        raise Retry(after=0)
    return context.attempt


@task(takes_context=True)
def snooze_once(context: AnyContext) -> int:
    """Ask for a little patience, once; that is no attempt."""
    assert isinstance(context, OurContext)
    if context.epoch == 1:
        raise Snooze(0)
    return context.attempt


@task
def note(path: str) -> int:
    """Leave a line with the number of the process that ran this."""
    with Path(path).open("a") as file:
        file.write(f"{os.getpid()}\n")
    return os.getpid()


@task
def hold(path: str, go: str) -> str:
    """Tell that it runs, and wait until it may end."""
    note.func(path)
    while not Path(go).exists():
        time.sleep(0.02)
    return "held"


@task
async def ahold(path: str, go: str) -> str:
    """Do what `hold` does, on the event loop."""
    note.func(path)
    await until(lambda: asyncio.to_thread(Path(go).exists), within=600)
    return "held"


@task
def die_once(path: str) -> str:
    """Kill the process the first time."""
    if not Path(path).exists():
        note.func(path)
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


@task
async def overrun() -> None:
    """Run until it is stopped."""
    await asyncio.Event().wait()


@task
def count_queries() -> int:
    """Count the queries that are logged so far, and add one."""
    logged = len(here().queries)
    ask()
    return logged


@task(fail_on=Unlucky)  # type: ignore[call-overload, untyped-decorator]
async def adoomed() -> None:
    """Fail for good the first time, as a coroutine."""
    raise Unlucky("never again")


@task
def environment(name: str) -> str | None:
    """Tell a variable of the worker's environment."""
    return os.environ.get(name)


@task
def version(module: str) -> str:
    """Tell the version that a module has in this process."""
    return str(import_module(module).VERSION)


@task
async def ask_in_threads() -> list[bool]:
    """Use a connection of a thread of the loop's, break it, and use it again in each of two ways."""
    asleep: list[bool] = []
    for call in (asyncio.to_thread, _insensitive):
        for _ in range(2):
            asleep += await call(query.func)
            await call(_break)
    return asleep


async def _insensitive(function: Any) -> Any:
    return await sync_to_async(function, thread_sensitive=False)()


def _break() -> None:
    """Close what the server or the network would have closed, behind Django's back."""
    ask()
    here().connection.close()
