"""Batches: their callbacks come once, at once and with true counts, and a member's end costs the same in any batch."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from oxpull_async import Batch, BatchProgress, Oxpull, WorkflowProgress
from oxpull_async.db.contract import Connection
from oxpull_async.domain.batch import NewBatch
from oxpull_async.domain.batch_counts import counted_as
from oxpull_async.domain.outcome import Settlement, Succeeded
from oxpull_async.domain.record import ClaimedTask, TaskRecord
from oxpull_async.store.batches import create_batch
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.settle import settle
from tests.fixtures import batches as made
from tests.fixtures import make
from tests.fixtures.waiting import until
from tests.scenarios.mayhem import mayhem
from tests.scenarios.proof import proof
from tests.scenarios.stage import Stage, stage

FAILS_EACH = 50
APART = 1_000_000
LATEST = 1.0
DEAREST = 1.2


@dataclass(frozen=True, slots=True)
class Completed:
    """Batches that were run by workers which were killed, and how long after its last member's end each followed.

    `seconds`: from the last settle of a batch's members to the enqueue of its on_complete, by the database's clock.
    """

    members: tuple[int, ...]
    killed: int
    succeeded: int
    failed: int
    unattributed: int
    callbacks: int
    median_seconds: float
    longest_seconds: float


async def completed(
    url: str, *, sizes: Sequence[int], kills: int, lease_seconds: float = 2.0, within: float = 600.0
) -> Completed:
    """Run batches with two workers that are killed at random; one member in fifty fails."""
    async with stage(url, lease_seconds=lease_seconds) as scene:
        built = [await _build(scene, size, place * APART) for place, size in enumerate(sizes)]
        async with mayhem(scene, "--concurrency=100", workers=2, kills=kills) as havoc:
            await until(partial(_all_complete, built), within=within, what=f"batches complete; logs:\n{scene.logs()}")
        progress = [await batch.progress() for batch in built]
        groups = _by_batch(await scene.records(), len(built))
        for found, (members, callbacks) in zip(progress, groups, strict=True):
            check_counts(found, members)
            check_callbacks(found, callbacks)
        seconds = [_seconds(*group) for group in groups]
        assert median(seconds) <= LATEST, seconds
        return Completed(
            members=tuple(sizes),
            killed=len(havoc.killed),
            succeeded=sum(one.succeeded for one in progress),
            failed=sum(one.failed for one in progress),
            unattributed=sum(one.unattributed for one in progress),
            callbacks=sum(len(callbacks) for _, callbacks in groups),
            median_seconds=round(median(seconds), 3),
            longest_seconds=round(max(seconds), 3),
        )


def check_counts(progress: BatchProgress, members: Sequence[TaskRecord]) -> None:
    """Fail where the counts are not what the rows say."""
    rows = Counter(str(counted_as(record.status) or "pending") for record in members)
    counts = {
        "succeeded": progress.succeeded, "failed": progress.failed, "unattributed": progress.unattributed,
        "pending": progress.pending,
    }  # fmt: skip
    assert +rows == +Counter(counts), f"the rows say {dict(rows)}, the counts {counts}"
    assert progress.total == len(members)


def check_callbacks(progress: BatchProgress | WorkflowProgress, callbacks: Sequence[TaskRecord]) -> None:
    """Fail unless on_complete was enqueued once, and one of the others."""
    kinds = sorted(record.args[0] for record in callbacks)
    ended = "success" if progress.failed == 0 and progress.unattributed == 0 else "failure"
    assert kinds == ["complete", ended], kinds


async def _build(scene: Stage, size: int, first: int) -> Batch:
    """Store a batch; its members and callbacks are known by the number that their arguments begin at."""
    effect, fails, summary = scene.task("effect", max_attempts=10), scene.task("fails"), scene.task("summary")
    batch = await scene.ox.create_batch(
        f"{size} members",
        on_complete=summary.call("complete", first),
        on_success=summary.call("success", first),
        on_failure=summary.call("failure", first),
    )
    await batch.add_many(
        [
            fails.using(max_attempts=1).call(number) if number % FAILS_EACH == 1 else effect.call(number, 0.02)
            for number in range(first, first + size)
        ]
    )
    await batch.seal()
    return batch


async def _all_complete(built: Sequence[Batch]) -> bool:
    return all([(await batch.progress()).status == "COMPLETE" for batch in built])


type _Group = tuple[list[TaskRecord], list[TaskRecord]]


def _by_batch(records: Sequence[TaskRecord], count: int) -> list[_Group]:
    """Part the rows of each batch into its members and its callbacks."""
    groups: list[_Group] = [([], []) for _ in range(count)]
    for record in records:
        is_callback = record.task_path.endswith(".summary")
        number = record.args[1] if is_callback else record.args[0]
        groups[number // APART][is_callback].append(record)
    return groups


def _seconds(members: Sequence[TaskRecord], callbacks: Sequence[TaskRecord]) -> float:
    """Return how long after the last member's end on_complete was enqueued."""
    [told] = [record.enqueued_at for record in callbacks if record.args[0] == "complete"]
    return (told - max(record.finished_at for record in members if record.finished_at is not None)).total_seconds()


@dataclass(frozen=True, slots=True)
class SettleCost:
    """How long a settle of one task took, median, in a small group and in a large one, turn and turn about."""

    small: int
    large: int
    settles: int
    small_ms: float
    large_ms: float
    ratio: float


async def settle_cost(url: str, *, small: int, large: int, bar: float | None = DEAREST) -> SettleCost:
    """Settle members of a small and of a large batch in turn, and compare; all but one of the small one's members."""
    return await compare_settles(url, _fill, small=small, large=large, bar=bar)


type Fill = Callable[[Connection, str, int], Awaitable[None]]
"""Stores a batch or workflow of so many tasks that may start, on a queue."""


async def compare_settles(url: str, fill: Fill, *, small: int, large: int, bar: float | None) -> SettleCost:
    """Settle tasks of a small group and of a large one in turn, and compare."""
    async with Oxpull(url) as ox:
        await ox.migrate()
        async with ox.database.connection() as conn:
            worker = await make.worker(conn, lease_seconds=3_600)
            claimed = []
            for place, size in enumerate((small, large)):
                await fill(conn, f"q{place}", size)
                claimed.append(await claim(conn, ClaimRequest(worker, make.ALIAS, (f"q{place}",), small - 1)))
            times: tuple[list[float], list[float]] = ([], [])
            for pair in zip(*claimed, strict=True):
                for task, taken in zip(pair, times, strict=True):
                    taken.append(await _settle_one(conn, task))
    short, long = (median(taken) * 1_000 for taken in times)
    ratio = long / short
    assert bar is None or ratio <= bar, f"{short:.3f} ms in a group of {small}, {long:.3f} ms in one of {large}"
    return SettleCost(small, large, len(times[0]), round(short, 3), round(long, 3), round(ratio, 2))


async def _fill(conn: Connection, queue_name: str, size: int) -> None:
    batch = await create_batch(conn, NewBatch(make.new_id(), make.ALIAS, queue_name, ()))
    for start in range(0, size, 10_000):
        count = min(10_000, size - start)
        tasks = [make.new_task(queue_name=queue_name, batch_id=batch.id) for _ in range(count)]
        await made.add(conn, batch.id, *tasks)


async def _settle_one(conn: Connection, task: ClaimedTask) -> float:
    begun = time.perf_counter()
    settled = await settle(conn, [Settlement.of(task, Succeeded("1"))])
    assert settled
    return time.perf_counter() - begun


PROOFS = [
    proof(
        "batches of 10,000 and four times 500 complete once, in time, counted right, while workers are killed",
        "D1, D2",
        partial(completed, sizes=(10_000, 500, 500, 500, 500), kills=6),
    ),
    proof(
        "settling a member of a 100,000-member batch costs at most 1.2 times that of a 100-member batch",
        "D1",
        partial(settle_cost, small=100, large=100_000),
    ),
]
