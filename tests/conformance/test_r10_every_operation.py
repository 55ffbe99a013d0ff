"""R10: every public coroutine of the store runs over a silent and a restless connection of every database.

A new operation must join the tour below. The chapters prove what operations do; this proves that none is left out.
"""

import asyncio
import inspect
import json
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from types import CodeType

import pytest
from msgspec.structs import replace as replaced

from compat_sync.shim import CoreSuspended
from oxpull_async import store
from oxpull_async.db.contract import Connection, Dialect, Scalar
from oxpull_async.domain.outcome import Failed, Released, Settlement, SlowDown, Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.schedule import DueTicks
from oxpull_async.domain.unique import Unique
from oxpull_async.store import (
    batch_care,
    batches,
    claim,
    clean,
    enqueue,
    enqueue_calls,
    explain,
    follow_ups,
    glance,
    health,
    holders,
    lease,
    locks,
    operate,
    overview,
    plain_tasks,
    prune_groups,
    queues,
    rate_limits,
    rate_windows,
    results,
    revival,
    schedules,
    schema,
    settle,
    ticks,
    unique,
    unique_isolation,
    workflow_care,
    workflows,
)
from tests.conformance.conftest import Atlas
from tests.conformance.restless import Restless
from tests.conformance.wrapper import Wrapper
from tests.fixtures import batches as made
from tests.fixtures import limits, make, raw
from tests.fixtures import schedules as planned
from tests.fixtures import workflows as flows

PAIRS = [
    pytest.param("django-postgres", "restless-asyncpg", id="postgres"),
    pytest.param("django-mysql", "restless-aiomysql", id="mysql"),
    pytest.param("django-sqlite", "restless-aiosqlite", id="sqlite"),
]


TRAITS: dict[str, Callable[[Dialect], bool]] = {
    "fresh_keys.enqueue_fresh": lambda dialect: not dialect.enqueues_unique_at_once,
    "settle_locked.write_locked": lambda dialect: not dialect.update_returns_rows,
}
"""Where an operation has statements; elsewhere none of ours calls it."""


def public_coroutines() -> dict[CodeType, str]:
    """Collect every coroutine function that a module of the store defines and does not keep to itself."""
    modules = [import_module(f"{store.__name__}.{found.name}") for found in pkgutil.iter_modules(store.__path__)]
    return {
        function.__code__: f"{module.__name__.rpartition('.')[2]}.{name}"
        for module in modules
        for name, function in inspect.getmembers(module, inspect.iscoroutinefunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }


@contextmanager
def watching(codes: dict[CodeType, str]) -> Iterator[set[str]]:
    """Note which of these functions begin to run."""
    monitoring, seen = sys.monitoring, set[str]()
    tool = next(number for number in range(6) if monitoring.get_tool(number) is None)
    monitoring.use_tool_id(tool, "oxpull R10")
    monitoring.register_callback(tool, monitoring.events.PY_START, lambda code, _: seen.add(codes[code]))
    for code in codes:
        monitoring.set_local_events(tool, code, monitoring.events.PY_START)
    try:
        yield seen
    finally:
        for code in codes:
            monitoring.set_local_events(tool, code, monitoring.events.NO_EVENTS)
        monitoring.free_tool_id(tool)


async def tour(conn: Connection, uuid_type: str) -> None:
    """Call every operation of the store once."""
    await schema.drop(conn)
    await schema.require_no_workers(conn)
    await schema.migrate(conn, uuid_type)
    await schema.installation(conn)
    await the_way_of_a_task(conn)
    await what_operators_do(conn)
    await what_a_reaper_does(conn)
    await what_unique_tasks_do(conn)
    await what_running_locks_do(conn)
    await what_rate_limits_do(conn)
    await what_batches_do(conn)
    await what_workflows_do(conn)
    await what_schedules_do(conn)
    await what_is_swept_up(conn)


async def the_way_of_a_task(conn: Connection) -> None:
    worker = await make.worker(conn)
    one, *more = [make.new_task() for _ in range(3)]
    await enqueue.enqueue(conn, one)
    await enqueue.enqueue_many(conn, more)
    await plain_tasks.enqueue_plain_again(conn, [one])
    await enqueue.notify(conn, make.QUEUE)
    await queues.promote(conn, 10)
    await queues.peek(conn, make.ALIAS)
    first, second, _ = await claim.claim(conn, make.request(worker))
    await settle.mark_begun(conn, [make.lease(first)])
    await settle.report_progress(conn, make.lease(first), json.dumps({"done": 1}))
    await make.settled(conn, first, Succeeded("1"))
    await make.settled(conn, second, Released())
    await results.get_task(conn, first.id)
    await results.get_tasks(conn, [first.id, second.id])
    await results.list_tasks(conn, make.ALIAS, results.TaskFilter())


async def what_operators_do(conn: Connection) -> None:
    task = await make.ready(conn, queue_name="operators")
    await queues.set_paused(conn, make.ALIAS, "operators", paused=True)
    await queues.paused_queues(conn, make.ALIAS)
    await queues.stats(conn, make.ALIAS)
    await operate.own_tasks(conn, make.ALIAS, [task.id])
    await operate.cancel(conn, [task.id])
    await operate.retry(conn, [task.id], include_discarded=True)
    await operate.run_now(conn, [task.id])
    await operate.discard(conn, [task.id])
    await operate.prune_step(conn, operate.PruneRequest(0, ("DISCARDED",), 10, dry_run=False), None)
    await health.workers(conn, make.ALIAS)
    await health.backlog(conn, make.ALIAS)
    await health.kept(conn)
    await overview.overview(conn, make.ALIAS, 10)
    await overview.unfinished_tasks(conn, make.ALIAS, TaskStatus.WAITING, None, 10)
    await overview.lock_holders(conn, "lock")


async def what_a_reaper_does(conn: Connection) -> None:
    await make.lost(conn, queue_name="reaper")
    worker = await make.worker(conn)
    await lease.renew(conn, worker, make.LEASE_SECONDS)
    await lease.held(conn, worker)
    await glance.glance(conn, make.ALIAS, worker, 0.0)
    await lease.bury_dead_workers(conn, 0)
    await lease.remove(conn, worker)


async def what_unique_tasks_do(conn: Connection) -> None:
    call = make.unique_call(Unique(on_duplicate="rerun"), queue_name="unique")
    calls = enqueue_calls.EnqueueCalls({}, [call])
    await enqueue_calls.enqueue_calls(conn, calls)
    await enqueue_calls.enqueue_again(conn, calls)
    claimed = await make.claimed_from(conn, await make.worker(conn), "unique")
    again = replace(call, task=replaced(call.task, id=make.new_id()))
    async with conn.transaction():
        sight = await holders.look(conn, [make.KEY])
        await unique_isolation.verified(conn, sight, [])
        await unique.enqueue_unique_many(conn, [again, make.unique_call(key="fresh", position=1)])
    await make.settled(conn, claimed, Succeeded("1"))
    await unique.find(conn, [make.KEY])


async def what_running_locks_do(conn: Connection) -> None:
    lock: make.Options = {"lock_key": "lock", "lock_limit": 1, "lock_conflict": "wait", "queue_name": "locked"}
    for _ in range(2):
        waiting = await make.ready(conn, **lock)
    request = replace(make.request(await make.worker(conn), queues=("locked",)), meets_locks=True)
    [claimed] = await claim.claim(conn, request)
    await make.ready(conn, **lock)
    await claim.make_way(conn, request)
    await make.settled(conn, claimed, Succeeded("1"))
    await operate.discard(conn, [waiting.id])
    await locks.hand_over_idle(conn, 10)
    await explain.explain_task(conn, make.ALIAS, claimed.id)


async def what_rate_limits_do(conn: Connection) -> None:
    worker = await limits.worker(conn, limits.rule(1), limits.rule(2, name="sliding", sliding=True))
    await make.ready(conn, queue_name="sorted")
    await rate_limits.sort_limited(conn, make.ALIAS, 10)
    await make.ready(conn, limit_keys="", queue_name="limited")
    [claimed] = await limits.take(conn, worker, queues=("limited",))
    await claim.claim_ages(conn, [claimed.id])
    slow = Failed("{}", None, SlowDown(limits.NAME, 1.0))
    await settle.settle(conn, [Settlement.of(claimed, slow, claimed.permits)])
    await rate_windows.prune_windows(conn, 10)
    await rate_windows.count_expired(conn)
    await lease.remove(conn, worker)


async def what_batches_do(conn: Connection) -> None:
    batch = await made.opened(conn)
    await made.members(conn, batch.id, 2)
    call = make.unique_call(queue_name="batched", batch_id=batch.id)
    await enqueue_calls.enqueue_calls(conn, enqueue_calls.EnqueueCalls({}, [call]))
    await made.add_unique(conn, batch.id, replace(call, task=replaced(call.task, id=make.new_id())))
    await batches.seal(conn, batch.id)
    await batch_care.recheck_members(conn, 10)
    [found] = await batch_care.open_batches(conn, None, 10)
    await raw.delete(conn, call.task.id)
    await batch_care.look_after(conn, replace(found, counted=3), None, 10)
    await batches.cancel_batch(conn, batch.id)
    await batches.expire_batch(conn, batch.id)
    request = operate.PruneRequest(0, ("DISCARDED",), 100, dry_run=False)
    await operate.prune_step(conn, request, None)
    await prune_groups.prune_batches(conn, request, None)


async def what_workflows_do(conn: Connection) -> None:
    workflow = await flows.opened(conn)
    one, _ = await flows.add(conn, workflow.id, flows.node("one"), flows.node("two", "one"), queue_name="flow")
    await workflows.list_nodes(conn, workflow.id)
    await workflows.node_ids(conn, workflow.id)
    await workflows.upstream_results(conn, one)
    await make.settled(conn, await make.claimed_from(conn, await make.worker(conn), "flow"), Succeeded("1"))
    call = make.unique_call(key="flow", queue_name="flow", workflow_id=workflow.id)
    await flows.add_unique(conn, workflow.id, flows.node("three"), call)
    await workflow_care.recheck_nodes(conn, 10)
    await conn.run_script("UPDATE oxpull_workflow_node SET recheck = 1")
    await workflow_care.recheck_nodes(conn, 10)
    await workflows.cancel_workflow(conn, workflow.id)
    await revival.retry_from(conn, workflow.id, "two", callbacks=True)
    [found] = await workflow_care.open_workflows(conn, None, 10)
    await raw.delete(conn, call.task.id)
    await workflow_care.look_after_workflow(conn, replace(found, counted=3), None, 10)
    second = await flows.opened(conn)
    await workflows.seal_workflow(conn, second.id)
    request = operate.PruneRequest(0, ("DISCARDED",), 100, dry_run=False)
    await operate.prune_step(conn, request, None)
    await prune_groups.prune_workflows(conn, request, None)


async def what_schedules_do(conn: Connection) -> None:
    stored = await planned.stored(conn, "stored")
    new = planned.new("declared", declared=True)
    await schedules.declare(conn, new, None)
    await schedules.get_schedules(conn, [stored.id])
    await schedules.rewind(conn, stored)
    await schedules.look_again(conn, await planned.read(conn, "stored"))
    await ticks.outlook(conn, make.ALIAS)
    await ticks.overdue(conn, make.ALIAS)
    schedule = await planned.read(conn, "declared")
    due = DueTicks((planned.START,), planned.START, None)
    await ticks.fire(conn, schedule, due, enqueue_calls.EnqueueCalls({0: make.new_task()}, []))
    await schedules.restart(conn, await planned.read(conn, "declared"))
    await schedules.forget_unserved(conn, make.ALIAS, 3600)
    await schedules.delete(conn, stored.id)
    await ticks.count_ticks(conn, 0)
    await ticks.prune_ticks(conn, 0, 10)


async def what_is_swept_up(conn: Connection) -> None:
    await follow_ups.recheck(conn, 10)
    await clean.clean_keys(conn, make.pruning(10), None)
    await clean.clean_locks(conn, make.pruning(10), None)


@pytest.mark.parametrize(("silent", "restless"), PAIRS)
def test_R10_every_public_coroutine_runs_silently_and_restlessly(atlas: Atlas, silent: str, restless: str) -> None:
    codes = public_coroutines()
    for name in (silent, restless):
        world = atlas.world(name)
        with world.lend() as conn:
            world.run(raw.empty(conn))
            with watching(codes) as seen:
                world.run(tour(conn, world.uuid_type()))
            excused = {one for one, has_statements in TRAITS.items() if not has_statements(conn.dialect)}
        assert set(codes.values()) - seen == excused, f"{name} does not run these: add them to the tour"


def test_R10_the_watch_sees_what_is_left_out(atlas: Atlas) -> None:
    codes = public_coroutines()
    world = atlas.world("django-sqlite")
    with world.lend() as conn, watching(codes) as seen:
        world.run(raw.empty(conn))
        world.run(what_operators_do(conn))
    assert "operate.cancel" in seen
    assert {"claim.claim", "settle.settle", "schema.migrate"} <= set(codes.values()) - seen


def test_R10_a_silent_world_fails_whatever_waits(atlas: Atlas) -> None:
    with pytest.raises(CoreSuspended):
        atlas.world("django-sqlite").run(asyncio.sleep(0))


def test_R10_a_restless_connection_lets_others_run_before_and_after_a_call(atlas: Atlas) -> None:
    happened: list[str] = []

    class Noting(Wrapper):
        async def execute(self, statement: str, /, **values: Scalar) -> int:
            happened.append("call")
            asyncio.get_running_loop().call_soon(happened.append, "others after")
            return await super().execute(statement, **values)

    async def call(conn: Connection) -> None:
        asyncio.get_running_loop().call_soon(happened.append, "others before")
        await Restless(Noting(conn)).execute("test_touch_queues")
        happened.append("return")

    world = atlas.world("restless-aiosqlite")
    with world.lend() as conn:
        world.run(call(conn))
    assert happened == ["others before", "call", "others after", "return"]
