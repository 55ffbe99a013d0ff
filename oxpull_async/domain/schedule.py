"""Schedules: what to enqueue when, and which of the ticks that have come still count.

Pure: instants come from the database's clock, and rows become schedules here and nowhere else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict

from oxpull_async.domain.durations import Duration, seconds
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.record import TaskId, instant, instant_or_none, task_id
from oxpull_async.domain.storable import is_name
from oxpull_async.domain.timing import Timing, checked_timing

MAX_NAME = 128
MOST_TICKS = 100
CATCH_UPS, OVERLAPS = ("skip", "latest", "all"), ("allow", "skip")
ON_TIME = timedelta(minutes=1)
"""How late a tick of a schedule with `catch_up="skip"` may be."""
MAX_AGE_OF_ALL = 3600.0

type CatchUp = Literal["skip", "latest", "all"]
type Overlap = Literal["allow", "skip"]


class ScheduleKeywords(TypedDict, total=False):
    """What a declared schedule may say of its ticks."""

    cron: str | None
    every: Duration | None
    phase: Duration | None
    tz: str
    repeated_hour: Literal["once", "twice"]
    catch_up: CatchUp
    max_age: Duration | None
    overlap: Overlap


@dataclass(frozen=True, slots=True)
class Ticking:
    """When a schedule ticks, and what becomes of ticks that nobody saw in time.

    `max_age` is in seconds; None is an hour where all are caught up, else no limit.
    """

    timing: Timing
    catch_up: str = "latest"
    max_age: float | None = None
    overlap: str = "allow"


@dataclass(frozen=True, slots=True)
class DeclaredSchedule:
    """A schedule of code or settings, as far as workers look at it.

    `by_path`: its task is known by name only, so a worker that does not find it leaves the schedule to others.
    """

    name: str
    task_path: str
    ticking: Ticking
    by_path: bool


@dataclass(frozen=True, slots=True)
class NewSchedule:
    """A schedule that is about to be stored.

    `declared` ones live in code and settings; of them only what concerns ticks counts, the call is the declaration's.
    """

    id: str
    backend_alias: str
    name: str
    declared: bool
    ticking: Ticking
    task_path: str
    args: str = "[]"
    kwargs: str = "{}"
    queue_name: str | None = None
    priority: int | None = None
    paused: bool = False
    starts_at: datetime | None = None
    ends_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StoredSchedule:
    """A schedule as it is stored; `last_task_id` is what its last tick enqueued.

    `starts_at` is the boundary: no tick at that instant or before is ever enqueued. `args` and `kwargs` are JSON text.
    """

    id: str
    backend_alias: str
    name: str
    declared: bool
    ticking: Ticking
    task_path: str
    args: str
    kwargs: str
    queue_name: str | None
    priority: int | None
    paused: bool
    starts_at: datetime
    ends_at: datetime | None
    last_tick_at: datetime | None
    next_at: datetime | None
    last_task_id: TaskId | None
    version: int

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> "StoredSchedule":
        """Read one row of the statements that give whole schedules."""
        timing = Timing(cron=row[4], every=row[5], phase=row[6], tz=row[7], repeated_hour=row[8])
        return cls(
            id=task_id(row[0]), backend_alias=row[1], name=row[2], declared=bool(row[3]),
            ticking=Ticking(timing, row[9], row[10], row[11]), task_path=row[12], args=row[13], kwargs=row[14],
            queue_name=row[15], priority=row[16], paused=bool(row[17]), starts_at=instant(row[18]),
            ends_at=instant_or_none(row[19]), last_tick_at=instant_or_none(row[20]), next_at=instant_or_none(row[21]),
            last_task_id=None if row[22] is None else task_id(row[22]), version=row[23],
        )  # fmt: skip

    @property
    def reached(self) -> datetime:
        """The instant up to which ticks are settled."""
        return self.starts_at if self.last_tick_at is None else max(self.starts_at, self.last_tick_at)


@dataclass(frozen=True, slots=True)
class DueTicks:
    """What a look at a schedule found: ticks to enqueue, the last one that came, and the next.

    `skipped` counts those that are not enqueued any more; counting ends at a hundred.
    """

    ticks: tuple[datetime, ...]
    reached: datetime
    next_at: datetime | None
    skipped: int = 0


def due_ticks(schedule: StoredSchedule, now: datetime) -> DueTicks | None:
    """Return what to do about the ticks that have come by `now`, or None where none has."""
    timing, after = schedule.ticking.timing, schedule.reached
    until = now if schedule.ends_at is None else min(now, schedule.ends_at)
    found: list[datetime] = []
    tick = timing.latest(until)
    while tick is not None and tick > after and len(found) <= MOST_TICKS:
        found.append(tick)
        tick = timing.before(tick)
    if not found:
        return None
    wanted = _wanted(schedule.ticking, found, now)
    return DueTicks(wanted, found[0], next_tick(schedule.ticking, found[0], schedule.ends_at), len(found) - len(wanted))


def next_tick(ticking: Ticking, after: datetime, ends_at: datetime | None) -> datetime | None:
    """Return the first tick after an instant, or None where the schedule has ended by then."""
    found = ticking.timing.after(after)
    return None if found is None or (ends_at is not None and found > ends_at) else found


def _wanted(ticking: Ticking, newest_first: Sequence[datetime], now: datetime) -> tuple[datetime, ...]:
    """Return those that are still to be enqueued, oldest first."""
    if ticking.catch_up == "all":
        oldest = now - timedelta(seconds=MAX_AGE_OF_ALL if ticking.max_age is None else ticking.max_age)
        most = 1 if ticking.overlap == "skip" else MOST_TICKS  # all but one would overlap with each other
        return tuple(reversed([tick for tick in newest_first[:most] if tick >= oldest]))
    late = now - newest_first[0]
    if ticking.catch_up == "skip" and late > ON_TIME:
        return ()
    if ticking.max_age is not None and late > timedelta(seconds=ticking.max_age):
        return ()
    return (newest_first[0],)


def upcoming_tick(schedule: StoredSchedule) -> datetime | None:
    """Return the next tick that is not settled yet; None for one that is paused or has ended."""
    return None if schedule.paused else next_tick(schedule.ticking, schedule.reached, schedule.ends_at)


def checked_ticking(given: ScheduleKeywords) -> Ticking:
    """Return when a schedule ticks, checked.

    Raises: UsageError naming what is wrong.
    """
    timing = checked_timing(
        cron=given.get("cron"),
        every=given.get("every"),
        phase=given.get("phase"),
        tz=given.get("tz", "UTC"),
        repeated_hour=given.get("repeated_hour", "once"),
    )
    catch_up, overlap, max_age = given.get("catch_up", "latest"), given.get("overlap", "allow"), given.get("max_age")
    if catch_up not in CATCH_UPS:
        raise UsageError(f"catch_up={catch_up!r} must be one of {', '.join(CATCH_UPS)}")
    if overlap not in OVERLAPS:
        raise UsageError(f"overlap={overlap!r} must be one of {', '.join(OVERLAPS)}")
    age = None if max_age is None else seconds(max_age, name="max_age")
    if age is not None and age > timedelta.max.total_seconds() / 1000:
        raise UsageError(f"max_age={max_age!r} is more than a thousand of years: None is without a limit")
    return Ticking(timing, catch_up, age, overlap)


def checked_name(name: object) -> str:
    """Return a schedule's name; raises UsageError unless it is text of 1 to 128 characters."""
    if not is_name(name, MAX_NAME) or not name.strip():
        raise UsageError(
            f"a schedule's name {name!r:.160} must be text of 1 to {MAX_NAME} characters without NUL or lone surrogates"
        )
    return name
