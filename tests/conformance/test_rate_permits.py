"""B3, B4: who admits holds the window, a start is stamped inside it, and permits go back by their worker only."""

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import LockTimeout
from oxpull_async.domain.limit_keys import key_digest
from oxpull_async.domain.outcome import Failed, Released, Settlement, SlowDown, Succeeded
from oxpull_async.store.claim import claim_ages
from oxpull_async.store.lease import expired, reap
from oxpull_async.store.rate_windows import prune_windows
from oxpull_async.store.settle import settle
from tests.conformance.conftest import Clock
from tests.conformance.meanwhile import Meanwhile
from tests.drivers.locks_kit import stored
from tests.fixtures import limits, make, raw
from tests.fixtures.limits import LONG, NAME, claim_with, limited, look, rule, take, unbegun, windows

BOTH = pytest.mark.parametrize("sliding", [False, True], ids=["fixed", "sliding"])


@BOTH
async def test_B4_a_permit_goes_back_with_an_attempt_that_did_not_begin(conn: Connection, *, sliding: bool) -> None:
    worker = await limits.worker(conn, rule(2, sliding=sliding))
    ids = await stored(conn, *[limited() for _ in range(3)])
    first, second = await take(conn, worker)
    await settle(conn, [unbegun(first, Released()), Settlement.of(second, Released())])
    assert await windows(conn) == {NAME: 1}
    assert [task.id for task in await take(conn, worker)] == ids[:1]
    assert await take(conn, worker) == []


@BOTH
async def test_B4_a_permit_goes_back_once(conn: Connection, *, sliding: bool) -> None:
    worker = await limits.worker(conn, rule(2, sliding=sliding))
    await stored(conn, limited(), limited())
    first, _ = await take(conn, worker)
    for _ in range(2):
        await settle(conn, [unbegun(first, Released())])
    assert await windows(conn) == {NAME: 1}


async def test_B4_a_permit_does_not_go_back_into_a_later_window(conn: Connection, clock: Clock) -> None:
    worker = await limits.worker(conn, rule(2))
    await stored(conn, *[limited() for _ in range(4)])
    first, _ = await take(conn, worker)
    clock.advance(LONG)
    assert len(await take(conn, worker)) == 2
    await settle(conn, [unbegun(first, Released())])
    assert await windows(conn) == {NAME: 2}


@BOTH
async def test_B4_a_reap_returns_no_permit(conn: Connection, *, sliding: bool) -> None:
    worker = await limits.worker(conn, rule(1, sliding=sliding))
    await limits.worker(conn, rule(1, sliding=sliding))
    await stored(conn, limited())
    assert len(await take(conn, worker)) == 1
    await raw.forget_worker(conn, worker)
    [row] = await expired(conn, 10)
    assert await reap(conn, row, make.ERROR) is not None
    assert await windows(conn) == {NAME: 1}
    assert await take(conn, await make.worker(conn)) == []


@BOTH
async def test_B3_a_claim_decides_by_the_clock_after_it_has_locked_the_window(
    conn: Connection, clock: Clock, *, sliding: bool
) -> None:
    worker = await limits.worker(conn, rule(2, sliding=sliding))
    await stored(conn, *[limited() for _ in range(4)])
    assert len(await take(conn, worker, 1)) == 1

    async def a_window_passes(_: Connection) -> None:
        clock.advance(LONG)

    late = Meanwhile(conn, "lock_windows", a_window_passes)
    seen = await look(conn)
    assert len(await claim_with(late, worker, seen, 1)) == 1
    assert late.has_happened
    assert len(await take(conn, worker)) == 1


async def test_B3_a_start_that_a_closing_window_admitted_is_decided_again(conn: Connection, clock: Clock) -> None:
    worker = await limits.worker(conn, rule(3))
    await stored(conn, *[limited() for _ in range(9)])
    assert len(await take(conn, worker, 2)) == 2
    seen = await look(conn)

    async def a_window_passes(_: Connection) -> None:
        clock.advance(LONG)

    late = Meanwhile(conn, "read_windows", a_window_passes)
    assert len(await claim_with(late, worker, seen)) == 1
    assert late.has_happened
    assert await windows(conn) == {NAME: 1}
    assert len(await take(conn, worker)) == 2


@BOTH
async def test_B3_who_admits_holds_the_window_and_the_next_one_sees_its_starts(
    conn: Connection, other: Connection, *, sliding: bool
) -> None:
    first, second = await limits.worker(conn, rule(3, sliding=sliding)), await limits.worker(conn)
    await stored(conn, *[limited() for _ in range(9)])
    await take(conn, first, 1)
    seen = await look(other)
    await raw.hurry(other)
    async with conn.transaction():
        assert len(await take(conn, first, 1)) == 1
        with pytest.raises(LockTimeout):
            await claim_with(other, second, seen)
    assert len(await claim_with(other, second, seen)) == 1
    assert await windows(conn) == {NAME: 3}


async def test_slow_down_holds_the_window_of_the_tasks_key(conn: Connection, clock: Clock) -> None:
    worker = await limits.worker(conn, rule(5, 60.0))
    await stored(conn, *[limited(key) for key in ("a", "a", "b")])
    first = (await take(conn, worker, 1))[0]
    await settle(conn, [Settlement.of(first, Failed(make.ERROR, None, SlowDown(NAME, 1_000.0)))])
    [lane] = (await look(conn)).lanes
    assert lane.windows == ((NAME, key_digest("b")),)
    assert len(await take(conn, worker)) == 1
    opens_in = (await look(conn)).opens_in
    assert opens_in is not None
    assert opens_in == pytest.approx(1_000, abs=60)
    clock.advance(opens_in)
    assert len(await take(conn, worker)) == 1


async def test_slow_down_never_opens_a_window_sooner_and_a_lost_lease_holds_none(conn: Connection) -> None:
    worker = await limits.worker(conn, rule(5, 60.0))
    await stored(conn, *[limited() for _ in range(4)])
    first, second, third = await take(conn, worker, 3)
    for task, seconds in ((first, 1_000.0), (second, 10.0)):
        await settle(conn, [Settlement.of(task, Failed(make.ERROR, 0.0, SlowDown(NAME, seconds)))])
    await settle(conn, [Settlement.of(third, Succeeded("1"))])
    await settle(conn, [Settlement.of(third, Failed(make.ERROR, 0.0, SlowDown(NAME, 9_000.0)))])
    opens_in = (await look(conn)).opens_in
    assert opens_in is not None
    assert opens_in == pytest.approx(1_000, abs=60)


async def test_windows_and_starts_are_pruned_a_day_after_their_end(conn: Connection, clock: Clock) -> None:
    worker = await limits.worker(conn, rule(5, 60.0), rule(5, 60.0, name="sliding", sliding=True))
    await stored(conn, limited(), limited())
    await take(conn, worker)
    clock.advance(86_000)
    assert await prune_windows(conn, 10) == 0
    clock.advance(2_000)
    assert await prune_windows(conn, 10) == 4
    assert await windows(conn) == {}


async def test_the_database_says_how_old_a_claim_is(conn: Connection, clock: Clock) -> None:
    worker = await limits.worker(conn, rule(5))
    await stored(conn, limited())
    [task] = await take(conn, worker)
    clock.advance(5.5)
    age = (await claim_ages(conn, [task.id]))[task.id]
    assert 5.49 <= age <= 10
