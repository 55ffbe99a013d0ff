"""B1: claims pass rows of taken locks, small ones too, and what stands behind them is reached."""

from dataclasses import replace

from oxpull_async.db.contract import Connection
from oxpull_async.store.claim import claim, claim_and_look, make_way
from tests.drivers.locks_kit import locked, statuses, stored, take
from tests.fixtures import make


async def test_a_claim_tells_whether_it_passed_rows_whose_locks_are_taken(conn: Connection) -> None:
    worker = await make.worker(conn)
    await stored(conn, locked("a"), locked("a"), make.new_task(), make.new_task(priority=9))
    request = replace(make.request(worker, limit=1), meets_locks=True)
    claims = [await claim_and_look(conn, request) for _ in range(4)]
    assert [len(claimed.tasks) for claimed in claims] == [1, 1, 1, 0]
    assert [claimed.passed_locked for claimed in claims] == [False, False, True, False]


async def test_a_claim_that_passes_locked_rows_takes_them_only_where_no_others_are_left(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked("a", priority=9), make.new_task())
    request = replace(make.request(worker, limit=1), meets_locks=True, passes_locked=True)
    claims = [await claim_and_look(conn, request) for _ in range(2)]
    assert [claimed.tasks[0].id for claimed in claims] == ids[::-1]
    assert [claimed.passed_locked for claimed in claims] == [True, False]


async def test_a_small_claim_gets_past_more_refused_rows_than_it_makes_passes(conn: Connection) -> None:
    worker = await make.worker(conn)
    await stored(conn, locked("a"), *[locked("a", conflict="discard") for _ in range(150)], locked("b"))
    assert [task.lock_key for task in await take(conn, worker, 1)] == ["a"]
    assert [task.lock_key for task in await take(conn, worker, 1)] == ["b"]


async def test_a_startable_row_that_a_small_claim_does_not_see_is_reached_beside_free_rows(conn: Connection) -> None:
    worker = await make.worker(conn)
    await stored(conn, *[locked("a") for _ in range(50)], locked("b"), *[make.new_task() for _ in range(60)])
    request, taken = replace(make.request(worker, limit=10), meets_locks=True), list[str | None]()
    while "b" not in taken:
        rows = await claim(conn, request)
        assert len(rows) == 10, "the free rows ran out first"
        taken += [task.lock_key for task in rows]
        await make_way(conn, request)


async def test_making_way_leaves_rows_of_keys_alone_that_have_a_slot_free(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked("a"), locked("a"), locked("b"), locked("b"))
    await take(conn, worker, 1)
    assert await make_way(conn, make.request(worker, limit=1)) == 1
    assert await statuses(conn, ids) == "RWDD"
