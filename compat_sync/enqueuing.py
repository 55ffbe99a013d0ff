"""Storing Django's tasks on Django's connection or by the native driver."""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from django.tasks import signals

from compat_sync import clock
from compat_sync.connection import DjangoConnection
from compat_sync.results import TaskResult, result_of
from compat_sync.shim import run_blocking
from compat_sync.signals import asend_enqueued, is_wanted, send_enqueued
from compat_sync.watching import tell
from oxpull_async.app.enqueuer import changed_queues, racing, refusal
from oxpull_async.app.oxpull import Oxpull
from oxpull_async.app.task import Call
from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch import BatchId
from oxpull_async.domain.errors import (
    Conflict,
    ConnectionLost,
    Contended,
    DatabaseTrouble,
    DataRefused,
    UniqueEnqueueRace,
)
from oxpull_async.store.enqueue import notify
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_again, enqueue_calls
from oxpull_async.store.unique import Answers

__all__ = ["Enqueuing"]

MOST_TRIES = 5

type _Store = Callable[[Connection, EnqueueCalls], Coroutine[Any, Any, Answers]]


@dataclass(frozen=True, slots=True)
class _Request:
    """One enqueue: the calls, and what is to be stored for them."""

    calls: Sequence[Call[Any]]
    parts: EnqueueCalls
    bulk: bool

    def results(self, answers: Answers) -> list[TaskResult]:
        """Return the results in the order of the calls; raises AlreadyEnqueued where a call was refused."""
        for position, answer in answers.items():
            if answer.refused:
                raise refusal(
                    self.calls[position].task.path,
                    answer.record,
                    result_of(answer.record),
                    position=position if self.bulk else None,
                )
        return [result_of(answers[at].record, created=answers[at].created) for at in range(len(self.calls))]


class Enqueuing:
    """Stores the calls of one backend; results come in the order of the calls."""

    def __init__(self, ox: Oxpull, database: str, sender: type) -> None:
        self._ox = ox
        self._database = database
        self._sender = sender

    def on_django(
        self, calls: Sequence[Call[Any]], *, bulk: bool = False, batch_id: BatchId | None = None
    ) -> list[TaskResult]:
        """Store calls on Django's connection, in whatever transaction is open there."""
        request = self._request(calls, batch_id, bulk=bulk)
        conn = DjangoConnection(self._database, clock_offset=clock.offset())
        own = not conn.in_transaction
        with racing(request.parts, own=own):
            if own:
                results = _repeat(lambda store: self._alone(conn, request, store))
            else:
                results = run_blocking(self._store(conn, request, enqueue_calls))
        return tell(calls, results)

    def _alone(self, conn: DjangoConnection, request: _Request, store: _Store) -> list[TaskResult]:
        """Store calls where no transaction is open, so that a race comes to whatever stopped it."""
        try:
            return run_blocking(self._store(conn, request, store))
        except UniqueEnqueueRace as race:
            stopped = race.__cause__
        if isinstance(stopped, Contended):
            raise stopped
        raise Conflict("somebody else took the unique key after this enqueue had begun to look") from stopped

    async def natively(
        self, calls: Sequence[Call[Any]], *, bulk: bool = False, batch_id: BatchId | None = None
    ) -> list[TaskResult]:
        """Store calls by the native driver in their own transaction, and send signals after it."""
        request = self._request(calls, batch_id, bulk=bulk)
        results = request.results(await self._ox.enqueuer.store(request.parts))
        if is_wanted(signals.task_enqueued):
            await asend_enqueued(self._sender, _created(results))
        return tell(calls, results)

    def _request(self, calls: Sequence[Call[Any]], batch_id: BatchId | None, *, bulk: bool) -> _Request:
        enqueuer = self._ox.enqueuer
        parts = enqueuer.numbered_parts(calls, batch_id) if bulk else enqueuer.parts(calls[0], batch_id)
        return _Request(calls, parts, bulk)

    async def _store(self, conn: DjangoConnection, request: _Request, store: _Store) -> list[TaskResult]:
        """Store calls and wake workers; signals are sent in the same transaction, for which one is opened."""
        tells = is_wanted(signals.task_enqueued)
        async with conn.transaction() if tells and not conn.in_transaction else nullcontext():
            answers = await store(conn, request.parts)
            results = request.results(answers)
            await _wake(conn, changed_queues(answers))
            if tells:
                send_enqueued(self._sender, _created(results))
        return results


def _repeat(attempt: Callable[[_Store], list[TaskResult]]) -> list[TaskResult]:
    """Enqueue, and again where that helps: whoever opened the transaction repeats it.

    After a lost connection the outcome is unknown, so what is looked for first is what the lost try wrote. A value that
    is refused then may be an id of ours that has meanwhile turned out to stand.
    """
    store: _Store = enqueue_calls
    for _ in range(MOST_TRIES - 1):
        try:
            return attempt(store)
        except Conflict:
            continue
        except ConnectionLost:
            if store is enqueue_again:
                raise
            store = enqueue_again
        except DataRefused:
            if store is enqueue_calls:
                raise
    return attempt(store)


async def _wake(conn: DjangoConnection, queues: Sequence[str]) -> None:
    """Wake the workers of queues by the commit; what stands already is not lost with its announcement."""
    with nullcontext() if conn.in_transaction else suppress(DatabaseTrouble):
        for queue_name in queues:
            await notify(conn, queue_name)


def _created(results: Sequence[TaskResult]) -> list[TaskResult]:
    return [result for result in results if result.created]
