"""From calls to stored tasks.

Check everything first, then write in the caller's transaction or in one of our own.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from oxpull_async.app import ambient
from oxpull_async.app.new_tasks import NewTasks
from oxpull_async.app.result import TaskResult
from oxpull_async.app.task import Call
from oxpull_async.domain.errors import (
    AlreadyEnqueued,
    ConnectionLost,
    Contended,
    DataRefused,
    LockTimeout,
    UniqueEnqueueRace,
)
from oxpull_async.domain.record import NewTask
from oxpull_async.domain.task import Body
from oxpull_async.domain.unique_plan import UniqueCall
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_again, enqueue_calls
from oxpull_async.store.unique import Answers, UniqueAnswer

if TYPE_CHECKING:
    from oxpull_async.app.oxpull import Oxpull


class Enqueuer:
    """Stores calls for one Oxpull."""

    def __init__(self, ox: "Oxpull") -> None:
        self._ox = ox
        self._new = NewTasks(ox)

    async def enqueue[R](self, call: Call[R]) -> TaskResult[R]:
        """Store one call, or find the task that holds its key; returns its result handle."""
        answer = (await self._store([call], [self._new.of(call)]))[0]
        if answer.refused:
            raise self._refusal(call, answer, position=None)
        return self._result(call, answer)

    async def enqueue_many(self, calls: Sequence[Call[Any]]) -> list[TaskResult[Any]]:
        """Store calls in one transaction, all or nothing; results in the order of the calls."""
        tasks = [self._new.numbered(position, call) for position, call in enumerate(calls)]
        answers = await self._store(calls, tasks) if tasks else {}
        for position, answer in answers.items():
            if answer.refused:
                raise self._refusal(calls[position], answer, position=position)
        return [self._result(call, answers[position]) for position, call in enumerate(calls)]

    async def _store(self, calls: Sequence[Call[Any]], tasks: Sequence[NewTask]) -> Answers:
        """Write the tasks of calls, and wake the workers of the queues that got something to do."""
        parts = _parts(calls, tasks)
        transaction = ambient.current(self._ox)
        try:
            if transaction is None:
                answers = await self._in_own_transaction(parts)
            else:
                answers = await enqueue_calls(transaction.conn, parts)
                transaction.created.update(answer.record.id for answer in answers.values() if answer.changed)
        except Contended as trouble:
            if not parts.unique or isinstance(trouble, UniqueEnqueueRace):
                raise
            raise _race(trouble, own=transaction is None) from trouble
        for queue_name in sorted({answer.record.queue_name for answer in answers.values() if answer.changed}):
            await self._ox.wake(queue_name)
        return answers

    async def _in_own_transaction(self, parts: EnqueueCalls) -> Answers:
        try:
            return await repeat(self._ox.database, lambda conn: enqueue_calls(conn, parts))
        except ConnectionLost:
            return await self._again(parts)

    async def _again(self, parts: EnqueueCalls) -> Answers:
        """Repeat an enqueue whose outcome is unknown.

        A refused value may be an id of ours that has meanwhile turned out to stand: then it is found.
        """
        try:
            return await repeat(self._ox.database, lambda conn: enqueue_again(conn, parts))
        except DataRefused:
            return await repeat(self._ox.database, lambda conn: enqueue_again(conn, parts))

    def _result[R](self, call: Call[R], answer: UniqueAnswer) -> TaskResult[R]:
        decode = return_decoder(call.task.body)
        return TaskResult(self._ox, answer.record, created=answer.created, decode=decode)

    def _refusal(self, call: Call[Any], answer: UniqueAnswer, *, position: int | None) -> AlreadyEnqueued:
        holder = self._result(call, answer)
        place = "" if position is None else f"call {position}: "
        return AlreadyEnqueued(
            f"{place}{call.task.path}: the unique key is held by task {holder.id} ({holder.status}, enqueued at "
            f"{holder.enqueued_at:%Y-%m-%d %H:%M:%S} UTC); nothing was written. Its result is this error's `existing`",
            existing=holder,
            position=position,
        )


def return_decoder(body: Body | None) -> Callable[[Any], Any] | None:
    """Return what decodes a task's return value, or None where the code is not here."""
    return None if body is None else body.codec.decode_return


def _parts(calls: Sequence[Call[Any]], tasks: Sequence[NewTask]) -> EnqueueCalls:
    plain: dict[int, NewTask] = {}
    unique: list[UniqueCall] = []
    for position, (call, task) in enumerate(zip(calls, tasks, strict=True)):
        rule = call.task.options.unique
        if rule is None:
            plain[position] = task
        else:
            unique.append(UniqueCall(position, task, rule))
    return EnqueueCalls(plain, unique)


def _race(trouble: Contended, *, own: bool) -> UniqueEnqueueRace:
    """Say what a lock that could not be had means to a unique enqueue, and what to repeat."""
    cause = (
        "another transaction holds this unique key for longer than the database waits"
        if isinstance(trouble, LockTimeout)
        else "the database ended this enqueue to break a deadlock or conflict"
    )
    if own:
        what = "Enqueue again"
    elif trouble.transaction_survived:
        what = "The transaction that is open here is as it was before: enqueue again in it, or roll it back"
    else:
        what = "The transaction that is open here is lost: roll it back and repeat all of it"
    return UniqueEnqueueRace(
        f"whether the task is pending already could not be known, and nothing was written: {cause} ({trouble}). {what}",
        transaction_survived=not own and trouble.transaction_survived,
    )
