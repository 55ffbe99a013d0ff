import asyncio
import threading

import pytest

from oxpull_async import Oxpull, Worker
from oxpull_async.domain.errors import WorkerRecycled
from oxpull_async.domain.events import AttemptFailed, TaskSettled, TasksReleased, WorkerStopped
from oxpull_async.domain.record import TaskStatus
from tests.fixtures.waiting import Witness, until
from tests.scenarios.stuck import stuck_function, stuck_loop

pytestmark = pytest.mark.asyncio


async def test_A11_a_function_that_ignores_its_deadline_has_the_process_recycled_and_siblings_unharmed(
    url: str,
) -> None:
    await stuck_function(url, siblings=5, sibling_seconds=1.5, grace=0.5)


async def test_A11_a_coroutine_that_blocks_the_loop_past_its_timeout_has_the_process_end(url: str) -> None:
    await stuck_loop(url, siblings=5, grace=1.0)


async def test_A11_an_embedded_worker_raises_WorkerRecycled_and_leaves_the_thread(ox: Oxpull) -> None:
    go_on = threading.Event()

    @ox.task(timeout=0.1, max_attempts=1)
    def ignores() -> None:
        go_on.wait(30)

    @ox.task
    async def sibling() -> None: ...

    stuck, other = await ox.enqueue_many([ignores.call(), sibling.call()])
    worker = Worker(ox)
    worker.grace = 0.2
    witness = Witness(worker, AttemptFailed, TaskSettled, WorkerStopped)
    with pytest.raises(WorkerRecycled, match="ignores did not stop after the timeout"):
        await worker.run()
    go_on.set()
    [told] = witness.of(AttemptFailed)
    assert (told.task_id, told.retry_in, told.error.partition(":")[0]) == (stuck.id, None, "TaskTimeout")
    assert {(event.task_id, event.status) for event in witness.of(TaskSettled)} == {
        (stuck.id, TaskStatus.FAILED), (other.id, TaskStatus.SUCCESSFUL),
    }  # fmt: skip
    assert [event.done for event in witness.of(WorkerStopped)] == [2]
    for result in (stuck, other):
        await result.refresh()
    assert stuck.status is TaskStatus.FAILED
    assert stuck.errors[0].exception_class_path.endswith(".TaskTimeout")
    assert other.status is TaskStatus.SUCCESSFUL


async def test_A11_a_function_that_ends_within_the_grace_is_stored_and_nothing_is_recycled(ox: Oxpull) -> None:
    ended = threading.Event()

    @ox.task(timeout=0.1)
    def late() -> str:
        ended.wait(0.3)
        return "late"

    result = await late.enqueue()
    await Worker(ox, burst=True).run()
    await result.refresh()
    assert result.return_value == "late"


async def test_A11_what_a_blocked_loop_hands_back_does_not_run_on_when_the_loop_goes_on(ox: Oxpull, url: str) -> None:
    handed_back, effects = threading.Event(), list[str]()

    @ox.task(timeout=0.1, max_attempts=1, priority=-1)
    async def blocks() -> None:
        assert handed_back.wait(30)

    @ox.task
    async def sibling() -> None:
        await asyncio.sleep(0.1)
        effects.append("ran on")

    other, _ = await ox.enqueue_many([sibling.call(), blocks.call()])

    async def see() -> None:
        async with Oxpull(url) as beside:

            async def is_back() -> bool:
                record = (await beside.get_result(other.id)).record
                return record.status is TaskStatus.READY and record.attempts == 0 and record.epoch > 0

            await until(is_back, what="the sibling to come back")
            handed_back.set()

    watching = threading.Thread(target=asyncio.run, args=(see(),))
    watching.start()
    worker = Worker(ox, drain_timeout=1)
    worker.grace = 0.2
    witness = Witness(worker, TasksReleased, WorkerStopped)
    with pytest.raises(WorkerRecycled):
        await worker.run()
    watching.join()
    assert effects == []
    assert "the event loop is blocked" in {event.why for event in witness.of(TasksReleased)}
    assert [event.done for event in witness.of(WorkerStopped)] == [1]
