"""Deferred tasks are claimed when they are due: never early, and hardly later than one enqueued at that instant."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from oxpull_async import Oxpull
from oxpull_async.domain.events import TaskSettled, WorkerStarted
from tests.fixtures.workers import working
from tests.scenarios.proof import Proof, proof


@dataclass(frozen=True, slots=True)
class Punctual:
    """By how many milliseconds the claims of deferred tasks came after their due instant, by the database's clock."""

    tasks: int
    median_ms: float
    latest_ms: float


async def deferred_tasks(url: str, *, tasks: int, spread_seconds: float, latest_ms: float) -> Punctual:
    """Enqueue tasks due over some seconds, beside an idle worker, and compare the stored instants."""
    async with Oxpull(url, lease_seconds=10) as ox:
        await ox.migrate()

        @ox.task
        async def short() -> None: ...

        async with working(ox) as (_, witness):
            await witness.seen(WorkerStarted)
            start = datetime.now(UTC) + timedelta(seconds=1)
            step = timedelta(seconds=spread_seconds / tasks)
            calls = [short.using(run_after=start + number * step).call() for number in range(tasks)]
            results = await ox.enqueue_many(calls)
            await witness.seen(TaskSettled, count=tasks, within=spread_seconds + 30)
        delays = []
        for result in results:
            await result.refresh()
            assert result.last_attempted_at is not None
            assert result.run_after is not None
            delays.append((result.last_attempted_at - result.run_after) / timedelta(milliseconds=1))
        delays.sort()
        assert delays[0] >= 0, "a task was claimed before it was due"
        assert delays[-1] <= latest_ms, f"the latest claim came {delays[-1]} ms late"
        return Punctual(tasks, round(delays[tasks // 2], 1), round(delays[-1], 1))


PROOFS: list[Proof] = [
    proof(
        "deferred tasks beside an idle worker are claimed within 100 ms",
        "A5",
        partial(deferred_tasks, tasks=100, spread_seconds=20.0, latest_ms=100.0),
    ),
]
