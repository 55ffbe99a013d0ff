"""Running a worker, or several under a supervisor, for whichever command was asked to."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from oxpull_async.cli.display import live_line
from oxpull_async.cli.leave import on_end_of_input
from oxpull_async.domain.errors import UsageError, WorkerRecycled
from oxpull_async.domain.events import WorkerStopped
from oxpull_async.runtime.memory import resident_bytes
from oxpull_async.runtime.recycler import EXIT_CODE
from oxpull_async.runtime.signals import stop_signals
from oxpull_async.runtime.supervisor import Charge, Supervisor
from oxpull_async.runtime.worker import INTERRUPT_GRACE, LAST_WRITES, Worker, WorkerKeywords

KILL_MARGIN = INTERRUPT_GRACE + 2 * LAST_WRITES + 5
_ALWAYS = ("concurrency", "threads", "drain-timeout", "log-level")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a command line asked of a worker."""

    queues: tuple[str, ...] | None
    concurrency: int
    threads: int
    processes: int | None
    burst: bool
    max_tasks: int | None
    max_rss: int | None
    drain_timeout: float
    imports: tuple[str, ...]
    log_level: str
    as_json: bool
    supervised: bool

    def keywords(self) -> WorkerKeywords:
        """Return the options of the worker itself."""
        return WorkerKeywords(
            queues=self.queues,
            concurrency=self.concurrency,
            threads=self.threads,
            burst=self.burst,
            max_tasks=self.max_tasks,
            max_rss=self.max_rss,
            drain_timeout=self.drain_timeout,
            imports=self.imports,
            owns_process=True,
        )

    def child_options(self) -> list[str]:
        """Return the options of one of several processes that share this job."""
        options = ["--supervised"]
        options += [f"--{name}={getattr(self, name.replace('-', '_'))}" for name in _ALWAYS]
        options += [f"--import={name}" for name in self.imports]
        options += [f"--queues={','.join(self.queues)}"] if self.queues is not None else []
        options += [f"--max-tasks={self.max_tasks}"] if self.max_tasks is not None else []
        options += [f"--max-rss={self.max_rss}"] if self.max_rss is not None else []
        return [*options, "--burst"] if self.burst else options


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command is to end: exit code, JSON document, and what to complain of, if anything."""

    code: int
    document: dict[str, Any]
    complaint: str | None = None


def require_memory(job: Job, what: str) -> None:
    """Raise UsageError where this process is already beyond what it may use."""
    if job.max_rss is not None and (used := resident_bytes()) > job.max_rss:
        raise UsageError(f"--max-rss is less than the {used / (1 << 20):.0f}M that a worker of {what} has at its start")


async def serve(worker: Worker, job: Job, console: Console | None) -> Ending:
    """Run a worker until it ends by itself, by a signal, or because its supervisor is gone.

    The live line is shown on `console` where there is one; a supervised worker has none.
    """
    stopped: list[WorkerStopped] = []
    worker.hub.subscribe(WorkerStopped, stopped.append)
    with ExitStack() as around:
        around.enter_context(stop_signals(worker.stop))
        if job.supervised:
            around.enter_context(on_end_of_input(worker.stop))
        elif console is not None:
            around.enter_context(live_line(console, worker))
        try:
            await worker.run()
        except WorkerRecycled as recycled:
            worker.recycled = str(recycled)
    done, remaining = (stopped[0].done, stopped[0].remaining) if stopped else (None, None)
    document = {"done": done, "remaining": remaining, "recycled": worker.recycled}
    if worker.recycled is not None:
        return Ending(EXIT_CODE, document, f"the worker asks to be started anew: {worker.recycled}")
    return Ending(EXIT_CODE if job.supervised and worker.is_spent else 0, document)


def supervise(job: Job, command: Sequence[str], *, tireless: bool = False) -> Ending:
    """Keep the job's processes running; `tireless`, however often they fail."""
    processes = job.processes or 1
    output = sys.stderr.fileno() if job.as_json else None
    charge = Charge(command, processes, job.drain_timeout + KILL_MARGIN, output, tireless=tireless)

    async def keep() -> Ending:
        supervisor = Supervisor(charge)
        with stop_signals(supervisor.stop):
            report = await supervisor.run()
        document = {"processes": processes, "restarts": report.restarts, "gave_up": report.gave_up}
        complaint = f"Error: {report.gave_up}; the lines above say why" if report.gave_up else None
        return Ending(0 if report.is_success else 1, document, complaint)

    return asyncio.run(keep())
