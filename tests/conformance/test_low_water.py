"""Claims that begin behind what a worker took before miss nothing for longer than their bound.

A scan takes a tenth of a second here, so whatever comes behind the marks is claimed two seconds later.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from oxpull_async.db.contract import Connection
from oxpull_async.domain.low_water import HURRIED_SHARE, SCAN_SHARE
from oxpull_async.domain.outcome import Failed, Released
from oxpull_async.domain.record import ClaimedTask, TaskId
from oxpull_async.runtime.low_water import Marks
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.enqueue import enqueue_many
from oxpull_async.store.lease import expired, reap
from oxpull_async.store.queues import promote
from tests.conformance.conftest import Clock
from tests.fixtures import make

TOOK = 0.1


class Claimer:
    """A worker whose claims begin at its marks, each of which takes as long by a clock of its own."""

    def __init__(self, conn: Connection, worker_id: str) -> None:
        self._conn, self._worker_id, self._now = conn, worker_id, 1000.0
        self.asked = 0
        self.marks = Marks(conn.dialect, lambda: self._now)

    async def take(self, limit: int = 1, queues: tuple[str, ...] = (make.QUEUE,)) -> list[TaskId]:
        return [task.id for task in await self.marks.claim(make.request(self._worker_id, limit, queues), self._ask)]

    async def _ask(self, request: ClaimRequest) -> Sequence[ClaimedTask]:
        self._now += TOOK
        self.asked += 1
        return await claim(self._conn, request)

    def pass_time(self, seconds: float) -> None:
        self._now += seconds


async def behind_five(conn: Connection) -> Claimer:
    """Have a worker claim five of ten tasks."""
    claimer = Claimer(conn, await make.worker(conn))
    await enqueue_many(conn, [make.new_task() for _ in range(10)])
    assert len(await claimer.take(5)) == 5
    return claimer


async def missed(claimer: Claimer, task_id: TaskId, conn: Connection, share: float = SCAN_SHARE) -> None:
    """See that a claim passes a task behind the marks if the database is read from marks, and a later one finds it."""
    if conn.dialect.claims_from_marks:
        assert task_id not in await claimer.take()
        claimer.pass_time(share * TOOK)
    assert await claimer.take() == [task_id]


def ago(seconds: float) -> datetime:
    return datetime.now(UTC) - timedelta(seconds=seconds)


async def test_A5_what_outranks_the_marks_is_claimed_at_once(conn: Connection) -> None:
    claimer = await behind_five(conn)
    urgent = await make.ready(conn, priority=5, run_after=ago(60))
    assert await claimer.take() == [urgent.id]


async def test_A5_between_ranks_that_were_claimed_nothing_is_passed(conn: Connection) -> None:
    claimer = await behind_five(conn)
    low = [await make.ready(conn, priority=-9) for _ in range(3)]
    high = await make.ready(conn, priority=9)
    assert len(await claimer.take(6)) == 6
    assert await claimer.take() == [low[0].id]
    between = await make.ready(conn, priority=-5, run_after=ago(60))
    again = await make.ready(conn, priority=9)
    assert high.id != again.id
    assert await claimer.take() == [again.id]
    assert await claimer.take() == [between.id]
    assert await claimer.take(2) == [low[1].id, low[2].id]


async def test_a_task_that_was_available_earlier_is_claimed_within_the_bound(conn: Connection) -> None:
    claimer = await behind_five(conn)
    early = await make.ready(conn, run_after=ago(60))
    await missed(claimer, early.id, conn)


async def test_what_commits_late_is_claimed_within_the_bound(conn: Connection, other: Connection) -> None:
    if not conn.dialect.skips_locked:
        return  # writers come one after another
    claimer = Claimer(conn, await make.worker(conn))
    async with other.transaction():
        late = await make.ready(other)
        await enqueue_many(conn, [make.new_task() for _ in range(10)])
        assert len(await claimer.take(5)) == 5
    await missed(claimer, late.id, conn)


async def test_what_was_handed_back_is_claimed_within_the_shorter_bound(conn: Connection) -> None:
    claimer = Claimer(conn, await make.worker(conn))
    await enqueue_many(conn, [make.new_task() for _ in range(10)])
    other_worker = await make.worker(conn)
    [task] = await make.claimed(conn, other_worker, limit=1)
    assert len(await claimer.take(5)) == 5
    await make.settled(conn, task, Released())
    claimer.marks.hurry()
    await missed(claimer, task.id, conn, HURRIED_SHARE)


async def test_what_was_reaped_is_claimed_within_the_bound(conn: Connection, clock: Clock) -> None:
    await enqueue_many(conn, [make.new_task() for _ in range(10)])
    [task] = await make.claimed(conn, await make.worker(conn, lease_seconds=1), limit=1)
    clock.advance(2)
    claimer = Claimer(conn, await make.worker(conn, lease_seconds=1_000))
    assert len(await claimer.take(5)) == 5
    await conn.execute("mark_dead_workers", grace=0.0)
    [row] = await expired(conn, 10)
    assert await reap(conn, row, "{}") is not None
    await missed(claimer, task.id, conn)


async def test_what_was_promoted_is_claimed_within_the_shorter_bound(conn: Connection, clock: Clock) -> None:
    later = await make.ready(conn, run_after=datetime.now(UTC) + timedelta(seconds=5))
    clock.advance(10)
    claimer = await behind_five(conn)
    assert await promote(conn, 10) == 1
    claimer.marks.hurry()
    await missed(claimer, later.id, conn, HURRIED_SHARE)


async def test_a_retry_stands_behind_what_waits_already_and_is_not_passed(conn: Connection, clock: Clock) -> None:
    claimer = Claimer(conn, await make.worker(conn))
    await enqueue_many(conn, [make.new_task() for _ in range(4)])
    [task] = await make.claimed(conn, await make.worker(conn), limit=1)
    assert len(await claimer.take(2)) == 2
    clock.advance(1)
    await make.settled(conn, task, Failed(make.ERROR, 0.0))
    assert (await claimer.take(2))[-1] == task.id


async def test_a_claim_that_finds_nothing_beyond_the_marks_looks_behind_them_at_once(conn: Connection) -> None:
    claimer = await behind_five(conn)
    assert len(await claimer.take(5)) == 5
    early = await make.ready(conn, run_after=ago(60))
    assert await claimer.take() == [early.id]
    assert await claimer.take() == []


async def test_an_empty_claim_is_repeated_only_where_it_began_at_marks(conn: Connection) -> None:
    claimer = await behind_five(conn)
    assert len(await claimer.take(5)) == 5
    before = claimer.asked
    assert await claimer.take() == []
    assert claimer.asked - before == (2 if conn.dialect.claims_from_marks else 1)


async def test_each_queue_has_marks_of_its_own(conn: Connection) -> None:
    claimer = await behind_five(conn)
    others = [await make.ready(conn, queue_name="mail", run_after=ago(60)) for _ in range(2)]
    queues = (make.QUEUE, "mail")
    assert await claimer.take(1, queues) == [others[0].id]
    assert await claimer.take(1, queues) == [others[1].id]
    early = await make.ready(conn, queue_name="mail", run_after=ago(120))
    passing = await claimer.take(3, queues)
    assert (early.id in passing) != conn.dialect.claims_from_marks
    claimer.pass_time(SCAN_SHARE * TOOK)
    assert early.id in [*passing, *await claimer.take(1, queues)]


async def test_what_claims_leave_alone_is_not_behind_the_marks_of_those_that_take_it(conn: Connection) -> None:
    worker = await make.worker(conn)
    claimer = Claimer(conn, worker)
    passed = await make.ready(conn, task_path="shop.other")
    await enqueue_many(conn, [make.new_task() for _ in range(3)])
    request = make.request(worker, 1)
    without = ClaimRequest(worker, make.ALIAS, request.queues, 1, excluded_paths=frozenset({"shop.other"}))
    for _ in range(2):
        [taken] = await claimer.marks.claim(without, lambda asked: claim(conn, asked))
        assert taken.id != passed.id
    assert await claimer.take() == [passed.id]
