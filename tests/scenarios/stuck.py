"""A11: tasks that do not stop after their timeout: the timeout is recorded, the siblings unharmed, the process ends."""

from dataclasses import dataclass
from functools import partial

from oxpull_async.domain.record import TaskRecord, TaskStatus
from oxpull_async.runtime.recycler import EXIT_CODE
from tests.scenarios.proof import Proof, proof
from tests.scenarios.stage import Stage, stage

LONG = 3600.0
TIMEOUT = "oxpull_async.errors.TaskTimeout"
FAILED, READY, SUCCESSFUL = TaskStatus.FAILED, TaskStatus.READY, TaskStatus.SUCCESSFUL


@dataclass(frozen=True, slots=True)
class Recycled:
    """A worker process ended because a task did not stop, and how its siblings fared."""

    exit_code: int
    siblings_finished: int
    siblings_handed_back: int


async def stuck_function(url: str, *, siblings: int, sibling_seconds: float, grace: float) -> Recycled:
    """Let a function ignore its deadline among tasks that end in the drain timeout."""
    async with stage(url, lease_seconds=max(3 * grace, 3.0)) as scene:
        stuck = scene.task("overrun", max_attempts=1, timeout=0.3).using(priority=1)
        sibling = scene.task("effect", max_attempts=1)
        calls = [sibling.call(number, sibling_seconds) for number in range(siblings)]
        [overrun, *others] = await scene.enqueue([stuck.call(siblings, LONG), *calls])
        worker = scene.fleet.start("--drain-timeout=60s", OXPULL_TEST_GRACE=str(grace))
        assert await worker.ended(sibling_seconds + grace + 40) == EXIT_CODE, worker.log
        rows = await _by_id(scene)
        _check_timed_out(rows[overrun.id])
        for result in others:
            row = rows[result.id]
            assert (row.status, row.attempts) == (SUCCESSFUL, 1), f"a sibling was hurt: {row}"
        return Recycled(EXIT_CODE, siblings, 0)


async def stuck_loop(url: str, *, siblings: int, grace: float, drain_timeout: float = 1.0) -> Recycled:
    """Let a coroutine with a timeout block the loop for good; what waited comes back, what had ended is stored."""
    async with stage(url, lease_seconds=max(3 * grace, 3.0)) as scene:
        blocker = scene.task("overrun_on_the_loop", max_attempts=1, timeout=0.3).using(priority=-1)
        lasting, brief = scene.task("long"), scene.task("at_once").using(priority=1)
        calls = [lasting.call(number) for number in range(siblings)]
        ended, *others, overrun = await scene.enqueue([brief.call(siblings), *calls, blocker.call(0, LONG)])
        options = ("--concurrency=100", f"--drain-timeout={drain_timeout:g}s")
        worker = scene.fleet.start(*options, OXPULL_TEST_GRACE=str(grace))
        assert await worker.ended(grace + drain_timeout + 40) == EXIT_CODE, worker.log
        rows = await _by_id(scene)
        _check_timed_out(rows[overrun.id])
        assert (rows[ended.id].status, rows[ended.id].attempts) == (SUCCESSFUL, 1), "an outcome was lost with the loop"
        for result in others:
            row = rows[result.id]
            assert (row.status, row.attempts) == (READY, 0), f"a sibling was not handed back: {row}"
        return Recycled(EXIT_CODE, 1, siblings)


async def _by_id(scene: Stage) -> dict[str, TaskRecord]:
    return {row.id: row for row in await scene.records()}


def _check_timed_out(row: TaskRecord) -> None:
    kinds = [error.exception_class_path for error in row.errors]
    assert (row.status, row.attempts, kinds) == (FAILED, 1, [TIMEOUT]), row


PROOFS: list[Proof] = [
    proof(
        "a function that ignores its deadline",
        "A11",
        partial(stuck_function, siblings=50, sibling_seconds=20.0, grace=10.0),
    ),
    proof(
        "a coroutine with a timeout that blocks the loop for good",
        "A11",
        partial(stuck_loop, siblings=50, grace=10.0, drain_timeout=10.0),
    ),
]
