import asyncio

import pytest

from oxpull_async import Oxpull, Retry, Snooze, TaskContext
from oxpull_async.domain.events import AttemptFailed
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.retry import MAX_SNOOZES
from tests.fixtures import raw
from tests.fixtures.workers import drain

pytestmark = pytest.mark.asyncio
FAILED, SUCCESSFUL, READY = TaskStatus.FAILED, TaskStatus.SUCCESSFUL, TaskStatus.READY


async def test_a_task_is_retried_after_the_listed_seconds_until_its_attempts_are_spent(ox: Oxpull) -> None:
    @ox.task(max_attempts=3, backoff=[0])
    async def fails() -> None:
        raise ValueError("no")

    result = await fails.enqueue()
    await drain(ox)
    await result.refresh()
    assert (result.status, result.attempts, len(result.worker_ids)) == (FAILED, 3, 3)
    assert [error.attempt for error in result.errors] == [1, 2, 3]
    assert {error.exception_class_path for error in result.errors} == {"builtins.ValueError"}
    assert [error.worker_id for error in result.errors] == list(result.worker_ids)


async def test_a_backoff_function_is_asked_with_the_number_of_the_attempt(ox: Oxpull) -> None:
    asked: list[int] = []

    def backoff(attempt: int) -> float:
        asked.append(attempt)
        return 0

    @ox.task(max_attempts=3, backoff=backoff)
    def fails() -> None:
        raise ValueError("no")

    result = await fails.enqueue()
    await drain(ox)
    await result.refresh()
    assert (result.status, asked) == (FAILED, [1, 2])


async def test_a_backoff_function_that_raises_ends_the_task_and_both_errors_are_told(ox: Oxpull) -> None:
    def backoff(attempt: int) -> float:
        raise ZeroDivisionError("in the backoff")

    @ox.task(backoff=backoff)
    async def fails() -> None:
        raise ValueError("in the task")

    result = await fails.enqueue()
    await drain(ox)
    await result.refresh()
    assert (result.status, result.attempts) == (FAILED, 1)
    assert "in the backoff" in result.errors[0].traceback
    assert "in the task" in result.errors[0].traceback


async def test_only_exceptions_of_retry_on_are_retried(ox: Oxpull) -> None:
    @ox.task(backoff=[0], retry_on=(KeyError,))
    async def fails(kind: str) -> None:
        raise {"key": KeyError, "value": ValueError}[kind]("no")

    key, value = await ox.enqueue_many([fails.call("key"), fails.call("value")])
    await drain(ox)
    await key.refresh()
    await value.refresh()
    assert (key.attempts, value.attempts) == (3, 1)


async def test_exceptions_of_fail_on_are_final(ox: Oxpull) -> None:
    @ox.task(backoff=[0], fail_on=KeyError)
    async def fails() -> None:
        raise KeyError("no")

    result = await fails.enqueue()
    await drain(ox)
    await result.refresh()
    assert (result.status, result.attempts) == (FAILED, 1)


async def test_a_task_that_raises_Retry_runs_again_and_the_attempt_counts(ox: Oxpull) -> None:
    @ox.task(takes_context=True, backoff=[3600])
    async def again(context: TaskContext) -> int:
        if context.attempt == 1:
            raise Retry(after=0)
        return context.attempt

    result = await again.enqueue()
    await drain(ox)
    await result.refresh()
    assert (result.status, result.attempts, result.return_value) == (SUCCESSFUL, 2, 2)


async def test_A10_Retry_on_the_last_attempt_fails_the_task(ox: Oxpull) -> None:
    @ox.task(max_attempts=1)
    def again() -> None:
        raise Retry(after=0)

    result = await again.enqueue()
    await drain(ox)
    await result.refresh()
    assert (result.status, result.attempts) == (FAILED, 1)
    assert result.errors[0].exception_class_path.endswith(".Retry")


async def test_A10_a_snoozed_attempt_does_not_count(ox: Oxpull) -> None:
    turns: list[int] = []

    @ox.task(max_attempts=1)
    async def later() -> str:
        turns.append(len(turns))
        if len(turns) <= 3:
            raise Snooze(for_=0)
        return "done"

    result = await later.enqueue()
    await drain(ox)
    await result.refresh()
    assert (result.status, result.attempts, len(result.worker_ids), result.errors) == (SUCCESSFUL, 1, 1, ())
    assert len(turns) == 4


async def test_A10_a_snooze_beyond_the_limit_counts_as_a_failed_attempt(ox: Oxpull) -> None:
    @ox.task(max_attempts=2, backoff=[0])
    async def later() -> None:
        raise Snooze(for_=0)

    result = await later.enqueue()
    async with ox.database.connection() as conn:
        await raw.change(conn, result.id, f"snoozes = {MAX_SNOOZES - 1}")
    await drain(ox)
    await result.refresh()
    assert (result.status, result.attempts) == (FAILED, 2)
    assert [error.exception_class_path.rpartition(".")[2] for error in result.errors] == ["Snooze", "Snooze"]


async def test_A10_an_operators_retry_allows_one_more_attempt(ox: Oxpull) -> None:
    @ox.task(max_attempts=1)
    async def fails() -> None:
        raise ValueError("no")

    result = await fails.enqueue()
    await drain(ox)
    assert await ox.retry(result.id)
    await drain(ox)
    await result.refresh()
    assert (result.status, result.attempts, result.max_attempts, len(result.errors)) == (FAILED, 2, 2, 2)


async def test_A11_a_coroutine_is_cancelled_at_its_timeout_and_retried(ox: Oxpull) -> None:
    @ox.task(timeout=0.1, max_attempts=2, backoff=[0])
    async def hangs() -> None:
        from asyncio import Event

        await Event().wait()

    result = await hangs.enqueue()
    await drain(ox)
    await result.refresh()
    kind = "oxpull_async.errors.TaskTimeout"
    assert (result.status, [error.exception_class_path for error in result.errors]) == (FAILED, [kind, kind])


async def test_a_function_reads_its_deadline(ox: Oxpull) -> None:
    @ox.task(timeout=60, takes_context=True)
    def reads(context: TaskContext) -> float:
        remaining = context.remaining()
        assert remaining is not None
        return remaining

    result = await reads.enqueue()
    await drain(ox)
    await result.refresh()
    assert 50 < result.return_value <= 60


async def test_progress_is_stored_from_coroutines_and_functions(ox: Oxpull) -> None:
    @ox.task(takes_context=True)
    async def slow(context: TaskContext) -> None:
        await context.progress(2, 2, "both")

    @ox.task(takes_context=True)
    def slow_function(context: TaskContext) -> None:
        context.report_progress(3, 3, "three")

    results = [await slow.enqueue(), await slow_function.enqueue()]
    await drain(ox)
    for result, done in zip(results, (2, 3), strict=True):
        await result.refresh()
        assert result.progress is not None
        assert result.progress["done"] == done, result.errors


async def test_a_failure_is_announced_as_what_is_stored_of_it(ox: Oxpull) -> None:
    @ox.task(max_attempts=1, timeout=0.05)
    async def hangs(*, protests: bool) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if protests:
                raise ValueError from None
            raise

    await ox.enqueue_many([hangs.call(protests=False), hangs.call(protests=True)])
    events = await drain(ox)
    assert {event.error for event in events.of(AttemptFailed)} == {
        "TaskTimeout: the attempt ran longer than its timeout of 0.05 s", "ValueError",
    }  # fmt: skip
