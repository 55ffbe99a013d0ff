"""Storing Django's tasks on Django's connection or by the native driver."""

import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.tasks import signals

from compat_sync import clock
from compat_sync.connection import DjangoConnection
from compat_sync.repeating import repeat_blocking
from compat_sync.results import TaskResult, result_of
from compat_sync.shim import run_blocking
from compat_sync.signals import Audience, asend_enqueued, audience, is_wanted, send_enqueued
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
    UsageError,
)
from oxpull_async.store.enqueue import notify
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_again, enqueue_calls
from oxpull_async.store.nodes import Placement
from oxpull_async.store.unique_at_once import Answers

__all__ = ["Enqueuing", "Request", "native_block"]

logger = logging.getLogger("compat_sync")

type _Store = Callable[[Connection, EnqueueCalls], Coroutine[Any, Any, Answers]]


@dataclass(frozen=True, slots=True)
class Request:
    """One enqueue: the calls, and what is to be stored for them.

    Errors of a numbered one name a call's position.
    """

    calls: Sequence[Call[Any]]
    parts: EnqueueCalls
    is_numbered: bool

    @classmethod
    def of_one(
        cls, ox: Oxpull, call: Call[Any], batch_id: BatchId | None = None, *, placement: Placement | None = None
    ) -> "Request":
        """Check one call, of a batch or workflow perhaps; raises what it deserves."""
        return cls([call], ox.enqueuer.parts(call, batch_id, placement=placement), is_numbered=False)

    @classmethod
    def of_many(cls, ox: Oxpull, calls: Sequence[Call[Any]], batch_id: BatchId | None = None) -> "Request":
        """Check the calls of a bulk enqueue as `of_one` does; an error names the call's position."""
        return cls(calls, ox.enqueuer.numbered_parts(calls, batch_id), is_numbered=True)

    @classmethod
    def of_nodes(cls, calls: Sequence[Call[Any]], placement: Placement) -> "Request":
        """Check the calls of nodes, of whatever alias; an error names the node."""
        made = [_node_parts(call, node.name, placement) for call, node in zip(calls, placement.nodes, strict=True)]
        plain = {position: task for position, parts in enumerate(made) for task in parts.plain.values()}
        unique = [replace(call, position=position) for position, parts in enumerate(made) for call in parts.unique]
        return cls(calls, EnqueueCalls(plain, unique, placement=placement), is_numbered=True)

    def results(self, answers: Answers) -> list[TaskResult]:
        """Return the results in the order of the calls.

        Raises: AlreadyEnqueued where a call was refused.
        """
        for position, answer in answers.items():
            if answer.refused:
                raise refusal(
                    self.calls[position].task.path,
                    answer.record,
                    result_of(answer.record),
                    position=position if self.is_numbered else None,
                )
        return [result_of(answers[at].record, created=answers[at].created) for at in range(len(self.calls))]


@dataclass(slots=True)
class _Block:
    """A native transaction that is open: whose it is, and what is to be told of its enqueues once it stands."""

    ox: Oxpull
    held: list[tuple[type, list[TaskResult]]] = field(default_factory=list)
    is_open: bool = True


_block: ContextVar[_Block] = ContextVar("compat_sync.block")


class Enqueuing:
    """Stores the calls of one backend; results come in the order of the calls."""

    def __init__(self, ox: Oxpull, database: str, sender: type) -> None:
        self._ox = ox
        self._database = database
        self._sender = sender

    def on_django(self, request: Request) -> list[TaskResult]:
        """Store calls on Django's connection, in whatever transaction is open there."""
        conn = DjangoConnection(self._database, clock_offset=clock.offset())
        own = not conn.in_transaction
        with racing(is_unique=bool(request.parts.unique), own=own):
            if own:
                results = run_blocking(self._alone_repeatedly(conn, request))
            else:
                results = run_blocking(self._store(conn, request, enqueue_calls))
        return tell(request.calls, results)

    async def _alone_repeatedly(self, conn: DjangoConnection, request: Request) -> list[TaskResult]:
        """Store calls where no transaction is open, and again where that helps.

        After a lost connection, what is looked for first is what the lost try wrote. A value that is refused then may
        be an id of ours that has meanwhile turned out to stand.
        """
        return await repeat_blocking(
            conn,
            partial(self._alone, conn, request, enqueue_calls),
            once_lost=partial(self._alone, conn, request, enqueue_again),
            on_once_lost=(DataRefused,),
        )

    async def _alone(self, conn: DjangoConnection, request: Request, store: _Store) -> list[TaskResult]:
        """Store calls where no transaction is open, so that a race comes to whatever stopped it."""
        try:
            return await self._store(conn, request, store)
        except UniqueEnqueueRace as race:
            stopped = race.__cause__
        if isinstance(stopped, Contended):
            raise stopped
        raise Conflict("somebody else took the unique key after this enqueue had begun to look") from stopped

    async def natively(self, request: Request) -> list[TaskResult]:
        """Store calls by the native driver, and send their signals after the commit."""
        block = _open_block()
        ox = self._ox if block is None else block.ox
        results = request.results(await ox.enqueuer.store(request.parts))
        if block is not None:
            block.held.append((self._sender, _created(results)))
        elif is_wanted(signals.task_enqueued):
            await asend_enqueued(self._sender, _created(results))
        return tell(request.calls, results)

    async def _store(self, conn: DjangoConnection, request: Request, store: _Store) -> list[TaskResult]:
        """Store calls and wake workers; signals are sent in the same transaction, for which one is opened."""
        heard_by = audience(signals.task_enqueued)
        tells = heard_by is not Audience.NOBODY
        async with conn.transaction() if tells and not conn.in_transaction else nullcontext():
            answers = await store(conn, request.parts)
            results = request.results(answers)
            await _wake(conn, changed_queues(request.parts, answers))
            if tells and (created := _created(results)):
                await self._send(conn, created, heard_by)
        return results

    async def _send(self, conn: DjangoConnection, created: Sequence[TaskResult], heard_by: Audience) -> None:
        """Send task_enqueued; what a receiver breaks in the database is taken back to before it, and logged.

        Raises: DatabaseTrouble where the whole transaction is gone.
        """
        if heard_by is Audience.LOG:  # Django's own receiver, which needs no savepoint
            send_enqueued(self._sender, created)
            return
        try:
            async with conn.transaction():
                send_enqueued(self._sender, created)
        except DatabaseTrouble as trouble:
            if conn.is_doomed or isinstance(trouble, ConnectionLost):
                raise
            logger.exception("a receiver of task_enqueued met an error of the database: what receivers wrote is lost")


@asynccontextmanager
async def native_block(ox: Oxpull) -> AsyncGenerator[None]:
    """Keep the block's native enqueues, of whatever alias, in one transaction of `ox`.

    Their signals are sent once it stands, and dropped with it.
    """
    outer, block = _open_block(), _Block(ox)
    before = _block.set(block)
    try:
        async with ox.transaction():
            yield
    finally:
        block.is_open = False
        _block.reset(before)
    if outer is not None:
        outer.held += block.held
    elif is_wanted(signals.task_enqueued):
        for sender, created in block.held:
            await asend_enqueued(sender, created)


def _open_block() -> _Block | None:
    """Return the block of this context; a child task may have outlived it."""
    block = _block.get(None)
    return block if block is not None and block.is_open else None


async def _wake(conn: DjangoConnection, queues: Sequence[str]) -> None:
    """Wake the workers of queues by the commit; what stands already is not lost with its announcement."""
    with nullcontext() if conn.in_transaction else suppress(DatabaseTrouble):
        for queue_name in queues:
            await notify(conn, queue_name)


def _node_parts(call: Call[Any], name: str, placement: Placement) -> EnqueueCalls:
    try:
        return call.task.ox.enqueuer.parts(call, placement=placement)
    except UsageError as refused:
        raise type(refused)(f"node {name!r}: {refused}") from refused.__cause__


def _created(results: Sequence[TaskResult]) -> list[TaskResult]:
    return [result for result in results if result.created]
