"""B3 to B6: no window admits more than its limit, a throttled row stays as it was, and nobody waits behind it."""

import pytest
from msgspec.structs import replace

from oxpull_async.db.contract import Connection
from oxpull_async.domain.limit_keys import key_digest
from oxpull_async.domain.outcome import Settlement, Succeeded
from oxpull_async.domain.rate_limit import LimitRule
from oxpull_async.domain.record import NewTask
from oxpull_async.store import lease, locks, queues, rate_lanes
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.lease import WorkerCard
from oxpull_async.store.rate_lanes import look_at_lanes
from oxpull_async.store.rate_limits import declared_limits, sort_limited
from oxpull_async.store.results import get_tasks
from oxpull_async.store.settle import settle
from tests.conformance.conftest import Clock
from tests.drivers.locks_kit import statuses, stored
from tests.fixtures import limits, make, raw
from tests.fixtures.limits import LONG, NAME, free, limited, look, rule, take, windows

BOTH = pytest.mark.parametrize("sliding", [False, True], ids=["fixed", "sliding"])


@BOTH
async def test_a_window_admits_as_many_as_its_limit_and_then_the_next_one(
    conn: Connection, clock: Clock, *, sliding: bool
) -> None:
    worker = await limits.worker(conn, rule(3, sliding=sliding))
    ids = await stored(conn, *[limited() for _ in range(8)])
    assert [task.id for task in await take(conn, worker)] == ids[:3]
    assert await take(conn, worker) == []
    clock.advance(LONG)
    assert [task.id for task in await take(conn, worker)] == ids[3:6]
    assert await take(conn, worker) == []


async def test_a_sliding_limit_counts_over_any_interval_of_its_length(conn: Connection, clock: Clock) -> None:
    worker = await limits.worker(conn, rule(2, 1_000.0, sliding=True))
    await stored(conn, *[limited() for _ in range(9)])
    assert len(await take(conn, worker, 1)) == 1
    clock.advance(600)
    assert len(await take(conn, worker)) == 1
    clock.advance(300)
    assert await take(conn, worker) == []
    opens_in = (await look(conn)).opens_in
    assert opens_in is not None
    assert 0 < opens_in <= 100
    clock.advance(opens_in)
    assert len(await take(conn, worker)) == 1
    assert await take(conn, worker) == []


async def test_fixed_windows_are_aligned_to_the_epoch_and_tell_when_the_next_one_opens(
    conn: Connection, clock: Clock
) -> None:
    worker = await limits.worker(conn, rule(1, 3_600.0))
    now = (await make.moment(conn)).timestamp()
    clock.advance(1_800 - now % 3_600)  # the middle of an hour
    await stored(conn, limited(), limited())
    assert len(await take(conn, worker)) == 1
    opens_in = (await look(conn)).opens_in
    assert opens_in is not None
    assert opens_in == pytest.approx(1_800, abs=60)
    clock.advance(opens_in - 60)
    assert await take(conn, worker) == []
    clock.advance(61)
    assert len(await take(conn, worker)) == 1


async def test_B4_a_window_does_not_go_back_with_the_clock(conn: Connection, clock: Clock) -> None:
    worker = await limits.worker(conn, rule(1, 3_600.0))
    await stored(conn, *[limited() for _ in range(4)])
    clock.advance(7_200)
    assert len(await take(conn, worker)) == 1
    clock.advance(-7_200)
    assert await take(conn, worker) == []
    clock.advance(10_800)
    assert len(await take(conn, worker)) == 1


async def test_B6_a_throttled_row_stays_as_it_was_and_free_rows_pass_it(conn: Connection) -> None:
    worker = await limits.worker(conn, rule(1))
    ids = await stored(conn, *[limited(priority=priority) for priority in (9, 1, 5)])
    assert [task.id for task in await take(conn, worker)] == ids[:1]
    before = await get_tasks(conn, ids)
    passing = await stored(conn, *[free() for _ in range(3)])
    assert [task.id for task in await take(conn, worker)] == passing
    assert await get_tasks(conn, ids) == before


async def test_A5_free_locked_and_admitted_rows_start_in_one_order(conn: Connection) -> None:
    worker = await limits.worker(conn, rule(2), rule(9, name="other", tasks=frozenset({"a.b"})))
    tasks = [limited(priority=priority) for priority in (9, 7, 5)]
    tasks += [limited(priority=6, task_path="a.b"), limited(priority=4, task_path="a.b")]
    tasks += [free(priority=priority) for priority in (8, 3, 1)]
    tasks += [locked(free(priority=2))]
    await stored(conn, *tasks)
    assert [[task.priority for task in await take(conn, worker, 4)] for _ in range(2)] == [[9, 8, 7, 6], [4, 3, 2, 1]]


def locked(task: NewTask, key: str = "k", limit: int = 1) -> NewTask:
    return replace(task, lock_key=key, lock_limit=limit, lock_conflict="wait")


async def test_every_limit_that_covers_a_task_must_admit_it_and_counts_it(conn: Connection) -> None:
    rules = [rule(3), rule(2, name="mail", tasks=frozenset(), queues=frozenset({"mail"}))]
    worker = await limits.worker(conn, *rules)
    await stored(conn, *[limited(queue_name="mail") for _ in range(3)], *[limited() for _ in range(3)])
    assert len(await take(conn, worker, queues=("mail",))) == 2
    assert len(await take(conn, worker)) == 1
    assert await windows(conn) == {"api": 3, "mail": 2}


async def test_each_key_has_a_budget_of_its_own_and_rows_without_one_share_another(conn: Connection) -> None:
    worker = await limits.worker(conn, rule(2))
    await stored(conn, *[limited(key) for key in ("a", "a", "a", "b", None, None, None)])
    assert len(await take(conn, worker)) == 5
    assert await windows(conn) == {f"{NAME} {key_digest('a')}": 2, f"{NAME} {key_digest('b')}": 1, NAME: 2}


@BOTH
async def test_a_limit_of_nothing_lets_nothing_start_and_never_opens(conn: Connection, *, sliding: bool) -> None:
    worker = await limits.worker(conn, rule(0, sliding=sliding))
    await stored(conn, limited())
    assert await take(conn, worker) == []
    assert (await look(conn)).opens_in is None


async def test_B5_the_strictest_of_the_living_declarations_holds_over_all_aliases(conn: Connection) -> None:
    worker = await limits.worker(conn, rule(5, 60.0))
    other = await limits.worker(conn, rule(2, 30.0, tasks=frozenset({"far.away"})), alias="other")
    third = await limits.worker(conn, rule(4, LONG))
    assert [(one.limit, one.per.total_seconds()) for one in (await declared_limits(conn, make.ALIAS)).values()] == [
        (2, LONG)
    ]
    await stored(conn, *[limited() for _ in range(6)])
    assert len(await take(conn, worker)) == 2
    await lease.remove(conn, other)
    assert len(await take(conn, worker)) == 2
    await lease.remove(conn, third)
    [limit] = (await declared_limits(conn, make.ALIAS)).values()
    assert (limit.limit, limit.per.total_seconds()) == (5, 60.0)


@BOTH
async def test_B5_what_started_counts_when_a_limit_begins_or_ceases_to_slide(
    conn: Connection, clock: Clock, *, sliding: bool
) -> None:
    before = await limits.worker(conn, rule(3, sliding=sliding))
    await stored(conn, *[limited() for _ in range(9)])
    assert len(await take(conn, before, 2)) == 2
    after = await limits.worker(conn, rule(3, sliding=not sliding))
    await lease.remove(conn, before)
    assert len(await take(conn, after)) == 1
    assert await take(conn, after) == []
    clock.advance(2 * LONG)
    assert len(await take(conn, after)) == 3
    assert await take(conn, after) == []


@pytest.mark.parametrize("later", [rule(1), rule(0, name="late", queues=frozenset({make.QUEUE}))], ids=["less", "new"])
async def test_B5_a_claim_holds_to_what_was_declared_after_its_look(conn: Connection, later: LimitRule) -> None:
    worker = await limits.worker(conn, rule(5))
    await stored(conn, *[limited() for _ in range(6)])
    seen = await look(conn)
    await limits.worker(conn, later)
    assert await limits.claim_with(conn, worker, seen) == []
    assert len(await take(conn, worker)) == later.limit


async def test_B5_the_declarations_of_a_worker_end_when_it_is_dead(conn: Connection) -> None:
    worker = await make.worker(conn)
    dead = WorkerCard(make.new_id(), make.ALIAS, "host.test", 1, None, 1, -5.0, (rule(0),))
    await lease.register(conn, dead)
    await stored(conn, limited())
    assert await take(conn, worker) == []
    await lease.bury_dead_workers(conn, 0)
    assert [task.permits for task in await take(conn, worker)] == [()]


async def test_rows_whose_limits_are_gone_start_without_permits(conn: Connection) -> None:
    ids = await stored(conn, limited("a"), limited())
    assert [task.id for task in await take(conn, await make.worker(conn))] == ids
    assert await windows(conn) == {}


@pytest.mark.parametrize("covering", [rule(1), rule(1, tasks=frozenset(), queues=frozenset({make.QUEUE}))], ids=str)
async def test_a_covered_row_that_was_not_set_apart_waits_for_that(conn: Connection, covering: LimitRule) -> None:
    worker = await limits.worker(conn, covering)
    others = make.new_task(queue_name="others", task_path="a.b")
    ids = await stored(conn, make.new_task(), locked(make.new_task()), others)
    assert await take(conn, worker) == []
    assert await claim(conn, ClaimRequest(worker, make.ALIAS, (make.QUEUE,), 10)) == []
    assert await sort_limited(conn, make.ALIAS, 10) == 2
    assert await sort_limited(conn, make.ALIAS, 10) == 0
    assert [task.id for task in await take(conn, worker)] == ids[:1]
    assert [task.id for task in await take(conn, worker, queues=("others",))] == ids[2:]


async def test_a_bounded_number_of_rows_is_set_apart_at_once(conn: Connection) -> None:
    await limits.worker(conn, rule(1))
    await stored(conn, *[make.new_task() for _ in range(5)])
    assert [await sort_limited(conn, make.ALIAS, 2) for _ in range(4)] == [2, 2, 1, 0]


async def test_a_look_says_which_queues_have_limited_rows_and_whether_there_are_limits(conn: Connection) -> None:
    assert await queues.peek(conn, make.ALIAS) == queues.Outlook((), None)
    await stored(conn, limited(queue_name="a"), free(queue_name="a"), limited(queue_name="b"), free(queue_name="c"))
    await stored(conn, limited(queue_name="d"))
    await queues.set_paused(conn, make.ALIAS, "d", paused=True)
    assert await queues.peek(conn, make.ALIAS) == queues.Outlook(("a", "c"), None, limited=("a", "b"))
    await limits.worker(conn, rule(1))
    assert (await queues.peek(conn, make.ALIAS)).has_limits
    assert not (await queues.peek(conn, "other")).has_limits


async def test_paused_queues_and_excluded_paths_are_left_alone(conn: Connection) -> None:
    worker = await limits.worker(conn, rule(9))
    await stored(conn, limited(), limited(queue_name="paused"))
    await queues.set_paused(conn, make.ALIAS, "paused", paused=True)
    assert await take(conn, worker, queues=("paused",)) == []
    found = await look_at_lanes(conn, make.ALIAS, (make.QUEUE,), 10, None, {make.PATH})
    assert found.lanes == ()


async def test_looks_go_round_where_there_are_more_lanes_than_one_sees(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_lanes, "MOST_LANES", 3)
    await limits.worker(conn, rule(1))
    await stored(conn, *[limited(str(number), queue_name=name) for name in ("a", "b") for number in range(4)])
    after, seen = None, list[int]()
    for _ in range(3):
        found = await look_at_lanes(conn, make.ALIAS, ("a", "b"), 100, after)
        after = found.after
        seen.append(len(found.lanes))
    assert (seen, after) == ([3, 3, 2], None)


async def test_B6_a_row_that_its_lock_refuses_takes_no_permit_and_parks(conn: Connection) -> None:
    worker = await limits.worker(conn, rule(2))
    ids = await stored(conn, locked(limited()), locked(limited()), limited())
    assert [task.id for task in await take(conn, worker)] == ids[:1]
    assert [task.id for task in await take(conn, worker)] == ids[2:]
    assert await windows(conn) == {NAME: 2}
    assert await statuses(conn, ids) == "RWR"


async def test_rows_of_a_taken_lock_hide_nobody_in_their_lane(conn: Connection) -> None:
    worker = await limits.worker(conn, rule(2))
    await stored(conn, locked(free()))
    assert len(await take(conn, worker)) == 1
    await stored(conn, *[locked(limited()) for _ in range(250)])
    [last] = await stored(conn, limited())
    assert [task.id for task in await take(conn, worker)] == [last]


async def test_a_row_that_its_limit_refuses_takes_no_slot(conn: Connection) -> None:
    worker = await limits.worker(conn, rule(1))
    ids = await stored(conn, limited(), locked(limited(priority=5)), locked(free()))
    [holder] = await take(conn, worker, 1)
    await settle(conn, [Settlement.of(holder, Succeeded("1"))])
    more = await stored(conn, locked(limited(priority=9)))
    assert [task.id for task in await take(conn, worker)] == ids[2:]
    assert await statuses(conn, more) == "D"


async def test_B1_a_throttled_row_does_not_keep_a_free_slot_from_those_that_wait(conn: Connection) -> None:
    worker = await limits.worker(conn, rule(1))
    [holder] = await stored(conn, locked(free()))
    await take(conn, worker)
    await stored(conn, locked(limited()), locked(free()))
    assert await take(conn, worker) == []
    await raw.delete(conn, holder)
    assert await locks.hand_over_idle(conn, 10) == 1
    used = await stored(conn, limited(priority=9))
    assert [task.id for task in await take(conn, worker, 1)] == used
    assert await take(conn, worker) == []
    assert await locks.hand_over_idle(conn, 10) == 1
    assert [task.task_path for task in await take(conn, worker)] == [limits.OTHERS]
