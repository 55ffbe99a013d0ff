"""Why a task does not run, from facts to sentences."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oxpull_async.domain.explanation import EdgeFacts, Facts, LockFacts, Reason, ReasonKind, WorkerFacts, explain
from oxpull_async.domain.record import NewTask, TaskError, TaskRecord, TaskStatus, new_record
from oxpull_async.domain.running_lock import OnConflict
from oxpull_async.domain.workflow import OnFailure

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ID, HOLDER, WORKER, OTHER = "01a-task", "01a-holder", "01a-worker", "01a-other"
ENDED = f"node 'a' (task {HOLDER})"
PATH = "shop.tasks.send"
TASK = new_record(NewTask(ID, "default", PATH, "mail", 0, "[]", "{}", None, 3, None), NOW, NOW)
RUNNING = replace(
    TASK, id=HOLDER, status=TaskStatus.RUNNING, attempts=2, leased_by=WORKER, last_attempted_at=NOW + timedelta(1)
)
ABLE = WorkerFacts(WORKER, None, True, (), 10, 3, NOW)
FAILURE = TaskError("builtins.ValueError", "Traceback", 2, WORKER)
WORKERS = st.builds(
    WorkerFacts, st.just(WORKER), st.sampled_from([None, ("mail",), ("other", "mail"), ("other",), ()]), st.booleans(),
    st.sampled_from([(), (PATH,), ("shop.tasks.other",)]), st.just(2), st.integers(0, 3), st.just(NOW),
)  # fmt: skip


def ready(record: TaskRecord = TASK) -> Facts:
    """Say that nothing keeps a task from being claimed."""
    return Facts(record, is_due=True, is_paused=False, workers=[ABLE])


def lock(taken: int, limit: int = 1, on_conflict: OnConflict = OnConflict.WAIT) -> LockFacts:
    return LockFacts("k" * 64, limit, on_conflict, taken, [RUNNING] * min(taken, 10))


def only(facts: Facts) -> Reason:
    explanation = explain(facts)
    assert not explanation.runnable
    [reason] = explanation.reasons
    return reason


@given(st.booleans(), st.booleans(), st.lists(WORKERS, max_size=3), st.integers(0, 3), st.integers(1, 3))
def test_a_task_is_runnable_iff_every_condition_is_met(
    is_due: bool, is_paused: bool, workers: list[WorkerFacts], taken: int, limit: int
) -> None:
    explanation = explain(Facts(TASK, is_due, is_paused, workers, lock(taken, limit)))
    may_claim = any(
        worker.is_alive
        and (worker.queues is None or "mail" in worker.queues)
        and PATH not in worker.unknown_tasks
        and worker.running < worker.concurrency
        for worker in workers
    )
    assert explanation.runnable == (is_due and not is_paused and taken < limit and may_claim)
    assert explanation.runnable == (not explanation.reasons)
    kinds = {reason.kind for reason in explanation.reasons}
    said = [kind in kinds for kind in (ReasonKind.SCHEDULED, ReasonKind.PAUSED, ReasonKind.LOCK)]
    assert said == [not is_due, is_paused, taken >= limit]


@pytest.mark.parametrize(
    ("status", "errors", "text"),
    [
        (TaskStatus.SUCCESSFUL, (FAILURE,), "it has ended SUCCESSFUL"),
        (TaskStatus.DISCARDED, (), "it has ended DISCARDED"),
        (
            TaskStatus.FAILED,
            (FAILURE,),
            f"it has ended FAILED (builtins.ValueError); `oxpull retry {ID}` runs it again",
        ),
        (TaskStatus.LOST, (), f"it has ended LOST; `oxpull retry {ID}` runs it again"),
    ],
)
def test_a_task_that_has_ended_says_how_and_when(status: TaskStatus, errors: tuple[TaskError, ...], text: str) -> None:
    reason = only(ready(replace(TASK, status=status, errors=errors, finished_at=NOW)))
    assert reason == Reason(ReasonKind.FINISHED, text, since=NOW)


def test_a_running_task_says_where_since_when_and_that_it_was_asked_to_stop() -> None:
    reason = only(ready(replace(RUNNING, cancel_requested=True)))
    assert reason == Reason(
        ReasonKind.RUNNING,
        f"attempt 2 of 3 runs on worker {WORKER} since 2026-01-03 03:04:05 UTC; it was asked to stop",
        HOLDER, 2, WORKER, NOW + timedelta(1),
    )  # fmt: skip


@pytest.mark.parametrize("workers", [[], [replace(ABLE, is_alive=False)], [replace(ABLE, worker_id=OTHER)]])
def test_a_running_task_whose_worker_fell_silent_says_so(workers: list[WorkerFacts]) -> None:
    assert "fell silent" in only(replace(ready(RUNNING), workers=workers)).text


WAITING = replace(TASK, status=TaskStatus.WAITING)


def test_a_follow_up_names_the_holder_of_the_key() -> None:
    reason = only(replace(ready(replace(WAITING, waiting_for="follow_up")), key_holder=RUNNING))
    text = f"it follows task {HOLDER} (RUNNING), which holds the unique key that both have"
    assert reason == Reason(ReasonKind.FOLLOW_UP, text, HOLDER, 2, WORKER, NOW + timedelta(1))


@pytest.mark.parametrize(
    ("holder", "text"),
    [
        (None, "the task that it follows is gone; a worker will make it ready"),
        (
            replace(RUNNING, status=TaskStatus.LOST),
            f"the task that it follows ({HOLDER}) has ended LOST; a worker will make it ready",
        ),
    ],
)
def test_a_follow_up_whose_holder_has_ended_says_that_it_will_be_released(holder: TaskRecord | None, text: str) -> None:
    assert only(replace(ready(replace(WAITING, waiting_for="follow_up")), key_holder=holder)).text == text


@pytest.mark.parametrize(
    ("status", "on_failure", "text"),
    [
        ("RUNNING", "discard", f"it waits for node 'a' (task {HOLDER}), which is RUNNING"),
        ("SUCCESSFUL", "discard", "node 'a' has ended SUCCESSFUL; a worker will see to what depends on it"),
        ("FAILED", "discard", f"{ENDED} has ended FAILED; once the workflow is sealed, this one will be discarded"),
        ("LOST", "run", f"{ENDED} has ended LOST; once the workflow is sealed, this one will run all the same"),
        (None, "discard", f"{ENDED} is gone; once the workflow is sealed, this one will be discarded"),
    ],
)
def test_a_node_waits_for_those_that_it_depends_on(status: str | None, on_failure: str, text: str) -> None:
    edge = EdgeFacts("a", HOLDER, None if status is None else TaskStatus(status), OnFailure(on_failure))
    reason = only(replace(ready(replace(WAITING, waiting_for="edges")), edges=[edge]))
    assert reason == Reason(ReasonKind.EDGES, text, task_id=HOLDER)


def test_a_node_whose_edges_are_met_waits_for_a_worker_to_see_it() -> None:
    text = "it waits for its edges, which let it run; a worker will make it ready"
    assert only(ready(replace(WAITING, waiting_for="edges"))) == Reason(ReasonKind.EDGES, text)


@pytest.mark.parametrize("record", [TASK, replace(WAITING, waiting_for="lock")])
def test_a_taken_lock_names_who_holds_it_for_a_ready_and_for_a_parked_task(record: TaskRecord) -> None:
    reason = only(replace(ready(record), lock=lock(1)))
    assert reason == Reason(
        ReasonKind.LOCK,
        f"its running lock kkkkkkkkkkkk… (1 of 1 taken) is held by task {HOLDER}, attempt 2, on worker {WORKER} "
        "since 2026-01-03 03:04:05 UTC",
        HOLDER, 2, WORKER, NOW + timedelta(1), lock_key="k" * 64,
    )  # fmt: skip


def test_a_parked_task_whose_lock_is_free_waits_to_be_woken() -> None:
    reason = only(replace(ready(replace(WAITING, waiting_for="lock")), lock=lock(0)))
    assert (reason.kind, reason.task_id) == (ReasonKind.LOCK, None)
    assert "free place" in reason.text


@pytest.mark.parametrize(("attempts", "is_said"), [(0, True), (1, False)])
def test_B2_a_lock_that_discards_says_so_to_first_attempts_only(attempts: int, is_said: bool) -> None:
    facts = replace(ready(replace(TASK, attempts=attempts)), lock=lock(1, on_conflict=OnConflict.DISCARD))
    assert ("will be discarded" in only(facts).text) is is_said


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (replace(TASK, run_after=NOW), "as its enqueue asked"),
        (replace(TASK, attempts=2, errors=(FAILURE,)), "because attempt 2 failed (builtins.ValueError)"),
        (replace(TASK, run_after=NOW, attempts=2, errors=(FAILURE,)), "because attempt 2 failed (builtins.ValueError)"),
        (replace(TASK, attempts=0), "as its last attempt asked"),
    ],
)
def test_a_task_that_is_not_due_says_until_when_and_why(record: TaskRecord, why: str) -> None:
    reason = only(replace(ready(record), is_due=False))
    assert reason == Reason(ReasonKind.SCHEDULED, f"it is due at 2026-01-02 03:04:05 UTC, {why}", until=NOW)


def test_a_paused_queue_says_how_to_resume_it() -> None:
    reason = only(replace(ready(), is_paused=True))
    assert reason == Reason(ReasonKind.PAUSED, "queue 'mail' is paused; `oxpull resume mail` lets it run")


def test_a_queue_that_nobody_serves_is_named() -> None:
    reason = only(replace(ready(), workers=[replace(ABLE, queues=("other",))]))
    assert reason == Reason(ReasonKind.NO_WORKER, "no worker serves queue 'mail'")


def test_of_workers_that_all_fell_silent_the_last_is_named() -> None:
    gone = [
        replace(ABLE, worker_id=name, is_alive=False, renewed_at=NOW + timedelta(hours))
        for name, hours in ((OTHER, 1), (WORKER, 2))
    ]
    reason = only(replace(ready(), workers=gone))
    assert (reason.kind, reason.worker_id, reason.since) == (ReasonKind.LEASE, WORKER, NOW + timedelta(2))


def test_a_task_that_one_worker_knows_and_has_room_for_is_runnable() -> None:
    full, ignorant = replace(ABLE, running=10), replace(ABLE, unknown_tasks=(PATH,))
    assert only(replace(ready(), workers=[ignorant])).kind is ReasonKind.UNKNOWN_TASK
    assert (
        only(replace(ready(), workers=[full, ignorant])).text
        == "all 10 places of the workers of queue 'mail' are taken"
    )
    assert explain(replace(ready(), workers=[full, ignorant, ABLE])).runnable
