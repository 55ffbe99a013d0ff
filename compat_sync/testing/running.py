"""Running what is due on the test's own thread and in its transaction, as workers do."""

import logging
import os
import socket
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from types import TracebackType
from typing import Self, TypedDict, Unpack

import uuid_utils
from django.db import connections

from compat_sync.caller import has_sync_caller
from compat_sync.context import CURRENT
from compat_sync.exceptions import DatabaseTrouble, DataRefused, TaskResultDoesNotExist, UsageError, translated
from compat_sync.operations import BlockingOperations
from compat_sync.results import TaskResult, result_of
from compat_sync.shim import run_blocking
from compat_sync.testing.inline import Inline, Ran
from compat_sync.testing.savepoints import as_if_alone
from compat_sync.threads import on_django
from compat_sync.worker.host import DjangoHost, installed_packages, register
from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Failed, Outcome, Released, Settlement
from oxpull_async.domain.rate_lanes import LaneMark, LimitsLook
from oxpull_async.domain.record import ClaimedTask
from oxpull_async.domain.task import checked_queue
from oxpull_async.domain.workflow import Upstream
from oxpull_async.runtime.attempts import Attempt, Attempts
from oxpull_async.runtime.failures import unstorable
from oxpull_async.runtime.lookup import Lookup
from oxpull_async.store.batch_counts import get_batches
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.lease import WorkerCard, remove
from oxpull_async.store.lease import register as register_worker
from oxpull_async.store.queues import Outlook, peek, promote
from oxpull_async.store.rate_lanes import look_at_lanes
from oxpull_async.store.rate_limits import sort_limited
from oxpull_async.store.results import get_task
from oxpull_async.store.settle import report_progress, settle
from oxpull_async.store.workflows import upstream_results

__all__ = ["RunOptions", "arun_tasks", "run_tasks"]

logger = logging.getLogger("compat_sync.testing")

MOST = 1000
LEASE = 10 * 365 * 86400.0


class RunOptions(TypedDict, total=False):
    """What `run_tasks` takes, each of which may be left out."""

    backend: str
    queues: Collection[str] | None
    max_tasks: int | None
    raise_failures: bool


def run_tasks(
    *,
    backend: str = "default",
    queues: Collection[str] | None = None,
    max_tasks: int | None = None,
    raise_failures: bool = False,
) -> list[TaskResult]:
    """Run due tasks one by one, those they enqueue too, until nothing is due.

    Returns the result of each attempt, in order. Due is what the database's clock says, so a retry may stay READY. At
    most `max_tasks` attempts are made. With `raise_failures` what a task raises is raised here, once it is recorded.

    Raises: UsageError inside of a task and where 1,000 attempts left due tasks, ImproperlyConfigured for a backend that
    is no OxpullBackend.
    """
    host, wanted = DjangoHost.of(backend), _checked(queues, max_tasks)
    with translated():
        names = None if wanted is None else frozenset(checked_queue(name, host.settings.queues) for name in wanted)
    results: list[TaskResult] = []
    with _Runner(host, names) as runner:
        while len(results) < (MOST if max_tasks is None else max_tasks) and (attempt := runner.claim()):
            ran = runner.carry_out(attempt)
            results.append(runner.settle(attempt, ran.outcome))
            if raise_failures and ran.error is not None and isinstance(ran.outcome, Failed):
                raise ran.error
        if max_tasks is None and len(results) >= MOST and runner.due():
            raise UsageError(f"{MOST} attempts were made and tasks are still due: do they enqueue each other for ever?")
    return results


async def arun_tasks(**options: Unpack[RunOptions]) -> list[TaskResult]:
    """Do what `run_tasks` does, in a waiting caller's thread and transaction.

    Where no sync code waits it is a thread of its own, whose connections are closed.
    """
    if has_sync_caller():
        return await on_django(run_tasks, **options)
    return await on_django(_and_close, **options)


def _and_close(**options: Unpack[RunOptions]) -> list[TaskResult]:
    try:
        return run_tasks(**options)
    finally:
        connections.close_all()


def _checked(queues: Collection[str] | None, max_tasks: int | None) -> Collection[str] | None:
    if CURRENT.get(None) is not None:
        raise UsageError("run_tasks() was called inside of a task: call it in the test, once the task has ended")
    if isinstance(queues, str):
        raise UsageError(f"queues={queues!r} must be a collection of names, like [{queues!r}]")
    if max_tasks is not None and (type(max_tasks) is not int or max_tasks < 0):
        raise UsageError(f"max_tasks={max_tasks!r} must be None or a whole number from 0")
    return queues


class _Runner:
    """A worker that has a row in the database, and neither loop, lease thread nor reaper."""

    def __init__(self, host: DjangoHost, queues: frozenset[str] | None) -> None:
        register()
        self._host = host
        self._queues = queues
        self._operations = BlockingOperations(host.ox, host.placed_in)
        self._lookup = Lookup(host, installed_packages())
        self._attempts = Attempts()
        self._inline = Inline(
            host.settings.max_payload_bytes, host.result_of, self._report, self._upstreams, as_if_alone
        )
        self._worker_id = str(uuid_utils.uuid7())
        self._outlook = Outlook((), None)
        self._look: LimitsLook | None = None

    def __enter__(self) -> Self:
        queues = None if self._queues is None else tuple(sorted(self._queues))
        alias = self._host.settings.alias
        limits = self._host.settings.rate_limits.rules
        card = WorkerCard(self._worker_id, alias, socket.gethostname(), os.getpid(), queues, 1, LEASE, limits)
        self._do(lambda conn: register_worker(conn, card))
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        try:
            self._do(lambda conn: remove(conn, self._worker_id))
        except DatabaseTrouble:
            if kind is None:
                raise

    def claim(self) -> Attempt | None:
        """Claim the next due task that is known here, or None."""
        while queues := self.due():
            claimed = self._claim_one(queues)
            if claimed is None:
                return None
            found = self._lookup.find(claimed.task_path)
            if found is not None:
                return Attempt(claimed, self._worker_id, found, time.monotonic())
            logger.warning("%s is due, but no task of this path is declared here", claimed.task_path)
            self._hand_back(claimed)
        return None

    def due(self) -> tuple[str, ...]:
        """Return the served queues that have due tasks, which rate limits let start."""
        alias = self._host.settings.alias
        while self._do(lambda conn: promote(conn, MOST)) == MOST:
            pass
        self._outlook = self._do(lambda conn: peek(conn, alias))
        if self._outlook.has_limits and self._do(lambda conn: sort_limited(conn, alias, MOST)):
            return self.due()
        self._look = self._look_at_limits(self._served(self._outlook.limited))
        lanes = () if self._look is None else self._look.lanes
        return tuple(sorted({*self._served(self._outlook.queues), *(lane.queue_name for lane in lanes)}))

    def _served(self, queues: Collection[str]) -> tuple[str, ...]:
        return tuple(name for name in queues if self._queues is None or name in self._queues)

    def _look_at_limits(self, queues: tuple[str, ...], after: LaneMark | None = None) -> LimitsLook | None:
        """Find tasks known here that rate limits let start, or return None."""
        if not queues:
            return None
        alias = self._host.settings.alias
        look = self._do(lambda conn: look_at_lanes(conn, alias, queues, MOST, after))
        known = tuple(replace(lane, places=1) for lane in look.lanes if lane.task_path not in self._lookup.unknown)
        if known or look.after is None:
            return replace(look, lanes=known)
        return self._look_at_limits(queues, look.after)

    def carry_out(self, attempt: Attempt) -> Ran:
        """Run a claimed attempt to its end."""
        id_, batch_id = attempt.claimed.id, attempt.claimed.batch_id
        record = self._do(lambda conn: get_task(conn, id_)) if attempt.body.wants_record else None
        if attempt.body.takes_batch and batch_id is not None:
            found = self._do(lambda conn: get_batches(conn, [batch_id]))
            attempt.batch = found[batch_id].info if batch_id in found else None
        self._attempts.add(attempt)
        self._attempts.begin(attempt, time.monotonic())
        try:
            return self._inline.carry_out(attempt, record)
        finally:
            self._attempts.end(attempt)
            self._attempts.forget(attempt)

    def settle(self, attempt: Attempt, outcome: Outcome) -> TaskResult:
        """Record an outcome, or that the database refuses it, and return what is stored then."""
        try:
            self._settle(attempt, outcome)
        except DataRefused as refused:
            self._settle(attempt, unstorable(attempt, refused))
        record = self._do(lambda conn: get_task(conn, attempt.claimed.id))
        if record is None:
            raise TaskResultDoesNotExist(f"the task {attempt.claimed.id} was deleted while it ran")
        return result_of(record)

    def _claim_one(self, queues: tuple[str, ...]) -> ClaimedTask | None:
        request = ClaimRequest(
            worker_id=self._worker_id,
            backend_alias=self._host.settings.alias,
            queues=queues,
            limit=1,
            excluded_paths=self._lookup.unknown,
            meets_locks=self._outlook.meets_locks,
            look=self._look,
        )
        claimed = self._do(lambda conn: claim(conn, request))
        return claimed[0] if claimed else None

    def _hand_back(self, claimed: ClaimedTask) -> None:
        """Give back a task that cannot be run here, as a worker does."""
        back = [Settlement.of(claimed, Released(), claimed.permits)]
        self._do(lambda conn: settle(conn, back))

    def _settle(self, attempt: Attempt, outcome: Outcome) -> None:
        """Write in a savepoint, so that a refused value breaks nothing."""

        async def write(conn: Connection) -> None:
            async with conn.transaction():
                await settle(conn, [attempt.settlement(outcome)])

        self._do(write)

    def _report(self, attempt: Attempt, progress: str) -> bool:
        return run_blocking(self._operations.operate(lambda conn: report_progress(conn, attempt.lease, progress)))

    def _upstreams(self, attempt: Attempt) -> dict[str, Upstream]:
        return dict(run_blocking(self._operations.operate(lambda conn: upstream_results(conn, attempt.claimed.id))))

    def _do[T](self, operation: Callable[[Connection], Awaitable[T]]) -> T:
        with translated():
            return run_blocking(self._operations.operate(operation))
