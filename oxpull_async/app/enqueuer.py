"""From calls to stored tasks.

Check everything first, then write in the caller's transaction or in one of our own.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from oxpull_async.app import ambient
from oxpull_async.app.met_keys import MetKeys
from oxpull_async.app.new_tasks import Group, NewTasks
from oxpull_async.app.result import TaskResult
from oxpull_async.app.task import Call
from oxpull_async.domain.batch import BatchId
from oxpull_async.domain.errors import (
    AlreadyEnqueued,
    Conflict,
    ConnectionLost,
    Contended,
    DataRefused,
    LockTimeout,
    UniqueEnqueueRace,
)
from oxpull_async.domain.record import NewTask, TaskRecord
from oxpull_async.domain.task import Body
from oxpull_async.domain.unique_plan import UniqueCall
from oxpull_async.runtime.enqueue_writer import EnqueueWriter
from oxpull_async.runtime.repeat import MOST_TRIES, repeat
from oxpull_async.store.batches import Membership
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_again, enqueue_calls, plain_answer
from oxpull_async.store.nodes import Placement
from oxpull_async.store.plain_tasks import Written, enqueue_plain
from oxpull_async.store.unique import enqueue_unique
from oxpull_async.store.unique_at_once import Answers, UniqueAnswer

if TYPE_CHECKING:
    from oxpull_async.app.oxpull import Oxpull


class Enqueuer:
    """Stores calls for one Oxpull."""

    def __init__(self, ox: "Oxpull") -> None:
        self._ox = ox
        self._new = NewTasks(ox)
        self._met = MetKeys()
        self._writer = EnqueueWriter(lambda: ox.database, ox.wakeups.announce)

    async def enqueue[R](
        self, call: Call[R], batch_id: BatchId | None = None, *, placement: Placement | None = None
    ) -> TaskResult[R]:
        """Store one call, or find the task that holds its key; returns its result handle."""
        is_alone = batch_id is None and placement is None
        if is_alone and call.task.options.unique is None:
            task = self._new.of(call)
            if ambient.current(self._ox) is None:
                return self._plain_result(call, task, await self._writer.write(task))
            return self._plain_result(call, task, (await self._store_plain([task]))[0])
        if is_alone and (rule := call.task.options.unique) is not None and ambient.current(self._ox) is None:
            task = self._new.of(call)
            answer = await self._store_unique(UniqueCall(0, task, rule, met=self._met.meet(str(task.unique_key))))
        else:
            answer = (await self.store(self.parts(call, batch_id, placement=placement)))[0]
        if answer.refused:
            raise refusal(call.task.path, answer.record, self._result(call, answer), position=None)
        return self._result(call, answer)

    async def enqueue_many(
        self, calls: Sequence[Call[Any]], batch_id: BatchId | None = None, *, placement: Placement | None = None
    ) -> list[TaskResult[Any]]:
        """Store calls in one transaction, all or nothing; results in the order of the calls."""
        group = _group(batch_id, placement, alone=False)
        tasks = [self._new.numbered(position, call, group) for position, call in enumerate(calls)]
        if group is None and all(task.unique_key is None for task in tasks):
            stored = await self._store_plain(tasks) if tasks else []
            return [self._plain_result(*one) for one in zip(calls, tasks, stored, strict=True)]
        answers = await self.store(_parts(calls, tasks, group, self._met)) if calls else {}
        for position, answer in answers.items():
            if answer.refused:
                call = calls[position]
                raise refusal(call.task.path, answer.record, self._result(call, answer), position=position)
        return [self._result(call, answers[position]) for position, call in enumerate(calls)]

    def parts(
        self, call: Call[Any], batch_id: BatchId | None = None, *, placement: Placement | None = None
    ) -> EnqueueCalls:
        """Return what is to be stored for one call; raises what its arguments or options deserve."""
        group = _group(batch_id, placement, alone=True)
        return _parts([call], [self._new.of(call, group)], group, self._met)

    def numbered_parts(
        self, calls: Sequence[Call[Any]], batch_id: BatchId | None = None, *, placement: Placement | None = None
    ) -> EnqueueCalls:
        """Return what is to be stored for a bulk call; an error names the call's position."""
        group = _group(batch_id, placement, alone=False)
        tasks = [self._new.numbered(position, call, group) for position, call in enumerate(calls)]
        return _parts(calls, tasks, group, self._met)

    def callback(self, call: Call[Any], batch_id: BatchId | None = None) -> NewTask:
        """Return the task that a batch or workflow stores when it completes; raises as `parts` does."""
        return self._new.of(call, _group(batch_id, None, alone=True))

    async def store(self, parts: EnqueueCalls) -> Answers:
        """Write tasks where this asyncio task stands, and wake the workers of their queues."""
        transaction = ambient.current(self._ox)
        if transaction is None and (task := parts.lone_task) is not None:
            written = await self._writer.write(task)
            return {position: plain_answer(task, written) for position in parts.plain}
        with racing(is_unique=bool(parts.unique), own=transaction is None):
            if transaction is None:
                answers = await self._in_own_transaction(parts)
            else:
                answers = await enqueue_calls(transaction.conn, parts)
                transaction.created.update(answer.record.id for answer in answers.values() if answer.changed)
        for queue_name in changed_queues(parts, answers):
            await self._ox.wake(queue_name)
        return answers

    async def _store_plain(self, tasks: Sequence[NewTask]) -> Sequence[Written]:
        """Write tasks of no group that are not unique, as `store` does; their records are made when looked at."""
        transaction = ambient.current(self._ox)
        if transaction is None and len(tasks) == 1:
            return [await self._writer.write(tasks[0])]
        stored: Sequence[Written]
        if transaction is None:
            try:
                stored = await repeat(self._ox.database, lambda conn: enqueue_plain(conn, tasks))
            except ConnectionLost:
                answers = await self._again(EnqueueCalls(dict(enumerate(tasks)), ()))
                stored = [answers[position].record for position in range(len(tasks))]
        else:
            stored = await enqueue_plain(transaction.conn, tasks)
            transaction.created.update(task.id for task in tasks)
        for queue_name in sorted({task.queue_name for task in tasks}):
            await self._ox.wake(queue_name)
        return stored

    async def _store_unique(self, call: UniqueCall) -> UniqueAnswer:
        """Write one unique task in a transaction of its own, as `store` does."""
        database = self._ox.database
        try:
            try:
                async with database.connection() as conn:
                    answer = await enqueue_unique(conn, call)
            except Conflict:
                answer = await repeat(database, lambda conn: enqueue_unique(conn, call), tries=MOST_TRIES - 1)
        except ConnectionLost:
            with racing(is_unique=True, own=True):
                answer = (await self._again(EnqueueCalls({}, [call])))[call.position]
        except Contended as trouble:
            if isinstance(trouble, UniqueEnqueueRace):
                raise
            raise _race(trouble, own=True) from trouble
        if answer.changed:
            await self._ox.wake(call.task.queue_name)
        return answer

    async def flush(self) -> None:
        """Wait until what callers of this event loop gave to be stored is written."""
        await self._writer.flush()

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

    def _plain_result[R](self, call: Call[R], task: NewTask, written: Written) -> TaskResult[R]:
        return TaskResult(self._ox, (task, written), created=True, decode=return_decoder(call.task.body))

    def _result[R](self, call: Call[R], answer: UniqueAnswer) -> TaskResult[R]:
        decode = return_decoder(call.task.body)
        return TaskResult(self._ox, answer.known, created=answer.created, decode=decode)


def refusal(path: str, holder: TaskRecord, existing: object, *, position: int | None) -> AlreadyEnqueued:
    """Return the error for a call whose key is held; `existing` is the holder's handle."""
    place = "" if position is None else f"call {position}: "
    return AlreadyEnqueued(
        f"{place}{path}: the unique key is held by task {holder.id} ({holder.status}, enqueued at "
        f"{holder.enqueued_at:%Y-%m-%d %H:%M:%S} UTC); nothing was written. Its result is this error's `existing`",
        existing=existing,
        position=position,
    )


def changed_queues(parts: EnqueueCalls, answers: Answers) -> list[str]:
    """Return the queues that an enqueue gave something to do, in order of name.

    The queue of a call is that of the task that answers it: it is a part of every unique key.
    """
    changed = {position for position, answer in answers.items() if answer.changed}
    return sorted({task.queue_name for position, task in parts.tasks() if position in changed})


@contextmanager
def racing(*, is_unique: bool, own: bool) -> Generator[None]:
    """Turn a lock that a unique enqueue could not have into UniqueEnqueueRace.

    `own` says that the transaction of the enqueue is not the caller's.
    """
    try:
        yield
    except Contended as trouble:
        if not is_unique or isinstance(trouble, UniqueEnqueueRace):
            raise
        raise _race(trouble, own=own) from trouble


def return_decoder(body: Body | None) -> Callable[[Any], Any] | None:
    """Return what decodes a task's return value, or None where the code is not here."""
    return None if body is None else body.codec.decode_return


def _group(batch_id: BatchId | None, placement: Placement | None, *, alone: bool) -> Group | None:
    return placement if batch_id is None else Membership(batch_id, alone)


def _parts(calls: Sequence[Call[Any]], tasks: Sequence[NewTask], group: Group | None, met: MetKeys) -> EnqueueCalls:
    plain: dict[int, NewTask] = {}
    unique: list[UniqueCall] = []
    for position, (call, task) in enumerate(zip(calls, tasks, strict=True)):
        rule = call.task.options.unique
        if rule is None:
            plain[position] = task
        else:
            unique.append(UniqueCall(position, task, rule, met=met.meet(str(task.unique_key))))
    match group:
        case Membership():
            return EnqueueCalls(plain, unique, membership=group)
        case _:
            return EnqueueCalls(plain, unique, placement=group)


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
        f"whether the unique key is held could not be known, and nothing was written: {cause} ({trouble}). {what}",
        transaction_survived=not own and trouble.transaction_survived,
    )
