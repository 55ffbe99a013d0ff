"""Writing what attempts came to: every kind of outcome, fenced by the epoch."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import DataRefused
from oxpull_async.domain.outcome import Cancelled, Failed, Lease, Outcome, Released, Settlement, Snoozed, Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.store import claim, id_lists
from oxpull_async.store.enqueue import enqueue_many
from oxpull_async.store.lease import expired, reap
from oxpull_async.store.operate import cancel, discard, retry
from oxpull_async.store.results import get_tasks
from oxpull_async.store.settle import mark_begun, report_progress, settle
from tests.conformance.conftest import Clock
from tests.conformance.spy import Spy
from tests.fixtures import make, raw

OUTCOMES: dict[str, Outcome] = {
    "success": Succeeded("1"),
    "final failure": Failed(make.ERROR, None),
    "failure with attempts left": Failed(make.ERROR, 5.0),
    "snooze": Snoozed(5.0),
    "release": Released(),
    "acknowledged cancel": Cancelled(make.ERROR),
}

LATE = ("success", "final failure")


def each(*names: str) -> pytest.MarkDecorator:
    """Repeat a test with these outcomes."""
    return pytest.mark.parametrize("outcome", [OUTCOMES[name] for name in names], ids=names)


every_outcome = each(*OUTCOMES)
every_end_but_success = each(*[name for name in OUTCOMES if name != "success"])


async def test_a_success_stores_the_return_value(conn: Connection, clock: Clock) -> None:
    task = await make.running(conn)
    clock.advance(3)
    assert await make.settled(conn, task, Succeeded('{"total": 1.0}')) is TaskStatus.SUCCESSFUL
    done = await make.record(conn, task.id)
    assert (done.status, done.return_value, done.errors) == (TaskStatus.SUCCESSFUL, {"total": 1.0}, ())
    assert done.leased_by is None
    assert done.finished_at is not None
    assert done.started_at is not None
    assert abs(done.finished_at - done.started_at - timedelta(seconds=3)) < timedelta(seconds=2)


async def test_a_return_value_of_none_is_none(conn: Connection) -> None:
    assert (await make.successful(conn, "null")).return_value is None


async def test_a_final_failure_stores_its_error(conn: Connection) -> None:
    task = await make.failed(conn)
    [error] = task.errors
    assert task.status is TaskStatus.FAILED
    assert (error.exception_class_path, error.attempt, error.worker_id) == ("builtins.ValueError", 1, "w")
    assert error.traceback == json.loads(make.ERROR)["traceback"]
    assert error.at == task.finished_at is not None


async def test_a_failure_with_attempts_left_is_ready_after_its_delay(conn: Connection, clock: Clock) -> None:
    task = await make.running(conn)
    assert await make.settled(conn, task, Failed(make.ERROR, 50.0)) is TaskStatus.READY
    again = await make.record(conn, task.id)
    assert (again.attempts, len(again.errors), again.finished_at, again.leased_by) == (1, 1, None, None)
    assert task.started_at is not None
    assert abs(again.available_at - task.started_at - timedelta(seconds=50)) < timedelta(seconds=5)
    assert await make.claimed(conn, await make.worker(conn)) == []


async def test_a_failure_without_delay_may_be_claimed_at_once(conn: Connection) -> None:
    task = await make.running(conn)
    await make.settled(conn, task, Failed(make.ERROR, 0.0))
    assert [one.id for one in await make.claimed(conn, await make.worker(conn))] == [task.id]


async def test_errors_of_all_attempts_are_kept_in_order(conn: Connection) -> None:
    task = await make.running(conn)
    for attempt in (1, 2, 3):
        entry = json.dumps({"exception_class_path": f"e{attempt}", "traceback": "ü\\n'\"%", "attempt": attempt})
        await make.settled(conn, task, Failed(entry, 0.0))
        await make.claimed(conn, await make.worker(conn))
        task = await make.record(conn, task.id)
    assert [(error.exception_class_path, error.attempt) for error in task.errors] == [("e1", 1), ("e2", 2), ("e3", 3)]
    assert task.errors[0].traceback == "ü\\n'\"%"


async def test_A10_a_snooze_gives_the_attempt_back_and_counts_as_a_snooze(conn: Connection) -> None:
    task = await make.running(conn)
    assert await make.settled(conn, task, Snoozed(50.0)) is TaskStatus.READY
    again = await make.record(conn, task.id)
    assert (again.attempts, again.worker_ids, again.errors, again.epoch) == (0, (), (), task.epoch + 1)
    assert again.available_at > task.available_at + timedelta(seconds=40)
    await raw.change(conn, task.id, "due = 1")
    [claimed] = await make.claimed(conn, await make.worker(conn))
    assert (claimed.snoozes, claimed.attempt) == (1, 1)


async def test_A3_a_release_puts_everything_back_as_before_the_claim(conn: Connection) -> None:
    before = await make.ready(conn)
    await make.claimed(conn, await make.worker(conn))
    task = await make.record(conn, before.id)
    assert await make.settled(conn, task, Released()) is TaskStatus.READY
    after = await make.record(conn, before.id)
    assert after.epoch == task.epoch + 1
    same = ("status", "attempts", "worker_ids", "errors", "started_at", "last_attempted_at", "available_at")
    assert [getattr(after, name) for name in same] == [getattr(before, name) for name in same]


async def test_A3_a_release_of_a_later_attempt_puts_the_earlier_one_s_marks_back(
    conn: Connection, clock: Clock
) -> None:
    first = await make.running(conn)
    await make.settled(conn, first, Failed(make.ERROR, 0.0))
    before = await make.record(conn, first.id)
    clock.advance(10)
    await make.claimed(conn, await make.worker(conn))
    await make.settled(conn, await make.record(conn, first.id), Released())
    after = await make.record(conn, first.id)
    same = ("attempts", "worker_ids", "started_at", "last_attempted_at", "errors", "available_at")
    assert [getattr(after, name) for name in same] == [getattr(before, name) for name in same]
    assert after.started_at == first.started_at
    assert after.attempts == 1


async def test_A3_a_release_after_a_charged_reap_puts_the_reaped_attempt_s_mark_back(
    conn: Connection, clock: Clock
) -> None:
    first = await make.running(conn)
    assert first.leased_by is not None
    await raw.forget_worker(conn, first.leased_by)
    [row] = await expired(conn, 10)
    await reap(conn, row, make.ERROR)
    before = await make.record(conn, first.id)
    clock.advance(10)
    await make.claimed(conn, await make.worker(conn))
    await make.settled(conn, await make.record(conn, first.id), Released())
    after = await make.record(conn, first.id)
    assert after == replace(before, epoch=before.epoch + 2)
    assert after.last_attempted_at == first.last_attempted_at


@every_outcome
async def test_A3_attempts_are_as_many_as_worker_ids(conn: Connection, outcome: Outcome) -> None:
    task = await make.running(conn)
    await make.settled(conn, task, Failed(make.ERROR, 0.0))
    await make.claimed(conn, await make.worker(conn))
    await make.settled(conn, await make.record(conn, task.id), outcome)
    settled = await make.record(conn, task.id)
    assert settled.attempts == len(settled.worker_ids)


async def test_an_acknowledged_cancel_discards(conn: Connection) -> None:
    task = await make.running(conn)
    await cancel(conn, [task.id])
    assert await make.settled(conn, task, Cancelled(make.ERROR)) is TaskStatus.DISCARDED
    ended = await make.record(conn, task.id)
    assert (ended.status, len(ended.errors)) == (TaskStatus.DISCARDED, 1)
    assert ended.finished_at is not None


@every_end_but_success
async def test_A9_after_a_cancel_every_end_but_success_discards(conn: Connection, outcome: Outcome) -> None:
    task = await make.running(conn)
    await cancel(conn, [task.id])
    assert await make.settled(conn, task, outcome) is TaskStatus.DISCARDED
    ended = await make.record(conn, task.id)
    assert ended.status is TaskStatus.DISCARDED
    assert ended.finished_at is not None
    assert await make.claimed(conn, await make.worker(conn)) == []


async def test_A9_a_success_that_settles_first_wins(conn: Connection) -> None:
    task = await make.running(conn)
    await cancel(conn, [task.id])
    assert await make.settled(conn, task, Succeeded("1")) is TaskStatus.SUCCESSFUL


@every_outcome
async def test_an_outcome_of_another_epoch_settles_nothing(conn: Connection, outcome: Outcome) -> None:
    task = await make.running(conn)
    for epoch in (task.epoch - 1, task.epoch + 1):
        assert await settle(conn, [Settlement(Lease(task.id, epoch), outcome)]) == {}
    assert await make.record(conn, task.id) == task


@every_outcome
async def test_an_outcome_for_a_task_that_is_not_there_settles_nothing(conn: Connection, outcome: Outcome) -> None:
    assert await settle(conn, [Settlement(Lease(make.new_id(), 1), outcome)]) == {}


@every_outcome
async def test_repeating_a_settle_changes_nothing(conn: Connection, outcome: Outcome) -> None:
    task = await make.running(conn)
    await make.settled(conn, task, outcome)
    once = await make.record(conn, task.id)
    assert await make.settled(conn, task, outcome) is None
    assert await make.record(conn, task.id) == once


async def test_an_older_attempt_cannot_settle_the_newer_one(conn: Connection) -> None:
    old = await make.running(conn)
    await make.settled(conn, old, Released())
    await make.claimed(conn, await make.worker(conn))
    new = await make.record(conn, old.id)
    assert await make.settled(conn, old, Succeeded('"late"')) is None
    assert await make.record(conn, old.id) == new
    assert await make.settled(conn, new, Succeeded('"in time"')) is TaskStatus.SUCCESSFUL


@each(*LATE)
async def test_a_late_outcome_of_a_lost_task_counts_and_its_loss_is_forgotten(
    conn: Connection, outcome: Outcome
) -> None:
    task = await make.lost(conn)
    assert len(task.errors) == 1
    status = await make.settled(conn, task, outcome)
    late = await make.record(conn, task.id)
    assert late.status is status is not None
    assert len(late.errors) == (0 if status is TaskStatus.SUCCESSFUL else 1)


@each(*[name for name in OUTCOMES if name not in LATE])
async def test_a_lost_task_takes_no_other_late_outcome(conn: Connection, outcome: Outcome) -> None:
    task = await make.lost(conn)
    assert await make.settled(conn, task, outcome) is None
    assert await make.record(conn, task.id) == task


async def test_a_late_outcome_of_a_lost_task_that_was_retried_counts_no_more(conn: Connection) -> None:
    task = await make.lost(conn)
    await retry(conn, [task.id], include_discarded=False)
    assert await make.settled(conn, task, Succeeded("1")) is None
    assert (await make.record(conn, task.id)).status is TaskStatus.READY


async def test_a_late_outcome_of_a_lost_task_that_was_discarded_counts_no_more(conn: Connection) -> None:
    task = await make.lost(conn)
    await discard(conn, [task.id])
    assert await make.settled(conn, task, Succeeded("1")) is None


async def test_a_batch_of_outcomes_says_of_each_whether_it_counted(conn: Connection) -> None:
    await enqueue_many(conn, [make.new_task() for _ in range(len(OUTCOMES) + 1)])
    claimed = await make.claimed(conn, await make.worker(conn))
    *settled, stale = claimed
    batch = [Settlement(make.lease(task), out) for task, out in zip(settled, OUTCOMES.values(), strict=True)]
    batch.insert(3, Settlement(Lease(stale.id, 99), Succeeded("1")))
    answer = await settle(conn, batch)
    assert [answer.get(one.lease) for one in batch] == [
        "SUCCESSFUL", "FAILED", "READY", None, "READY", "READY", "DISCARDED",
    ]  # fmt: skip
    found = await get_tasks(conn, [task.id for task in claimed])
    assert {one.lease: found[one.lease.task_id].status for one in batch if one.lease in answer} == answer
    assert found[stale.id].status is TaskStatus.RUNNING


async def test_A7_a_large_batch_is_cut_and_still_one_transaction(conn: Connection) -> None:
    await enqueue_many(conn, [make.new_task() for _ in range(6)])
    claimed = await make.claimed(conn, await make.worker(conn))
    value = json.dumps("x" * 700)
    batch = [Settlement(make.lease(task), Succeeded(value)) for task in claimed]
    spy = Spy(conn, max_batch_bytes=2_000)
    assert set((await settle(spy, batch)).values()) == {"SUCCESSFUL"}
    assert len([name for name, _ in spy.sent if name == "settle"]) == 3


async def test_A7_a_refused_value_takes_the_whole_batch_back(conn: Connection) -> None:
    await enqueue_many(conn, [make.new_task() for _ in range(4)])
    claimed = await make.claimed(conn, await make.worker(conn))
    values = ["1", "2", "3", "{"]
    batch = [Settlement(make.lease(t), Succeeded(value)) for t, value in zip(claimed, values, strict=True)]
    for carrier in (conn, Spy(conn, max_batch_bytes=300)):
        with pytest.raises(DataRefused):
            await settle(carrier, batch)
        found = await get_tasks(conn, [task.id for task in claimed])
        assert {task.status for task in found.values()} == {TaskStatus.RUNNING}


async def test_settling_nothing_is_nothing(conn: Connection) -> None:
    assert await settle(conn, []) == {}


async def test_A3_a_start_that_is_marked_later_is_marked_for_its_own_attempt_only(conn: Connection) -> None:
    task = await make.running(conn)
    await raw.change(conn, task.id, "begun = false")
    await mark_begun(conn, [Lease(task.id, task.epoch + 1), Lease(make.new_id(), 1)])
    assert not await raw.begun(conn, task.id)
    await mark_begun(conn, [Lease(make.new_id(), 1), make.lease(task)])
    assert await raw.begun(conn, task.id)


async def test_marking_no_start_is_nothing(conn: Connection) -> None:
    await mark_begun(conn, [])


async def test_progress_is_stored_while_the_lease_is_good(conn: Connection) -> None:
    task = await make.running(conn)
    assert await report_progress(conn, make.lease(task), '{"done": 1, "total": 3, "note": ""}')
    assert await report_progress(conn, make.lease(task), '{"done": 2, "total": 3, "note": ""}')
    assert (await make.record(conn, task.id)).progress == {"done": 2, "total": 3, "note": ""}


async def test_progress_that_repeats_itself_still_counts(conn: Connection) -> None:
    task = await make.running(conn)
    answers = [await report_progress(conn, make.lease(task), '{"done": 1}') for _ in range(2)]
    assert answers == [True, True]


async def test_progress_of_a_lost_lease_is_not_stored(conn: Connection) -> None:
    task = await make.running(conn)
    assert not await report_progress(conn, Lease(task.id, task.epoch + 1), "{}")
    await make.settled(conn, task, Succeeded("1"))
    assert not await report_progress(conn, make.lease(task), "{}")
    assert (await make.record(conn, task.id)).progress is None


async def test_a_batch_of_every_kind_of_outcome_writes_each_as_it_would_be_written_alone(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(id_lists.id_lists, "__defaults__", (2,))
    worker = await make.worker(conn)
    for _ in range(7):
        await make.ready(conn)
    *nothings, one, fails, stale = await claim.claim(conn, make.request(worker, limit=7))
    await cancel(conn, [nothings[0].id, fails.id])
    rows = [Settlement.of(task, Succeeded("null")) for task in nothings]
    rows += [Settlement.of(one, Succeeded("1")), Settlement.of(fails, Failed(make.ERROR, 5.0))]
    rows.append(Settlement(Lease(stale.id, stale.epoch + 1), Succeeded("null")))
    settled = await settle(conn, rows)
    assert [settled.get(row.lease) for row in rows] == [*[TaskStatus.SUCCESSFUL] * 5, TaskStatus.DISCARDED, None]
    stored = await get_tasks(conn, [task.id for task in (*nothings, one)])
    assert [stored[task.id].return_value for task in (*nothings, one)] == [None] * 4 + [1]
    assert (await make.record(conn, stale.id)).status is TaskStatus.RUNNING
