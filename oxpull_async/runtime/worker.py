"""The worker: start, drain and stop of one process's services."""

import asyncio
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TypedDict, Unpack

import anyio

from oxpull_async.domain.durations import Duration, seconds
from oxpull_async.domain.errors import DatabaseTrouble, UsageError, WorkerRecycled
from oxpull_async.domain.events import WorkerStopped
from oxpull_async.domain.outcome import Released
from oxpull_async.domain.settings import refuse_unknown
from oxpull_async.domain.task import checked_queue
from oxpull_async.runtime.attempts import Attempt, Stop
from oxpull_async.runtime.claimer import Plan
from oxpull_async.runtime.crew import Crew, across, assemble
from oxpull_async.runtime.host import Host
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.log import subscribe_logging
from oxpull_async.runtime.memory import watch_memory
from oxpull_async.runtime.recycler import Ending, Recycler
from oxpull_async.runtime.repeat import repeat
from oxpull_async.runtime.watchdog import GRACE
from oxpull_async.store.lease import remove
from oxpull_async.store.queues import stats

INTERRUPT_GRACE = 5.0
LAST_WRITES = 10.0


class WorkerKeywords(TypedDict, total=False):
    """The keyword arguments of Worker."""

    queues: Collection[str] | None
    concurrency: int
    threads: int
    burst: bool
    max_tasks: int | None
    max_rss: int | None
    drain_timeout: Duration
    imports: Collection[str]
    owns_process: bool


class Worker:
    """Runs the tasks of an Oxpull in this process.

    `queues` None serves every queue. `concurrency` tasks run at once, plain functions among them in `threads` threads.
    `burst` ends when nothing is left to do now; `max_tasks` and `max_rss` (bytes) end it after so many tasks, or above
    so much memory. `drain_timeout` is how many seconds a stop waits for running tasks before they are handed back.
    `imports` are top packages that may be imported to find a task; `owns_process` lets a blocked worker exit with 75.
    """

    grace = GRACE
    """Seconds after its timeout until a function that does not stop has the process recycled."""

    def __init__(self, host: Host, **options: Unpack[WorkerKeywords]) -> None:
        refuse_unknown("Worker()", options.keys(), WorkerKeywords.__annotations__)
        self.hub = Hub()
        self.recycled: str | None = None
        self._host = host
        self._plan = _plan(options)
        self._max_rss = options.get("max_rss")
        self._drain_timeout = seconds(options.get("drain_timeout", 30), name="drain_timeout")
        self._owns_process = options.get("owns_process", False)
        self._failed: BaseException | None = None
        self._crew: Crew | None = None
        self._stop_at_once = asyncio.Event()
        self._stopping = False

    @property
    def running(self) -> int:
        """How many attempts this worker holds now."""
        return 0 if self._crew is None else len(self._crew.attempts.live())

    @property
    def is_spent(self) -> bool:
        """Whether it ends, or ended, because `max_tasks` have been claimed."""
        return self._crew is not None and self._crew.claimer.is_spent

    def stop(self) -> None:
        """Claim nothing more, wait for what runs, and end.

        A second call hands back what still runs at once.
        """
        if self._stopping:
            self._stop_at_once.set()
        self._stopping = True
        if self._crew is not None:
            self._crew.dispatcher.stop()

    async def run(self) -> None:
        """Work until stopped; in a burst, until nothing is left to do now.

        Raises: NotMigrated or SchemaTooNew at the start, WorkerRecycled when a function outlasts timeout and grace.
        """
        await self._host.check_schema()
        subscribe_logging(self.hub)
        crew = self._crew = assemble(self._host, self._plan, self.hub)
        crew.watchdog.grace = self.grace
        crew.thread.on_failed = across(asyncio.get_running_loop(), self._fail)
        ending = Ending(self._recycle, self._drain_timeout, exits=self._owns_process)
        recycler = Recycler(self._host.database, crew, ending, self.hub)
        await self._enter(crew)
        unsubscribe = [self._host.on_wake(wake) for wake in _wakes(crew)]
        try:
            await self._work(crew)
        finally:
            for end in unsubscribe:
                end()
            with anyio.CancelScope(shield=True):
                await self._finish(crew, recycler)
        if self._failed is not None:
            raise self._failed
        if recycler.stuck:
            raise WorkerRecycled(self.recycled)

    async def _enter(self, crew: Crew) -> None:
        try:
            await crew.thread.start()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await crew.thread.stop()
            raise

    async def _work(self, crew: Crew) -> None:
        if self._stopping:
            crew.dispatcher.stop()
        async with anyio.create_task_group() as services:
            services.start_soon(crew.settler.run)
            services.start_soon(crew.reaper.run)
            services.start_soon(crew.reconciler.run)
            services.start_soon(crew.notifier.run)
            if self._plan.burst:
                with suppress(DatabaseTrouble):  # then a later worker enqueues what is due
                    await crew.scheduler.look()
            else:
                services.start_soon(crew.scheduler.run)
            if self._max_rss is not None:
                services.start_soon(watch_memory, self._max_rss, self._recycle)
            await self._dispatch(crew)
            await self._drain(crew)
            services.cancel_scope.cancel()

    async def _dispatch(self, crew: Crew) -> None:
        """Claim until there is an end to it; a claim under way is finished even when this is cancelled."""
        claiming = asyncio.create_task(_claim(crew, burst=self._plan.burst))
        try:
            await asyncio.shield(claiming)
        finally:
            crew.dispatcher.stop()
            with anyio.move_on_after(LAST_WRITES, shield=True):
                await asyncio.wait([claiming])
            claiming.cancel()

    def _fail(self, error: BaseException) -> None:
        """End at once because the lease is not looked after any more."""
        self._failed = error
        self.stop()
        self.stop()

    def _recycle(self, reason: str) -> None:
        """End this process in order, to be started anew."""
        self.recycled = self.recycled or reason
        if not self._stopping:
            self.stop()

    async def _drain(self, crew: Crew) -> None:
        """Hand back what has not started, and wait for what runs as long as the drain timeout allows."""
        waiting = [attempt for attempt in crew.attempts.live() if crew.attempts.take_back(attempt)]
        if waiting:
            with suppress(DatabaseTrouble):  # then the caretaker finds them unknown, later
                await crew.thread.call(crew.caretaker.hand_back(waiting, "the worker stops"))
        ends = time.monotonic() + self._drain_timeout
        while crew.attempts.live() and time.monotonic() < ends and not self._stop_at_once.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await self._stop_at_once.wait()
        if not crew.attempts.live():
            with anyio.move_on_after(max(ends - time.monotonic(), 1.0)):
                await crew.settler.flush()

    async def _finish(self, crew: Crew, recycler: Recycler) -> None:
        """Stop what still runs, write what is to be written, and leave nothing behind in the database."""
        try:
            await self._interrupt(crew)
            async with anyio.create_task_group() as services:
                services.start_soon(crew.settler.run)
                with anyio.move_on_after(LAST_WRITES):
                    await crew.settler.flush()
                services.cancel_scope.cancel()
            with anyio.move_on_after(LAST_WRITES), suppress(DatabaseTrouble):
                await crew.thread.call(recycler.recorded())
                await self._leave(crew, recycler)
        finally:
            await crew.thread.stop()

    async def _leave(self, crew: Crew, recycler: Recycler) -> None:
        await crew.thread.call(crew.caretaker.look())
        worker_id = crew.lease.worker_id
        await repeat(self._host.database, lambda conn: remove(conn, worker_id))
        self.hub.emit(WorkerStopped(worker_id, crew.settler.settled + recycler.settled, await self._remaining()))

    async def _interrupt(self, crew: Crew) -> None:
        """Cancel what still runs, wait a little, and hand back whatever holds on."""
        for attempt in crew.attempts.live():
            crew.executor.interrupt(attempt, Stop.SHUTDOWN)
        ends = time.monotonic() + INTERRUPT_GRACE
        while time.monotonic() < ends and any(_can_stop(attempt) for attempt in crew.attempts.live()):  # noqa: ASYNC110 - set in other threads
            await asyncio.sleep(0.01)
        for attempt in crew.attempts.live():
            if crew.attempts.end(attempt):
                crew.settler.add(attempt, Released())

    async def _remaining(self) -> int:
        alias = self._host.settings.alias
        return sum(
            row.ready + row.waiting for row in await repeat(self._host.database, lambda conn: stats(conn, alias))
        )


def _wakes(crew: Crew) -> tuple[Callable[[str], None], ...]:
    return crew.dispatcher.wake, crew.scheduler.wake, crew.reconciler.wake


def _can_stop(attempt: Attempt) -> bool:
    """Whether it is cancelled or can see that it should stop."""
    return attempt.body.is_coroutine or attempt.body.takes_context


async def _claim(crew: Crew, *, burst: bool) -> None:
    """Claim to the end; a burst goes on while marks ask for something, since what they release is due."""
    while await crew.dispatcher.run() and burst and not crew.claimer.is_spent:
        with suppress(DatabaseTrouble):  # then a later worker follows them
            if await crew.reconciler.follow_marks() or await crew.reaper.reconcile():
                continue
        break


def _plan(options: WorkerKeywords) -> Plan:
    queues, max_tasks = options.get("queues"), options.get("max_tasks")
    if isinstance(queues, str):
        raise UsageError(f"queues={queues!r} must be a list of names: [{queues!r}]")
    for name, least in (("concurrency", 1), ("threads", 1), ("max_tasks", 1), ("max_rss", 1)):
        value = options.get(name)
        if value is not None and (type(value) is not int or value < least):
            raise UsageError(f"{name}={value!r} must be a whole number, at least {least}")
    return Plan(
        queues=None if queues is None else tuple(sorted({checked_queue(name) for name in queues})),
        concurrency=options.get("concurrency", 100),
        threads=options.get("threads", 10),
        burst=options.get("burst", False),
        max_tasks=max_tasks,
        imports=tuple(sorted({name.partition(".")[0] for name in options.get("imports", ())})),
    )
