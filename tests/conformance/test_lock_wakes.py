"""B1: a wake is never lost: not with a rewrite, not behind a queue that stands, and never at others' expense."""

import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async.db.contract import Connection, Row, Scalar
from oxpull_async.domain.errors import Conflict
from oxpull_async.domain.record import TaskId
from oxpull_async.domain.unique import Unique
from oxpull_async.store import locks, operate
from oxpull_async.store.clean import clean_locks
from oxpull_async.store.unique import enqueue_unique, enqueue_unique_many
from tests.conformance.wrapper import Wrapper
from tests.drivers.locks_kit import end, locked, statuses, stored, take
from tests.fixtures import make, raw

REPLACE = Unique(on_duplicate="replace")
DEBOUNCE = Unique(on_duplicate="debounce", wait=60)
RERUN = Unique(on_duplicate="rerun")
LOCK: make.Options = {"lock_key": "k", "lock_limit": 1, "lock_conflict": "wait"}
OTHER: make.Options = {"lock_key": "other", "lock_limit": 1, "lock_conflict": "wait"}
type Action = Callable[[Connection, Sequence[TaskId]], Awaitable[int]]
LATER = datetime.now(UTC) + timedelta(days=1)


async def woken(conn: Connection, unique: Unique = REPLACE) -> list[TaskId]:
    """Store a task of a unique key that its running lock has woken, and one that waits behind it."""
    worker = await make.worker(conn)
    [holder] = await stored(conn, locked(priority=9))
    unique_task = make.unique_call(unique, **LOCK | {"priority": 5})
    unique_id = (await enqueue_unique(conn, unique_task)).record.id
    if unique.wait is not None:
        await raw.change(conn, unique_id, "due = 1")
    ids = [holder, unique_id, *await stored(conn, locked())]
    [running] = await take(conn, worker)
    assert await statuses(conn, ids) == "RWW"
    await end(conn, running)
    assert await statuses(conn, ids) == "SDW"
    return ids[1:]


@pytest.mark.parametrize("unique", [REPLACE, RERUN], ids=lambda unique: str(unique.on_duplicate))
@pytest.mark.parametrize("options", [OTHER, {}, LOCK | {"run_after": LATER}], ids=["another", "none", "later"])
async def test_C4_a_woken_task_that_is_rewritten_away_hands_its_wake_on(
    conn: Connection, unique: Unique, options: make.Options
) -> None:
    ids = await woken(conn, unique)
    answer = await enqueue_unique(conn, make.unique_call(unique, **options | {"args": "[2]"}))
    assert (answer.changed, answer.record.id) == (True, ids[0])
    assert await statuses(conn, ids) == "DD"


async def test_C4_a_woken_task_that_is_put_off_by_debounce_hands_its_wake_on(conn: Connection) -> None:
    ids = await woken(conn, DEBOUNCE)
    await enqueue_unique(conn, make.unique_call(DEBOUNCE, **LOCK))
    assert await statuses(conn, ids) == "DD"
    assert [task.id for task in await take(conn, await make.worker(conn))] == ids[1:]


async def test_C4_rewritten_tasks_of_a_bulk_call_hand_on_each(conn: Connection) -> None:
    worker = await make.worker(conn)
    wide: make.Options = LOCK | {"lock_limit": 2}
    calls = [make.unique_call(REPLACE, key=key, position=at, **wide) for at, key in enumerate("ab")]
    await stored(conn, *[locked(limit=2, priority=9) for _ in range(2)])
    ids = [answer.record.id for answer in (await enqueue_unique_many(conn, calls)).values()]
    ids += await stored(conn, *[locked(limit=2) for _ in range(3)])
    await end(conn, *await take(conn, worker))
    assert await statuses(conn, ids) == "DDWWW"
    await enqueue_unique_many(conn, [make.unique_call(REPLACE, key=key, position=at) for at, key in enumerate("ab")])
    assert await statuses(conn, ids) == "DDDDW"


async def test_C4_a_woken_task_that_keeps_its_lock_keeps_its_wake(conn: Connection) -> None:
    ids = await woken(conn)
    await enqueue_unique(conn, make.unique_call(REPLACE, **LOCK | {"args": "[2]"}))
    assert await statuses(conn, ids) == "DW"


async def test_C4_a_rewrite_that_is_rolled_back_wakes_nobody(conn: Connection) -> None:
    ids = await woken(conn)
    async with raw.taken_back(conn):
        await enqueue_unique(conn, make.unique_call(REPLACE, **OTHER))
        assert await statuses(conn, ids) == "DD"
    assert await statuses(conn, ids) == "DW"


@pytest.mark.parametrize("rewrites", [True, False], ids=["rewrite", "discard"])
async def test_a_callers_transaction_that_hands_a_wake_on_keeps_no_claim_of_the_lock_waiting(
    conn: Connection, other: Connection, *, rewrites: bool
) -> None:
    if not conn.dialect.skips_locked:
        return  # one writer at a time, whatever it does
    ids = await woken(conn)
    ids += await stored(conn, locked(priority=-9))
    await raw.hurry(other)
    async with conn.transaction():
        if rewrites:
            await enqueue_unique(conn, make.unique_call(REPLACE, **OTHER))
        else:
            await operate.discard(conn, ids[:1])
        assert [task.id for task in await take(other, await make.worker(other))] == ids[2:]
    assert (await statuses(conn, ids))[1:] == "DR"


async def test_a_snapshot_leaves_the_wake_of_a_rewritten_task_to_the_workers(
    conn: Connection, other: Connection
) -> None:
    if not conn.dialect.skips_locked:
        return  # its transactions always see the newest rows
    ids = await woken(conn)
    ids += await stored(conn, locked(priority=50), locked(priority=50))
    await raw.hurry(other)
    async with raw.snapshot(conn):
        await raw.change(other, ids[1], "priority = 1")
        await enqueue_unique(conn, make.unique_call(REPLACE, **OTHER))
        assert len(await take(other, await make.worker(other))) == 1
    assert await statuses(conn, ids) == "DWRW"
    await raw.change(conn, ids[2], "status = 'LOST', leased_by = NULL")
    assert await locks.hand_over_idle(conn, 10) == 1


async def test_B1_waiters_of_a_free_slot_are_found_beside_a_row_that_nobody_serves(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked(), locked(queue_name="stands"))
    [holder] = await take(conn, worker)
    await end(conn, holder)
    await raw.change(conn, ids[1], "status = 'WAITING', waiting_for = 'lock', due = NULL")  # as a wake that was lost
    assert await statuses(conn, ids) == "SWD"
    assert await locks.hand_over_idle(conn, 100) == 1
    assert await statuses(conn, ids) == "SDD"
    assert await locks.hand_over_idle(conn, 100) == 0


async def test_A5_the_oldest_of_a_lock_starts_in_the_hour_that_the_clocks_go_back(conn: Connection) -> None:
    instants = [datetime(2025, 10, 26, 0, 30, tzinfo=UTC), datetime(2025, 10, 26, 1, 10, tzinfo=UTC)]
    ids = await stored(conn, *[locked(run_after=instant) for instant in instants])
    async with raw.away_from_utc(conn, zone="Europe/Berlin"):
        assert [task.id for task in await take(conn, await make.worker(conn))] == ids[:1]


class Between(Wrapper):
    """A Connection on which a task has been woken between the look at what hangs on it and what follows."""

    def __init__(self, inner: Connection, woken: TaskId) -> None:
        super().__init__(inner)
        self.woken = woken

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        rows = await super().fetch(statement, **values)
        if statement == "keys_of_tasks":
            await raw.change(self.inner, self.woken, "status = 'READY', waiting_for = NULL, due = 1")
        return rows


@pytest.mark.parametrize("woken_meanwhile", [True, False])
@pytest.mark.parametrize("action", [operate.discard, operate.cancel])
async def test_B1_only_an_ended_task_that_was_woken_hands_on(
    conn: Connection, action: Action, *, woken_meanwhile: bool
) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(limit=2), *[locked(limit=2) for _ in range(4)])
    await end(conn, (await take(conn, worker))[0]._replace(lock_key=None))
    assert await statuses(conn, ids) == "SRWWW"
    assert await action(Between(conn, ids[2]) if woken_meanwhile else conn, [ids[2]]) == 1
    assert await statuses(conn, ids) == ("SRXDW" if woken_meanwhile else "SRXWW")


class Vanishing(Wrapper):
    """A Connection on which the lock rows just made are gone again."""

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        made = await super().execute(statement, **values)
        if statement == "insert_locks":
            await super().execute("delete_locks", **values)
        return made


async def test_a_lock_row_that_vanishes_while_it_is_taken_admits_nobody(conn: Connection) -> None:
    ids = await stored(conn, locked())
    with pytest.raises(Conflict, match="vanished"):
        await take(Vanishing(conn), await make.worker(conn))
    assert await statuses(conn, ids) == "D"


async def test_cleaning_lock_rows_waits_for_nobodys_tasks(conn: Connection, other: Connection) -> None:
    if not conn.dialect.skips_locked:
        return  # one writer at a time, whatever it does
    worker = await make.worker(conn)
    await stored(conn, locked("idle"), locked("busy"), locked("ending"))
    idle, _, ending = await take(conn, worker)
    await end(conn, idle)
    await raw.hurry(other)
    async with conn.transaction():
        await stored(conn, locked("idle"), locked("new"))
        await end(conn, ending)
        assert (await clean_locks(other, make.pruning(10), None)).removed == 1
    assert (await clean_locks(other, make.pruning(10), None)).removed == 1
    assert {row[0] for row in await conn.fetch("lock_locks", keys=json.dumps(["busy", "ending", "idle"]))} == {"busy"}
