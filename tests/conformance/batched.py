"""What the chapters about batches share: sealed batches, and members that end."""

from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch import BatchRecord
from oxpull_async.domain.outcome import Failed, Outcome, Settlement, Succeeded
from oxpull_async.domain.record import ClaimedTask, TaskId
from oxpull_async.store.batches import seal
from oxpull_async.store.lease import expired, reap
from oxpull_async.store.settle import settle
from tests.fixtures import batches as made
from tests.fixtures import make, raw

DONE, BROKEN = Succeeded("1"), Failed(make.ERROR, None)
SUCCESS, FAILURE = ["complete", "success"], ["complete", "failure"]
OPEN, SEALED, COMPLETE = "OPEN", "SEALED", "COMPLETE"


async def sealed(conn: Connection, count: int = 1) -> tuple[BatchRecord, list[TaskId]]:
    """Make a sealed batch of new tasks."""
    batch = await made.opened(conn)
    ids = await made.members(conn, batch.id, count)
    await seal(conn, batch.id)
    return batch, ids


async def run(conn: Connection, outcome: Outcome, limit: int = 1) -> list[ClaimedTask]:
    """Claim members and settle them all in one batch of outcomes."""
    claimed = await make.claimed(conn, await make.worker(conn), limit)
    await settle(conn, [settlement(task, outcome) for task in claimed])
    return claimed


def settlement(task: ClaimedTask, outcome: Outcome) -> Settlement:
    return Settlement.of(task, outcome)


async def lose(conn: Connection) -> None:
    """Let a worker that runs one member fall silent, and reap it."""
    worker = await make.worker(conn)
    assert await make.claimed(conn, worker, 1)
    await raw.forget_worker(conn, worker)
    [row] = await expired(conn, 10)
    assert await reap(conn, row, make.ERROR) is not None
