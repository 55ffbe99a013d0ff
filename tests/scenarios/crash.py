"""Workers that are killed, stopped, paused or blocked: nothing is lost and nothing is overwritten."""

import asyncio
import signal
import time
from dataclasses import dataclass
from functools import partial

from oxpull_async.domain.errors import TaskAbandoned
from oxpull_async.domain.record import TaskStatus
from tests.fixtures.ledger import check_complete
from tests.fixtures.processes import WorkerProcess, elapsed_since
from tests.fixtures.waiting import until
from tests.scenarios.proof import Proof, proof
from tests.scenarios.stage import Stage, stage

READY, RUNNING, SUCCESSFUL, LOST = TaskStatus.READY, TaskStatus.RUNNING, TaskStatus.SUCCESSFUL, TaskStatus.LOST
SLACK = 5.0


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A worker was killed and a second one finished its tasks."""

    tasks: int
    interrupted: int
    effects: int
    seconds_until_all_done: float


async def killed_worker(
    url: str, *, tasks: int, concurrency: int, seconds: float, lease_seconds: float = 2.0, patience: float = 30.0
) -> TakenOver:
    """SIGKILL a worker in the middle of its tasks; another takes over."""
    async with stage(url, lease_seconds=lease_seconds) as scene:
        effect = scene.task("effect", max_attempts=10)
        await scene.enqueue([effect.call(number, seconds) for number in range(tasks)])
        first = scene.fleet.start(f"--concurrency={concurrency}")
        await scene.noted("began", concurrency + 1)
        first.send(signal.SIGKILL)
        await first.ended()
        interrupted = {row.id: row for row in await scene.records() if row.status is RUNNING}
        assert interrupted, "the worker was not killed in the middle of anything"
        start = time.monotonic()
        second = scene.fleet.start(f"--concurrency={concurrency}")
        await scene.reached(SUCCESSFUL, tasks, within=lease_seconds * 3 + tasks * seconds / concurrency + patience)
        took = elapsed_since(start)
        rows = {row.id: row for row in await scene.records()}
        for id_, before in interrupted.items():
            workers = rows[id_].worker_ids
            assert workers[:1] == before.worker_ids, f"the first attempt is gone: {workers}"
            assert len(workers) == 2, f"{workers} ran an interrupted task"
        counts = scene.fleet.ledger.counts("effect")
        check_complete(counts, tasks)
        second.send(signal.SIGTERM)
        assert await second.ended() == 0
        return TakenOver(tasks, len(interrupted), counts.total(), took)


@dataclass(frozen=True, slots=True)
class Paused:
    """A worker was stopped past its lease and woken up."""

    tasks: int
    late_outcomes_ignored: int
    cancelled: int


async def paused_worker(url: str, *, tasks: int, lease_seconds: float = 2.0) -> Paused:
    """SIGSTOP a worker past its lease, have another run its tasks, and let it go on."""
    async with stage(url, lease_seconds=lease_seconds) as scene:
        short, long = scene.task("effect", max_attempts=5), scene.task("long", max_attempts=5)
        brief = await scene.enqueue([short.call(number, 0.5) for number in range(tasks)])
        lasting = await scene.enqueue([long.call(tasks + number) for number in range(tasks)])
        first = scene.fleet.start(f"--concurrency={4 * tasks}")
        await scene.noted("began", 2 * tasks)
        first.send(signal.SIGSTOP)
        second = scene.fleet.start(f"--concurrency={4 * tasks}")
        await scene.noted("began", 4 * tasks, within=lease_seconds * 4 + 30)
        await scene.reached(SUCCESSFUL, tasks)
        before = {row.id: row for row in await scene.records()}
        dead = {row.worker_ids[0] for row in before.values()}
        assert len(dead) == 1, "one worker began all"
        first.send(signal.SIGCONT)
        await scene.noted("cancelled", tasks)
        await first.logged("started", within=30)
        await _comes_back(scene, workers=2, dead=dead)
        after = {row.id: row for row in await scene.records()}
        for result in brief:
            assert after[result.id] == before[result.id], "a late outcome overwrote a newer one"
        for result in lasting:
            assert after[result.id].worker_ids == before[result.id].worker_ids
            assert after[result.id].status is RUNNING
        cancelled = scene.fleet.ledger.total("cancelled")
        second.send(signal.SIGKILL)
        return Paused(2 * tasks, len(brief), cancelled)


async def _comes_back(scene: Stage, *, workers: int, dead: set[str]) -> None:
    """Wait until a paused worker has registered again, under another id."""

    async def living() -> bool:
        alive = {worker.worker_id for worker in await scene.workers() if worker.is_alive}
        return len(alive) == workers and not alive & dead

    await until(living, what="a new worker id")


@dataclass(frozen=True, slots=True)
class Blocked:
    """A task held the event loop for much longer than a lease."""

    blocked_seconds: float
    leases_long: float
    attempts: int


async def blocked_loop(url: str, *, seconds: float, lease_seconds: float = 2.0) -> Blocked:
    """Block a worker's loop; its lease is kept, another worker takes nothing, and the log names the task."""
    async with stage(url, lease_seconds=lease_seconds) as scene:
        blocker, sibling = scene.task("block"), scene.task("effect")
        await scene.enqueue([sibling.call(0, 0.5), blocker.using(priority=-1).call(1, seconds)])
        first = scene.fleet.start("--concurrency=2")
        await scene.noted("began", 2)
        scene.fleet.start("--concurrency=2")
        await scene.reached(SUCCESSFUL, 2, within=seconds + 30)
        for row in await scene.records():
            assert row.attempts == 1, f"a living worker's task was taken from it: {row}"
        assert "tests.scenarios.app.block" in first.log, first.log
        assert "app.py" in first.log, "the log names no line"
        assert {worker.running for worker in await scene.workers()} == {0}
        return Blocked(seconds, round(seconds / lease_seconds, 1), 1)


@dataclass(frozen=True, slots=True)
class Drained:
    """A worker was told to stop with long tasks running."""

    coroutines: int
    functions: int
    drain_timeout: float
    seconds_until_exit: float
    seconds_after_a_second_signal: float


async def terminated_worker(
    url: str, *, coroutines: int, functions: int, drain_timeout: float, lease_seconds: float = 2.0
) -> Drained:
    """SIGTERM a worker; it hands back what does not end in time, and a second SIGTERM does so at once."""
    async with stage(url, lease_seconds=lease_seconds) as scene:
        await scene.enqueue([scene.task("long").call(number) for number in range(coroutines)])
        kinds = ("long_function", "stubborn_function")
        await scene.enqueue([scene.task(kinds[number % 2]).call(number) for number in range(functions)])
        patient = await _terminate(scene, coroutines + functions, drain_timeout, insist=False)
        assert patient >= drain_timeout - 0.5, "it did not wait for the tasks"
        assert patient <= drain_timeout + SLACK, f"it took {patient} s"
        hasty = await _terminate(scene, coroutines + functions, 600.0, insist=True)
        assert hasty <= SLACK, f"it took {hasty} s after the second signal"
        return Drained(coroutines, functions, drain_timeout, patient, hasty)


async def _terminate(scene: Stage, tasks: int, drain_timeout: float, *, insist: bool) -> float:
    began = scene.fleet.ledger.total("began")
    worker = scene.fleet.start("--concurrency=100", "--threads=20", f"--drain-timeout={drain_timeout:g}s")
    await scene.noted("began", began + tasks)
    start = time.monotonic()
    worker.send(signal.SIGTERM)
    if insist:
        await until(partial(_signal_again, scene, worker), every=0.2, what="the tasks handed back")
    assert await worker.ended(drain_timeout + 30) == 0
    took = elapsed_since(start)
    for row in await scene.records():
        state = (row.status, row.attempts, row.worker_ids, row.started_at, row.last_attempted_at, row.errors)
        assert state == (READY, 0, (), None, None, ()), f"{row.task_path} was not handed back: {state}"
    assert await scene.workers() == [], "the worker's row is left behind"
    return took


async def _signal_again(scene: Stage, worker: WorkerProcess) -> bool:
    """Repeat the signal until it counts as a second one: two that are sent at once may arrive as one."""
    if await scene.count(RUNNING) == 0:
        return True
    worker.send(signal.SIGTERM)
    return False


@dataclass(frozen=True, slots=True)
class DeadlyTask:
    """A task that kills its process first thing ended LOST."""

    function_deaths: int
    coroutine_deaths: int
    max_attempts: int


async def deadly_task(url: str, *, max_attempts: int, lease_seconds: float = 1.0) -> DeadlyTask:
    """Run tasks that call os._exit first thing until they are LOST; each may cost max_attempts + 2 workers at most."""
    function = await _deaths(url, "die", max_attempts, lease_seconds)
    coroutine = await _deaths(url, "die_in_coroutine", max_attempts, lease_seconds)
    assert function <= max_attempts + 2, f"{function} workers died of it"
    assert coroutine == max_attempts, f"{coroutine} workers died of a task whose start was marked"
    return DeadlyTask(function, coroutine, max_attempts)


async def _deaths(url: str, name: str, max_attempts: int, lease_seconds: float) -> int:
    async with stage(url, lease_seconds=lease_seconds) as scene:
        [result] = await scene.enqueue([scene.task(name, max_attempts=max_attempts).call(0)])
        deaths = 0
        while not result.is_finished:
            worker = scene.fleet.start("--threads=2")
            ended = asyncio.create_task(worker.ended(60))
            while not (ended.done() or result.is_finished):
                await asyncio.wait([ended], timeout=0.1)
                await result.refresh()
            if ended.done():
                assert await ended == 9, f"the worker ended by itself:\n{worker.log}"
                deaths += 1
            else:
                ended.cancel()
        await scene.records()
        assert result.status is LOST
        kind = f"{TaskAbandoned.__module__}.{TaskAbandoned.__qualname__}"
        assert [error.exception_class_path for error in result.errors] == [kind]
        assert result.attempts == max_attempts
        return deaths


PROOFS: list[Proof] = [
    proof(
        "SIGKILL while 200 tasks of 0.2 s run at concurrency 50",
        "A2",
        partial(killed_worker, tasks=200, concurrency=50, seconds=0.2, lease_seconds=30.0),
    ),
    proof("SIGSTOP past the lease, then SIGCONT", "A2, A4", partial(paused_worker, tasks=50, lease_seconds=10)),
    proof("an event loop blocked for 60 s", "A2", partial(blocked_loop, seconds=60.0, lease_seconds=10.0)),
    proof(
        "SIGTERM with long tasks running",
        "design 4",
        partial(terminated_worker, coroutines=50, functions=10, drain_timeout=10.0, lease_seconds=30.0),
    ),
    proof("a task that kills its process", "A3", partial(deadly_task, max_attempts=3, lease_seconds=3.0)),
]
