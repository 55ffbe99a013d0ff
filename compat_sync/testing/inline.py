"""One attempt on the caller's own thread, judged as a worker judges it."""

import logging
from asyncio import CancelledError
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from asgiref.sync import async_to_sync

from compat_sync.context import CURRENT
from compat_sync.shim import run_blocking
from compat_sync.signals import send_finished, send_started
from compat_sync.threads import on_django
from compat_sync.worker.around import Around, Teller
from oxpull_async import TaskContext
from oxpull_async.domain.outcome import Outcome
from oxpull_async.domain.record import TaskRecord
from oxpull_async.domain.workflow import Upstream
from oxpull_async.runtime.attempts import Attempt
from oxpull_async.runtime.bodies import batch_of, bound_body, success
from oxpull_async.runtime.failures import judge_failure

__all__ = ["Inline", "Ran"]

logger = logging.getLogger("compat_sync.testing")

_OUTCOMES = (Exception, SystemExit, CancelledError)
"""What a body may raise for its attempt to fail; anything else is meant for the test run, as KeyboardInterrupt is."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What an attempt came to, and what it raised."""

    outcome: Outcome
    error: BaseException | None


@dataclass(frozen=True, slots=True)
class Inline:
    """Runs attempts here and now.

    `handle` gives a core task the result in its context, `report` stores progress, `upstreams` reads how the upstreams
    of a node ended, `alone` is put around all code that is not ours.
    """

    max_bytes: int
    handle: Callable[[TaskRecord], Any]
    report: Callable[[Attempt, str], bool]
    upstreams: Callable[[Attempt], dict[str, Upstream]]
    alone: Callable[[], AbstractContextManager[None]]

    def carry_out(self, attempt: Attempt, record: TaskRecord | None) -> Ran:
        """Run an attempt that has begun, signals included; its timeout is not enforced."""
        return copy_context().run(self._carry_out, attempt, record)

    def _carry_out(self, attempt: Attempt, record: TaskRecord | None) -> Ran:
        run, teller = attempt.run(record), _teller(attempt)
        CURRENT.set(run)
        if teller is not None:
            self._tell(lambda: send_started(teller.sender, teller.alias, run))
        try:
            with self.alone():
                ran = Ran(success(attempt, self._call(attempt, record), self.max_bytes), None)
        except _OUTCOMES as error:
            ran = Ran(judge_failure(attempt, error), error)
            self._tell_end(attempt, record, ran)
        else:
            self._tell_end(attempt, record, ran)
        return ran

    def _call(self, attempt: Attempt, record: TaskRecord | None) -> Any:
        first = [] if record is None or not attempt.body.takes_context else [self._context(attempt, record)]
        if attempt.body.takes_batch:
            first.append(batch_of(attempt))
        function = bound_body(attempt, *first)
        return async_to_sync(_awaited)(function) if attempt.body.is_coroutine else function()

    def _context(self, attempt: Attempt, record: TaskRecord) -> Any:
        core = _InlineContext(attempt, self.handle(record), self._report, self._read_upstreams)
        surroundings = attempt.body.surroundings
        return core if surroundings is None else surroundings.context(core, record)

    async def _report(self, attempt: Attempt, progress: str) -> bool:
        if attempt.body.is_coroutine:
            return await on_django(self.report, attempt, progress)
        return self.report(attempt, progress)

    async def _read_upstreams(self, attempt: Attempt) -> dict[str, Upstream]:
        if attempt.body.is_coroutine:
            return await on_django(self.upstreams, attempt)
        return self.upstreams(attempt)

    def _tell_end(self, attempt: Attempt, record: TaskRecord | None, ran: Ran) -> None:
        teller = _teller(attempt)
        if teller is not None and attempt.is_over_with(ran.outcome):
            self._tell(lambda: send_finished(teller.sender, teller.alias, attempt.run(record), ran.outcome))

    def _tell(self, send: Callable[[], None]) -> None:
        """Send a signal; what its receivers break is theirs alone."""
        try:
            with self.alone():
                send()
        except Exception:
            logger.exception("a receiver of a task's signal left the transaction broken")


class _InlineContext(TaskContext):
    """The core's context where no event loop runs beside the function."""

    def report_progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Store how far the work is."""
        run_blocking(self.progress(done, total, note))

    def get_upstream_results(self) -> dict[str, Upstream]:
        """Read how the upstreams ended."""
        return run_blocking(self.upstream_results())


def _teller(attempt: Attempt) -> Teller | None:
    surroundings = attempt.body.surroundings
    return surroundings.teller if isinstance(surroundings, Around) else None


async def _awaited(function: Callable[[], Any]) -> Any:
    return await function()
