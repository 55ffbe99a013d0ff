"""Schedules of an Oxpull: declared in code and settings, or stored by operators."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Unpack, cast

import uuid_utils

from oxpull_async.app.changes import ANY_QUEUE, Changes
from oxpull_async.app.task import Call, Task
from oxpull_async.domain.errors import (
    Conflict,
    DataRefused,
    InvalidTask,
    ScheduleDoesNotExist,
    ScheduleExists,
    UsageError,
)
from oxpull_async.domain.schedule import (
    DeclaredSchedule,
    NewSchedule,
    ScheduleKeywords,
    StoredSchedule,
    Ticking,
    checked_name,
    checked_ticking,
    upcoming_tick,
)
from oxpull_async.domain.schedule_entry import ScheduleEntry
from oxpull_async.domain.settings import refuse_unknown
from oxpull_async.domain.task import checked_run_after
from oxpull_async.store import schedules
from oxpull_async.store.enqueue_calls import EnqueueCalls

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from oxpull_async.app.oxpull import Oxpull
    from oxpull_async.app.result import TaskResult
    from oxpull_async.db.contract import Connection
    from oxpull_async.domain.record import TaskRecord

type TaskNamed = Callable[[str], Task[..., Any]]


class NewScheduleKeywords(ScheduleKeywords, total=False):
    """What a stored schedule may say beside its name and its call."""

    paused: bool
    starts_at: datetime | None
    ends_at: datetime | None


class ChangeKeywords(NewScheduleKeywords, total=False):
    """What of a stored schedule may be changed."""

    name: str
    call: Call[Any]


@dataclass(frozen=True, slots=True)
class CodeSchedule(DeclaredSchedule):
    """A schedule declared in code."""

    call: Call[Any]


@dataclass(frozen=True, slots=True)
class SettingsSchedule(DeclaredSchedule):
    """A schedule of the settings, whose task is known by its path."""

    entry: ScheduleEntry


class Scheduling:
    """The schedules that an Oxpull declares, as users write them and workers ask for them."""

    schedules: dict[str, DeclaredSchedule]

    def schedule(
        self, call: Call[Any], *, name: str | None = None, **keywords: Unpack[ScheduleKeywords]
    ) -> DeclaredSchedule:
        """Have a call enqueued at every tick, by whatever worker declares the schedule too.

        `name` is the task's path by default. Keywords: `cron` (five fields) or `every` (seconds or timedelta, at least
        1 s; counted from 1970 and `phase`), `tz` (an IANA name, default UTC), `catch_up` ("latest", "skip" or "all"
        of the ticks that nobody saw in time), `max_age` (seconds or timedelta; older ticks are not caught up),
        `overlap` ("skip" while the task of the tick before has not ended), `repeated_hour` ("once" or "twice").

        Raises: UsageError, InvalidTask or InvalidArguments for what is wrong, TypeError for an unknown keyword.
        """
        ox = cast("Oxpull", self)
        declared = declared_schedule(ox, call, name, keywords)
        self.schedules[declared.name] = declared
        return declared

    def scheduled_calls(self, schedule: StoredSchedule, ticks: int) -> EnqueueCalls:
        """Return the call of a schedule once for each tick; raises what an enqueue of it would."""
        ox = cast("Oxpull", self)
        return scheduled_calls(ox, schedule, ticks, ox.task_named)

    async def run_schedule(self, name: str) -> "TaskResult[Any]":
        """Enqueue the call of a schedule once, now; its ticks and its pause stay as they are.

        Raises: ScheduleDoesNotExist, UsageError for a declared schedule whose declaration is not here, and what an
        enqueue of its call raises.
        """
        ox = cast("Oxpull", self)
        return await ox.enqueuer.enqueue(await ox.call_of_schedule(name))

    async def announce_scheduled(self, records: "Sequence[TaskRecord]") -> None:
        """Wake the workers of the queues of these tasks."""
        for queue_name in sorted({record.queue_name for record in records}):
            await cast("Oxpull", self).announce(queue_name)


class ScheduleOperations(Changes):
    """Stored schedules, and a look at all; each call joins the transaction open here, if one is."""

    @property
    def home(self) -> "Oxpull":
        """The Oxpull whose schedules these are."""
        return cast("Oxpull", self)

    def task_named(self, path: str) -> Task[..., Any]:
        """Return the task of a path; one that is not declared here is known by name only."""
        return self.home.tasks.get(path) or self.home.remote(path)

    async def list_schedules(self) -> list[StoredSchedule]:
        """Return every schedule, declared or stored, in order of name.

        A declared one is there once a worker has seen it.
        """
        return await self.operate(lambda c: schedules.list_schedules(c, self.settings.alias))

    async def get_schedule(self, name: str) -> StoredSchedule:
        """Return a schedule; raises ScheduleDoesNotExist."""
        return await self._change(name, _as_it_is)

    async def call_of_schedule(self, name: str) -> Call[Any]:
        """Return what a schedule calls; raises as `Oxpull.run_schedule` does."""
        row = await self.get_schedule(name)
        if row.declared and name not in self.home.schedules:
            raise UsageError(
                f"the schedule {name!r} is declared in code or settings that are not loaded here: load them"
            )
        return _scheduled_call(self.home, row, self.task_named)

    async def create_schedule(
        self, name: str, call: Call[Any], **keywords: Unpack[NewScheduleKeywords]
    ) -> StoredSchedule:
        """Store a schedule of a call, whose first tick is the next one after `starts_at`.

        That is now by default. Of the call its task's path, arguments, `queue_name` and `priority` are stored, and
        whatever else `using` set is refused. Other keywords: those of `schedule`, `paused`, and `ends_at`, the last
        instant of a tick.

        Raises: ScheduleExists, and UsageError or TypeError for what is wrong.
        """
        new = new_schedule(self, name, call, keywords)
        if not await self.operate(lambda c: schedules.store_schedule(c, new)):
            raise _taken(name)
        await self.wake(ANY_QUEUE)
        return await self.get_schedule(name)

    async def update_schedule(self, schedule: str, **changes: Unpack[ChangeKeywords]) -> StoredSchedule:
        """Change a stored schedule; what is not given stays.

        With another timing or `paused=False` it begins anew: ticks until now are dropped. Another name keeps its place.

        Raises: ScheduleDoesNotExist, ScheduleExists, and UsageError or TypeError for what is wrong.
        """
        refuse_unknown("update_schedule()", changes.keys(), ChangeKeywords.__annotations__)
        found = await self._change(schedule, lambda conn, row: self._updated(conn, row, changes))
        await self.wake(ANY_QUEUE)
        return await self.get_schedule(found.name)

    async def pause_schedule(self, name: str) -> bool:
        """Drop the ticks of a schedule from now on; False when it was paused already.

        Declared ones can be paused too. Raises: ScheduleDoesNotExist.
        """
        return await self._switch(name, paused=True)

    async def resume_schedule(self, name: str) -> bool:
        """Let a paused schedule go on with its next tick; False when it was not paused.

        Raises: ScheduleDoesNotExist.
        """
        return await self._switch(name, paused=False)

    async def delete_schedule(self, name: str) -> bool:
        """Forget a schedule; False when there is none of this name.

        A declared one comes back with the next worker that declares it.
        """

        async def forget(conn: "Connection") -> bool:
            found = await schedules.list_schedules(conn, self.settings.alias, checked_name(name))
            return bool(found) and await schedules.delete(conn, found[0].id)

        return await self.operate(forget)

    async def _switch(self, name: str, *, paused: bool) -> bool:
        async def switch(conn: "Connection", row: StoredSchedule) -> bool:
            if row.paused == paused:
                return False
            changed = replace(row, paused=paused, next_at=None)
            if not await (schedules.change(conn, changed) if paused else schedules.restart(conn, changed)):
                raise Conflict
            return True

        changed = await self._change(name, switch)
        await self.wake(ANY_QUEUE)
        return changed

    async def _change[T](self, name: str, change: "Callable[[Connection, StoredSchedule], Awaitable[T]]") -> T:
        """Read a schedule and change it; where somebody was faster, the caller's `operate` repeats it."""

        async def read(conn: "Connection") -> T:
            found = await schedules.list_schedules(conn, self.settings.alias, checked_name(name))
            if not found:
                raise ScheduleDoesNotExist(f"there is no schedule {name!r}")
            return await change(conn, found[0])

        return await self.operate(read)

    async def _updated(self, conn: "Connection", row: StoredSchedule, changes: ChangeKeywords) -> StoredSchedule:
        if row.declared:
            raise UsageError(f"the schedule {row.name!r} is declared in code or settings: change it there")
        changed = changed_schedule(self, row, changes)
        if changed.name != row.name and (
            changed.name in self.home.schedules or await schedules.list_schedules(conn, row.backend_alias, changed.name)
        ):
            raise _taken(changed.name)
        begins = (changed.ticking.timing, changed.paused) != (row.ticking.timing, row.paused) or "starts_at" in changes
        try:
            async with conn.transaction():
                written = await (
                    schedules.restart(conn, changed, starts_at=changes.get("starts_at"))
                    if begins
                    else schedules.change(conn, replace(changed, next_at=upcoming_tick(changed)))
                )
        except DataRefused:
            if changed.name == row.name:
                raise
            raise _taken(changed.name) from None
        if not written:
            raise Conflict
        return changed


def declared_schedule(ox: "Oxpull", call: Call[Any], name: str | None, keywords: ScheduleKeywords) -> CodeSchedule:
    """Return a schedule of code, checked as an enqueue would check its call.

    Raises: UsageError, InvalidTask or InvalidArguments for what is wrong, TypeError for an unknown keyword.
    """
    refuse_unknown("schedule()", keywords.keys(), ScheduleKeywords.__annotations__)
    _check_call(ox, call)
    own = CodeSchedule(checked_name(call.task.path[-128:] if name is None else name), call.task.path,
                       checked_ticking(keywords), by_path=False, call=call)  # fmt: skip
    known = ox.schedules.get(own.name)
    if known is not None and (known.task_path, known.ticking) != (own.task_path, own.ticking):
        raise UsageError(f"two schedules have the name {own.name!r}: give one of them another by name=…")
    return own


def settings_schedule(entry: ScheduleEntry) -> SettingsSchedule:
    """Return a schedule of the settings."""
    return SettingsSchedule(entry.name, entry.task_path, entry.ticking, by_path=True, entry=entry)


def scheduled_calls(ox: "Oxpull", schedule: StoredSchedule, ticks: int, task_named: TaskNamed) -> EnqueueCalls:
    """Return the call of a schedule once for each tick; raises what an enqueue of it would."""
    return ox.enqueuer.numbered_parts([_scheduled_call(ox, schedule, task_named)] * ticks)


def _scheduled_call(ox: "Oxpull", schedule: StoredSchedule, task_named: TaskNamed) -> Call[Any]:
    """Return the call of a schedule: its declaration's, or the stored one."""
    match ox.schedules.get(schedule.name) if schedule.declared else None:
        case CodeSchedule(call=call):
            return call
        case SettingsSchedule(entry=entry):
            return entry_call(entry, task_named)
        case _:
            return stored_call(schedule, task_named)


def stored_call(schedule: StoredSchedule, task_named: TaskNamed) -> Call[Any]:
    """Return the call of a stored schedule, its arguments as the task's annotations have them."""
    task = task_named(schedule.task_path)
    args, kwargs = json.loads(schedule.args), json.loads(schedule.kwargs)
    if task.body is not None:
        args, kwargs = task.body.codec.decode(args, kwargs)
    return Call(_routed(task, schedule.queue_name, schedule.priority), tuple(args), dict(kwargs))


def new_schedule(
    operations: ScheduleOperations, name: str, call: Call[Any], keywords: NewScheduleKeywords
) -> NewSchedule:
    """Return a schedule that is to be stored, checked."""
    refuse_unknown("create_schedule()", keywords.keys(), NewScheduleKeywords.__annotations__)
    if checked_name(name) in operations.home.schedules:
        raise ScheduleExists(f"the schedule {name!r} is declared in code or settings: choose another name")
    ticking = {key: keywords[key] for key in ScheduleKeywords.__annotations__ if key in keywords}  # type: ignore[literal-required]
    return NewSchedule(
        id=str(uuid_utils.uuid7()),
        backend_alias=operations.settings.alias,
        name=name,
        declared=False,
        ticking=checked_ticking(cast("ScheduleKeywords", ticking)),
        paused=bool(keywords.get("paused")),
        starts_at=checked_run_after(keywords.get("starts_at")),
        ends_at=checked_run_after(keywords.get("ends_at")),
        **_stored_of(operations, call),
    )


def changed_schedule(operations: ScheduleOperations, row: StoredSchedule, changes: ChangeKeywords) -> StoredSchedule:
    """Return a stored schedule with changes in place, checked."""
    said = {key: changes[key] for key in ScheduleKeywords.__annotations__ if key in changes}  # type: ignore[literal-required]
    given: dict[str, Any] = {**_as_keywords(row.ticking), **said}
    if "every" in said and "cron" not in said:
        given["cron"] = None
    elif "cron" in said and "every" not in said:
        given |= {"every": None, "phase": None}
    changed = replace(row, ticking=checked_ticking(cast("ScheduleKeywords", given)))
    if "call" in changes:
        changed = replace(changed, **_stored_of(operations, changes["call"]))
    if "name" in changes:
        changed = replace(changed, name=checked_name(changes["name"]))
    if "ends_at" in changes:
        changed = replace(changed, ends_at=checked_run_after(changes["ends_at"]))
    return replace(changed, paused=bool(changes.get("paused", row.paused)))


def _taken(name: str) -> ScheduleExists:
    return ScheduleExists(f"there is a schedule {name!r} already: choose another name, or change that one")


def _as_keywords(ticking: Ticking) -> dict[str, Any]:
    timing = ticking.timing
    return {
        "cron": timing.cron, "every": timing.every, "phase": None if timing.every is None else timing.phase,
        "tz": timing.tz, "repeated_hour": timing.repeated_hour, "catch_up": ticking.catch_up,
        "max_age": ticking.max_age, "overlap": ticking.overlap,
    }  # fmt: skip


def _stored_of(operations: ScheduleOperations, call: Call[Any]) -> dict[str, Any]:
    """Return what a row keeps of a call; raises UsageError where that is not all of it."""
    parts = _check_call(operations.home, call)
    task, plain = call.task, operations.task_named(call.task.path)
    if _routed(plain, task.options.queue_name, task.options.priority).options != task.options:
        raise UsageError(f"a stored schedule of {task.path} keeps queue_name and priority only of what using() sets")
    [new] = [task for _, task in parts.tasks()]
    queue, priority = task.options.queue_name, task.options.priority
    return {
        "task_path": task.path,
        "args": new.args,
        "kwargs": new.kwargs,
        "queue_name": None if queue == plain.options.queue_name else queue,
        "priority": None if priority == plain.options.priority else priority,
    }


def _check_call(ox: "Oxpull", call: Call[Any]) -> EnqueueCalls:
    if not isinstance(call, Call):
        raise InvalidTask(f"{call!r:.80} is no call: pass task.call(…)")
    if call.task.options.run_after is not None:
        raise InvalidTask(f"{call.task.path}: run_after does not go with a schedule, whose ticks say when")
    return ox.enqueuer.parts(call)


def entry_call(entry: ScheduleEntry, task_named: TaskNamed) -> Call[Any]:
    """Return the call of a schedule of the settings."""
    task = task_named(entry.task_path)
    args, kwargs = list(entry.args), dict(entry.kwargs)
    if task.body is not None:
        decoded = task.body.codec.decode(args, kwargs)
        return Call(_routed(task, entry.queue_name, entry.priority), tuple(decoded[0]), dict(decoded[1]))
    return Call(_routed(task, entry.queue_name, entry.priority), tuple(args), kwargs)


def _routed(task: Any, queue_name: str | None, priority: int | None) -> Any:
    changes = {"queue_name": queue_name, "priority": priority}
    return task.using(**{key: value for key, value in changes.items() if value is not None})


async def _as_it_is(_conn: "Connection", row: StoredSchedule) -> StoredSchedule:
    return row
