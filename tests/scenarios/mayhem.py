"""Workers that are killed at random, and replaced."""

import asyncio
import random
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.fixtures.processes import WorkerProcess
from tests.scenarios.stage import Stage

PAUSE = 0.3, 1.5


@dataclass(frozen=True, slots=True)
class Kills:
    """How many workers are killed at most, and the bounds of the seconds between two kills."""

    most: int
    pause: tuple[float, float] = PAUSE


@dataclass(slots=True)
class Mayhem:
    """The workers that live, and the process ids of those that were killed."""

    scene: Stage
    options: tuple[str, ...]
    killed: set[int] = field(default_factory=set)
    living: list[WorkerProcess] = field(default_factory=list)

    def start(self, **environment: str) -> None:
        """Start one more worker."""
        self.living.append(self.scene.fleet.start(*self.options, **environment))

    async def kill(self) -> None:
        """Kill one of the workers that have begun to work."""
        begun = [worker for worker in self.living if "started" in worker.log]
        if not begun:
            return
        victim = random.choice(begun)
        self.living.remove(victim)
        victim.send(signal.SIGKILL)
        await victim.ended()
        self.killed.add(victim.popen.pid)


@asynccontextmanager
async def mayhem(
    scene: Stage, *options: str, workers: int, kills: int | Kills, **environment: str
) -> AsyncIterator[Mayhem]:
    """Keep workers running, and kill one now and then during the block, so many at most; the rest lives on."""
    plan = Kills(kills) if isinstance(kills, int) else kills
    havoc = Mayhem(scene, options)
    over = asyncio.Event()
    for _ in range(workers):
        havoc.start(**environment)
    for worker in havoc.living:
        await worker.logged("started")

    async def rage() -> None:
        while not over.is_set() and len(havoc.killed) < plan.most:
            try:
                await asyncio.wait_for(over.wait(), random.uniform(*plan.pause))
            except TimeoutError:
                await havoc.kill()
                while len(havoc.living) < workers:
                    havoc.start(**environment)

    raging = asyncio.create_task(rage())
    try:
        yield havoc
    finally:
        over.set()
        await raging
