"""Store new tasks, one or many, in whatever transaction is open on the connection.

Tasks of one statement mostly differ by their arguments alone. What they have in common is sent once, as their kind.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import attrgetter

import msgspec

from oxpull_async.db.contract import Connection, Scalar
from oxpull_async.domain.chunks import chunks
from oxpull_async.domain.errors import DataRefused
from oxpull_async.domain.record import NewTask, instant, wire_id, wire_instant
from oxpull_async.domain.values import rows_json

ROW_OVERHEAD = 300
_beyond_plain = attrgetter(
    "run_after", "delay", "unique_key", "waiting_for", "lock_key", "limit_keys", "batch_id", "workflow_id"
)
_NOTHING = (None,) * 8
_of_its_kind = attrgetter(
    "backend_alias", "task_path", "queue_name", "priority", "run_after", "max_attempts", "timeout", "delay", "reruns",
    "lock_limit", "lock_conflict",
)  # fmt: skip


class Stored(msgspec.Struct, frozen=True, gc=False):
    """When the database took a new task, and from when on it may be claimed."""

    enqueued_at: datetime
    available_at: datetime


class _Kind(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What new tasks of one statement have in common."""

    kind: int
    first: str
    """The id of one of its rows."""
    backend_alias: str
    task_path: str
    queue_name: str
    priority: int
    run_after: str | None
    max_attempts: int
    timeout: float | None = None
    delay: float | None = None
    reruns: bool = False
    lock_limit: int | None = None
    lock_conflict: str | None = None


class _Row(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a new task has for itself; what is absent costs neither the database nor us."""

    id: str
    kind: int
    args: str
    kwargs: str = "{}"
    unique_key: str | None = None
    waiting_for: str | None = None
    lock_key: str | None = None
    limit_keys: str | None = None
    batch_id: str | None = None
    workflow_id: str | None = None


async def enqueue(conn: Connection, task: NewTask) -> Stored:
    """Insert one task; it exists when the transaction around it commits."""
    if not conn.dialect.insert_returns_rows:
        return await _enqueue_at(conn, task, await _read_clock(conn))
    if _is_plain(task):
        [[enqueued_at]] = await conn.fetch("insert_plain_task", **_plain_columns(task))
        moment = instant(enqueued_at)
        return Stored(moment, moment)
    [[enqueued_at, available_at]] = await conn.fetch("insert_task", **task_columns(task))
    return Stored(instant(enqueued_at), instant(available_at))


async def enqueue_many(conn: Connection, tasks: Sequence[NewTask]) -> list[Stored]:
    """Insert tasks in one transaction, one statement per chunk.

    The answers stand in the order of `tasks`.
    """
    now = None if conn.dialect.insert_returns_rows or not tasks else await _read_clock(conn)
    parts = list(chunks(((task, task_size(task)) for task in tasks), max_bytes=conn.max_batch_bytes))
    if len(parts) == 1 and not conn.in_transaction:
        return await _insert_chunk(conn, parts[0], now)
    stored: list[Stored] = []
    async with conn.transaction():
        for chunk in parts:
            stored += await _insert_chunk(conn, chunk, now)
    return stored


async def notify(conn: Connection, queue_name: str) -> None:
    """Wake the workers that listen for a queue when the transaction commits.

    Does nothing where the database cannot push.
    """
    if conn.dialect.has_listen:
        await conn.execute("notify", queue_name=queue_name)


async def _enqueue_at(conn: Connection, task: NewTask, now: datetime) -> Stored:
    if _is_plain(task):
        await conn.execute("insert_plain_task", **_plain_columns(task), enqueued_at=wire_instant(now))
        return Stored(now, now)
    fixed = _fixed(task, now)
    columns = task_columns(fixed)
    del columns["delay"]
    await conn.execute("insert_task", **columns, enqueued_at=wire_instant(now))
    return Stored(now, fixed.run_after or now)


async def _insert_chunk(conn: Connection, chunk: Sequence[NewTask], now: datetime | None) -> list[Stored]:
    """Insert tasks by one statement: at this instant, or at the one that it reads itself and answers."""
    if now is not None:
        chunk = [_fixed(task, now) for task in chunk]
    kinds: dict[object, int] = {}
    places = [kinds.setdefault(_of_its_kind(task), len(kinds)) for task in chunk]
    first = dict(zip(reversed(places), reversed(chunk), strict=True))
    tasks = rows_json([_row(task, place) for task, place in zip(chunk, places, strict=True)])
    shared = rows_json([_kind(first[place], place) for place in kinds.values()])
    if now is not None:
        await conn.execute("insert_tasks", tasks=tasks, kinds=shared, enqueued_at=wire_instant(now))
        return [Stored(now, task.run_after or now) for task in chunk]
    answers = await conn.fetch("insert_tasks", tasks=tasks, kinds=shared)
    stored = {row[0]: Stored(instant(row[1]), instant(row[2])) for row in answers}
    return [stored[place] for place in places]


def _row(task: NewTask, kind: int) -> _Row:
    return _Row(
        wire_id(task.id), kind, task.args, task.kwargs, task.unique_key, task.waiting_for, task.lock_key,
        task.limit_keys, None if task.batch_id is None else wire_id(task.batch_id),
        None if task.workflow_id is None else wire_id(task.workflow_id),
    )  # fmt: skip


def _kind(task: NewTask, kind: int) -> _Kind:
    return _Kind(
        kind, wire_id(task.id), task.backend_alias, task.task_path, task.queue_name, task.priority,
        wire_instant(task.run_after), task.max_attempts, task.timeout, task.delay, task.reruns, task.lock_limit,
        task.lock_conflict,
    )  # fmt: skip


async def _read_clock(conn: Connection) -> datetime:
    return instant((await conn.fetch("read_clock"))[0][0])


def _fixed(task: NewTask, now: datetime) -> NewTask:
    """Return a task with the instant at which its delay ends in place of the delay."""
    if task.delay is None:
        return task
    try:
        return msgspec.structs.replace(task, run_after=now + timedelta(seconds=task.delay), delay=None)
    except OverflowError:
        raise DataRefused(f"a delay of {task.delay:g} s ends beyond the calendar") from None


def _is_plain(task: NewTask) -> bool:
    """Whether a task may start at once and has nothing but its arguments and the options that all tasks have."""
    return _beyond_plain(task) == _NOTHING


def _plain_columns(task: NewTask) -> dict[str, Scalar]:
    return {
        "id": wire_id(task.id),
        "backend_alias": task.backend_alias,
        "task_path": task.task_path,
        "queue_name": task.queue_name,
        "priority": task.priority,
        "args": task.args,
        "kwargs": task.kwargs,
        "max_attempts": task.max_attempts,
        "timeout": task.timeout,
    }


def task_columns(task: NewTask) -> dict[str, Scalar]:
    """Return the values of a new task as the statements take them."""
    return {
        "id": wire_id(task.id),
        "backend_alias": task.backend_alias,
        "task_path": task.task_path,
        "queue_name": task.queue_name,
        "priority": task.priority,
        "args": task.args,
        "kwargs": task.kwargs,
        "run_after": wire_instant(task.run_after),
        "max_attempts": task.max_attempts,
        "timeout": task.timeout,
        "delay": task.delay,
        "unique_key": task.unique_key,
        "reruns": task.reruns,
        "waiting_for": task.waiting_for,
        "lock_key": task.lock_key,
        "lock_limit": task.lock_limit,
        "lock_conflict": task.lock_conflict,
        "batch_id": None if task.batch_id is None else wire_id(task.batch_id),
        "workflow_id": None if task.workflow_id is None else wire_id(task.workflow_id),
        "limit_keys": task.limit_keys,
    }


def task_size(task: NewTask) -> int:
    """Return about how many bytes a new task takes inside a statement."""
    return len(task.args) + len(task.kwargs) + ROW_OVERHEAD
