"""The performer: runs bodies amid their surroundings and turns what they do into outcomes."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from oxpull_async.domain.events import AttemptFailed
from oxpull_async.domain.outcome import Failed, Outcome, Succeeded
from oxpull_async.domain.record import TaskRecord, TaskStatus
from oxpull_async.domain.surroundings import Run, Surroundings
from oxpull_async.domain.workflow import Upstream
from oxpull_async.runtime.attempts import Attempt
from oxpull_async.runtime.bodies import NOTHING, batch_of, bound_body, stored_arguments, success
from oxpull_async.runtime.context import TaskContext
from oxpull_async.runtime.endings import attempt_failed
from oxpull_async.runtime.failures import cause, judge_failure
from oxpull_async.runtime.host import Host
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.settle import report_progress
from oxpull_async.store.workflows import upstream_results

logger = logging.getLogger("oxpull_async.worker")


class Performer:
    """Runs the bodies of attempts that have begun; functions in the thread that calls."""

    def __init__(self, host: Host, hub: Hub) -> None:
        self._host = host
        self._hub = hub
        self._loop = asyncio.get_running_loop()

    def call(self, attempt: Attempt, record: TaskRecord | None) -> Outcome:
        """Call a function; nothing is raised."""
        surroundings = attempt.body.surroundings
        try:
            if surroundings is None:
                return self._success(attempt, self._body(attempt, record)())
            run = attempt.run(record)
            with surroundings.around(run):
                return self._call_surrounded(attempt, run, surroundings)
        except BaseException as error:  # noqa: BLE001 - whatever a task raises is its outcome
            return self._failure(attempt, error)

    async def acall(self, attempt: Attempt, record: TaskRecord | None) -> Outcome:
        """Await a coroutine; nothing is raised."""
        body = attempt.runnable.body
        surroundings = body.surroundings
        try:
            if body.stands_alone:
                args, kwargs = stored_arguments(attempt)
                value = await body.function(*args, **kwargs)
                return NOTHING if value is None else self._success(attempt, value)
            if surroundings is None:
                return self._success(attempt, await self._body(attempt, record)())
            run = attempt.run(record)
            with surroundings.around(run):
                return await self._await_surrounded(attempt, run, surroundings)
        except BaseException as error:  # noqa: BLE001 - whatever a task raises is its outcome
            return self._failure(attempt, error)

    def _call_surrounded(self, attempt: Attempt, run: Run, surroundings: Surroundings) -> Outcome:
        try:
            surroundings.started(run)
            outcome: Outcome = self._success(attempt, self._body(attempt, run.record)())
        except BaseException as error:  # noqa: BLE001 - whatever a task raises is its outcome
            outcome = self._failure(attempt, error)
            _tell_end(attempt, run, outcome, surroundings)  # in here the exception is at hand
        else:
            _tell_end(attempt, run, outcome, surroundings)
        return outcome

    async def _await_surrounded(self, attempt: Attempt, run: Run, surroundings: Surroundings) -> Outcome:
        try:
            await surroundings.astarted(run)
            outcome: Outcome = self._success(attempt, await self._body(attempt, run.record)())
        except BaseException as error:  # noqa: BLE001 - whatever a task raises is its outcome
            outcome = self._failure(attempt, error)
            await _atell_end(attempt, run, outcome, surroundings)
        else:
            await _atell_end(attempt, run, outcome, surroundings)
        return outcome

    def _body(self, attempt: Attempt, record: TaskRecord | None) -> Callable[[], Any]:
        first = [self._context(attempt, record)] if attempt.body.takes_context and record is not None else []
        if attempt.body.takes_batch:
            first.append(batch_of(attempt))
        return bound_body(attempt, *first)

    def _context(self, attempt: Attempt, record: TaskRecord) -> Any:
        core = TaskContext(attempt, self._host.result_of(record), self._report, self._read_upstreams)
        surroundings = attempt.body.surroundings
        return core if surroundings is None else surroundings.context(core, record)

    def _success(self, attempt: Attempt, value: object) -> Succeeded:
        return success(attempt, value, self._host.settings.max_payload_bytes)

    def _failure(self, attempt: Attempt, error: BaseException) -> Outcome:
        outcome = judge_failure(attempt, error)
        if isinstance(outcome, Failed) and self._hub.wants(AttemptFailed):
            told = attempt_failed(attempt, cause(attempt, error), outcome)
            self._loop.call_soon_threadsafe(self._hub.emit, told)
        return outcome

    async def _report(self, attempt: Attempt, progress: str) -> bool:
        return await repeat(self._host.database, lambda conn: report_progress(conn, attempt.lease, progress))

    async def _read_upstreams(self, attempt: Attempt) -> dict[str, Upstream]:
        if attempt.claimed.workflow_id is None:
            return {}
        found = await repeat(self._host.database, lambda conn: upstream_results(conn, attempt.claimed.id))
        return {name: self._decoded(upstream) for name, upstream in found.items()}

    def _decoded(self, upstream: Upstream) -> Upstream:
        """Return an upstream with its value as its function returned it, where that is declared here."""
        task = self._host.tasks.get(upstream.task_path)
        if task is None or task.body is None or upstream.status is not TaskStatus.SUCCESSFUL:
            return upstream
        return replace(upstream, value=task.body.codec.decode_return(upstream.value))


def _tell_end(attempt: Attempt, run: Run, outcome: Outcome, surroundings: Surroundings) -> None:
    """Tell that a task has ended for good; its outcome stands, whatever that comes to."""
    if attempt.is_over_with(outcome):
        try:
            surroundings.finished(run, outcome)
        except BaseException:
            logger.exception("telling the end of %s failed", attempt.claimed.task_path)


async def _atell_end(attempt: Attempt, run: Run, outcome: Outcome, surroundings: Surroundings) -> None:
    if attempt.timer is not None:
        attempt.timer.cancel()
    if attempt.is_over_with(outcome):
        try:
            await surroundings.afinished(run, outcome)
        except BaseException:
            logger.exception("telling the end of %s failed", attempt.claimed.task_path)
