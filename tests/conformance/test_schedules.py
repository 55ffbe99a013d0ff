"""Schedules: a row of its own for each name, and each tick once, whoever comes first."""

from dataclasses import replace
from datetime import timedelta

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.schedule import DueTicks, StoredSchedule, Ticking
from oxpull_async.domain.timing import Timing
from oxpull_async.store import schedules, ticks
from oxpull_async.store.enqueue_calls import EnqueueCalls
from oxpull_async.store.results import get_task
from tests.fixtures import make
from tests.fixtures import schedules as planned

HOUR = timedelta(hours=1)


def one_call() -> EnqueueCalls:
    return EnqueueCalls({0: make.new_task()}, [])


async def test_a_schedule_is_read_back_as_it_was_stored(conn: Connection) -> None:
    ticking = Ticking(Timing(cron="*/5 * * * *", tz="Europe/Paris"), "all", 600.0, "skip")
    found = await planned.stored(conn, "nightly", ticking=ticking)
    assert (found.ticking, found.task_path, found.starts_at) == (ticking, make.PATH, planned.START)
    assert found.next_at == ticking.timing.after(planned.START)
    assert (found.paused, found.declared, found.last_tick_at) == (False, False, None)


async def test_a_name_is_taken_once(conn: Connection) -> None:
    await planned.stored(conn, "nightly")
    assert not await schedules.store_schedule(conn, planned.new("nightly"))
    assert len(await schedules.list_schedules(conn, make.ALIAS)) == 1


async def test_a_paused_schedule_is_due_never(conn: Connection) -> None:
    await planned.stored(conn, "paused", paused=True)
    await planned.stored(conn, "open")
    found = await ticks.outlook(conn, make.ALIAS)
    assert [upcoming.is_due for upcoming in found] == [True]
    assert list(await ticks.overdue(conn, make.ALIAS)) == ["open"]


async def test_a_tick_is_enqueued_by_the_first_who_comes(conn: Connection) -> None:
    schedule = await planned.stored(conn, "nightly")
    due = DueTicks((planned.START + HOUR,), planned.START + HOUR, planned.START + 2 * HOUR)
    first = await ticks.fire(conn, schedule, due, one_call())
    assert first is not None
    assert await ticks.fire(conn, schedule, due, one_call()) is None
    [record] = first.records
    after = await planned.read(conn, "nightly")
    assert (after.last_tick_at, after.next_at, after.last_task_id) == (due.reached, due.next_at, record.id)
    stored = await get_task(conn, record.id)
    assert stored is not None
    assert stored.status is TaskStatus.READY


async def test_a_tick_that_was_noted_is_not_enqueued_again_by_a_row_stored_anew(conn: Connection) -> None:
    schedule = await planned.stored(conn, "nightly")
    due = DueTicks((planned.START + HOUR,), planned.START + HOUR, None)
    await ticks.fire(conn, schedule, due, one_call())
    assert await schedules.delete(conn, schedule.id)
    assert not await schedules.delete(conn, schedule.id)
    again = await ticks.fire(conn, await planned.stored(conn, "nightly"), due, one_call())
    assert again is not None
    assert again.records == ()


async def test_an_overlapping_tick_enqueues_nothing(conn: Connection) -> None:
    schedule = await planned.stored(conn, "nightly", ticking=replace(planned.HOURLY, overlap="skip"))
    first = DueTicks((planned.START + HOUR,), planned.START + HOUR, None)
    await ticks.fire(conn, schedule, first, one_call())
    second = DueTicks((planned.START + 2 * HOUR,), planned.START + 2 * HOUR, None)
    fired = await ticks.fire(conn, await planned.read(conn, "nightly"), second, one_call())
    assert fired is not None
    assert (fired.overlapped, fired.records) == (True, ())


async def test_who_changes_a_schedule_that_was_changed_since_is_told(conn: Connection) -> None:
    schedule = await planned.stored(conn, "nightly")
    assert await schedules.change(conn, replace(schedule, priority=5))
    assert not await schedules.change(conn, replace(schedule, priority=6))
    assert (await planned.read(conn, "nightly")).priority == 5


async def test_a_retimed_declaration_begins_anew_and_an_equal_one_writes_nothing(conn: Connection) -> None:
    new = planned.new("declared", declared=True)
    assert await schedules.declare(conn, new, None)
    known = await planned.read(conn, "declared")
    assert await schedules.declare(conn, new, known)
    assert await planned.read(conn, "declared") == known
    retimed = replace(new, ticking=Ticking(Timing(every=60.0)))
    assert await schedules.declare(conn, retimed, known)
    changed = await planned.read(conn, "declared")
    assert changed.ticking == retimed.ticking
    assert changed.starts_at > known.starts_at


async def test_a_declaration_that_comes_too_late_is_told(conn: Connection) -> None:
    known = await planned.declared(conn, "declared")
    assert await schedules.change(conn, replace(known, priority=5))
    retimed = planned.new("declared", declared=True, ticking=Ticking(Timing(every=60.0)))
    assert not await schedules.declare(conn, retimed, known)
    assert not await schedules.declare(conn, retimed, None)
    assert await schedules.declare(conn, retimed, await planned.read(conn, "declared"))


async def test_a_tick_that_was_noted_before_leaves_the_schedule_with_a_task_that_is_there(conn: Connection) -> None:
    schedule = await planned.stored(conn, "nightly", ticking=replace(planned.HOURLY, overlap="skip"))
    first = DueTicks((planned.START + HOUR,), planned.START + HOUR, None)
    fired = await ticks.fire(conn, schedule, first, one_call())
    assert fired is not None
    [running] = fired.records
    noted_again = await ticks.fire(conn, await put_back(conn), first, one_call())
    assert noted_again is not None
    assert noted_again.records == ()
    assert (await planned.read(conn, "nightly")).last_task_id == running.id
    second = DueTicks((planned.START + 2 * HOUR,), planned.START + 2 * HOUR, None)
    overlapping = await ticks.fire(conn, await planned.read(conn, "nightly"), second, one_call())
    assert overlapping is not None
    assert overlapping.overlapped


async def put_back(conn: Connection) -> StoredSchedule:
    """Have a clock that was put back forget the last tick, and with it its task."""
    assert await schedules.change(conn, replace(await planned.read(conn, "nightly"), last_tick_at=None))
    return replace(await planned.read(conn, "nightly"), last_task_id=None)


async def test_declared_schedules_that_nobody_serves_for_long_are_forgotten(conn: Connection) -> None:
    await planned.declared(conn, "removed")
    await planned.declared(conn, "paused", paused=True)
    await planned.stored(conn, "stored")
    assert await schedules.forget_unserved(conn, "other", 3600) == 0
    assert await schedules.forget_unserved(conn, make.ALIAS, 1e9) == 0
    assert await schedules.forget_unserved(conn, make.ALIAS, 3600) == 1
    assert [schedule.name for schedule in await schedules.list_schedules(conn, make.ALIAS)] == ["paused", "stored"]


async def test_noted_ticks_are_pruned_by_age_in_bounded_steps(conn: Connection) -> None:
    schedule = await planned.stored(conn, "nightly")
    moments = tuple(planned.START + number * HOUR for number in range(1, 4))
    calls = EnqueueCalls({at: make.new_task() for at in range(3)}, [])
    await ticks.fire(conn, schedule, DueTicks(moments, moments[-1], None), calls)
    assert await ticks.prune_ticks(conn, 3600, 10) == 0
    assert await ticks.prune_ticks(conn, -1, 2) == 2
    assert await ticks.prune_ticks(conn, -1, 2) == 1
