"""Workers and their leases: registered, renewed, dead once, and their rows taken over one by one."""

from dataclasses import replace

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.lease import ExpiredTask
from oxpull_async.domain.outcome import Released, Succeeded
from oxpull_async.domain.record import TaskRecord, TaskStatus
from oxpull_async.store import health
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.enqueue import enqueue_many
from oxpull_async.store.lease import (
    WorkerCard,
    bury_dead_workers,
    expired,
    held,
    reap,
    register,
    remove,
    renew,
    unknown_attempts,
)
from oxpull_async.store.operate import cancel
from tests.conformance.conftest import Clock
from tests.fixtures import make, raw


async def abandoned(conn: Connection, *, begun: bool = True, max_attempts: int = 3) -> tuple[TaskRecord, ExpiredTask]:
    """Leave a running task behind whose worker is gone."""
    task = await make.running(conn, max_attempts=max_attempts)
    assert task.leased_by is not None
    await raw.change(conn, task.id, f"begun = {str(begun).lower()}")
    await raw.forget_worker(conn, task.leased_by)
    [row] = [row for row in await expired(conn, 100) if row.task_id == task.id]
    return task, row


async def test_a_registered_worker_is_known_as_it_presented_itself(conn: Connection) -> None:
    card = WorkerCard(make.new_id(), make.ALIAS, "host ü", 4711, ("a", "b"), 100, 30)
    await register(conn, card)
    [worker] = await health.workers(conn, make.ALIAS)
    assert (worker.worker_id, worker.hostname, worker.pid) == (card.worker_id, "host ü", 4711)
    assert (worker.queues, worker.concurrency, worker.running) == (("a", "b"), 100, 0)
    assert worker.is_alive


async def test_a_very_long_hostname_is_cut(conn: Connection) -> None:
    card = WorkerCard(make.new_id(), make.ALIAS, "h" * 300, 1, None, 1, 30)
    await register(conn, card)
    [worker] = await health.workers(conn, make.ALIAS)
    assert (worker.hostname, worker.queues) == ("h" * 255, None)


async def test_a_renewal_moves_the_expiry(conn: Connection, clock: Clock) -> None:
    worker = await make.worker(conn, lease_seconds=30)
    clock.advance(20)
    assert await renew(conn, worker, 30, notes='{"rss": 1}')
    [state] = await health.workers(conn, make.ALIAS)
    assert 28 < state.lease_left <= 30.1
    assert state.notes == {"rss": 1}
    assert state.renewed_at > state.started_at


async def test_a_renewal_that_changes_nothing_still_counts(conn: Connection) -> None:
    worker = await make.worker(conn, lease_seconds=30)
    assert [await renew(conn, worker, 30) for _ in range(5)] == [True] * 5


async def test_A2_a_worker_whose_lease_has_expired_cannot_renew(conn: Connection, clock: Clock) -> None:
    worker = await make.worker(conn, lease_seconds=10)
    clock.advance(11)
    assert not await renew(conn, worker, 30)


async def test_A2_a_worker_that_was_marked_dead_cannot_renew(conn: Connection, clock: Clock) -> None:
    worker = await make.worker(conn, lease_seconds=10)
    clock.advance(11)
    assert await bury_dead_workers(conn, 0) == 1
    clock.advance(-11)
    assert not await renew(conn, worker, 30)


async def test_A2_a_worker_that_is_not_there_cannot_renew(conn: Connection) -> None:
    assert not await renew(conn, make.new_id(), 30)


async def test_A2_a_worker_dies_once(conn: Connection) -> None:
    await make.dead_worker(conn)
    assert [await bury_dead_workers(conn, 0) for _ in range(2)] == [1, 0]


async def test_A2_a_worker_whose_lease_is_good_is_not_marked_dead(conn: Connection) -> None:
    worker = await make.worker(conn)
    assert await bury_dead_workers(conn, 0) == 0
    assert await renew(conn, worker, 30)


async def test_A14_a_worker_gets_its_grace(conn: Connection, clock: Clock) -> None:
    await make.worker(conn, lease_seconds=10)
    clock.advance(15)
    assert await bury_dead_workers(conn, 10) == 0
    clock.advance(6)
    assert await bury_dead_workers(conn, 10) == 1


async def test_a_worker_long_dead_is_forgotten_unless_it_holds_something(conn: Connection, clock: Clock) -> None:
    holder = await make.worker(conn)
    await make.running(conn, holder)
    await make.dead_worker(conn)
    clock.advance(2 * 86_400)
    await bury_dead_workers(conn, 0)
    assert [worker.worker_id for worker in await health.workers(conn, make.ALIAS)] == [holder]


async def test_a_worker_that_stopped_in_order_is_forgotten(conn: Connection) -> None:
    await make.worker(conn)
    worker = await make.worker(conn)
    await remove(conn, worker)
    assert worker not in [state.worker_id for state in await health.workers(conn, make.ALIAS)]
    assert len(await health.workers(conn, make.ALIAS)) == 1


async def test_A1_what_a_worker_holds_can_be_asked(conn: Connection) -> None:
    worker = await make.worker(conn)
    await enqueue_many(conn, [make.new_task() for _ in range(3)])
    first, second, third = await make.claimed(conn, worker)
    await make.settled(conn, third, Succeeded("1"))
    await cancel(conn, [second.id])
    await make.running(conn, queue_name="other")
    found = {row.task_id: (row.epoch, row.cancel_requested) for row in await held(conn, worker)}
    assert found == {first.id: (1, False), second.id: (1, True)}


async def test_A1_an_attempt_the_worker_does_not_know_is_found_and_handed_back(conn: Connection) -> None:
    worker = await make.worker(conn)
    known, unknown = await make.running(conn, worker), await make.running(conn, worker)
    strangers = unknown_attempts(await held(conn, worker), {(known.id, known.epoch)})
    assert [row.task_id for row in strangers] == [unknown.id]
    assert await make.settled(conn, unknown, Released()) is TaskStatus.READY
    assert [row.task_id for row in await held(conn, worker)] == [known.id]


async def test_A2_a_running_row_of_a_living_worker_is_not_expired(conn: Connection) -> None:
    await make.running(conn)
    assert await expired(conn, 10) == []


async def test_A2_a_running_row_whose_worker_is_dead_or_gone_is_expired(conn: Connection, clock: Clock) -> None:
    gone, _ = await abandoned(conn)
    dying = await make.running(conn, queue_name="other")
    clock.advance(make.LEASE_SECONDS + 1)
    assert [row.task_id for row in await expired(conn, 10)] == [gone.id]
    await bury_dead_workers(conn, 0)
    rows = {row.task_id: row for row in await expired(conn, 10)}
    assert set(rows) == {gone.id, dying.id}
    row = rows[dying.id]
    assert (row.epoch, row.attempts, row.max_attempts) == (1, 1, 3)
    assert (row.begun, row.refunds, row.cancel_requested) == (True, 0, False)
    assert row.worker_id == dying.leased_by


async def test_no_more_expired_rows_are_read_than_asked_for(conn: Connection) -> None:
    for queue in ("a", "b", "c"):
        task = await make.running(conn, queue_name=queue)
        assert task.leased_by is not None
        await raw.forget_worker(conn, task.leased_by)
    assert len(await expired(conn, 2)) == 2


async def test_a_reaped_task_with_attempts_left_is_ready_in_its_old_place(conn: Connection) -> None:
    task, row = await abandoned(conn)
    verdict = await reap(conn, row, make.ERROR)
    assert verdict is not None
    assert (verdict.status, verdict.refund) == (TaskStatus.READY, False)
    again = await make.record(conn, task.id)
    assert (again.status, again.attempts, again.epoch) == (TaskStatus.READY, 1, task.epoch + 1)
    assert (again.available_at, again.worker_ids) == (task.available_at, task.worker_ids)
    assert (again.leased_by, again.finished_at, again.errors) == (None, None, ())
    assert [one.id for one in await make.claimed(conn, await make.worker(conn))] == [task.id]


async def test_a_reaped_task_whose_attempts_are_spent_is_lost(conn: Connection) -> None:
    task, row = await abandoned(conn, max_attempts=1)
    verdict = await reap(conn, row, make.ERROR)
    assert verdict is not None
    assert verdict.status is TaskStatus.LOST
    gone = await make.record(conn, task.id)
    assert (gone.status, gone.attempts, gone.epoch, gone.leased_by) == (TaskStatus.LOST, 1, task.epoch, None)
    assert [error.exception_class_path for error in gone.errors] == ["builtins.ValueError"]
    assert gone.errors[0].at == gone.finished_at is not None


async def test_A9_a_reaped_task_that_was_cancelled_is_discarded(conn: Connection) -> None:
    task, _ = await abandoned(conn)
    await cancel(conn, [task.id])
    [row] = await expired(conn, 10)
    verdict = await reap(conn, row, make.ERROR)
    assert verdict is not None
    assert verdict.status is TaskStatus.DISCARDED
    assert (await make.record(conn, task.id)).status is TaskStatus.DISCARDED


async def test_A3_an_attempt_that_never_began_is_given_back(conn: Connection) -> None:
    before = await make.ready(conn)
    await make.claimed(conn, await make.worker(conn))
    task = await make.record(conn, before.id)
    assert task.leased_by is not None
    await raw.change(conn, task.id, "begun = false")
    await raw.forget_worker(conn, task.leased_by)
    [row] = await expired(conn, 10)
    verdict = await reap(conn, row, make.ERROR)
    assert verdict is not None
    assert verdict.refund
    after = await make.record(conn, before.id)
    assert after == replace(before, epoch=task.epoch + 1)


async def test_A3_a_row_is_refunded_twice_at_most(conn: Connection) -> None:
    refunds: list[bool] = []
    task = await make.ready(conn)
    for _ in range(4):
        [claimed] = await make.claimed(conn, await make.worker(conn))
        await raw.change(conn, task.id, "begun = false")
        worker = (await make.record(conn, claimed.id)).leased_by
        assert worker is not None
        await raw.forget_worker(conn, worker)
        [row] = await expired(conn, 10)
        verdict = await reap(conn, row, make.ERROR)
        assert verdict is not None
        refunds.append(verdict.refund)
    assert refunds == [True, True, False, False]
    final = await make.record(conn, task.id)
    assert (final.attempts, len(final.worker_ids)) == (2, 2)


async def test_A3_a_claim_clears_the_mark_of_an_earlier_start(conn: Connection) -> None:
    task, row = await abandoned(conn)
    await reap(conn, row, make.ERROR)
    assert not await raw.begun(conn, task.id)


@pytest.mark.parametrize("change", [{"epoch": 99}, {"begun": False}, {"cancel_requested": True}])
async def test_A2_a_row_that_changed_since_it_was_read_is_not_reaped(
    conn: Connection, change: dict[str, int | bool]
) -> None:
    _, row = await abandoned(conn)
    seen = replace(row, **change)  # type: ignore[arg-type]
    task = await make.record(conn, row.task_id)
    assert await reap(conn, seen, make.ERROR) is None
    assert await make.record(conn, row.task_id) == task


async def test_a_row_is_reaped_once(conn: Connection, other: Connection) -> None:
    task, row = await abandoned(conn)
    assert await reap(conn, row, make.ERROR) is not None
    once = await make.record(conn, task.id)
    assert await reap(other, row, make.ERROR) is None
    assert await make.record(conn, task.id) == once


async def test_a_row_that_was_settled_meanwhile_is_not_reaped(conn: Connection) -> None:
    task, row = await abandoned(conn)
    await make.settled(conn, task, Succeeded("1"))
    assert await reap(conn, row, make.ERROR) is None
    assert (await make.record(conn, task.id)).status is TaskStatus.SUCCESSFUL


async def test_held_says_what_hangs_on_an_attempt(conn: Connection) -> None:
    worker = await make.worker(conn)
    await make.ready(conn, lock_key="lock", lock_limit=1, lock_conflict="wait")
    await claim(conn, ClaimRequest(worker, make.ALIAS, ("default",), 1, meets_locks=True))
    assert [(row.rerun_key, row.lock_key) for row in await held(conn, worker)] == [(None, "lock")]
