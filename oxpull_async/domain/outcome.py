"""What an attempt came to, as a value, and how that value is written."""

from dataclasses import dataclass
from typing import assert_never

import msgspec

from oxpull_async.domain.limit_keys import key_of
from oxpull_async.domain.permit import Permit, WindowKey
from oxpull_async.domain.record import ClaimedTask, TaskId, TaskStatus, wire_id


class Lease(msgspec.Struct, frozen=True, gc=False):
    """The right of one attempt to write: the task and its epoch."""

    task_id: TaskId
    epoch: int


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The function returned; `value` is its return value as JSON text."""

    value: str


@dataclass(frozen=True, slots=True)
class SlowDown:
    """The task asked that a rate limit lets nothing start under its key for `seconds`."""

    limit: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt failed; `error` is the stored entry as JSON text.

    `retry_in` is in seconds, None when the failure is final.
    """

    error: str
    retry_in: float | None
    slow_down: SlowDown | None = None


@dataclass(frozen=True, slots=True)
class Snoozed:
    """The task asked to be run again in `seconds`, with the attempt given back."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Released:
    """The worker chose not to carry it out: the attempt is given back, the place kept."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The attempt stopped because a cancel was requested.

    `error` is the stored entry as JSON text.
    """

    error: str


type Outcome = Succeeded | Failed | Snoozed | Released | Cancelled


class Settlement(msgspec.Struct, frozen=True):
    """An outcome together with the lease that entitles to write it."""

    lease: Lease
    outcome: Outcome
    rerun_key: str | None = None
    """The unique key on which a follow-up may hang, for tasks declared to rerun."""
    lock_key: str | None = None
    """The running lock whose slot the attempt holds."""
    batch_id: str | None = None
    """The batch of the task, if it has one: its end is to be counted."""
    workflow_id: str | None = None
    """The workflow of the task, if it is a node: its end is to be followed."""
    limit_keys: str | None = None
    """The keys under which rate limits count it."""
    permits: tuple[Permit, ...] = ()
    """The starts that were counted for an attempt which is known not to have begun; they go back."""

    @classmethod
    def of(cls, claimed: ClaimedTask, outcome: Outcome, permits: tuple[Permit, ...] = ()) -> "Settlement":
        """Return the outcome of a claimed task, with all that hangs on it."""
        lease = Lease(claimed.id, claimed.epoch)
        if claimed.stands_alone and claimed.limit_keys is None:
            return cls(lease, outcome, permits=permits)
        return cls(
            lease, outcome, claimed.rerun_key, claimed.lock_key, claimed.batch_id, claimed.workflow_id,
            claimed.limit_keys, permits,
        )  # fmt: skip

    @property
    def is_bare(self) -> bool:
        """Whether it concerns its own row alone: no key, lock, batch, workflow or limit."""
        if self.rerun_key is not None or self.lock_key is not None or self.batch_id is not None:
            return False
        return self.workflow_id is None and not self.permits and (type(self.outcome) is Succeeded or not self.holds)

    @property
    def holds(self) -> tuple[WindowKey, float] | None:
        """The window that the task asked to hold shut, and for how many seconds."""
        if not isinstance(self.outcome, Failed) or self.outcome.slow_down is None:
            return None
        asked = self.outcome.slow_down
        return (asked.limit, key_of(self.limit_keys or "", asked.limit)), asked.seconds

    def columns(self) -> dict[str, object]:
        """Return the values of the statement `settle`, ready for JSON."""
        status, value, error, delay, refund = _columns(self.outcome)
        return {
            "id": wire_id(self.lease.task_id),
            "epoch": self.lease.epoch,
            "status": status,
            "value": value,
            "error": error,
            "delay": delay,
            "refund": refund,
        }


def is_bad_end(outcome: Outcome) -> bool:
    """Say whether an outcome ends a task without success."""
    return isinstance(outcome, Cancelled) or (isinstance(outcome, Failed) and outcome.retry_in is None)


def _columns(outcome: Outcome) -> tuple[str, str | None, str | None, float | None, bool]:
    match outcome:
        case Succeeded(value):
            return TaskStatus.SUCCESSFUL, value, None, None, False
        case Failed(error=error, retry_in=None):
            return TaskStatus.FAILED, None, error, None, False
        case Failed(error=error, retry_in=retry_in):
            return TaskStatus.READY, None, error, retry_in, False
        case Snoozed(seconds):
            return TaskStatus.READY, None, None, seconds, True
        case Released():
            return TaskStatus.READY, None, None, None, True
        case Cancelled(error):
            return TaskStatus.DISCARDED, None, error, None, False
        case _ as never:
            assert_never(never)
