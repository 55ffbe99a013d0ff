"""Why a task does not run: every condition of the claim, asked of one task, as sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from oxpull_async.domain.record import TaskId, TaskRecord, TaskStatus, WorkerId


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that keeps a task from being claimed; fields that say nothing here are None."""

    kind: str
    text: str
    task_id: TaskId | None = None
    attempt: int | None = None
    worker_id: WorkerId | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether a worker may claim the task now, and if not, why."""

    runnable: bool
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class LivingWorker:
    """A worker whose lease is good, as far as it matters for one task."""

    worker_id: WorkerId
    queues: tuple[str, ...] | None
    unknown_tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the database says about one task, and about what its claim depends on."""

    record: TaskRecord
    is_due: bool
    is_paused: bool
    workers: Sequence[LivingWorker]
    lock_holders: Sequence[TaskRecord]
    lock_limit: int | None
    key_holder: TaskRecord | None


def explain(facts: Facts) -> Explanation:
    """Say why a task does not run, every reason at once; a task that may be claimed now has none."""
    record = facts.record
    if record.status.is_finished:
        return _only(Reason("finished", f"it has ended: {record.status}", since=record.finished_at))
    if record.status is TaskStatus.RUNNING:
        return _only(_running(record))
    reasons = [*_waiting(facts), *_scheduled(facts), *_paused(facts), *_unserved(facts)]
    return Explanation(not reasons, tuple(reasons))


def _only(reason: Reason) -> Explanation:
    return Explanation(runnable=False, reasons=(reason,))


def _running(record: TaskRecord) -> Reason:
    asked = "; a cancel was requested" if record.cancel_requested else ""
    text = f"attempt {record.attempts} of {record.max_attempts} runs now{asked}"
    return Reason("running", text, record.id, record.attempts, record.leased_by, record.last_attempted_at)


def _waiting(facts: Facts) -> list[Reason]:
    record, holder = facts.record, facts.key_holder
    if record.waiting_for == "follow_up":
        who = "a task that is gone" if holder is None else f"task {holder.id} ({holder.status}) to end"
        return [_about("follow_up", f"it waits for {who}, whose unique key it shares", holder)]
    taken = facts.lock_limit is not None and len(facts.lock_holders) >= facts.lock_limit
    if record.waiting_for == "lock" or taken:
        return _lock_reasons(facts)
    if record.status is TaskStatus.WAITING:
        return [Reason("waiting", f"it waits for {record.waiting_for}")]
    return []


def _lock_reasons(facts: Facts) -> list[Reason]:
    if not facts.lock_holders:
        return [
            Reason("lock", "it waits for its running lock, which is free: the next hand-over or reconciler wakes it")
        ]
    limit = f"its running lock (limit {facts.lock_limit}) is held by"
    return [
        _about("lock", f"{limit} task {holder.id}, attempt {holder.attempts}", holder) for holder in facts.lock_holders
    ]


def _scheduled(facts: Facts) -> list[Reason]:
    if facts.is_due or facts.record.status is TaskStatus.WAITING:
        return []
    due = facts.record.available_at
    why = "after a failed attempt" if facts.record.attempts else "as it was asked for"
    return [Reason("scheduled", f"it is due at {due:%Y-%m-%d %H:%M:%S} UTC, {why}", until=due)]


def _paused(facts: Facts) -> list[Reason]:
    name = facts.record.queue_name
    return [Reason("paused", f"queue {name!r} is paused: `oxpull resume {name}`")] if facts.is_paused else []


def _unserved(facts: Facts) -> list[Reason]:
    name, path = facts.record.queue_name, facts.record.task_path
    serving = [worker for worker in facts.workers if worker.queues is None or name in worker.queues]
    if not serving:
        return [Reason("no_worker", f"no living worker serves queue {name!r}")]
    if all(path in worker.unknown_tasks for worker in serving):
        return [Reason("unknown_task", f"no living worker of queue {name!r} knows the task {path}")]
    return []


def _about(kind: str, text: str, holder: TaskRecord | None) -> Reason:
    if holder is None:
        return Reason(kind, text)
    return Reason(kind, text, holder.id, holder.attempts or None, holder.leased_by, holder.last_attempted_at)
