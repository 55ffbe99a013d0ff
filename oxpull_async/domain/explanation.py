"""Why a task does not run: every condition of the claim, asked of one task, as sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from oxpull_async.domain.rate_windows import Limit, Room
from oxpull_async.domain.record import TaskId, TaskRecord, TaskStatus, WorkerId
from oxpull_async.domain.running_lock import OnConflict
from oxpull_async.domain.workflow import OnFailure

NAMED_HOLDERS = NAMED_EDGES = 10


class ReasonKind(StrEnum):
    """The condition of the claim that a task does not meet."""

    FINISHED = "finished"
    RUNNING = "running"
    FOLLOW_UP = "follow_up"
    EDGES = "edges"
    LOCK = "lock"
    RATE_LIMIT = "rate_limit"
    SCHEDULED = "scheduled"
    PAUSED = "paused"
    NO_WORKER = "no_worker"
    LEASE = "lease"
    UNKNOWN_TASK = "unknown_task"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that keeps a task from being claimed, as a sentence and in parts.

    `task_id`, `attempt` and `worker_id` are what it waits for (when it runs: its own), since and until when, where
    that is known. `lock_key` is the stored key of its running lock, `rate_limit` the name of a limit.
    """

    kind: ReasonKind
    text: str
    task_id: TaskId | None = None
    attempt: int | None = None
    worker_id: WorkerId | None = None
    since: datetime | None = None
    until: datetime | None = None
    lock_key: str | None = None
    rate_limit: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether a worker may claim a task now; if not, everything that keeps it from that."""

    runnable: bool
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """A worker, as far as it matters for one task; `queues` is None where it serves all."""

    worker_id: WorkerId
    queues: tuple[str, ...] | None
    is_alive: bool
    unknown_tasks: tuple[str, ...]
    concurrency: int
    running: int
    renewed_at: datetime


@dataclass(frozen=True, slots=True)
class LockFacts:
    """A task's running lock: how many slots other tasks hold, and some of these."""

    key: str
    limit: int
    on_conflict: OnConflict
    taken: int
    holders: Sequence[TaskRecord]


@dataclass(frozen=True, slots=True)
class LimitFacts:
    """A rate limit that covers a task; `room` is None where the task was not set apart yet."""

    limit: Limit
    room: Room | None


@dataclass(frozen=True, slots=True)
class EdgeFacts:
    """An edge of a node that is not met.

    What it comes from, and that task's status: None where the row is gone.
    """

    name: str
    task_id: TaskId
    status: TaskStatus | None
    on_failure: OnFailure


@dataclass(frozen=True, slots=True)
class Facts:
    """What the database says about one task, and about what its claim depends on."""

    record: TaskRecord
    is_due: bool
    is_paused: bool
    workers: Sequence[WorkerFacts]
    lock: LockFacts | None = None
    key_holder: TaskRecord | None = None
    limits: Sequence[LimitFacts] = ()
    edges: Sequence[EdgeFacts] = ()


def explain(facts: Facts) -> Explanation:
    """Say why a task does not run, every reason at once; one that may be claimed has none."""
    if facts.record.status.is_finished:
        reasons = [_finished(facts.record)]
    elif facts.record.status is TaskStatus.RUNNING:
        reasons = [_running(facts)]
    else:
        held = [*_waiting(facts), *_locked(facts), *_throttled(facts), *_scheduled(facts), *_paused(facts)]
        reasons = [*held, *_unserved(facts)]
    return Explanation(not reasons, tuple(reasons))


def _finished(record: TaskRecord) -> Reason:
    last = f" ({record.errors[-1].exception_class_path})" if record.errors else ""
    is_retried = record.status in {TaskStatus.FAILED, TaskStatus.LOST}
    hint = f"; `oxpull retry {record.id}` runs it again" if is_retried else ""
    error = "" if record.status is TaskStatus.SUCCESSFUL else last
    return Reason(ReasonKind.FINISHED, f"it has ended {record.status}{error}{hint}", since=record.finished_at)


def _running(facts: Facts) -> Reason:
    record = facts.record
    is_held = any(worker.is_alive and worker.worker_id == record.leased_by for worker in facts.workers)
    text = f"attempt {record.attempts} of {record.max_attempts} runs on worker {record.leased_by}"
    text += _since(record.last_attempted_at) + ("; it was asked to stop" if record.cancel_requested else "")
    text += "" if is_held else "; that worker fell silent, and a living one will take the task over"
    return _about(ReasonKind.RUNNING, text, record)


def _waiting(facts: Facts) -> list[Reason]:
    """Name what a WAITING task waits for; the running lock has its own say."""
    record, holder = facts.record, facts.key_holder
    if record.waiting_for == "lock" or record.status is not TaskStatus.WAITING:
        return []
    if record.waiting_for == "edges":
        return [_edge(edge) for edge in facts.edges] or [
            Reason(ReasonKind.EDGES, "it waits for its edges, which let it run; a worker will make it ready")
        ]
    if holder is None or holder.status.is_finished:
        end = "is gone" if holder is None else f"({holder.id}) has ended {holder.status}"
        text = f"the task that it follows {end}; a worker will make it ready"
    else:
        text = f"it follows task {holder.id} ({holder.status}), which holds the unique key that both have"
    return [_about(ReasonKind.FOLLOW_UP, text, holder)]


def _edge(edge: EdgeFacts) -> Reason:
    """Say what a node that waits for another one waits for, and what comes of a bad end."""
    is_over = edge.status is None or edge.status.is_finished
    if not is_over:
        text = f"it waits for node {edge.name!r} (task {edge.task_id}), which is {edge.status}"
    elif edge.status is TaskStatus.SUCCESSFUL:
        text = f"node {edge.name!r} has ended SUCCESSFUL; a worker will see to what depends on it"
    else:
        end = "is gone" if edge.status is None else f"has ended {edge.status}"
        then = "run all the same" if edge.on_failure is OnFailure.RUN else "be discarded"
        text = f"node {edge.name!r} (task {edge.task_id}) {end}; once the workflow is sealed, this one will {then}"
    return Reason(ReasonKind.EDGES, text, task_id=edge.task_id)


def _locked(facts: Facts) -> list[Reason]:
    lock = facts.lock
    is_parked = facts.record.waiting_for == "lock"
    if lock is None or not (is_parked or lock.taken >= lock.limit):
        return []
    if lock.taken < lock.limit:
        text = "it waits for its running lock, which has a free place; a worker will make it ready"
        return [Reason(ReasonKind.LOCK, text, lock_key=lock.key)]
    ends = not is_parked and lock.on_conflict is OnConflict.DISCARD and facts.record.attempts == 0
    then = '; it will be discarded, as on_conflict="discard" says' if ends else ""
    return [
        _about(
            ReasonKind.LOCK,
            f"its running lock {lock.key[:12]}… ({lock.taken} of {lock.limit} taken) is held by task {holder.id}, "
            f"attempt {holder.attempts}, on worker {holder.leased_by}{_since(holder.last_attempted_at)}{then}",
            holder,
            lock.key,
        )
        for holder in lock.holders
    ]


def _throttled(facts: Facts) -> list[Reason]:
    """Name every limit that lets the task not start now."""
    return [
        Reason(
            ReasonKind.RATE_LIMIT,
            f"the rate limit {limit.name!r} {_shut(limit, room)}",
            since=None if room is None else room.started_at,
            until=None if room is None else room.opens_at,
            rate_limit=limit.name,
        )
        for limit, room in ((each.limit, each.room) for each in facts.limits)
        if room is None or not room.is_open
    ]


def _shut(limit: Limit, room: Room | None) -> str:
    if room is None:
        return "covers it, which its enqueue did not know; a worker will set it apart and then count it"
    if limit.limit == 0:
        return "lets nothing start: it allows 0 starts"
    if room.held_until is not None:
        return f"is held shut until {_when(room.held_until)}, as a task asked by slow_down"
    per = f"{limit.per.total_seconds():g} s"
    within = f"in the last {per}" if room.started_at is None else f"in {per}{_since(room.started_at)}"
    then = "" if room.opens_at is None else f"; the next may start at {_when(room.opens_at)}"
    return f"is used up: {room.used + room.others} of {limit.limit} starts {within}{then}"


def _scheduled(facts: Facts) -> list[Reason]:
    record = facts.record
    if facts.is_due:
        return []
    if record.available_at == record.run_after and not record.attempts:
        why = "as its enqueue asked"
    elif record.errors:
        why = f"because attempt {record.errors[-1].attempt} failed ({record.errors[-1].exception_class_path})"
    else:
        why = "as its last attempt asked"
    text = f"it is due at {_when(record.available_at)}, {why}"
    return [Reason(ReasonKind.SCHEDULED, text, until=record.available_at)]


def _paused(facts: Facts) -> list[Reason]:
    name = facts.record.queue_name
    text = f"queue {name!r} is paused; `oxpull resume {name}` lets it run"
    return [Reason(ReasonKind.PAUSED, text)] if facts.is_paused else []


def _unserved(facts: Facts) -> list[Reason]:
    name, path = facts.record.queue_name, facts.record.task_path
    serving = [worker for worker in facts.workers if worker.queues is None or name in worker.queues]
    living = [worker for worker in serving if worker.is_alive]
    able = [worker for worker in living if path not in worker.unknown_tasks]
    if not serving:
        return [Reason(ReasonKind.NO_WORKER, f"no worker serves queue {name!r}")]
    if not living:
        last = max(serving, key=lambda worker: worker.renewed_at)
        text = f"no living worker serves queue {name!r}: {last.worker_id} fell silent{_since(last.renewed_at)}"
        return [Reason(ReasonKind.LEASE, text, worker_id=last.worker_id, since=last.renewed_at)]
    if not able:
        text = f"no living worker of queue {name!r} finds the task {path}: is its module imported there?"
        return [Reason(ReasonKind.UNKNOWN_TASK, text, worker_id=living[0].worker_id)]
    if all(worker.running >= worker.concurrency for worker in able):
        places = sum(worker.concurrency for worker in able)
        return [Reason(ReasonKind.BUSY, f"all {places} places of the workers of queue {name!r} are taken")]
    return []


def _about(kind: ReasonKind, text: str, task: TaskRecord | None, lock_key: str | None = None) -> Reason:
    if task is None:
        return Reason(kind, text)
    attempt = task.attempts or None
    return Reason(kind, text, task.id, attempt, task.leased_by, task.last_attempted_at, lock_key=lock_key)


def _since(moment: datetime | None) -> str:
    return "" if moment is None else f" since {_when(moment)}"


def _when(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
