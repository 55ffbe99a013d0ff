"""Workers whose claims begin at marks, and that look around seldom, still come to everything."""

from datetime import UTC, datetime, timedelta

import pytest

from oxpull_async import Oxpull
from oxpull_async.domain import low_water
from oxpull_async.domain.record import TaskStatus
from oxpull_async.runtime import dispatcher
from tests.fixtures.workers import drain, working

pytestmark = pytest.mark.asyncio
NEVER = 1e9


async def test_A13_a_burst_does_not_end_while_a_task_lies_behind_the_marks(
    ox: Oxpull, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(low_water, "SCAN_SHARE", NEVER)

    @ox.task
    async def behind() -> None: ...

    @ox.task
    async def first() -> None:
        early = behind.using(run_after=datetime.now(UTC) - timedelta(hours=1))
        ids.extend([(await early.enqueue()).id for _ in range(3)])

    ids: list[str] = []
    await ox.enqueue_many([first.call() for _ in range(4)])
    await drain(ox, concurrency=1)
    assert len(ids) == 12
    assert {(await ox.get_result(id_)).status for id_ in ids} == {TaskStatus.SUCCESSFUL}


@pytest.mark.timeout(120)
async def test_A5_a_busy_worker_that_never_looks_lets_in_what_falls_due_and_hears_of_other_queues(
    ox: Oxpull, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "LOOK_SHARE", NEVER)
    is_over: list[bool] = []

    @ox.task
    async def busy() -> None:
        if not is_over:
            await busy.enqueue()

    @ox.task(priority=1)
    async def other() -> None: ...

    await ox.enqueue_many([busy.call() for _ in range(100)])
    async with working(ox, concurrency=5):
        later = await other.using(run_after=datetime.now(UTC) + timedelta(seconds=0.5)).enqueue()
        assert (await later.wait(timeout=60)).status is TaskStatus.SUCCESSFUL
        elsewhere = await other.using(queue_name="elsewhere").enqueue()
        assert (await elsewhere.wait(timeout=60)).status is TaskStatus.SUCCESSFUL
        is_over.append(True)
