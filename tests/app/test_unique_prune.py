"""Prune removes what nothing hangs on any more, and keeps what a key still names."""

from datetime import timedelta

import pytest

from oxpull_async import Oxpull, Unique, Worker
from oxpull_async.domain.record import TaskStatus
from oxpull_async.store.unique import find

pytestmark = pytest.mark.asyncio


async def keys(ox: Oxpull) -> set[str]:
    """Return those of the stored keys of these tasks that have a lock row."""
    async with ox.database.connection() as conn:
        rows = await conn.fetch("scan_keys", after="", limit=1000)
        stored = [row[0] for row in rows]
        found = await find(conn, stored) if stored else {}
        return {row.holder.task_path.rpartition(".")[2] if row.holder else "" for row in found.values()}


async def test_a_key_goes_with_its_ended_holder_and_a_pending_one_stays(ox: Oxpull) -> None:
    @ox.task(unique=True, queue_name="run")
    async def ended() -> None: ...

    @ox.task(unique=True, queue_name="later")
    async def pending() -> None: ...

    await ended.enqueue()
    await pending.enqueue()
    await Worker(ox, burst=True, queues=["run"]).run()
    await ox.prune(older_than=0)
    assert await keys(ox) == {"pending"}
    assert (await ended.enqueue()).created
    assert not (await pending.enqueue()).created


async def test_the_task_that_an_unexpired_key_names_is_kept(ox: Oxpull) -> None:
    @ox.task(unique=Unique(until="expired", ttl=timedelta(hours=1)))
    async def throttled() -> None: ...

    first = await throttled.enqueue()
    await Worker(ox, burst=True).run()
    report = await ox.prune(older_than=0)
    assert report.removed == 0
    again = await throttled.enqueue()
    assert (again.id, again.created, again.status) == (first.id, False, TaskStatus.SUCCESSFUL)
    ox.database.clock_offset = 3601.0  # type: ignore[attr-defined] # the drivers' clock for the test kit
    assert (await ox.prune(older_than=0)).removed == 1
    assert await keys(ox) == set()


async def test_a_dry_run_removes_no_key(ox: Oxpull) -> None:
    @ox.task(unique=True)
    async def ended() -> None: ...

    await ended.enqueue()
    await Worker(ox, burst=True).run()
    await ox.prune(older_than=0, dry_run=True)
    assert await keys(ox) == {"ended"}
