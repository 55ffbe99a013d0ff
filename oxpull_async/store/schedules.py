"""Schedules and their ticks: store, change, look what is due, and enqueue a tick once over all workers.

A schedule's row is locked before any unique key or task. Whoever moves its version wins; the ticks' primary key holds
even where a row was deleted, stored anew or put back by a clock.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from oxpull_async.db.contract import Connection, Scalar
from oxpull_async.domain.errors import DatabaseTrouble
from oxpull_async.domain.record import TaskId, TaskRecord, instant, task_id, wire_id, wire_instant
from oxpull_async.domain.schedule import (
    DueTicks,
    NewSchedule,
    StoredSchedule,
    Ticking,
    next_tick,
    upcoming_tick,
)
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_calls
from oxpull_async.store.results import get_task
from oxpull_async.store.unique import Answers


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
    """What a schedule's ticks led to: the records that were enqueued, or that hold the task's key.

    `overlapped`: the task of the tick before has not ended, so nothing was enqueued.
    """

    records: tuple[TaskRecord, ...] = ()
    overlapped: bool = False


async def read_clock(conn: Connection) -> datetime:
    """Return what time the database takes it to be."""
    row = await conn.fetchrow("read_clock")
    if row is None:
        raise DatabaseTrouble("the database did not tell the time")
    return instant(row[0])


async def outlook(conn: Connection, backend_alias: str) -> list[Upcoming]:
    """Look when the schedules of an alias are due that are not paused."""
    rows = await conn.fetch("schedule_outlook", backend_alias=backend_alias)
    return [
        Upcoming(task_id(row[0]), None if row[1] is None else float(row[1]), bool(row[2]), bool(row[3])) for row in rows
    ]


async def list_schedules(conn: Connection, backend_alias: str, name: str | None = None) -> list[StoredSchedule]:
    """Return the schedules of an alias in order of name, or the one with a name."""
    rows = await conn.fetch("schedules", backend_alias=backend_alias, name=name)
    return [StoredSchedule.from_row(row) for row in rows]


async def get_schedules(conn: Connection, ids: Sequence[str]) -> list[StoredSchedule]:
    """Return those of these schedules that exist."""
    rows = await conn.fetch("get_schedules", ids=json.dumps([wire_id(id_) for id_ in ids]))
    return [StoredSchedule.from_row(row) for row in rows]


async def overdue(conn: Connection, backend_alias: str) -> dict[str, float]:
    """Return the names of the schedules that are due for over a minute, and for how many seconds."""
    rows = await conn.fetch("overdue_schedules", backend_alias=backend_alias)
    return {row[0]: float(row[1]) for row in rows}


async def store_schedule(conn: Connection, new: NewSchedule) -> bool:
    """Store a schedule whose first tick is the next one after `starts_at`, by default after now.

    False when its name is taken.
    """
    async with conn.transaction():
        starts_at = new.starts_at or await read_clock(conn)
        upcoming = None if new.paused else next_tick(new.ticking, starts_at, new.ends_at)
        columns: dict[str, Scalar] = {
            "backend_alias": new.backend_alias,
            "declared": new.declared,
            "last_tick_at": None,
            "next_at": wire_instant(upcoming),
            **_columns(replace(new, starts_at=starts_at)),
        }
        if not await conn.execute("insert_schedule", **columns):
            return False
    found = await list_schedules(conn, new.backend_alias, new.name)
    return any(schedule.id == new.id for schedule in found)


async def declare(conn: Connection, new: NewSchedule, known: StoredSchedule | None) -> bool:
    """Bring the row of a declared schedule in line with its declaration; False when nothing was to do.

    One that is seen first starts now: its first tick is the next one. So does one with another timing.
    """
    if known is None:
        return await store_schedule(conn, new)
    if (known.ticking, known.task_path, known.declared) == (new.ticking, new.task_path, new.declared):
        return False
    changed = replace(known, ticking=new.ticking, task_path=new.task_path)
    if known.ticking.timing != new.ticking.timing:
        return await restart(conn, changed)
    return await change(conn, changed)


async def restart(conn: Connection, schedule: StoredSchedule, *, starts_at: datetime | None = None) -> bool:
    """Write a schedule so that it begins anew, by default now; False when somebody was faster."""
    async with conn.transaction():
        begins = starts_at or await read_clock(conn)
        upcoming = None if schedule.paused else next_tick(schedule.ticking, begins, schedule.ends_at)
        return await change(conn, replace(schedule, starts_at=begins, next_at=upcoming))


async def change(conn: Connection, schedule: StoredSchedule) -> bool:
    """Write a schedule as it is given; False when somebody has changed it since it was read."""
    columns: dict[str, Scalar] = {
        "version": schedule.version,
        "last_tick_at": wire_instant(schedule.last_tick_at),
        "next_at": wire_instant(schedule.next_at),
        **_columns(schedule),
    }
    return await conn.execute("change_schedule", **columns) > 0


async def rewind(conn: Connection, schedule: StoredSchedule) -> bool:
    """Let a schedule go on from the clock's time where the clock was put back behind its last tick.

    Ticks that were noted are not enqueued once more. False when somebody was faster.
    """
    async with conn.transaction():
        now = await read_clock(conn)
        row = await conn.fetchrow("newest_tick", backend_alias=schedule.backend_alias, name=schedule.name)
        newest = None if row is None or row[0] is None else instant(row[0])
        begins = now if newest is None and schedule.last_tick_at is not None else schedule.starts_at
        begins = min(begins, now) if schedule.declared else begins
        back = replace(schedule, starts_at=begins, last_tick_at=newest)
        return await change(conn, replace(back, next_at=upcoming_tick(back)))


async def look_again(conn: Connection, schedule: StoredSchedule) -> bool:
    """Write when a schedule is due next, where the rules of its time zone have changed."""
    return await change(conn, replace(schedule, next_at=upcoming_tick(schedule)))


async def delete(conn: Connection, schedule_id: str) -> bool:
    """Forget a schedule; False when it has gone already."""
    return await conn.execute("delete_schedule", id=wire_id(schedule_id)) > 0


async def prune_ticks(conn: Connection, age_seconds: float, limit: int) -> int:
    """Remove up to `limit` ticks that were noted longer ago; returns how many."""
    return await conn.execute("prune_ticks", age=age_seconds, limit=limit)


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
    return frozenset(at for at, id_ in ids.items() if noted.get(ticks[at]) == id_)


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


def _columns(schedule: NewSchedule | StoredSchedule) -> dict[str, Scalar]:
    """Return the values that both statements take which write a whole row."""
    return {
        "id": wire_id(schedule.id),
        "name": schedule.name,
        **_ticking_columns(schedule.ticking),
        "task_path": schedule.task_path,
        "args": schedule.args,
        "kwargs": schedule.kwargs,
        "queue_name": schedule.queue_name,
        "priority": schedule.priority,
        "paused": schedule.paused,
        "starts_at": wire_instant(schedule.starts_at),
        "ends_at": wire_instant(schedule.ends_at),
    }


def _ticking_columns(ticking: Ticking) -> dict[str, Scalar]:
    timing = ticking.timing
    return {
        "cron": timing.cron,
        "every": timing.every,
        "phase": timing.phase,
        "tz": timing.tz,
        "repeated_hour": timing.repeated_hour,
        "catch_up": ticking.catch_up,
        "max_age": ticking.max_age,
        "overlap": ticking.overlap,
    }


def _wire(id_: TaskId | None) -> str | None:
    return None if id_ is None else wire_id(id_)
