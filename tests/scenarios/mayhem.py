"""Workers that are killed at random, and replaced."""

import asyncio
import random
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from oxpull_async.domain.record import instant
from tests.fixtures.processes import WorkerProcess
from tests.scenarios.looks import read
from tests.scenarios.stage import Stage


@dataclass(slots=True)
class Mayhem:
    """Who was killed: by process id, the instant at which its lease ends, or None if it had none yet."""

    scene: Stage
    options: tuple[str, ...]
    killed: dict[int, datetime | None] = field(default_factory=dict)
    living: list[WorkerProcess] = field(default_factory=list)

    def start(self, **environment: str) -> None:
        """Start one more worker."""
        self.living.append(self.scene.fleet.start(*self.options, **environment))

    async def kill(self) -> None:
        """Kill one of the workers that have begun to work, and note until when its lease holds."""
        begun = [worker for worker in self.living if "started" in worker.log]
        if not begun:
            return
        victim = random.choice(begun)
        self.living.remove(victim)
        victim.send(signal.SIGKILL)
        await victim.ended()
        sql = f"SELECT max(lease_expires_at) FROM oxpull_worker WHERE pid = {victim.popen.pid}"
        async with self.scene.ox.database.connection() as conn:
            [[expires_at]] = await read(conn, sql)
        self.killed[victim.popen.pid] = None if expires_at is None else instant(expires_at)


@asynccontextmanager
async def mayhem(
    scene: Stage, *options: str, workers: int, pause: tuple[float, float], **environment: str
) -> AsyncIterator[Mayhem]:
    """Keep workers running, and kill one after every pause during the block; then leave the rest in peace."""
    havoc = Mayhem(scene, options)
    over = asyncio.Event()
    for _ in range(workers):
        havoc.start(**environment)
    for worker in havoc.living:
        await worker.logged("started")

    async def rage() -> None:
        while not over.is_set():
            try:
                await asyncio.wait_for(over.wait(), random.uniform(*pause))
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
