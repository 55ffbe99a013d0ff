"""Retention: every kind of row goes by age, in bounded steps, and what is left answers as it did before."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from oxpull_async import Oxpull, RunningLock, Unique
from oxpull_async.app.pruning import STEPS, PruneReport
from tests.app import kit
from tests.fixtures.ticking import START, Looker, put_clock, ticks

pytestmark = pytest.mark.asyncio


async def one_of_each(ox: Oxpull) -> Any:
    """Leave an ended task, a batch, a stale key, an idle lock and two noted ticks; returns the batch."""
    task = ox.task(running_lock=RunningLock(), unique=Unique())(kit.add)
    async with ox.batch("old", on_complete=ox.task(kit.nothing).call()) as batch:
        await batch.add(task, 1)
    await kit.work(ox)
    await put_clock(ox, START)
    ox.schedule(ox.task(kit.nothing).call(), every=600, name="often", catch_up="all")
    looker = Looker(ox)
    await looker.look()
    await looker.look_at(START + timedelta(minutes=20))
    return batch


async def test_every_kind_of_row_is_pruned_and_a_dry_run_says_how_many(ox: Oxpull) -> None:
    await one_of_each(ox)
    await put_clock(ox, START + timedelta(days=9))
    dry = await ox.prune(dry_run=True, batch_size=1)
    assert len(await ticks(ox)) == 2
    report = await ox.prune(batch_size=1)
    assert report == PruneReport(4, 2, False, keys=1, locks=1, ticks=2, batches=1)
    assert (dry.removed, dry.keys, dry.locks, dry.ticks, dry.batches) == (2, 1, 1, 2, 1)
    again = await ox.prune()
    assert again == PruneReport(2, 0, False)


async def test_what_is_younger_stays_whatever_kind_it_is(ox: Oxpull) -> None:
    batch = await one_of_each(ox)
    report = await ox.prune(timedelta(days=1000))
    assert (report.removed, report.ticks, report.batches) == (0, 0, 0)
    assert (await batch.progress()).succeeded == 1


async def test_another_alias_keeps_what_is_its_own(ox: Oxpull) -> None:
    await one_of_each(ox)
    await put_clock(ox, START + timedelta(days=9))
    async with kit.open_oxpull(kit.unmasked(ox), alias="other") as other:
        await put_clock(other, START + timedelta(days=9))
        dry = await other.prune(dry_run=True)
        report = await other.prune()
    assert (dry.removed, dry.ticks, dry.batches) == (report.removed, report.ticks, report.batches) == (0, 0, 0)
    assert (await ox.prune()).ticks == 2


async def test_progress_is_told_of_each_step_and_grows(ox: Oxpull) -> None:
    await one_of_each(ox)
    await put_clock(ox, START + timedelta(days=9))
    told: list[PruneReport] = []
    report = await ox.prune(batch_size=1, progress=told.append)
    assert told[-1] == report
    assert len(told) >= len(STEPS)
    for before, after in pairwise(told):
        assert before.removed <= after.removed
        assert before.ticks <= after.ticks


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_every_step_has_a_count_in_the_report(ox: Oxpull) -> None:
    assert {"scanned", "removed", "dry_run", *STEPS} - {"tasks"} == set(PruneReport.__dataclass_fields__)


async def test_a_batch_that_lost_its_members_to_a_prune_still_counts_them(ox: Oxpull) -> None:
    async with ox.batch("old", on_failure=ox.task(max_attempts=1)(kit.fail).call()) as batch:
        await batch.add(ox.task(kit.add), 1)
        await batch.add(ox.task(max_attempts=1)(kit.fail))
    await kit.work(ox)
    report = await ox.prune(0)
    assert (report.removed, report.batches) == (1, 0)
    progress = await batch.progress()
    assert (progress.total, progress.succeeded, progress.failed, progress.status) == (2, 1, 1, "COMPLETE")
    assert (await ox.prune(0, ["FAILED"])).batches == 1
