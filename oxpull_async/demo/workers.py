"""The demo's workers: processes of their own, started with the command that users start."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from oxpull_async.demo.failed import DemoFailed
from oxpull_async.demo.tasks import ox
from oxpull_async.store import health

THREADS, CONCURRENCY = 4, 8
START_TIMEOUT, STOP_TIMEOUT = 30.0, 15.0
POLL, LOG_TAIL = 0.05, 12


@dataclass(slots=True)
class WorkerProcess:
    """One worker: its process, and the id under which the database knows it."""

    number: int
    process: asyncio.subprocess.Process
    log: Path
    worker_id: str = ""
    killed: bool = False

    def __str__(self) -> str:
        return f"worker {self.number} (pid {self.process.pid})"

    async def kill(self) -> None:
        """End the process with SIGKILL: it gets no chance to hand anything back."""
        self.killed = True
        self.process.kill()
        await self.process.wait()

    def check(self) -> None:
        """Raise DemoFailed with the end of its log when it has ended by itself."""
        if self.process.returncode is None or self.killed:
            return
        tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-LOG_TAIL:])
        raise DemoFailed(f"{self} ended by itself with exit code {self.process.returncode}:\n{tail}")


@asynccontextmanager
async def working(count: int, folder: Path) -> AsyncIterator[list[WorkerProcess]]:
    """Run workers while the block runs; yields when all of them have registered in the database."""
    workers: list[WorkerProcess] = []
    try:
        for number in range(1, count + 1):
            workers.append(await _start(number, folder))  # noqa: PERF401 - each is to be ended, also if the next fails
        await _registered(workers)
        yield workers
    finally:
        await asyncio.gather(*(_end(worker.process) for worker in workers))


async def _start(number: int, folder: Path) -> WorkerProcess:
    log = folder / f"worker-{number}.log"
    command = ("-m", "oxpull_async", "worker", "oxpull_async.demo.tasks:ox")
    options = ("--concurrency", str(CONCURRENCY), "--threads", str(THREADS), "--drain-timeout", "2s")
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, *options, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output,
            env=os.environ | {"PYTHONWARNINGS": "ignore"},
        )  # fmt: skip
    return WorkerProcess(number, process, log)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(STOP_TIMEOUT):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def _registered(workers: Sequence[WorkerProcess]) -> None:
    try:
        async with asyncio.timeout(START_TIMEOUT):
            while not all([await _is_registered(worker) for worker in workers]):  # noqa: ASYNC110 - told by the database
                await asyncio.sleep(POLL)
    except TimeoutError:
        raise DemoFailed(f"The workers did not register within {START_TIMEOUT:.0f} s.") from None


async def _is_registered(worker: WorkerProcess) -> bool:
    worker.check()
    known = await ox.operate(lambda conn: health.workers(conn, ox.settings.alias))
    worker.worker_id = next((state.worker_id for state in known if state.pid == worker.process.pid), "")
    return bool(worker.worker_id)
