"""From calls to stored tasks.

Check everything first, then write in the caller's transaction or in one of our own.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import uuid_utils

from oxpull_async.app import ambient
from oxpull_async.app.result import TaskResult
from oxpull_async.app.task import Call
from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import ConnectionLost, DataRefused, InvalidTask, UsageError
from oxpull_async.domain.record import NewTask, TaskRecord, TaskStatus
from oxpull_async.domain.task import Body, checked_queue
from oxpull_async.domain.values import decode, encode_normalised, normalise_call
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store import enqueue as store
from oxpull_async.store.enqueue import Stored
from oxpull_async.store.results import get_tasks

if TYPE_CHECKING:
    from oxpull_async.app.oxpull import Oxpull


class Enqueuer:
    """Stores calls for one Oxpull."""

    def __init__(self, ox: "Oxpull") -> None:
        self._ox = ox

    async def enqueue[R](self, call: Call[R]) -> TaskResult[R]:
        """Store one call; returns its result handle."""
        task = self._new_task(call)
        transaction = ambient.current(self._ox)
        if transaction is not None:
            stored = await store.enqueue(transaction.conn, task)
            transaction.created.add(task.id)
        else:
            stored = (await self._in_own_transaction([task]))[0]
        await self._ox.wake(task.queue_name)
        return self._result(call, task, stored)

    async def enqueue_many(self, calls: Sequence[Call[Any]]) -> list[TaskResult[Any]]:
        """Store calls in one transaction, all or nothing; results in the order of the calls."""
        tasks = [self._numbered(position, call) for position, call in enumerate(calls)]
        if not tasks:
            return []
        transaction = ambient.current(self._ox)
        if transaction is not None:
            stored = await store.enqueue_many(transaction.conn, tasks)
            transaction.created.update(task.id for task in tasks)
        else:
            stored = await self._in_own_transaction(tasks)
        for queue_name in sorted({task.queue_name for task in tasks}):
            await self._ox.wake(queue_name)
        return [self._result(*three) for three in zip(calls, tasks, stored, strict=True)]

    async def _in_own_transaction(self, tasks: Sequence[NewTask]) -> list[Stored]:
        try:
            return await repeat(self._ox.database, lambda conn: _insert(conn, tasks))
        except ConnectionLost:
            return await self._insert_again(tasks)

    async def _insert_again(self, tasks: Sequence[NewTask]) -> list[Stored]:
        """Repeat an insert whose outcome is unknown.

        The ids are ours, so rows that stand are found by them.
        """
        try:
            return await repeat(self._ox.database, lambda conn: _insert_missing(conn, tasks))
        except DataRefused:
            return await repeat(self._ox.database, lambda conn: _insert_missing(conn, tasks))

    def _numbered(self, position: int, call: Call[Any]) -> NewTask:
        if not isinstance(call, Call):
            raise InvalidTask(f"call {position}: {call!r:.80} is no call: pass task.call(…)")
        try:
            return self._new_task(call)
        except UsageError as refused:
            raise type(refused)(f"call {position} ({call.task.path}): {refused}") from refused.__cause__

    def _new_task(self, call: Call[Any]) -> NewTask:
        task, limit = call.task, self._ox.settings.max_payload_bytes
        if task.ox is not self._ox:
            raise InvalidTask(f"{task.path} was declared on another Oxpull; enqueue it there")
        encode = normalise_call if task.body is None else task.body.codec.encode
        args, kwargs = encode(call.args, call.kwargs)
        options = task.options
        checked_queue(options.queue_name, self._ox.settings.queues)
        return NewTask(
            id=str(uuid_utils.uuid7()),
            backend_alias=self._ox.settings.alias,
            task_path=task.path,
            queue_name=options.queue_name,
            priority=options.priority,
            args=encode_normalised(args, path="args", max_bytes=limit),
            kwargs=encode_normalised(kwargs, path="kwargs", max_bytes=limit) if kwargs else "{}",
            run_after=options.run_after,
            max_attempts=options.max_attempts,
            timeout=options.timeout,
        )

    def _result[R](self, call: Call[R], task: NewTask, stored: Stored) -> TaskResult[R]:
        record = TaskRecord(
            id=task.id, backend_alias=task.backend_alias, task_path=task.task_path, queue_name=task.queue_name,
            priority=task.priority, status=TaskStatus.READY, waiting_for=None, args=decode(task.args),  # type: ignore[arg-type]
            kwargs=decode(task.kwargs), run_after=task.run_after, available_at=stored.available_at,  # type: ignore[arg-type]
            enqueued_at=stored.enqueued_at, started_at=None, last_attempted_at=None, finished_at=None, attempts=0,
            max_attempts=task.max_attempts, epoch=0, timeout=task.timeout, leased_by=None, worker_ids=(), errors=(),
            return_value=None, progress=None, cancel_requested=False,
        )  # fmt: skip
        return TaskResult(self._ox, record, created=True, decode=return_decoder(call.task.body))


def return_decoder(body: Body | None) -> Callable[[Any], Any] | None:
    """Return what decodes a task's return value, or None where the code is not here."""
    return None if body is None else body.codec.decode_return


async def _insert(conn: Connection, tasks: Sequence[NewTask]) -> list[Stored]:
    if len(tasks) == 1:
        return [await store.enqueue(conn, tasks[0])]
    return await store.enqueue_many(conn, tasks)


async def _insert_missing(conn: Connection, tasks: Sequence[NewTask]) -> list[Stored]:
    found = await get_tasks(conn, [task.id for task in tasks])
    if len(found) < len(tasks):
        return await _insert(conn, tasks)
    return [Stored(found[task.id].enqueued_at, found[task.id].available_at) for task in tasks]
