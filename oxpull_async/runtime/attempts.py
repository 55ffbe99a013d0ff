"""The attempts of one worker process, as its event loop and its lease thread both see them."""

import threading
from enum import Enum, auto
from typing import TYPE_CHECKING

from oxpull_async.domain.outcome import Lease, Outcome, Released, Settlement, Succeeded
from oxpull_async.domain.record import ClaimedTask, TaskRecord, WorkerId
from oxpull_async.domain.retry import RetryPolicy
from oxpull_async.domain.surroundings import Run, is_final
from oxpull_async.domain.task import Body
from oxpull_async.runtime.lookup import Runnable

if TYPE_CHECKING:
    import asyncio

    from oxpull_async.domain.batch import BatchInfo


LATEST_START = 0.1


class Phase(Enum):
    """How far an attempt is."""

    CLAIMED = auto()
    BEGUN = auto()
    TAKEN_BACK = auto()
    ENDED = auto()


_CLAIMED, _BEGUN = Phase.CLAIMED, Phase.BEGUN


class Stop(Enum):
    """Why an attempt is asked to stop."""

    TIMEOUT = auto()
    CANCEL = auto()
    SHUTDOWN = auto()
    LEASE_LOST = auto()


class Attempt:
    """One claimed task on its way: its phase moves under the lock of its registry."""

    __slots__ = (
        "aio_task",
        "batch",
        "begun_at",
        "claimed",
        "claimed_at",
        "marked",
        "phase",
        "runnable",
        "stop",
        "timer",
        "worker_id",
    )

    def __init__(self, claimed: ClaimedTask, worker_id: WorkerId, runnable: Runnable, claimed_at: float) -> None:
        self.claimed = claimed
        self.worker_id = worker_id
        self.runnable = runnable
        self.claimed_at = claimed_at
        self.begun_at = 0.0
        self.phase = Phase.CLAIMED
        self.marked = claimed.begun
        self.batch: BatchInfo | None = None
        self.stop: Stop | None = None
        self.aio_task: asyncio.Task[None] | None = None
        self.timer: asyncio.TimerHandle | None = None

    @property
    def lease(self) -> Lease:
        """What entitles to write about it."""
        return Lease(self.claimed.id, self.claimed.epoch)

    @property
    def body(self) -> Body:
        """What it runs."""
        return self.runnable.body

    @property
    def policy(self) -> RetryPolicy:
        """How its failures are treated."""
        return self.runnable.policy

    def settlement(self, outcome: Outcome) -> Settlement:
        """Return what is to be written about it, with the keys on which other tasks hang."""
        did_not_begin = isinstance(outcome, Released) and not self.begun_at
        return Settlement.of(self.claimed, outcome, self.claimed.permits if did_not_begin else ())

    def run(self, record: TaskRecord | None) -> Run:
        """Return what the surroundings of its task see of it, once it has begun."""
        return Run(self.claimed, self.worker_id, record, self.deadline)

    def is_over_with(self, outcome: Outcome) -> bool:
        """Whether an outcome ends the task by success or failure, as known before it is written.

        After a cancel only a success does; after a lost lease, or once handed back, nothing.
        """
        if self.phase is not Phase.BEGUN or self.stop is Stop.LEASE_LOST:
            return False
        return is_final(outcome) and (self.stop is not Stop.CANCEL or isinstance(outcome, Succeeded))

    @property
    def is_live(self) -> bool:
        """Whether it waits for a place or runs."""
        return self.phase is _BEGUN or self.phase is _CLAIMED

    @property
    def hands_over(self) -> bool:
        """Whether another task may become ready when it ends, of which only we can tell."""
        return self.claimed.rerun_key is not None or self.claimed.lock_key is not None

    @property
    def is_followed(self) -> bool:
        """Whether it is of a batch or workflow, whose next tasks may become ready when it ends."""
        return self.claimed.batch_id is not None or self.claimed.workflow_id is not None

    @property
    def timeout(self) -> float | None:
        """The seconds it may run, or None."""
        return self.claimed.timeout

    @property
    def deadline(self) -> float | None:
        """The monotonic instant at which the timeout ends the attempt.

        None before it began and without a timeout.
        """
        return self.begun_at + self.claimed.timeout if self.claimed.timeout and self.begun_at else None


class Attempts:
    """The registry: which attempts wait, run or are unsettled here.

    Safe to read and move from both threads.
    `claim_in_doubt` says that a claim's answer did not arrive, so that rows may run here of which nobody knows;
    `unbegun` counts the attempts that were given back before they started.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Attempt, None] = {}
        self._live = 0
        self.claims_begun = 0
        self.claims_ended = 0
        self.claim_in_doubt = False
        self.unbegun = 0

    def __len__(self) -> int:
        return self._live

    def __contains__(self, attempt: Attempt) -> bool:
        return attempt in self._known and attempt.is_live

    @property
    def unsettled(self) -> int:
        """How many attempts have ended but are not written yet."""
        return len(self._known) - self._live

    @property
    def busy(self) -> int:
        """How many attempts are live or not written yet."""
        return len(self._known)

    def live(self) -> list[Attempt]:
        """Return the attempts that wait for a place or run."""
        with self._lock:
            return [attempt for attempt in self._known if attempt.is_live] if self._live else []

    def known(self) -> set[tuple[str, int]]:
        """Return id and epoch of every attempt this process still answers for."""
        with self._lock:
            return {(one.claimed.id, one.claimed.epoch) for one in self._known}

    def owes(self, worker_id: WorkerId) -> bool:
        """Whether outcomes are still to be written of attempts under an earlier id than this."""
        with self._lock:
            return any(not one.is_live and one.worker_id != worker_id for one in self._known)

    def add(self, *attempts: Attempt) -> None:
        """Enter attempts that were claimed."""
        with self._lock:
            self._live += len(attempts)
            self._known.update(dict.fromkeys(attempts))

    def begin(self, attempt: Attempt, now: float) -> bool:
        """Let an attempt start.

        False when it was taken back or told to stop before, or when a rate limit counted its start too long ago.
        """
        with self._lock:
            if attempt.phase is not _CLAIMED or attempt.stop is not None:
                return False
            if attempt.claimed.permits and now - attempt.claimed_at > LATEST_START:
                return False
            attempt.phase, attempt.begun_at = _BEGUN, now
            return True

    def take_back(self, attempt: Attempt) -> bool:
        """Keep an attempt from starting; False when it has begun."""
        with self._lock:
            if attempt.phase is not Phase.CLAIMED:
                return False
            attempt.phase = Phase.TAKEN_BACK
            self._live -= 1
            self.unbegun += 1
            return True

    def end(self, attempt: Attempt) -> bool:
        """Note that an attempt has ended and awaits its settling.

        False when somebody else ended it before.
        """
        with self._lock:
            phase = attempt.phase
            if phase is not _BEGUN and phase is not _CLAIMED:
                return False
            self._live -= 1
            if phase is _CLAIMED:
                self.unbegun += 1
            attempt.phase = Phase.ENDED
            return True

    def forget(self, *attempts: Attempt) -> None:
        """Note that nothing more will be written about attempts."""
        with self._lock:
            for attempt in attempts:
                if attempt in self._known:
                    del self._known[attempt]
                    self._live -= attempt.is_live
