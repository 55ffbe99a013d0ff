"""B1, B2: at most so many attempts of a lock at once, nobody waits for a free slot, and who holds it is told."""

import json
from contextlib import suppress
from dataclasses import replace

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import LockTimeout
from oxpull_async.domain.outcome import Failed, Outcome, Released, Snoozed, Succeeded
from oxpull_async.domain.record import ClaimedTask, TaskStatus, wire_id
from oxpull_async.store import lease, locks, operate, queues
from oxpull_async.store.claim import claim, make_way
from tests.drivers.locks_kit import DONE, Gated, end, locked, statuses, stored, take
from tests.fixtures import make, raw

OUTCOMES = [Succeeded("1"), Failed("{}", None), Failed("{}", 60.0), Snoozed(60.0), Released()]


async def test_the_best_of_a_key_start_up_to_its_limit(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, *[locked(limit=3, priority=priority) for priority in (0, 1, 2, 3, 4)])
    assert [task.id for task in await take(conn, worker)] == ids[:1:-1]
    assert await statuses(conn, ids) == "WWRRR"
    assert await take(conn, worker) == []


async def test_rows_without_a_lock_and_other_keys_pass_a_full_key(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked("a"), locked("a"), make.new_task(), locked("b"), make.new_task(), locked("a"))
    assert [task.id for task in await take(conn, worker)] == [ids[0], *ids[2:5]]
    assert await statuses(conn, ids) == "RWRRRW"


async def test_A5_free_and_admitted_rows_start_in_one_order(conn: Connection) -> None:
    worker = await make.worker(conn)
    tasks = [locked(key, priority=priority) for key, priority in (("a", 9), ("a", 8), ("b", 5), ("c", 1))]
    tasks += [make.new_task(priority=priority) for priority in (7, 6, 4, 3)]
    await stored(conn, *tasks)
    assert [[task.priority for task in await take(conn, worker, 4)] for _ in range(2)] == [[9, 7, 6, 5], [4, 3, 1]]


async def test_free_rows_fill_what_a_lock_refuses_and_a_full_claim_turns_nobody_away(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked(), locked(conflict="discard"), *[make.new_task() for _ in range(5)])
    assert [task.id for task in await take(conn, worker, 3)] == [ids[0], *ids[3:5]]
    assert [task.id for task in await take(conn, worker, 3)] == ids[5:]
    assert await statuses(conn, ids) == "RDDRRRRR"
    assert await take(conn, worker, 3) == []
    assert await statuses(conn, ids) == "RWXRRRRR"


async def test_a_claim_beside_a_taken_key_takes_no_lock_and_parks_nobody(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked(), locked(), make.new_task(), make.new_task())
    await take(conn, worker, 1)
    watched = Gated(conn)
    assert [task.id for task in await take(watched, worker, 1)] == ids[3:4]
    assert not set(watched.names) & {"locked_candidates", "lock_locks", "park_tasks"}
    assert await statuses(conn, ids) == "RDDRD"


async def test_making_way_turns_away_what_hides_other_rows(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked(), locked(conflict="discard"), make.new_task())
    await take(conn, worker, 1)
    request = replace(make.request(worker, limit=1), meets_locks=True)
    assert await make_way(conn, request) == 2
    assert await statuses(conn, ids) == "RWXD"
    assert await make_way(conn, request) == 0


async def test_a_row_of_another_key_behind_a_deep_backlog_starts_while_free_rows_fill_the_claims(
    conn: Connection,
) -> None:
    worker = await make.worker(conn)
    await stored(conn, *[locked("a") for _ in range(700)], locked("b"), *[make.new_task() for _ in range(60)])
    request, taken, ways = replace(make.request(worker, limit=10), meets_locks=True), list[str | None](), 0
    while "b" not in taken:
        rows = await claim(conn, request)
        assert len(rows) == 10, "the free rows ran out first"
        taken += [task.lock_key for task in rows]
        ways += await make_way(conn, request)
    assert ways == 699


async def test_a_claim_says_which_lock_each_attempt_holds(conn: Connection) -> None:
    worker = await make.worker(conn)
    await stored(conn, locked("a"), make.new_task())
    assert [task.lock_key for task in await take(conn, worker)] == ["a", None]


async def test_a_claim_that_meets_no_locks_never_exceeds_one(conn: Connection) -> None:
    worker = await make.worker(conn)
    await stored(conn, *[locked() for _ in range(5)], make.new_task())
    request = make.request(worker)
    taken = await claim(conn, request) + await claim(conn, request)
    assert [task.lock_key for task in taken].count("k") <= 1
    assert [task.lock_key for task in taken].count(None) == 1


@pytest.mark.parametrize("limit", [1, 3])
async def test_no_claim_takes_more_than_the_limit(conn: Connection, limit: int) -> None:
    worker = await make.worker(conn)
    await stored(conn, *[locked(f"k{number % 4}", limit) for number in range(40)])
    running = [task.lock_key for _ in range(5) for task in await take(conn, worker, 7)]
    assert {key: running.count(key) for key in running} == {f"k{number}": limit for number in range(4)}


async def test_B2_a_row_starts_iff_fewer_slots_are_held_than_its_own_limit(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, *[locked(limit=limit) for limit in (2, 1, 2, 3, 3, 4)])
    await take(conn, worker)
    assert await statuses(conn, ids) == "RWRRWR"


async def test_B2_a_waiter_that_could_not_start_yet_keeps_none_of_higher_limit_back(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(limit=3), locked(limit=3), locked(limit=3), locked(limit=1), locked(limit=3))
    running = await take(conn, worker)
    await end(conn, running[0])
    assert await statuses(conn, ids) == "SRRWD"
    await end(conn, *running[1:])
    assert await statuses(conn, ids) == "SSSDD"


async def test_B2_discard_ends_a_first_attempt_and_says_who_holds_the_lock(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked(conflict="discard"))
    assert [task.id for task in await take(conn, worker)] == ids[:1]
    refused = await make.record(conn, ids[1])
    assert (refused.status, refused.attempts, refused.leased_by) == (TaskStatus.DISCARDED, 0, None)
    assert refused.finished_at is not None
    (error,) = refused.errors
    assert error.exception_class_path.endswith(".RunningLockTaken")
    assert ids[0] in error.traceback
    assert worker in error.traceback
    assert error.at is not None


async def test_B2_discard_lets_a_retry_wait(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(conflict="discard"))
    (first,) = await take(conn, worker)
    await end(conn, first, outcome=Failed("{}", 0.0))
    ids += await stored(conn, locked(priority=9))
    assert [task.id for task in await take(conn, worker)] == ids[1:]
    assert await statuses(conn, ids) == "WR"


async def test_A12_a_parked_row_keeps_its_attempts_epoch_and_place(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked(priority=-3))
    before = await make.record(conn, ids[1])
    (holder,) = await take(conn, worker)
    parked = await make.record(conn, ids[1])
    assert parked == replace(before, status=TaskStatus.WAITING, waiting_for="lock")
    await end(conn, holder)
    assert await make.record(conn, ids[1]) == before


@pytest.mark.parametrize("outcome", OUTCOMES, ids=str)
async def test_every_outcome_hands_over_to_the_best_waiter(conn: Connection, outcome: Outcome) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(priority=9), locked(), locked(priority=5))
    (holder,) = await take(conn, worker)
    await end(conn, holder, outcome=outcome)
    assert (await statuses(conn, ids))[1:] == "WD"


async def test_several_slots_freed_together_wake_as_many(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, *[locked(limit=3) for _ in range(6)])
    running = await take(conn, worker)
    await end(conn, *running[:2])
    assert await statuses(conn, ids) == "SSRDDW"


async def test_a_reap_hands_over(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(max_attempts=1, priority=9), locked(), locked(priority=5))
    await take(conn, worker)
    await raw.forget_worker(conn, worker)
    (row,) = await lease.expired(conn, 10)
    assert await lease.reap(conn, row, make.ERROR) is not None
    assert await statuses(conn, ids) == "LWD"


async def test_what_a_reaped_holder_settles_late_takes_no_slot_from_its_successor(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(max_attempts=1), locked(), locked())
    (late,) = await take(conn, worker)
    await raw.forget_worker(conn, worker)
    (row,) = await lease.expired(conn, 10)
    await lease.reap(conn, row, make.ERROR)
    successor = await make.worker(conn)
    assert [task.id for task in await take(conn, successor)] == ids[1:2]
    assert await end(conn, late) == 1
    assert await statuses(conn, ids) == "SRW"
    assert await take(conn, successor) == []


async def test_a_lost_lease_hands_nothing_over(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked())
    (late,) = await take(conn, worker)
    await raw.forget_worker(conn, worker)
    (row,) = await lease.expired(conn, 10)
    await lease.reap(conn, row, make.ERROR)
    (again,) = await take(conn, await make.worker(conn))
    assert again.id == late.id
    assert await end(conn, late) == 0
    assert await statuses(conn, ids) == "RW"


@pytest.mark.parametrize("action", [operate.discard, operate.cancel])
async def test_a_woken_row_that_is_ended_hands_over(conn: Connection, action: object) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked(), locked())
    (holder,) = await take(conn, worker)
    await end(conn, holder)
    assert callable(action)
    assert await action(conn, [ids[1]]) == 1
    assert await statuses(conn, ids) == "SXD"


async def test_a_cancelled_holder_keeps_its_slot_until_it_ends(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked())
    (holder,) = await take(conn, worker)
    await operate.cancel(conn, [holder.id])
    assert await take(conn, worker) == []
    assert await statuses(conn, ids) == "RW"
    await end(conn, holder, outcome=Failed("{}", 1.0))
    assert await statuses(conn, ids) == "XD"


async def test_an_ended_waiter_does_not_come_back(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked(), locked())
    (holder,) = await take(conn, worker)
    await operate.discard(conn, [ids[1]])
    await end(conn, holder)
    assert await statuses(conn, ids) == "SXD"


async def test_B1_the_best_waiter_of_every_queue_is_woken_and_who_comes_late_parks_again(conn: Connection) -> None:
    worker = await make.worker(conn)
    queues = ("a", "b", "a b")
    ids = await stored(conn, *[locked(queue_name=name) for name in queues for _ in range(2)])
    (holder,) = await take(conn, worker, queues=queues)
    await end(conn, holder)
    assert await statuses(conn, ids) == "SDDWDW"
    assert len(await take(conn, worker, queues=queues)) == 1
    assert await statuses(conn, ids) == "SRWWWW"


async def test_keys_do_not_touch_each_other(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked("a"), locked("b"), locked("a"), locked("b"), locked("A"))
    running = await take(conn, worker)
    assert await statuses(conn, ids) == "RRWWR"
    await end(conn, running[0])
    assert await statuses(conn, ids) == "SRDWR"


async def test_a_dead_worker_takes_and_refuses_nothing(conn: Connection) -> None:
    ids = await stored(conn, locked(), locked(conflict="discard"))
    assert await take(conn, await make.dead_worker(conn)) == []
    assert await statuses(conn, ids) == "DD"


async def test_B1_waiters_of_a_free_slot_are_found(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, *[locked(limit=2) for _ in range(5)], locked("other"), locked("other"))
    running = await take(conn, worker)
    for task in running[:2]:
        await end(conn, task._replace(lock_key=None))  # as a slot that nobody handed over
    assert await statuses(conn, ids) == "SSWWWRW"
    assert await locks.hand_over_idle(conn, 100) == 2
    assert await statuses(conn, ids) == "SSDDWRW"
    assert await locks.hand_over_idle(conn, 100) == 0


async def test_the_attempts_of_other_tasks_end_without_a_look_at_locks(conn: Connection) -> None:
    worker = await make.worker(conn)
    await stored(conn, make.new_task())
    (task,) = await take(conn, worker)
    watched = Gated(conn)
    await end(watched, task)
    assert not set(watched.names) & {"lock_locks", "find_waiters", "waiting_places"}


async def test_a_row_parked_by_a_claim_of_other_queues_is_found_again(conn: Connection) -> None:
    worker = await make.worker(conn)
    tasks = [locked(queue_name=name) for name in ("a", "b") for _ in range(10)]
    ids = await stored(conn, *tasks)
    ran = []
    for _ in ids:
        (task,) = await take(conn, worker, 3, queues=("a",)) or await take(conn, worker, 3, queues=("b",))
        ran.append(task.id)
        await end(conn, task, outcome=DONE)
    assert sorted(ran) == sorted(ids)


async def test_the_error_of_a_refused_row_is_an_entry_like_the_others(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked(conflict="discard"))
    await take(conn, worker)
    (row,) = await conn.fetch("get_tasks", ids=json.dumps([wire_id(ids[1])]))
    (entry,) = json.loads(row[21])
    assert entry.keys() == {"exception_class_path", "traceback", "attempt", "worker_id", "at"}


@pytest.mark.parametrize("action", [operate.discard, operate.cancel])
async def test_B1_woken_rows_that_are_ended_together_hand_over_each(conn: Connection, action: object) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, *[locked(limit=3) for _ in range(9)])
    await end(conn, *await take(conn, worker))
    assert await statuses(conn, ids) == "SSSDDDWWW"
    assert callable(action)
    assert await action(conn, ids[3:6]) == 3
    assert await statuses(conn, ids) == "SSSXXXDDD"


async def test_a_slot_goes_with_the_transaction_that_takes_it(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked())
    async with raw.taken_back(conn):
        assert [task.id for task in await take(conn, worker)] == ids[:1]
    assert await statuses(conn, ids) == "DD"
    assert [task.id for task in await take(conn, worker)] == ids[:1]


async def test_B1_two_claims_at_once_take_one_slot_and_strand_nobody(conn: Connection, other: Connection) -> None:
    ids = await stored(conn, locked(priority=1), locked())
    worker, rival = await make.worker(conn), await make.worker(conn)
    taken: list[ClaimedTask] = []
    await raw.hurry(other)
    async with conn.transaction():
        taken += await take(conn, worker, limit=1)
        with suppress(LockTimeout):  # the rival waits for the key's own row, or for the only writer
            taken += await take(other, rival, limit=1)
    taken += await take(other, rival, limit=1)
    assert [task.id for task in taken] == ids[:1]
    assert await statuses(conn, ids) == "RW"


async def test_a_retried_row_meets_its_lock_again(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(max_attempts=1))
    (first,) = await take(conn, worker)
    await end(conn, first, outcome=Failed("{}", None))
    ids += await stored(conn, locked(priority=9))
    await take(conn, worker)
    assert await operate.retry(conn, ids[:1], include_discarded=False) == 1
    assert await take(conn, worker) == []
    assert await statuses(conn, ids) == "WR"


async def test_a_paused_queue_parks_nobody(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked(queue_name="held"))
    await take(conn, worker)
    await queues.set_paused(conn, make.ALIAS, "held", paused=True)
    assert await take(conn, worker, queues=("held",)) == []
    assert await statuses(conn, ids) == "RD"


async def test_peek_says_whether_due_rows_need_a_lock(conn: Connection) -> None:
    await stored(conn, make.new_task())
    before = (await queues.peek(conn, make.ALIAS)).meets_locks
    await stored(conn, locked())
    assert (await queues.peek(conn, make.ALIAS)).meets_locks
    assert not before
