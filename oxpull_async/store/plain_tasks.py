"""Enqueue tasks that depend on nothing but themselves: in one statement, whoever gave them."""

from collections.abc import Sequence

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import NewTask, TaskRecord, new_record
from oxpull_async.store.enqueue import Stored, enqueue, enqueue_many
from oxpull_async.store.results import get_tasks

type Written = Stored | TaskRecord
"""What is known of a task that was written: when it was taken, or its record where it had to be looked for."""


async def enqueue_plain(conn: Connection, tasks: Sequence[NewTask]) -> Sequence[Written]:
    """Store tasks that are not unique, all or none; answers in their order."""
    return [await enqueue(conn, tasks[0])] if len(tasks) == 1 else await enqueue_many(conn, tasks)


async def enqueue_plain_again(conn: Connection, tasks: Sequence[NewTask]) -> Sequence[Written | None]:
    """Repeat an `enqueue_plain` that had a transaction of its own, whose outcome is unknown.

    The ids are the same: where one of the tasks stands it was carried out, and those without an answer have gone since.
    """
    found = await get_tasks(conn, [task.id for task in tasks])
    return [found.get(task.id) for task in tasks] if found else await enqueue_plain(conn, tasks)


def written_record(task: NewTask, written: Written) -> TaskRecord:
    """Return the record of a task that was written."""
    return written if isinstance(written, TaskRecord) else new_record(task, written.enqueued_at, written.available_at)
