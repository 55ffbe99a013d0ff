"""What operators ask to be done to stored tasks: retry, discard, cancel, run now."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from oxpull_async.app import ambient
from oxpull_async.app.wakeups import Wakeups
from oxpull_async.db.contract import Connection, Database
from oxpull_async.domain.errors import TaskResultDoesNotExist, UsageError
from oxpull_async.domain.record import TaskId
from oxpull_async.domain.settings import Settings
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store import operate
from oxpull_async.store.enqueue import notify

__all__ = ["ANY_QUEUE", "CHUNK", "Changes", "checked_id"]

CHUNK = 1000
ANY_QUEUE = ""


class Changes:
    """Changes of stored tasks by people: each call joins the transaction open here, if one is."""

    settings: Settings
    database: Database
    wakeups: Wakeups

    async def retry(self, id_: str, *, include_discarded: bool = False) -> bool:
        """Make a failed or lost task ready once more, with one more attempt.

        False when it is in another status.

        Raises: TaskResultDoesNotExist when the id is malformed.
        """
        return (await self.retry_many([id_], include_discarded=include_discarded))[0] > 0

    async def discard(self, id_: str) -> bool:
        """End a task that is ready, waiting, failed or lost; False when it is in another status."""
        return (await self.discard_many([id_]))[0] > 0

    async def cancel(self, id_: str) -> bool:
        """End a task that does not run yet, or ask a running one to stop.

        A success that settles first wins; every other end of the running attempt becomes DISCARDED. False when the task
        has ended or was asked to stop already.
        """
        return (await self.cancel_many([id_]))[0] > 0

    async def retry_many(self, ids: Collection[str], *, include_discarded: bool = False) -> tuple[int, int]:
        """Retry many tasks; returns how many changed and how many were skipped."""
        retry = partial(operate.retry, include_discarded=include_discarded)
        changed, skipped = await _in_chunks(self, ids, retry)
        if changed:
            await self.wake(ANY_QUEUE)
        return changed, skipped

    async def discard_many(self, ids: Collection[str]) -> tuple[int, int]:
        """Discard many tasks; returns how many changed and how many were skipped."""
        return await _in_chunks(self, ids, operate.discard)

    async def cancel_many(self, ids: Collection[str]) -> tuple[int, int]:
        """Cancel many tasks; returns how many changed and how many were skipped."""
        return await _in_chunks(self, ids, operate.cancel)

    async def run_now(self, id_: str) -> bool:
        """Let a ready task that is due later be claimed at once.

        False when it is due or in another status. Its `run_after` stays what the enqueue asked.
        """
        return (await self.run_now_many([id_]))[0] > 0

    async def run_now_many(self, ids: Collection[str]) -> tuple[int, int]:
        """Let many ready tasks be claimed at once; returns how many changed and were skipped."""
        changed, skipped = await _in_chunks(self, ids, operate.run_now)
        if changed:
            await self.wake(ANY_QUEUE)
        return changed, skipped

    async def wake(self, queue_name: str) -> None:
        """Wake the workers of a queue ("": of all), by the commit where a transaction is open here."""
        transaction = ambient.current(self)
        if transaction is None:
            self.wakeups.announce(queue_name)
        elif transaction.joined:
            await notify(transaction.conn, queue_name)
        else:
            transaction.conn.after_commit(partial(transaction.committed.__setitem__, queue_name, None))

    async def operate[T](self, operation: Callable[[Connection], Awaitable[T]]) -> T:
        """Run a store operation in the transaction that is open here, or in one of its own."""
        transaction = ambient.current(self)
        if transaction is not None:
            return await operation(transaction.conn)
        return await repeat(self.database, operation)


def checked_id(id_: Any) -> TaskId:
    """Return a task id in its usual text form; raises TaskResultDoesNotExist when it is no UUID."""
    try:
        return str(UUID(id_ if isinstance(id_, str) else str(id_)))
    except ValueError:
        raise TaskResultDoesNotExist(f"no task has the id {str(id_)[:60]!r}: ids are UUIDs") from None


async def _in_chunks(
    ox: Changes, ids: Collection[str], operation: Callable[[Connection, Sequence[TaskId]], Awaitable[int]]
) -> tuple[int, int]:
    if isinstance(ids, str):
        raise UsageError(f"ids={ids[:60]!r} must be a list of ids: [{ids[:60]!r}]")
    checked = sorted({checked_id(id_) for id_ in ids})
    changed = 0
    for start in range(0, len(checked), CHUNK):
        part = checked[start : start + CHUNK]
        changed += await ox.operate(partial(_operate_own, ox.settings.alias, part, operation))
    return changed, len(checked) - changed


async def _operate_own(
    alias: str,
    ids: Sequence[TaskId],
    operation: Callable[[Connection, Sequence[TaskId]], Awaitable[int]],
    conn: Connection,
) -> int:
    own = await operate.own_tasks(conn, alias, ids)
    return await operation(conn, own) if own else 0
