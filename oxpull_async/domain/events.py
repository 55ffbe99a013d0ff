"""What may be observed while a worker runs: typed events.

Logging, progress displays and tests subscribe to them.
"""

from dataclasses import dataclass
from datetime import datetime

from oxpull_async.domain.record import TaskId, WorkerId


@dataclass(frozen=True, slots=True)
class WorkerStarted:
    """A worker entered itself in the database."""

    worker_id: WorkerId


@dataclass(frozen=True, slots=True)
class WorkerStopped:
    """A worker stopped in order; `remaining` counts rows that burst left for later."""

    worker_id: WorkerId
    done: int
    remaining: int


@dataclass(frozen=True, slots=True)
class TasksClaimed:
    """A claim brought tasks."""

    count: int


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """An attempt began."""

    task_id: TaskId
    task_path: str
    attempt: int


@dataclass(frozen=True, slots=True)
class TaskSettled:
    """An outcome was written; `status` is what the database holds now."""

    task_id: TaskId
    task_path: str
    attempt: int
    status: str


@dataclass(frozen=True, slots=True)
class OutcomeIgnored:
    """An outcome did not count: the task had been taken from this worker meanwhile."""

    task_id: TaskId
    task_path: str
    attempt: int


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """An attempt raised; `retry_in` is None when the failure is final."""

    task_id: TaskId
    task_path: str
    attempt: int
    error: str
    retry_in: float | None


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """The worker could not renew in time: its attempts are stopped and it registers anew."""

    worker_id: WorkerId


@dataclass(frozen=True, slots=True)
class TasksReaped:
    """Rows were taken from workers that fell silent."""

    requeued: int
    lost: int


@dataclass(frozen=True, slots=True)
class TasksReleased:
    """Claimed rows were handed back unstarted or interrupted."""

    count: int
    why: str


@dataclass(frozen=True, slots=True)
class LoopBlocked:
    """The event loop did not answer for `seconds`.

    `where` names the coroutine and line that held it.
    """

    seconds: float
    where: str


@dataclass(frozen=True, slots=True)
class DatabaseDown:
    """A loop could not reach the database and will try again in `retry_in` seconds."""

    loop: str
    error: str
    retry_in: float


@dataclass(frozen=True, slots=True)
class ListenerLost:
    """The subscription to wake-ups broke; polling covers until it is back."""

    error: str


@dataclass(frozen=True, slots=True)
class TaskUnknown:
    """A claimed task's path names no task here; the row is handed back untouched."""

    task_path: str
    reason: str


@dataclass(frozen=True, slots=True)
class BatchesReconciled:
    """Members of a batch were counted anew.

    `missing` had been deleted by hand; what is `unforeseen` means a bug elsewhere.
    """

    batch_id: str
    missing: int
    unforeseen: int


@dataclass(frozen=True, slots=True)
class WorkflowsReconciled:
    """Nodes of a workflow were followed anew.

    `missing` had been deleted by hand; what is `unforeseen` means a bug elsewhere.
    """

    workflow_id: str
    missing: int
    unforeseen: int


@dataclass(frozen=True, slots=True)
class ScheduleTicked:
    """Ticks of a schedule were settled: `enqueued` tasks were made for them.

    `skipped` ticks had come too long ago; `overlapped` says that the task of the tick before has not ended.
    """

    name: str
    ticks: tuple[datetime, ...]
    enqueued: int
    skipped: int
    overlapped: bool


@dataclass(frozen=True, slots=True)
class ScheduleFailed:
    """A schedule's tick could not be enqueued; it will be tried again in a minute."""

    name: str
    error: str


type Event = (
    WorkerStarted
    | WorkerStopped
    | TasksClaimed
    | TaskStarted
    | TaskSettled
    | OutcomeIgnored
    | AttemptFailed
    | LeaseLost
    | TasksReaped
    | TasksReleased
    | LoopBlocked
    | DatabaseDown
    | ListenerLost
    | TaskUnknown
    | BatchesReconciled
    | WorkflowsReconciled
    | ScheduleTicked
    | ScheduleFailed
)
