"""G4: `explain` asks what the claim asks. Each condition is taken away in turn, and given back."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from oxpull_async import Explanation, Oxpull, RunningLock, TaskResult, TaskStatus, Unique
from oxpull_async.domain.explanation import Reason, ReasonKind
from oxpull_async.domain.outcome import Lease, Outcome, Released, Settlement, Succeeded
from oxpull_async.domain.record import ClaimedTask, WorkerId
from oxpull_async.errors import TaskResultDoesNotExist
from oxpull_async.store import health, lease, queues
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.settle import settle
from tests.app.kit import nothing, open_oxpull, unmasked, work
from tests.fixtures import make, raw

pytestmark = pytest.mark.asyncio

MISSING = "01a227dd-088b-70c1-9dae-edcf96f9f75d"
DONE = Succeeded("1")
LOCK = RunningLock(name="one")
RERUN = Unique(key=lambda *_, **__: "one", on_duplicate="rerun")


@dataclass(frozen=True, slots=True)
class Scene:
    """An Oxpull with one registered worker, and a task that it would claim."""

    ox: Oxpull
    worker: WorkerId
    task: TaskResult[Any]


type Obstacle = Callable[[Oxpull], AbstractAsyncContextManager[Scene]]


async def enter(
    ox: Oxpull, lease_seconds: float = 60, concurrency: int = 10, serves: tuple[str, ...] | None = None
) -> WorkerId:
    """Register a worker."""
    card = lease.WorkerCard(make.new_id(), "default", "host.test", 4711, serves, concurrency, lease_seconds)
    await ox.operate(lambda conn: lease.register(conn, card))
    return card.worker_id


async def take(ox: Oxpull, worker_id: WorkerId) -> list[ClaimedTask]:
    """Claim what a worker may claim, as far as it has room and the database knows what it serves."""
    [state] = [
        each for each in await ox.operate(lambda conn: health.workers(conn, "default")) if each.worker_id == worker_id
    ]
    request = ClaimRequest(
        worker_id,
        "default",
        ("default",) if state.queues is None else state.queues,
        state.concurrency - state.running,
        excluded_paths=frozenset(state.notes.get("unknown_tasks", ())),
        meets_locks=True,
    )
    await ox.operate(lambda conn: queues.promote(conn, 10))
    return await ox.operate(lambda conn: claim(conn, request))


async def done(ox: Oxpull, taken: list[ClaimedTask], outcome: Outcome = DONE) -> None:
    """Settle the attempt that was claimed."""
    [one] = taken
    settlement = Settlement(Lease(one.id, one.epoch), outcome, one.rerun_key, one.lock_key)
    assert await ox.operate(lambda conn: settle(conn, [settlement]))


async def only(ox: Oxpull, task: TaskResult[Any], kind: ReasonKind) -> Reason:
    """Require one reason, of this kind."""
    explanation = await ox.explain(task.id)
    assert (explanation.runnable, [reason.kind for reason in explanation.reasons]) == (False, [kind])
    return explanation.reasons[0]


@asynccontextmanager
async def finished(ox: Oxpull) -> AsyncIterator[Scene]:
    scene = Scene(ox, await enter(ox), await ox.task(nothing).enqueue())
    await ox.discard(scene.task.id)
    yield scene
    await ox.retry(scene.task.id, include_discarded=True)


@asynccontextmanager
async def running(ox: Oxpull) -> AsyncIterator[Scene]:
    scene = Scene(ox, await enter(ox), await ox.task(nothing).enqueue())
    taken = await take(ox, await enter(ox))
    yield scene
    await done(ox, taken, Released())


@asynccontextmanager
async def scheduled(ox: Oxpull) -> AsyncIterator[Scene]:
    later = datetime.now(UTC) + timedelta(hours=1)
    scene = Scene(ox, await enter(ox), await ox.task(nothing).using(run_after=later).enqueue())
    yield scene
    async with ox.database.connection() as conn:
        await raw.change(conn, scene.task.id, "available_at = enqueued_at")


@asynccontextmanager
async def paused(ox: Oxpull) -> AsyncIterator[Scene]:
    await ox.pause("default")
    yield Scene(ox, await enter(ox), await ox.task(nothing).enqueue())
    await ox.resume("default")


@asynccontextmanager
async def no_worker(ox: Oxpull) -> AsyncIterator[Scene]:
    scene = Scene(ox, await enter(ox, serves=("mail",)), await ox.task(nothing).enqueue())
    yield scene
    async with ox.database.connection() as conn:
        await conn.run_script('UPDATE oxpull_worker SET queues = \'["default", "mail"]\'')


@asynccontextmanager
async def expired_lease(ox: Oxpull) -> AsyncIterator[Scene]:
    scene = Scene(ox, await enter(ox, lease_seconds=-1), await ox.task(nothing).enqueue())
    yield scene
    later = {"postgres": "'2999-01-01+00'", "mysql": "'2999-01-01'", "sqlite": "'2999-01-01 00:00:00.000000'"}
    async with ox.database.connection() as conn:
        await conn.run_script(f"UPDATE oxpull_worker SET lease_expires_at = {later[conn.dialect.name]}")


@asynccontextmanager
async def dead_worker(ox: Oxpull) -> AsyncIterator[Scene]:
    async with ox.database.connection() as conn:
        worker_id = await enter(ox)
        await conn.run_script("UPDATE oxpull_worker SET dead = true")
        yield Scene(ox, worker_id, await ox.task(nothing).enqueue())
        await conn.run_script("UPDATE oxpull_worker SET dead = false")


@asynccontextmanager
async def unknown_task(ox: Oxpull) -> AsyncIterator[Scene]:
    scene = Scene(ox, await enter(ox), await ox.task(nothing).enqueue())
    notes = json.dumps({"unknown_tasks": [scene.task.task_path]})
    assert await ox.operate(lambda conn: lease.renew(conn, scene.worker, 60, notes))
    yield scene
    assert await ox.operate(lambda conn: lease.renew(conn, scene.worker, 60))


@asynccontextmanager
async def busy(ox: Oxpull) -> AsyncIterator[Scene]:
    task, worker_id = ox.task(nothing), await enter(ox, concurrency=1)
    await task.enqueue(1)
    taken = await take(ox, worker_id)
    yield Scene(ox, worker_id, await task.enqueue(2))
    await done(ox, taken)


@asynccontextmanager
async def locked(ox: Oxpull) -> AsyncIterator[Scene]:
    task, worker_id = ox.task(running_lock=LOCK)(nothing), await enter(ox)
    await task.enqueue(1)
    taken = await take(ox, await enter(ox))
    yield Scene(ox, worker_id, await task.enqueue(2))
    await done(ox, taken)


@asynccontextmanager
async def follow_up(ox: Oxpull) -> AsyncIterator[Scene]:
    task, worker_id = ox.task(unique=RERUN)(nothing), await enter(ox)
    await task.enqueue(1)
    taken = await take(ox, worker_id)
    scene = Scene(ox, worker_id, await task.enqueue(2))
    assert scene.task.created
    yield scene
    await done(ox, taken)


OBSTACLES: list[tuple[ReasonKind, Obstacle]] = [
    (ReasonKind.FINISHED, finished), (ReasonKind.RUNNING, running), (ReasonKind.SCHEDULED, scheduled),
    (ReasonKind.PAUSED, paused), (ReasonKind.NO_WORKER, no_worker), (ReasonKind.LEASE, expired_lease),
    (ReasonKind.LEASE, dead_worker), (ReasonKind.UNKNOWN_TASK, unknown_task), (ReasonKind.BUSY, busy),
    (ReasonKind.LOCK, locked), (ReasonKind.FOLLOW_UP, follow_up),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "obstacle"), OBSTACLES, ids=[obstacle.__name__ for _, obstacle in OBSTACLES])
async def test_G4_each_condition_that_is_missing_is_named_and_alone_decides(
    ox: Oxpull, kind: ReasonKind, obstacle: Obstacle
) -> None:
    async with obstacle(ox) as scene:
        await only(ox, scene.task, kind)
        assert await take(ox, scene.worker) == []
        await only(ox, scene.task, kind)
    assert await ox.explain(scene.task.id) == Explanation(runnable=True, reasons=())
    assert [task.id for task in await take(ox, scene.worker)] == [scene.task.id]
    await only(ox, scene.task, ReasonKind.RUNNING)


async def test_everything_that_is_missing_is_named_at_once(ox: Oxpull) -> None:
    task = ox.task(running_lock=LOCK)(nothing)
    await task.enqueue(1)
    await take(ox, await enter(ox, lease_seconds=60, serves=("default",)))
    later = datetime.now(UTC) + timedelta(hours=1)
    blocked = await task.using(run_after=later, queue_name="mail").enqueue(2)
    await ox.pause("mail")
    kinds = [reason.kind for reason in (await ox.explain(blocked.id)).reasons]
    assert kinds == [ReasonKind.LOCK, ReasonKind.SCHEDULED, ReasonKind.PAUSED, ReasonKind.NO_WORKER]


async def test_a_lock_reason_names_every_holder_with_attempt_worker_and_time(ox: Oxpull) -> None:
    task = ox.task(running_lock=RunningLock(name="two", limit=2))(nothing)
    holders = [await task.enqueue(number) for number in (1, 2)]
    worker = await enter(ox)
    assert len(await take(ox, worker)) == 2
    reasons = (await ox.explain((await task.enqueue(3)).id)).reasons
    for holder, reason in zip(holders, reasons, strict=True):
        record = await ox.read(holder.id)
        assert (reason.task_id, reason.attempt, reason.worker_id) == (holder.id, 1, worker)
        assert reason.since == record.last_attempted_at
        assert all(text in reason.text for text in (holder.id, "attempt 1", worker, "2 of 2 taken"))
    assert len({reason.lock_key for reason in reasons}) == 1


async def test_only_so_many_holders_of_a_lock_are_named(ox: Oxpull) -> None:
    task = ox.task(running_lock=RunningLock(name="many", limit=12))(nothing)
    await ox.enqueue_many([task.call(number) for number in range(12)])
    assert len(await take(ox, await enter(ox, concurrency=20))) == 12
    reasons = (await ox.explain((await task.enqueue(13)).id)).reasons
    assert len({reason.task_id for reason in reasons}) == len(reasons) == 10
    assert "12 of 12 taken" in reasons[0].text


async def test_a_task_that_will_be_discarded_for_its_lock_says_so(ox: Oxpull) -> None:
    task = ox.task(running_lock=RunningLock(name="one", on_conflict="discard"))(nothing)
    await task.enqueue(1)
    worker = await enter(ox)
    await take(ox, worker)
    refused = await task.enqueue(2)
    assert "discarded" in (await only(ox, refused, ReasonKind.LOCK)).text
    await take(ox, worker)
    assert "RunningLockTaken" in (await only(ox, refused, ReasonKind.FINISHED)).text


async def test_a_follow_up_names_the_task_that_it_is_a_duplicate_of(ox: Oxpull) -> None:
    async with follow_up(ox) as scene:
        reason = await only(ox, scene.task, ReasonKind.FOLLOW_UP)
        assert reason.task_id is not None
        assert (await ox.read(reason.task_id)).status is TaskStatus.RUNNING
        assert (reason.attempt, reason.worker_id) == (1, scene.worker)


async def test_a_scheduled_task_says_until_when(ox: Oxpull) -> None:
    async with scheduled(ox) as scene:
        assert (await only(ox, scene.task, ReasonKind.SCHEDULED)).until == scene.task.run_after


async def test_a_task_whose_time_came_since_the_last_look_of_a_worker_may_be_claimed(ox: Oxpull) -> None:
    async with scheduled(ox) as scene:
        pass
    assert (await ox.explain(scene.task.id)).runnable


async def test_a_running_task_names_its_attempt_and_worker_and_whether_that_fell_silent(ox: Oxpull) -> None:
    async with running(ox) as scene:
        reason = await only(ox, scene.task, ReasonKind.RUNNING)
        assert (reason.task_id, reason.attempt, "silent" in reason.text) == (scene.task.id, 1, False)
        assert reason.worker_id is not None
        async with ox.database.connection() as conn:
            await raw.forget_worker(conn, reason.worker_id)
        assert "fell silent" in (await only(ox, scene.task, ReasonKind.RUNNING)).text


async def test_a_worker_runs_what_is_called_runnable(ox: Oxpull) -> None:
    task = ox.task(running_lock=True, unique=True)(nothing)
    result = await task.enqueue(1)
    await only(ox, result, ReasonKind.NO_WORKER)
    await enter(ox)
    assert (await ox.explain(result.id)).runnable
    await work(ox)
    assert (await only(ox, result, ReasonKind.FINISHED)).since == (await ox.read(result.id)).finished_at


async def test_explaining_sees_what_the_open_transaction_wrote(ox: Oxpull) -> None:
    async with ox.transaction():
        result = await ox.task(nothing).enqueue()
        await only(ox, result, ReasonKind.NO_WORKER)


@pytest.mark.parametrize("id_", [MISSING, "nonsense"])
async def test_an_unknown_task_cannot_be_explained(ox: Oxpull, id_: str) -> None:
    with pytest.raises(TaskResultDoesNotExist, match=id_):
        await ox.explain(id_)


async def test_a_task_of_another_alias_is_unknown(ox: Oxpull) -> None:
    result = await ox.task(nothing).enqueue()
    async with open_oxpull(unmasked(ox), alias="other") as named:
        with pytest.raises(TaskResultDoesNotExist):
            await named.explain(result.id)
