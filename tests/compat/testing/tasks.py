"""Django tasks that the test kit runs."""

from contextlib import suppress
from typing import Any

from django.db import IntegrityError, connections, transaction
from django.tasks import task

from compat_sync.context import TaskContext
from compat_sync.placement import database_alias
from compat_sync.testing import run_tasks
from compat_sync.unique import unique
from oxpull_async import Retry, RunningLock, Snooze, Unique
from tests.compat.shop import ours

DONE: list[Any] = []


def note(number: int) -> None:
    """Write a row of the test's own table."""
    with connections[database_alias()].cursor() as cursor:
        cursor.execute("INSERT INTO note (id) VALUES (%s)", [number])


def notes() -> list[int]:
    """Read the test's own table."""
    with connections[database_alias()].cursor() as cursor:
        cursor.execute("SELECT id FROM note ORDER BY id")
        return [row[0] for row in cursor.fetchall()]


@ours
@task
def write(number: int) -> int:
    """Write a row."""
    note(number)
    return number


@ours
@task(max_attempts=1)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def write_and_fail(number: int) -> None:
    """Write a row and fail."""
    note(number)
    raise ValueError(f"{number} is odd")


@ours
@task(max_attempts=2, backoff=[60])  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def break_off(number: int) -> None:
    """Let the database refuse a statement."""
    note(number)
    note(number)


@ours
@task(max_attempts=1)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def hide_refusal(number: int) -> None:
    """Hide that the database refused a statement inside a savepoint."""
    note(number)
    try:
        with transaction.atomic(using=database_alias()):
            note(number)
    except IntegrityError:
        note(number + 1)


@ours
@task(max_attempts=1)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def swallow(number: int) -> None:
    """Hide that the database refused a statement, with no savepoint around it."""
    note(number)
    with suppress(IntegrityError):
        note(number)


@ours
@task(max_attempts=1)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def swallow_as_the_orm(number: int) -> None:
    """Hide that the database refused a row of Django's ORM, which marks the transaction as broken."""
    note(number)
    with suppress(IntegrityError), transaction.mark_for_rollback_on_error(using=database_alias()):
        note(number)


@ours
@task(unique=Unique(on_duplicate="debounce", wait=60))  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def settle_down(order_id: int) -> None:
    """Run a minute after the last enqueue."""


@ours
@task(unique=Unique(on_duplicate="rerun"))  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def once_more(order_id: int) -> None:
    """Enqueue itself once, while it runs."""
    DONE.append(order_id)
    if len(DONE) == 1:
        once_more.enqueue(order_id)


@ours
@task
def write_durably(number: int) -> None:
    """Write a row in a block that must be the outermost."""
    with transaction.atomic(using=database_alias(), durable=True):
        note(number)


@ours
@task(max_attempts=3, backoff=[60, 600])  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def stumble(text: str) -> None:
    """Fail in every attempt."""
    raise ValueError(text)


@ours
@task(takes_context=True, max_attempts=2, backoff=[60])  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def second_time(context: TaskContext) -> int:
    """Succeed at the second attempt."""
    context.progress(context.attempt, 2, "on it")
    if context.attempt == 1:
        raise Retry(after=30)
    return context.attempt


@ours
@task(takes_context=True)  # type: ignore[arg-type] # the context is ours
async def slowly(context: TaskContext, steps: int) -> str:
    """Report progress from a coroutine, and enqueue another task."""
    await context.aprogress(steps, steps)
    result = await write.aenqueue(steps)
    return str(result.id)


@ours
@task
def snooze(seconds: float) -> None:
    """Ask to be run later."""
    raise Snooze(seconds)


@ours
@unique
@task
def charge(order_id: int) -> None:
    """Charge once while pending."""
    DONE.append(order_id)


@ours
@task(unique=Unique(ttl=100))  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def expire(order_id: int) -> None:
    """Be unique for a while."""


@ours
@task(running_lock=RunningLock(limit=1))  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def rebuild(tenant: str) -> str:
    """Rebuild one at a time."""
    return tenant


@ours
@task
def chain(left: int) -> None:
    """Enqueue the next link, when what is written counts."""
    if left:
        transaction.on_commit(lambda: chain.enqueue(left - 1), using=database_alias())


@ours
@task(max_attempts=1)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def fail_on_commit() -> None:
    """Fail in what is called at the commit."""

    def broken() -> None:
        raise ValueError("at the commit")

    transaction.on_commit(broken, using=database_alias())


@ours
@task
def for_ever() -> None:
    """Enqueue itself."""
    for_ever.enqueue()


@ours
@task(max_attempts=1)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def run_inside() -> None:
    """Run tasks inside of a task."""
    run_tasks()


@ours
@task(max_attempts=1)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def unstorable() -> object:
    """Return what is no JSON."""
    return object()


@ours
@task(timeout=1)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def timed() -> str:
    """Have a timeout."""
    return "done"


@ours
@task(max_attempts=1)  # type: ignore[call-overload, untyped-decorator] # unknown to the stubs
def stay_inside(number: int, *, savepoint: bool, fails: bool) -> None:
    """Enter transactions, one in another, and leave none of them."""
    for _ in range(2):
        transaction.atomic(using=database_alias(), savepoint=savepoint).__enter__()
    note(number)
    if fails:
        raise ValueError(f"{number} is odd")


@ours
@task
def interrupted() -> None:
    """Be ended by the one at the keyboard."""
    raise KeyboardInterrupt
