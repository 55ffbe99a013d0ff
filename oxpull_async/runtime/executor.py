"""The executor: runs coroutines on the loop and functions in threads, and hands on outcomes."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from oxpull_async.domain.errors import InvalidArguments, InvalidPayload
from oxpull_async.domain.events import AttemptFailed, TaskStarted
from oxpull_async.domain.outcome import Failed, Outcome, Released, Succeeded
from oxpull_async.domain.record import TaskRecord
from oxpull_async.domain.values import decode, encode_normalised
from oxpull_async.runtime.attempts import Attempt, Attempts, Stop
from oxpull_async.runtime.context import TaskContext
from oxpull_async.runtime.failures import brief, cause, judge_failure
from oxpull_async.runtime.host import Host
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.repeat import repeat
from oxpull_async.runtime.settler import Settler
from oxpull_async.store.settle import report_progress

CANCEL_AGAIN = 5.0


class Executor:
    """Starts attempts and turns whatever they do into outcomes."""

    def __init__(self, host: Host, attempts: Attempts, settler: Settler, lease: LeaseState, hub: Hub) -> None:
        self._host = host
        self.attempts = attempts
        self._settler = settler
        self._lease = lease
        self._hub = hub
        self._loop = asyncio.get_running_loop()
        self.threads = anyio.CapacityLimiter(1)
        self.on_free: Callable[[], None] = lambda: None

    def start(self, attempt: Attempt, record: TaskRecord | None) -> None:
        """Start an attempt; `record` is given for functions that take a context."""
        run = self._run_coroutine if attempt.body.is_coroutine else self._run_function
        context = None if record is None else TaskContext(attempt, self._host.result_of(record), self._report)
        task = asyncio.Task(run(attempt, context), loop=self._loop, name=attempt.claimed.task_path, eager_start=True)
        if not task.done():
            attempt.aio_task = task

    async def _run_coroutine(self, attempt: Attempt, context: TaskContext | None) -> None:
        if not self._begin(attempt):
            self._finish(attempt, Released())
            return
        self._announce_start(attempt)
        self._set_timer(attempt)
        try:
            outcome: Outcome = self._success(attempt, await self._body(attempt, context)())
        except BaseException as error:  # noqa: BLE001 - whatever a task raises is its outcome
            outcome = self._failure(attempt, error)
        self._finish(attempt, outcome)

    async def _run_function(self, attempt: Attempt, context: TaskContext | None) -> None:
        try:
            outcome = await anyio.to_thread.run_sync(
                self._call_in_thread, attempt, context, abandon_on_cancel=True, limiter=self.threads
            )
        except (asyncio.CancelledError, RuntimeError):
            return  # it was taken back while it waited, or no thread could be had and the caretaker takes it back
        self._finish(attempt, outcome)

    def _call_in_thread(self, attempt: Attempt, context: TaskContext | None) -> Outcome:
        if not self._begin(attempt):
            return Released()
        self._loop.call_soon_threadsafe(self._begun_in_thread, attempt)
        try:
            return self._success(attempt, self._body(attempt, context)())
        except BaseException as error:  # noqa: BLE001 - whatever a task raises is its outcome
            return self._failure(attempt, error)

    def _begun_in_thread(self, attempt: Attempt) -> None:
        self._announce_start(attempt)
        self._set_timer(attempt)

    def _begin(self, attempt: Attempt) -> bool:
        now = time.monotonic()
        return self._lease.is_trusted(now) and self.attempts.begin(attempt, now)

    def _body(self, attempt: Attempt, context: TaskContext | None) -> Callable[[], Any]:
        claimed, body = attempt.claimed, attempt.body
        try:
            args, kwargs = body.codec.decode(decode(claimed.args), decode(claimed.kwargs))  # type: ignore[arg-type]
        except InvalidArguments as misfit:
            raise InvalidPayload(f"the stored arguments no longer fit the function: {misfit}") from misfit
        first = () if context is None else (context,)
        return partial(body.function, *first, *args, **kwargs)

    def _success(self, attempt: Attempt, value: object) -> Succeeded:
        if value is None:
            return Succeeded("null")
        limit = self._host.settings.max_payload_bytes
        try:
            plain = attempt.body.codec.encode_return(value)
            return Succeeded(encode_normalised(plain, path="return_value", max_bytes=limit))
        except InvalidArguments as refused:
            raise InvalidPayload(str(refused)) from None
        except Exception as broken:
            raise InvalidPayload("the return value could not be turned into JSON") from broken

    def _failure(self, attempt: Attempt, error: BaseException) -> Outcome:
        outcome = judge_failure(attempt, error)
        if isinstance(outcome, Failed) and self._hub.wants(AttemptFailed):
            claimed = attempt.claimed
            text = brief(cause(attempt, error))
            told = AttemptFailed(claimed.id, claimed.task_path, claimed.attempt, text, outcome.retry_in)
            self._loop.call_soon_threadsafe(self._hub.emit, told)
        return outcome

    def _finish(self, attempt: Attempt, outcome: Outcome) -> None:
        if attempt.timer is not None:
            attempt.timer.cancel()
        if self.attempts.end(attempt):
            self._settler.add(attempt, outcome)
        self.on_free()

    def _announce_start(self, attempt: Attempt) -> None:
        if self._hub.wants(TaskStarted):
            claimed = attempt.claimed
            self._hub.emit(TaskStarted(claimed.id, claimed.task_path, claimed.attempt))

    def _set_timer(self, attempt: Attempt) -> None:
        if attempt.timeout is not None:
            attempt.timer = self._loop.call_later(attempt.timeout, self.interrupt, attempt, Stop.TIMEOUT)

    def interrupt(self, attempt: Attempt, why: Stop) -> None:
        """Ask an attempt to stop.

        One that waits is given back, a coroutine is cancelled, a function is shown a flag.
        """
        attempt.stop = attempt.stop or why
        if self.attempts.take_back(attempt):
            self._settler.add(attempt, Released())
            if attempt.aio_task is not None:
                attempt.aio_task.cancel()
            self.on_free()
        elif attempt.body.is_coroutine:
            self._cancel(attempt)

    def _cancel(self, attempt: Attempt) -> None:
        """Cancel a coroutine, and again after a while if it holds on."""
        if attempt.lease not in self.attempts or attempt.aio_task is None:
            return
        if attempt.timer is not None:
            attempt.timer.cancel()
        attempt.timer = self._loop.call_later(CANCEL_AGAIN, self._cancel, attempt)
        attempt.aio_task.cancel()

    async def _report(self, attempt: Attempt, progress: str) -> bool:
        return await repeat(self._host.database, lambda conn: report_progress(conn, attempt.lease, progress))
