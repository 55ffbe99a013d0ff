"""C1 to C4: what an enqueue of a unique task gets, alone and in bulk, and what it leaves behind."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import DataRefused, LockTimeout, UniqueEnqueueRace
from oxpull_async.domain.outcome import Released, Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.unique import Unique
from oxpull_async.store.operate import PruneRequest, discard, prune_step, retry
from oxpull_async.store.unique import enqueue_unique, enqueue_unique_many, find
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.conformance.conftest import Clock
from tests.conformance.meanwhile import Meanwhile
from tests.conformance.spy import Spy
from tests.fixtures import make, raw

RAISE = Unique(on_duplicate="raise")
REPLACE = Unique(on_duplicate="replace")
DEBOUNCE = Unique(on_duplicate="debounce", wait=60, max_wait=100)
RERUN = Unique(on_duplicate="rerun")
STARTED = Unique(until="started")
EXPIRED = Unique(until="expired", ttl=300)
LOCK: make.Options = {"lock_key": "lock", "lock_limit": 1, "lock_conflict": "wait"}
"""With a running lock a holder is not rewritten by one statement: there is a lock that it may leave."""
WRITING = {"find_holders", "find_holder", "isolation_level", "get_tasks", "insert_unique_task", "free_key"}
"""What a plain duplicate may send: `insert_unique_task` finds the key taken and writes nothing."""


async def put(conn: Connection, unique: Unique = make.PLAIN, **options: object) -> UniqueAnswer:
    return await enqueue_unique(conn, make.unique_call(unique, **options))  # type: ignore[arg-type]


async def holder(conn: Connection, key: str = make.KEY) -> str:
    return (await find(conn, [key]))[key].holder_id


async def test_the_answer_of_a_fresh_enqueue_is_the_stored_record(conn: Connection) -> None:
    options: make.Options = {"args": '["\u00e9", 1.0]', "kwargs": '{"a": null}', "priority": 3, "queue_name": "mail"}
    answers = [await put(conn, **options), await put(conn, DEBOUNCE, key="later"), await put(conn, RERUN, key="again")]
    for answer in answers:
        assert (answer.created, answer.changed, answer.refused) == (True, True, False)
        assert await make.record(conn, answer.record.id) == answer.record
    assert answers[1].record.run_after == answers[1].record.available_at


async def test_a_fresh_task_is_claimed_like_any_other(conn: Connection) -> None:
    answer = await put(conn, RERUN)
    [claimed] = await make.claimed(conn, await make.worker(conn))
    assert (claimed.id, claimed.rerun_key) == (answer.record.id, make.KEY)


async def test_only_tasks_declared_to_rerun_carry_their_key_to_the_worker(conn: Connection) -> None:
    await put(conn)
    [claimed] = await make.claimed(conn, await make.worker(conn))
    assert claimed.rerun_key is None


@pytest.mark.parametrize("unique", [make.PLAIN, STARTED, EXPIRED], ids=lambda unique: str(unique.until))
async def test_a_duplicate_is_answered_with_the_holder_and_writes_nothing(conn: Connection, unique: Unique) -> None:
    first = await put(conn, unique)
    spy = Spy(conn)
    second = await put(spy, unique, args="[2]")
    assert (second.created, second.changed, second.refused) == (False, False, False)
    assert second.record == first.record == await make.record(conn, first.record.id)
    assert {name for name, _ in spy.sent} <= WRITING
    assert await raw.count_tasks(conn) == 1


async def test_a_duplicate_is_refused_where_the_rule_raises(conn: Connection) -> None:
    first = await put(conn, RAISE)
    second = await put(conn, RAISE, args="[2]")
    assert (second.created, second.refused, second.record) == (False, True, first.record)
    assert await raw.count_tasks(conn) == 1


async def test_replace_gives_the_holder_everything_of_the_newest_call(conn: Connection, clock: Clock) -> None:
    first = (await put(conn, REPLACE, priority=1)).record
    later = first.enqueued_at + timedelta(seconds=500)
    lock: make.Options = {"lock_key": "lock", "lock_limit": 1, "lock_conflict": "wait"}
    clock.advance(5)
    answer = await put(conn, REPLACE, args="[2]", kwargs='{"b": 1}', priority=9, run_after=later, **lock)
    assert (answer.created, answer.changed) == (False, True)
    assert answer.record == await make.record(conn, first.id)
    assert answer.record == replace(first, args=[2], kwargs={"b": 1}, priority=9, run_after=later, available_at=later)
    back = await put(conn, REPLACE, args="[3]")
    assert back.record == replace(first, args=[3], priority=0)
    assert [task.lock_key for task in await make.claimed(conn, await make.worker(conn))] == [None]


async def test_C4_new_arguments_unpark_a_task_that_waits_for_its_running_lock(conn: Connection) -> None:
    await put(conn, REPLACE, lock_key="lock", lock_limit=1, lock_conflict="wait")
    task_id = await holder(conn)
    await raw.change(conn, task_id, "status = 'WAITING', waiting_for = 'lock', due = NULL")
    answer = await put(conn, REPLACE, args="[2]")
    assert (answer.record.status, answer.record.waiting_for) == (TaskStatus.READY, None)
    assert [task.id for task in await make.claimed(conn, await make.worker(conn))] == [task_id]


@pytest.mark.parametrize("unique", [REPLACE, DEBOUNCE, RERUN], ids=lambda unique: unique.on_duplicate)
async def test_C4_an_updating_mode_keeps_the_holder_from_starting_before_the_commit(
    conn: Connection, other: Connection, unique: Unique
) -> None:
    task_id = (await put(conn, unique)).record.id
    await raw.change(conn, task_id, "due = 1")
    worker = await make.worker(conn)
    await raw.hurry(other)
    async with conn.transaction():
        assert (await put(conn, unique)).record.id == task_id
        try:
            assert await make.claimed(other, worker) == []
        except LockTimeout:
            assert not conn.dialect.skips_locked


async def test_C4_an_attempt_that_was_given_back_counts_as_not_started(conn: Connection) -> None:
    first = (await put(conn, REPLACE)).record
    [claimed] = await make.claimed(conn, await make.worker(conn))
    assert (await put(conn, REPLACE, args="[2]")).changed is False
    await make.settled(conn, claimed, Released())
    answer = await put(conn, REPLACE, args="[3]")
    assert (answer.record.id, answer.record.args, answer.created) == (first.id, [3], False)


async def test_debounce_moves_the_holder_and_never_past_its_longest_wait(conn: Connection, clock: Clock) -> None:
    """The database's clock is read before and after each enqueue, so that it may take as long as it likes."""
    wait, longest = timedelta(seconds=60), timedelta(seconds=100)
    started, first, began = await make.moment(conn), (await put(conn, DEBOUNCE)).record, await make.moment(conn)
    for seconds in (0, 30, 30, 30, 600):
        clock.advance(seconds)
        before, moved = await make.moment(conn), (await put(conn, DEBOUNCE)).record
        after = await make.moment(conn)
        assert moved.id == first.id
        assert min(before + wait, started + longest) <= moved.available_at <= min(after + wait, began + longest)


async def test_rerun_adds_one_follow_up_to_a_holder_that_has_started(conn: Connection) -> None:
    first = await put(conn, RERUN)
    await make.claimed(conn, await make.worker(conn))
    second, third = await put(conn, RERUN, args="[2]"), await put(conn, RERUN, args="[3]")
    assert (second.created, second.record.status, second.record.waiting_for) == (True, "WAITING", "follow_up")
    assert (third.created, third.changed, third.record.id, third.record.args) == (False, True, second.record.id, [3])
    assert third.record.status is TaskStatus.WAITING
    found = (await find(conn, [make.KEY]))[make.KEY]
    assert (found.holder_id, found.follow_up_id) == (first.record.id, second.record.id)
    assert await raw.count_tasks(conn) == 2


@pytest.mark.parametrize("status", [status for status in TaskStatus if status.is_finished], ids=str)
async def test_a_holder_that_has_ended_frees_its_key(conn: Connection, status: TaskStatus) -> None:
    ended = await make.BUILDERS[status](conn, unique_key=make.KEY)
    await raw.hold_key(conn, make.KEY, ended.id)
    answer = await put(conn, RAISE)
    assert answer.created
    assert await holder(conn) == answer.record.id != ended.id
    assert await make.record(conn, ended.id) == ended


async def test_a_holder_whose_row_was_deleted_by_hand_frees_its_key(conn: Connection) -> None:
    first = await put(conn)
    await raw.delete(conn, first.record.id)
    assert (await put(conn)).created


async def test_a_key_held_until_the_start_is_free_while_the_holder_runs(conn: Connection) -> None:
    first = await put(conn, STARTED)
    await make.claimed(conn, await make.worker(conn))
    second = await put(conn, STARTED)
    assert (second.created, second.record.status) == (True, TaskStatus.READY)
    assert await holder(conn) == second.record.id != first.record.id


async def test_a_ttl_ends_the_window_early(conn: Connection, clock: Clock) -> None:
    first = await put(conn, Unique(ttl=30))
    clock.advance(29)
    assert (await put(conn, Unique(ttl=30))).record.id == first.record.id
    clock.advance(2)
    assert (await put(conn, Unique(ttl=30))).created
    clock.advance(29)
    assert not (await put(conn, Unique(ttl=30))).created


async def test_C2_a_key_held_until_it_expires_outlives_its_task_and_a_prune(conn: Connection, clock: Clock) -> None:
    ended = await make.successful(conn, unique_key=make.KEY)
    await raw.hold_key(conn, make.KEY, ended.id)
    await raw.change_key(conn, make.KEY, "expires_at = '2999-01-01 00:00:00.000000'")
    clock.advance(100)
    await prune_step(conn, PruneRequest(10, ("SUCCESSFUL",), 10, dry_run=False), None)
    answer = await put(conn, EXPIRED)
    assert (answer.created, answer.record.id) == (False, ended.id)
    await raw.change_key(conn, make.KEY, "expires_at = '2001-01-01 00:00:00.000000'")
    assert (await put(conn, EXPIRED)).created


@pytest.mark.parametrize("status", [status for status in TaskStatus if status is not TaskStatus.WAITING], ids=str)
async def test_C2_a_key_that_was_taken_without_a_ttl_is_not_held_until_it_expires(
    conn: Connection, status: TaskStatus
) -> None:
    """A rule that becomes `expired` on a live system finds keys of ended tasks, which must not be held for ever."""
    task = await make.BUILDERS[status](conn, unique_key=make.KEY)
    await raw.hold_key(conn, make.KEY, task.id)
    answer = await put(conn, EXPIRED)
    assert answer.created is status.is_finished
    assert (await put(conn, EXPIRED)).record == answer.record


async def test_C1_a_retried_former_holder_runs_without_the_key(conn: Connection) -> None:
    former = await make.failed(conn, unique_key=make.KEY)
    await raw.hold_key(conn, make.KEY, former.id)
    now = (await put(conn)).record
    assert await retry(conn, [former.id], include_discarded=False) == 1
    assert (await put(conn)).record.id == now.id
    assert {task.id for task in await make.claimed(conn, await make.worker(conn))} == {former.id, now.id}


@pytest.mark.parametrize("other_key", ["Unique", "unique ", "\u00fcnique", "uniqu"])
async def test_keys_are_compared_byte_for_byte(conn: Connection, other_key: str) -> None:
    await put(conn)
    assert (await put(conn, key=other_key)).created


async def test_a_key_goes_with_the_transaction_that_takes_it(conn: Connection, other: Connection) -> None:
    async with raw.taken_back(conn):
        first = await put(conn)
        assert (await put(conn)).record == first.record
    assert await find(other, [make.KEY]) == {}
    assert (await put(other)).created


async def test_a_task_that_is_refused_takes_no_key(conn: Connection) -> None:
    for call in (make.unique_call(args="{"), make.unique_call(REPLACE, args="{")):
        with pytest.raises(DataRefused):
            await enqueue_unique(conn, call)
    assert await find(conn, [make.KEY]) == {}
    assert await raw.count_tasks(conn) == 0


async def test_a_task_that_is_refused_leaves_the_transaction_around_it_usable(conn: Connection) -> None:
    async with conn.transaction():
        with pytest.raises(DataRefused):
            await put(conn, args="{")
        assert (await put(conn)).created
    assert await raw.count_tasks(conn) == 1


async def test_A16_an_enqueue_that_waits_in_vain_for_another_one_is_a_lock_timeout(
    conn: Connection, other: Connection
) -> None:
    await raw.hurry(other)
    async with conn.transaction():
        first = await put(conn)
        with pytest.raises(LockTimeout):
            await put(other)
    assert (await put(other)).record.id == first.record.id


async def test_C6_inside_a_transaction_it_is_a_race_that_the_transaction_survives(
    conn: Connection, other: Connection
) -> None:
    if not conn.dialect.skips_locked:
        return  # a transaction that is open is the only one that writes
    await raw.hurry(other)
    async with other.transaction():
        mine = await put(other, key="mine")
        async with conn.transaction():
            await put(conn)
            with pytest.raises(UniqueEnqueueRace) as caught:
                await put(other)
        assert isinstance(caught.value.__cause__, LockTimeout)
        assert caught.value.transaction_survived
        assert not (await put(other)).created
    assert (await make.record(conn, mine.record.id)).status is TaskStatus.READY


async def test_a_duplicate_of_a_task_that_is_not_committed_yet_writes_nothing_when_that_is_rolled_back(
    conn: Connection, other: Connection
) -> None:
    await raw.hurry(other)
    async with raw.taken_back(conn):
        await put(conn)
        with pytest.raises(LockTimeout):
            await put(other, REPLACE)
    assert await raw.count_tasks(other) == 0


async def test_find_knows_only_the_keys_that_have_a_lock_row(conn: Connection) -> None:
    first = await put(conn)
    found = await find(conn, [make.KEY, "nobody's"])
    assert list(found) == [make.KEY]
    assert (found[make.KEY].holder_id, found[make.KEY].holder) == (first.record.id, first.record)
    assert (found[make.KEY].follow_up_id, found[make.KEY].is_expired) == (None, None)


async def test_a_free_key_that_is_taken_between_the_look_and_the_lock_is_met(conn: Connection) -> None:
    for statement in ("find_holders", "free_key"):
        key = f"taken after {statement}"
        met = Meanwhile(conn, statement, partial(put, key=key))
        if statement == "find_holders":
            answer = (await enqueue_unique_many(met, [make.unique_call(key=key)]))[0]
        else:
            answer = await put(met, key=key)
        assert answer.created is not met.has_happened
        assert await holder(conn, key) == answer.record.id


async def test_C4_a_holder_that_starts_between_the_look_and_the_lock_keeps_its_arguments(conn: Connection) -> None:
    first = (await put(conn, REPLACE)).record
    worker = await make.worker(conn)
    look = "insert_unique_task" if conn.dialect.enqueues_unique_at_once else "find_holder"
    met = Meanwhile(conn, look, lambda conn: make.claimed(conn, worker))
    answer = await put(met, REPLACE, args="[2]")
    assert (answer.created, answer.changed, answer.record.id, answer.record.args) == (False, False, first.id, [])
    assert answer.record.status is TaskStatus.RUNNING


async def test_a_holder_that_ends_between_the_look_and_the_lock_frees_its_key(conn: Connection) -> None:
    first = (await put(conn, REPLACE, **LOCK)).record
    met = Meanwhile(conn, "find_holder", lambda conn: discard(conn, [first.id]))
    answer = await put(met, REPLACE, args="[2]")
    assert (answer.created, answer.record.id != first.id) == (True, True)
    assert (await make.record(conn, first.id)).args == []


async def test_C1_a_follow_up_of_a_holder_that_ends_between_the_look_and_the_lock_is_no_orphan(
    conn: Connection,
) -> None:
    await put(conn, RERUN)
    [claimed] = await make.claimed(conn, await make.worker(conn))
    met = Meanwhile(conn, "find_holder", lambda conn: make.settled(conn, claimed, Succeeded("1")))
    answer = await put(met, RERUN, args="[2]")
    assert (answer.created, answer.record.status) == (True, TaskStatus.READY)
    assert await holder(conn) == answer.record.id
