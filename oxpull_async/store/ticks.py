"""Ticks of schedules: look what is due, and enqueue each tick once over all workers.

A schedule's row is locked before any unique key or task. Whoever moves its version wins; the ticks' primary key holds
even where a row was deleted, stored anew or put back by a clock.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from oxpull_async.db.contract import Connection, Scalar
from oxpull_async.domain.record import TaskId, TaskRecord, instant, task_id, wire_id, wire_instant
from oxpull_async.domain.schedule import DueTicks, StoredSchedule
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_calls
from oxpull_async.store.results import get_task
from oxpull_async.store.unique_at_once import Answers


@dataclass(frozen=True, slots=True)
class Upcoming:
    """A schedule that is not paused: in how many seconds it is due (None: never more).

    `is_ahead`: its last tick lies in the future, so the clock was put back.
    """

    id: str
    due_in: float | None
    is_due: bool
    is_ahead: bool


@dataclass(frozen=True, slots=True)
class Fired:
    """What a schedule's ticks led to: the records that were enqueued or changed.

    `overlapped`: the task of the tick before has not ended, so nothing was enqueued.
    """

    records: tuple[TaskRecord, ...] = ()
    overlapped: bool = False


async def outlook(conn: Connection, backend_alias: str) -> list[Upcoming]:
    """Look when the schedules of an alias are due that are not paused."""
    rows = await conn.fetch("schedule_outlook", backend_alias=backend_alias)
    return [
        Upcoming(task_id(row[0]), None if row[1] is None else float(row[1]), bool(row[2]), bool(row[3])) for row in rows
    ]


async def overdue(conn: Connection, backend_alias: str) -> dict[str, float]:
    """Return the schedules that are due for over a minute, by name, and for how many seconds."""
    rows = await conn.fetch("overdue_schedules", backend_alias=backend_alias)
    return {row[0]: float(row[1]) for row in rows}


async def prune_ticks(conn: Connection, age_seconds: float, limit: int, backend_alias: str | None = None) -> int:
    """Remove up to `limit` ticks that were noted longer ago, of one alias or all.

    Returns how many.
    """
    return await conn.execute("prune_ticks", age=age_seconds, limit=limit, backend_alias=backend_alias)


async def count_ticks(conn: Connection, age_seconds: float, backend_alias: str | None = None) -> int:
    """Count the ticks, of one alias or all, that were noted longer ago."""
    row = await conn.fetchrow("count_ticks", age=age_seconds, backend_alias=backend_alias)
    return 0 if row is None else int(row[0])


async def fire(conn: Connection, schedule: StoredSchedule, due: DueTicks, calls: EnqueueCalls) -> Fired | None:
    """Settle a schedule's due ticks and enqueue what they call, in one transaction.

    `calls` has one call for each of the ticks, by its place. None when somebody was faster or the schedule has changed.
    """
    overlaps = bool(due.ticks) and schedule.ticking.overlap == "skip" and await _is_unfinished(conn, schedule)
    wanted = EnqueueCalls({}, []) if overlaps else calls
    ids = {position: task.id for position, task in wanted.tasks()}
    async with conn.transaction():
        passed = await conn.execute(
            "pass_ticks",
            id=wire_id(schedule.id),
            version=schedule.version,
            reached=wire_instant(due.reached),
            next_at=wire_instant(due.next_at),
            task_id=_wire(ids.get(len(due.ticks) - 1)),
        )
        if not passed:
            return None
        fresh = await _note_ticks(conn, schedule, due.ticks, ids)
        answers = await _enqueue(conn, wanted, fresh)
        for position, answer in answers.items():
            if answer.record.id != ids[position]:
                await _note_holder(conn, schedule, due.ticks, position, answer.record.id)
    return Fired(tuple(answer.record for answer in answers.values() if answer.changed), overlaps)


async def _note_ticks(
    conn: Connection, schedule: StoredSchedule, ticks: Sequence[datetime], ids: Mapping[int, TaskId]
) -> frozenset[int]:
    """Note ticks; returns the places of those that had not been noted before."""
    if not ticks:
        return frozenset()
    place: dict[str, Scalar] = {"backend_alias": schedule.backend_alias, "name": schedule.name}
    entries = [{"tick_at": wire_instant(tick), "task_id": _wire(ids.get(at))} for at, tick in enumerate(ticks)]
    if await conn.execute("insert_ticks", ticks=json.dumps(entries), **place) == len(ticks):
        return frozenset(ids)
    since, until = wire_instant(ticks[0]), wire_instant(ticks[-1])
    rows = await conn.fetch("ticks_between", since=since, until=until, **place)
    noted = {instant(row[0]): None if row[1] is None else task_id(row[1]) for row in rows}
    fresh = frozenset(at for at, id_ in ids.items() if noted.get(ticks[at]) == id_)
    if len(ticks) - 1 in ids.keys() - fresh:  # what the last tick would have enqueued is not there
        last = noted.get(ticks[-1]) or schedule.last_task_id
        await conn.execute("note_schedule_task", id=wire_id(schedule.id), task_id=_wire(last))
    return fresh


async def _enqueue(conn: Connection, calls: EnqueueCalls, fresh: frozenset[int]) -> Answers:
    """Store the calls of fresh ticks; unique ones one by one, since a rule that refuses one refuses no other."""
    plain = {position: task for position, task in calls.plain.items() if position in fresh}
    answers = await enqueue_calls(conn, EnqueueCalls(plain, [])) if plain else {}
    for call in (call for call in calls.unique if call.position in fresh):
        answers |= await enqueue_calls(conn, EnqueueCalls({}, [call]))
    return answers


async def _note_holder(
    conn: Connection, schedule: StoredSchedule, ticks: Sequence[datetime], position: int, holder: TaskId
) -> None:
    """Remember the pending task that a tick of a unique task was answered with."""
    await conn.execute(
        "note_tick_task",
        backend_alias=schedule.backend_alias,
        name=schedule.name,
        tick_at=wire_instant(ticks[position]),
        task_id=wire_id(holder),
    )
    if position == len(ticks) - 1:
        await conn.execute("note_schedule_task", id=wire_id(schedule.id), task_id=wire_id(holder))


async def _is_unfinished(conn: Connection, schedule: StoredSchedule) -> bool:
    if schedule.last_task_id is None:
        return False
    record = await get_task(conn, schedule.last_task_id)
    return record is not None and not record.status.is_finished


def _wire(id_: TaskId | None) -> str | None:
    return None if id_ is None else wire_id(id_)
