"""Attempts that have ended: what is written about them, and who is told."""

from collections.abc import Sequence

import msgspec

from oxpull_async.db.contract import Database
from oxpull_async.domain.events import AttemptFailed, OutcomeIgnored, TaskSettled
from oxpull_async.domain.outcome import Failed, Outcome, Released, Settlement, is_bad_end
from oxpull_async.domain.record import TaskStatus
from oxpull_async.runtime.attempts import Attempt
from oxpull_async.runtime.failures import brief
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.results import get_tasks
from oxpull_async.store.settle import Settled


class Ended(msgspec.Struct, frozen=True):
    """An attempt that has ended, with its outcome."""

    attempt: Attempt
    outcome: Outcome

    @property
    def settlement(self) -> Settlement:
        """What is to be written."""
        return self.attempt.settlement(self.outcome)


def together(batch: Sequence[Ended]) -> int:
    """Count the outcomes that are settled at once, from the first on.

    One that ends a node of a workflow badly stands alone, since others may have to be discarded with it.
    """
    for place, ended in enumerate(batch):
        if ended.attempt.claimed.workflow_id is not None and is_bad_end(ended.outcome):
            return place or 1
    return len(batch)


def attempt_failed(attempt: Attempt, error: BaseException, outcome: Failed) -> AttemptFailed:
    """Return what is told of an attempt that failed of an error."""
    claimed = attempt.claimed
    return AttemptFailed(claimed.id, claimed.task_path, claimed.attempt, brief(error), outcome.retry_in)


def announce(hub: Hub, batch: Sequence[Ended], settled: Settled) -> None:
    """Tell which outcomes are written, and which do not count."""
    if not (hub.wants(TaskSettled) or len(settled) < len(batch)):
        return
    for ended in batch:
        claimed = ended.attempt.claimed
        status = settled.get(ended.attempt.lease)
        if status is None:
            hub.emit(OutcomeIgnored(claimed.id, claimed.task_path, claimed.attempt))
        else:
            hub.emit(TaskSettled(claimed.id, claimed.task_path, claimed.attempt, status))


def count_ended(batch: Sequence[Ended], settled: Settled) -> int:
    """Count the attempts whose end is written; those that were handed back have not ended."""
    if len(settled) < len(batch):
        batch = [ended for ended in batch if ended.attempt.lease in settled]
    return sum(not isinstance(ended.outcome, Released) for ended in batch)


async def written_before(database: Database, missing: Sequence[Ended]) -> Settled:
    """Find the outcomes whose first writing landed although the connection broke."""
    ids = [ended.attempt.claimed.id for ended in missing]
    records = await repeat(database, lambda conn: get_tasks(conn, ids))
    found: Settled = {}
    for ended in missing:
        record = records.get(ended.attempt.claimed.id)
        expected = ended.settlement.columns()
        epoch = ended.attempt.lease.epoch + (1 if expected["refund"] else 0)
        if record and record.epoch == epoch and record.status in {expected["status"], TaskStatus.DISCARDED}:
            found[ended.attempt.lease] = record.status
    return found
