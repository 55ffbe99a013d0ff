"""Free unique keys, where one INSERT cannot take a key and store its task at once."""

import json
from collections.abc import Mapping
from datetime import timedelta

from msgspec.structs import replace

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import NewTask, TaskRecord, instant, new_record, wire_instant
from oxpull_async.store.enqueue import task_columns


async def enqueue_fresh(conn: Connection, task: NewTask, key_row: Mapping[str, object]) -> TaskRecord | None:
    """Take a free key and store its task, in three statements; None where it is held.

    The first look takes no lock, so a duplicate neither waits nor holds anybody up, and its time is the task's: nothing
    has to be read back.
    """
    free = await conn.fetchrow("free_key", unique_key=task.unique_key)
    if free is None:
        return None
    now = instant(free[0])
    fixed = task if task.delay is None else replace(task, run_after=now + timedelta(seconds=task.delay), delay=None)
    columns = task_columns(fixed)
    del columns["waiting_for"], columns["delay"]
    async with conn.transaction():
        await conn.execute("insert_keys", keys=json.dumps([key_row]))
        stored = await conn.execute("insert_task_of_key", **columns, enqueued_at=wire_instant(now))
    return new_record(fixed, now, fixed.run_after or now) if stored else None
