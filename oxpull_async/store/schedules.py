"""Stored and declared schedules: store, read, change and forget them.

Whoever moves a row's version wins; who was slower is told by the answer.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from oxpull_async.db.contract import Connection, Scalar
from oxpull_async.domain.errors import DatabaseTrouble
from oxpull_async.domain.record import instant, wire_id, wire_instant
from oxpull_async.domain.schedule import (
    NewSchedule,
    StoredSchedule,
    Ticking,
    next_tick,
    upcoming_tick,
)


async def read_clock(conn: Connection) -> datetime:
    """Return what time the database takes it to be."""
    row = await conn.fetchrow("read_clock")
    if row is None:
        raise DatabaseTrouble("the database did not tell the time")
    return instant(row[0])


async def list_schedules(conn: Connection, backend_alias: str, name: str | None = None) -> list[StoredSchedule]:
    """Return the schedules of an alias in order of name, or the one with a name."""
    rows = await conn.fetch("schedules", backend_alias=backend_alias, name=name)
    return [StoredSchedule.from_row(row) for row in rows]


async def get_schedules(conn: Connection, ids: Sequence[str]) -> list[StoredSchedule]:
    """Return those of these schedules that exist."""
    rows = await conn.fetch("get_schedules", ids=json.dumps([wire_id(id_) for id_ in ids]))
    return [StoredSchedule.from_row(row) for row in rows]


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
    """Bring a declared schedule's row in line; False when somebody was faster.

    One that is seen first starts now: its first tick is the next one. So does one with another timing.
    """
    if known is None:
        return await store_schedule(conn, new)
    if (known.ticking, known.task_path, known.declared) == (new.ticking, new.task_path, new.declared):
        return True
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
    """Let a schedule go on from now where the clock was put back behind its last tick.

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


async def forget_unserved(conn: Connection, backend_alias: str, age_seconds: float) -> int:
    """Forget declared schedules that no worker has served for so long; returns how many."""
    return await conn.execute("forget_schedules", backend_alias=backend_alias, age=age_seconds)


async def delete(conn: Connection, schedule_id: str) -> bool:
    """Forget a schedule; False when it has gone already."""
    return await conn.execute("delete_schedule", id=wire_id(schedule_id)) > 0


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
