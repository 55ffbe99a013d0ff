"""The tasks of the scenarios, as a worker process imports them: each notes in the ledger what it did."""

import asyncio
import json
import os
import time

from oxpull_async import BatchInfo, Oxpull, TaskContext, Worker
from oxpull_async.runtime.reaper import Reaper
from oxpull_async.store import locks, rate_windows
from tests.fixtures.ledger import here
from tests.fixtures.processes import LEASE_VARIABLE, LIMITS_VARIABLE
from tests.scenarios.slots import everybody, note_begin, note_end
from tests.scenarios.starts import BEGUN, room_for_everybody

LONG = 3600.0


async def _no_sweep(_: Reaper) -> int:
    return 0


Worker.grace = float(os.environ.get("OXPULL_TEST_GRACE", Worker.grace))
if "OXPULL_TEST_NO_REAPER" in os.environ:  # to show that the scenarios notice it
    Reaper.sweep = _no_sweep  # type: ignore[assignment,method-assign]
if "OXPULL_TEST_NO_LOCKS" in os.environ:  # the same
    locks.admit = everybody  # type: ignore[attr-defined]
if "OXPULL_TEST_NO_LIMITS" in os.environ:  # the same
    rate_windows.room = room_for_everybody  # type: ignore[attr-defined]
ox = Oxpull(
    lease_seconds=float(os.environ[LEASE_VARIABLE]), rate_limits=json.loads(os.environ.get(LIMITS_VARIABLE, "{}"))
)


@ox.task(max_attempts=10)
async def effect(number: int, seconds: float) -> int:
    here().note("began", number)
    await asyncio.sleep(seconds)
    here().note("effect", number)
    return number


@ox.task
async def at_once(number: int) -> int:
    here().note("effect", number)
    return number


@ox.task(max_attempts=1)
async def fails(number: int) -> None:
    here().note("failed", number)
    raise ValueError(number)


@ox.task(max_attempts=10, takes_context=True)
async def adds_up(context: TaskContext, number: int) -> int:
    """Return one more than what the successful upstreams returned together."""
    here().note("began", number)
    upstreams = (await context.upstream_results()).values()
    return 1 + sum(int(upstream.value) for upstream in upstreams if upstream.status == "SUCCESSFUL")


@ox.task
async def ended(kind: str, number: int) -> None:
    """Note that a workflow is complete, by its number."""
    here().note(kind, number)


@ox.task(takes_batch=True)
async def summary(batch: BatchInfo, kind: str, first: int) -> None:
    """Note that a batch is complete, by the number of its first member."""
    here().note(f"{kind} of {batch.counts.total}", first)


@ox.task(max_attempts=2)
async def long(number: int) -> None:
    here().note("began", number)
    try:
        await asyncio.sleep(LONG)
    except asyncio.CancelledError:
        here().note("cancelled", number)
        raise
    here().note("effect", number)


@ox.task(max_attempts=2, takes_context=True)
def long_function(context: TaskContext, number: int) -> None:
    here().note("began", number)
    while not context.cancelled:
        time.sleep(0.02)
    here().note("cancelled", number)
    raise RuntimeError("told to stop")


@ox.task(max_attempts=2)
def stubborn_function(number: int) -> None:
    here().note("began", number)
    time.sleep(LONG)


@ox.task(max_attempts=3)
def die(number: int) -> None:
    here().note("began", number)
    os._exit(9)


@ox.task(max_attempts=3)
async def die_in_coroutine(number: int) -> None:
    here().note("began", number)
    os._exit(9)


@ox.task
async def block(number: int, seconds: float) -> None:
    here().note("began", number)
    time.sleep(seconds)  # noqa: ASYNC251 - that is the point
    here().note("effect", number)


@ox.task(timeout=0.3, max_attempts=2, backoff=[0])
def overrun(number: int, seconds: float) -> None:
    here().note("began", number)
    time.sleep(seconds)
    here().note("effect", number)


@ox.task(timeout=0.3, max_attempts=1)
async def overrun_on_the_loop(number: int, seconds: float) -> None:
    here().note("began", number)
    time.sleep(seconds)  # noqa: ASYNC251 - that is the point


@ox.task(max_attempts=10, takes_context=True)
async def hold_slot(context: TaskContext, key: str, seconds: float) -> None:
    """Note in a table from when to when a slot of a key is held, both instants within."""
    row = await note_begin(ox, key, f"{context.task_result.id} {context.attempt}")
    try:
        await asyncio.sleep(seconds)
    finally:
        await note_end(ox, row)


@ox.task(max_attempts=10, takes_context=True)
async def limited(context: TaskContext, number: int) -> int:
    """Note when this attempt begins."""
    here().note(BEGUN, f"{context.task_result.id}:{context.epoch}:{time.time_ns()}")
    return number


@ox.task
async def nothing(number: int) -> None:
    pass
