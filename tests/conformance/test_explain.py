"""What keeps a task from being claimed is told by the claim's own conditions."""

from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.explanation import Explanation, Reason
from oxpull_async.domain.outcome import Failed, Released, Settlement, SlowDown, Succeeded
from oxpull_async.domain.record import TaskId, WorkerId
from oxpull_async.domain.unique import Unique
from oxpull_async.store import queues
from oxpull_async.store.explain import explain_task
from oxpull_async.store.lease import remove, renew
from oxpull_async.store.rate_limits import sort_limited
from oxpull_async.store.settle import settle
from oxpull_async.store.unique import enqueue_unique
from tests.conformance.conftest import Clock
from tests.conformance.meanwhile import Meanwhile
from tests.drivers.locks_kit import end, locked, stored, take
from tests.fixtures import limits, make, workflows

RERUN = Unique(on_duplicate="rerun")


async def explained(conn: Connection, task_id: TaskId) -> Explanation:
    found = await explain_task(conn, make.ALIAS, task_id)
    assert found is not None
    return found


async def kinds(conn: Connection, task_id: TaskId) -> list[str]:
    return [str(reason.kind) for reason in (await explained(conn, task_id)).reasons]


async def test_a_task_that_may_be_claimed_has_no_reason(conn: Connection) -> None:
    task = await make.ready(conn)
    worker = await make.worker(conn)
    assert await explained(conn, task.id) == Explanation(runnable=True, reasons=())
    assert [one.id for one in await make.claimed(conn, worker)] == [task.id]


async def test_a_task_that_is_not_there_or_of_another_backend_has_no_explanation(conn: Connection) -> None:
    elsewhere = await make.ready(conn, backend_alias="elsewhere")
    assert await explain_task(conn, make.ALIAS, make.new_id()) is None
    assert await explain_task(conn, make.ALIAS, elsewhere.id) is None


async def test_every_status_has_its_explanation(conn: Connection) -> None:
    await make.worker(conn)
    pending = {"READY": [], "WAITING": ["edges"], "RUNNING": ["running"]}
    for status, build in make.BUILDERS.items():
        task = await build(conn, queue_name=str(status))
        assert await kinds(conn, task.id) == (["finished"] if status.is_finished else pending[status])


async def test_every_reason_is_told_at_once(conn: Connection) -> None:
    task = await make.ready(conn, run_after=datetime.now(UTC) + timedelta(seconds=600))
    await queues.set_paused(conn, make.ALIAS, make.QUEUE, paused=True)
    assert await kinds(conn, task.id) == ["scheduled", "paused", "no_worker"]
    assert not (await explained(conn, task.id)).runnable


async def test_a_node_names_every_node_that_it_waits_for(conn: Connection) -> None:
    workflow = await workflows.opened(conn)
    first, other, last = await workflows.add(
        conn, workflow.id, workflows.node("a"), workflows.node("b"), workflows.node("c", "a", run=["b"])
    )
    worker = await make.worker(conn)
    assert [reason.task_id for reason in sorted((await explained(conn, last)).reasons, key=str)] == [first, other]
    for task in await make.claimed(conn, worker, limit=2):
        await settle(conn, [Settlement.of(task, Failed("{}", None) if task.id == other else Succeeded("1"))])
    [reason] = (await explained(conn, last)).reasons
    assert reason.text.startswith(f"node 'b' (task {other}) has ended FAILED; once the workflow is sealed")


async def test_a_deferred_task_is_scheduled_until_its_time_comes(conn: Connection, clock: Clock) -> None:
    task = await make.ready(conn, run_after=datetime.now(UTC) + timedelta(seconds=60))
    await make.worker(conn, lease_seconds=600)
    [reason] = (await explained(conn, task.id)).reasons
    assert (reason.kind, reason.until) == ("scheduled", task.available_at)
    clock.advance(61)
    assert (await explained(conn, task.id)).runnable


async def test_a_task_whose_workers_have_died_has_none(conn: Connection) -> None:
    task = await make.ready(conn)
    await make.dead_worker(conn)
    assert not (await explained(conn, task.id)).runnable


async def test_a_task_that_no_worker_knows_is_unknown(conn: Connection) -> None:
    task = await make.ready(conn)
    worker = await make.worker(conn)
    await renew(conn, worker, 30, notes=f'{{"unknown_tasks": ["{make.PATH}"]}}')
    assert await kinds(conn, task.id) == ["unknown_task"]


@pytest.mark.parametrize("parked", [False, True])
async def test_a_taken_lock_names_its_holder(conn: Connection, *, parked: bool) -> None:
    worker = await make.worker(conn)
    holder, waiter = await stored(conn, locked(), locked())
    [claimed] = await take(conn, worker, limit=1)
    if parked:
        assert await take(conn, worker) == []
    assert await kinds(conn, waiter) == ["lock"]
    [reason] = (await explained(conn, waiter)).reasons
    assert (reason.task_id, reason.attempt, reason.worker_id, reason.lock_key) == (holder, 1, worker, "k")
    await end(conn, claimed)
    assert (await explained(conn, waiter)).runnable


async def test_a_follow_up_names_the_holder_that_it_waits_for(conn: Connection) -> None:
    worker = await make.worker(conn)
    holder = (await enqueue_unique(conn, make.unique_call(RERUN))).record
    await make.claimed(conn, worker)
    follow_up = (await enqueue_unique(conn, make.unique_call(RERUN))).record
    [reason] = (await explained(conn, follow_up.id)).reasons
    assert (reason.kind, reason.task_id) == ("follow_up", holder.id)


async def test_a_holder_that_ends_while_it_is_looked_up_is_not_named(conn: Connection) -> None:
    worker = await make.worker(conn)
    ids = await stored(conn, locked(), locked())
    [holder] = await take(conn, worker)
    looks = Meanwhile(conn, "taken_slots", lambda inner: end(inner, holder._replace(lock_key=None)))
    [reason] = (await explained(looks, ids[1])).reasons
    assert (reason.kind, reason.task_id) == ("lock", None)
    assert "has a free place" in reason.text


async def throttled(conn: Connection, task_id: TaskId, worker: WorkerId, limit_name: str = limits.NAME) -> Reason:
    """Require that the claim leaves a task alone, and that a rate limit is the one reason."""
    assert await limits.take(conn, worker) == []
    [reason] = (await explained(conn, task_id)).reasons
    assert (reason.kind, reason.rate_limit) == ("rate_limit", limit_name)
    return reason


async def starts_now(conn: Connection, task_id: TaskId, worker: WorkerId) -> None:
    """Require that nothing keeps a task from starting, and that it does."""
    assert await explained(conn, task_id) == Explanation(runnable=True, reasons=())
    assert [task.id for task in await limits.take(conn, worker)] == [task_id]
    assert await kinds(conn, task_id) == ["running"]


@pytest.mark.parametrize("sliding", [False, True], ids=["fixed", "sliding"])
async def test_G4_a_limit_that_is_used_up_is_named_until_a_permit_is_back(conn: Connection, *, sliding: bool) -> None:
    worker = await limits.worker(conn, limits.rule(1, sliding=sliding))
    await stored(conn, limits.limited())
    [first] = await limits.take(conn, worker)
    [waiting] = await stored(conn, limits.limited(priority=1))
    reason = await throttled(conn, waiting, worker)
    assert "is used up: 1 of 1 starts in" in reason.text
    assert (reason.since is None, reason.until is None) == (sliding, False)
    await settle(conn, [limits.unbegun(first, Released())])
    await starts_now(conn, waiting, worker)


async def test_G4_a_limit_of_nothing_is_named_until_its_worker_is_gone(conn: Connection) -> None:
    worker, other = await limits.worker(conn), await limits.worker(conn, limits.rule(0))
    [task] = await stored(conn, limits.limited())
    reason = await throttled(conn, task, worker)
    assert "it allows 0 starts" in reason.text
    assert reason.until is None
    await remove(conn, other)
    await starts_now(conn, task, worker)


async def test_G4_a_limit_that_is_held_shut_is_named_until_it_opens(conn: Connection, clock: Clock) -> None:
    worker = await limits.worker(conn, limits.rule(9, 60.0))
    [first, task] = await stored(conn, limits.limited(), limits.limited())
    [claimed] = await limits.take(conn, worker, 1)
    asked = Failed(make.ERROR, None, SlowDown(limits.NAME, 500.0))
    await settle(conn, [Settlement.of(claimed, asked)])
    assert "as a task asked by slow_down" in (await throttled(conn, task, worker)).text
    clock.advance(500)
    await starts_now(conn, task, worker)
    assert claimed.id == first


async def test_G4_a_covered_row_that_was_not_set_apart_says_so(conn: Connection) -> None:
    worker = await limits.worker(conn, limits.rule(1))
    [task] = await stored(conn, make.new_task())
    assert "set it apart" in (await throttled(conn, task, worker)).text
    assert await sort_limited(conn, make.ALIAS, 10) == 1
    await starts_now(conn, task, worker)


async def test_every_limit_that_is_shut_is_named(conn: Connection) -> None:
    worker = await limits.worker(conn, limits.rule(0), limits.rule(0, name="mail"), limits.rule(5, name="wide"))
    [task] = await stored(conn, limits.limited())
    assert await limits.take(conn, worker) == []
    assert [reason.rate_limit for reason in (await explained(conn, task)).reasons] == ["api", "mail"]
