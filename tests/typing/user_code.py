"""Code as users write it; it is checked by mypy and never run.

What must not type-check carries the error in a comment: mypy complains about a comment that is not needed.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, assert_type

from oxpull_async import (
    Call,
    Explanation,
    Exponential,
    Oxpull,
    RateLimit,
    Retry,
    RunningLock,
    Snooze,
    TaskContext,
    TaskResult,
    TaskStatus,
    Unique,
    Worker,
)
from oxpull_async.app.operations import Health, PruneReport
from oxpull_async.app.transactions import Transaction
from oxpull_async.store.queues import QueueStats

ox = Oxpull("sqlite:///tasks.db", queues=["default", "mail"], backoff=Exponential(base=1), timeout=timedelta(minutes=1))


@ox.task
async def send(order_id: int, *, note: str = "") -> str:
    return f"{order_id}{note}"


@ox.task
def measure(text: str) -> int:
    if not text:
        raise Retry(after=5)
    return len(text)


@ox.task(queue_name="mail", priority=5, max_attempts=5, timeout=30, backoff=[1, 2, 3], retry_on=OSError)
async def mail(to: str) -> None:
    raise Snooze(for_=timedelta(hours=1))


@ox.task(takes_context=True)
async def index(context: TaskContext, folder: str) -> list[str]:
    await context.progress(1, 2, folder)
    return []


@ox.task(takes_context=True, backoff=lambda attempt: attempt * 2.0)
def rebuild(context: TaskContext, tenant: str) -> dict[str, int]:
    return {tenant: context.attempt}


async def parameters_go_in_and_results_come_out() -> None:
    assert_type(await send(1, note="x"), str)
    assert_type(measure("x"), int)
    assert_type(await send.enqueue(1, note="x"), TaskResult[str])
    assert_type(await measure.enqueue("x"), TaskResult[int])
    assert_type(await index.enqueue("x"), TaskResult[list[str]])
    assert_type(await rebuild.enqueue(tenant="x"), TaskResult[dict[str, int]])
    assert_type((await mail.enqueue("x")).return_value, None)
    assert_type((await send.enqueue(1)).return_value, str)
    assert_type((await (await measure.enqueue("x")).wait(timeout=5)).return_value, int)
    assert_type(send.call(1), Call[str])


async def a_changed_task_keeps_its_types() -> None:
    only = send.using(unique=Unique(ttl=60), running_lock=RunningLock(limit=2, on_conflict="discard", name="send"))
    assert_type(await only.enqueue(1), TaskResult[str])
    later = send.using(run_after=datetime.now(UTC), priority=10, queue_name="bulk", max_attempts=1, timeout=None)
    assert_type(await later.enqueue(1), TaskResult[str])
    assert_type(await later(1), str)
    assert_type(measure.using(priority=1)("x"), int)
    assert_type(index.using(timeout=5).call("x"), Call[list[str]])


def limits_are_objects_or_dicts() -> None:
    hourly = RateLimit(100, per=timedelta(hours=1), tasks=[send, "shop.tasks.mail"], queues=["mail"], sliding=True)
    Oxpull("sqlite:///x.db", rate_limits={"api": hourly, "mail": {"limit": 5, "per": 1, "queues": ["mail"]}})
    raise Retry(after=5, slow_down="api")


async def an_oxpull_takes_tasks_and_paths() -> None:
    assert_type(await ox.enqueue(send, 1, note="x"), TaskResult[str])
    assert_type(await ox.enqueue("shop.tasks.send", 1, anything=2), TaskResult[Any])
    assert_type(await ox.enqueue_many([send.call(1), measure.call("x")]), list[TaskResult[Any]])
    assert_type(await ox.get_result("id"), TaskResult[Any])
    remote = ox.remote("shop.tasks.send", queue_name="mail")
    assert_type(await remote.enqueue(1, x=2), TaskResult[Any])
    async with ox.transaction() as tx, ox.join(object()) as joined:
        assert_type(tx, Transaction)
        assert_type(joined, Transaction)
        assert_type(await tx.execute("DELETE FROM x WHERE y = $1", 1), int)


async def operations_answer_plainly(result: TaskResult[str]) -> None:
    assert_type(result.status, TaskStatus)
    assert_type(result.run_after, datetime | None)
    assert_type(result.worker_ids, tuple[str, ...])
    assert_type(await ox.retry(result.id, include_discarded=True), bool)
    assert_type(await ox.cancel_many([result.id]), tuple[int, int])
    assert_type(await ox.stats(), list[QueueStats])
    assert_type(await ox.prune(timedelta(days=1), ["FAILED"], dry_run=True), PruneReport)
    assert_type(await ox.health(), Health)
    assert_type(await ox.explain(result.id), Explanation)
    await Worker(ox, queues=["mail"], concurrency=5, threads=2, burst=True, drain_timeout=timedelta(1)).run()


async def wrong_arguments_are_errors() -> None:
    await send("1")  # type: ignore[arg-type]
    measure(1)  # type: ignore[arg-type]
    await send.enqueue("1")  # type: ignore[arg-type]
    await send.enqueue()  # type: ignore[call-arg]
    await send.enqueue(1, "x")  # type: ignore[call-arg]
    await send.enqueue(1, nothing=1)  # type: ignore[call-arg]
    await send.using(priority=1).enqueue("1")  # type: ignore[arg-type]
    send.call("1")  # type: ignore[arg-type]
    await ox.enqueue(send, "1")  # type: ignore[call-overload]
    await index.enqueue(5)  # type: ignore[arg-type]
    await rebuild.enqueue("a", "b")  # type: ignore[call-arg]
    await ox.enqueue_many([send])  # type: ignore[list-item]
    await ox.enqueue(measure.call("x"))  # type: ignore[call-overload]


async def wrong_results_are_errors() -> None:
    number: int = (await send.enqueue(1)).return_value  # type: ignore[assignment]
    text: str = measure("x")  # type: ignore[assignment]
    result: TaskResult[int] = await send.enqueue(1)  # type: ignore[assignment]
    del number, text, result
    await measure("x")  # type: ignore[misc]


def wrong_options_are_errors() -> None:
    send.using(prio=1)  # type: ignore[call-arg]
    send.using(priority="high")  # type: ignore[arg-type]
    send.using(rate_limit=1)  # type: ignore[call-arg]
    send.using(unique=Unique(until="done"))  # type: ignore[arg-type]
    send.using(backoff=[1])  # type: ignore[call-arg]
    ox.task(running_lock=1)  # type: ignore[call-overload]
    RunningLock(on_conflict="raise")  # type: ignore[arg-type]
    ox.task(priority="high")  # type: ignore[call-overload]
    ox.task("mail")  # type: ignore[call-overload]
    ox.remote("a.b", rate_limit=1)  # type: ignore[call-arg]
    Oxpull("sqlite:///x.db", schedules=[])  # type: ignore[arg-type]
    Oxpull("sqlite:///x.db", rate_limits={"api": 5})  # type: ignore[dict-item]
    RateLimit(5, tasks=["a.b"])  # type: ignore[call-arg]
    RateLimit(5, per=1, key=len)  # type: ignore[arg-type]
    Retry(slow_down=5)  # type: ignore[arg-type]
    ox.schedule(send.call(1), evry=5)  # type: ignore[call-arg]
    Oxpull("sqlite:///x.db", pooler="statement")  # type: ignore[arg-type]
    Worker(ox, burst="yes")  # type: ignore[arg-type]
    Worker(ox, process=1)  # type: ignore[call-arg]


def a_context_task_takes_its_context_first() -> None:
    @ox.task(takes_context=True)  # type: ignore[arg-type]
    async def without(number: int) -> None: ...


async def lifespans() -> AsyncIterator[None]:
    async with ox.lifespan(object()):
        yield
