"""The crew: every service of one worker process, made and wired to each other in one place."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from oxpull_async.domain.outcome import Lease
from oxpull_async.domain.record import WorkerId
from oxpull_async.runtime.attempts import Attempt, Attempts, Stop
from oxpull_async.runtime.caretaker import Caretaker
from oxpull_async.runtime.claimer import Claimer, Plan
from oxpull_async.runtime.dispatcher import Dispatcher
from oxpull_async.runtime.executor import Executor
from oxpull_async.runtime.host import Host
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.lease_thread import LeaseThread
from oxpull_async.runtime.lookout import Lookout
from oxpull_async.runtime.notifier import Notifier
from oxpull_async.runtime.reaper import Reaper
from oxpull_async.runtime.reconciler import Reconciler
from oxpull_async.runtime.renewer import Renewer
from oxpull_async.runtime.rest import Rest
from oxpull_async.runtime.scheduler import Scheduler
from oxpull_async.runtime.settler import Settler
from oxpull_async.runtime.watchdog import Watchdog
from oxpull_async.store.lease import WorkerCard


@dataclass(frozen=True, slots=True)
class Crew:
    """The services of one worker."""

    attempts: Attempts
    lease: LeaseState
    lookout: Lookout
    settler: Settler
    executor: Executor
    claimer: Claimer
    dispatcher: Dispatcher
    notifier: Notifier
    reaper: Reaper
    reconciler: Reconciler
    scheduler: Scheduler
    caretaker: Caretaker
    watchdog: Watchdog
    renewer: Renewer
    thread: LeaseThread


def assemble(host: Host, plan: Plan, hub: Hub) -> Crew:
    """Make the services of a worker on the running event loop; nothing is started yet."""
    database, attempts, lease = host.database, Attempts(), LeaseState(host.settings.lease_seconds)
    settler = Settler(database, attempts, lease, hub)
    executor = Executor(host, attempts, settler, lease, hub)
    executor.threads = anyio.CapacityLimiter(plan.threads)
    lookout = Lookout(database, host.settings.alias, lease)
    claimer = Claimer(host, plan, executor, lease, hub)
    rest = Rest(lookout)
    dispatcher = Dispatcher(host, plan, claimer, attempts, rest, hub)
    reconciler = Reconciler(database, lease, lookout, hub)
    patient = database.patient(host.settings.lease_seconds)
    caretaker = Caretaker(patient, attempts, lease, lookout, hub)
    watchdog = Watchdog(asyncio.get_running_loop(), attempts, hub)
    renewer = Renewer(patient, _card(host, plan), lease, hub)
    crew = Crew(
        attempts, lease, lookout, settler, executor, claimer, dispatcher,
        Notifier(database, partial(_each, (dispatcher.wake, reconciler.wake)), hub),
        Reaper(database, attempts, lease, lookout, hub), reconciler, Scheduler(host, claimer.lookup, lookout, hub),
        caretaker, watchdog, renewer,
        LeaseThread(patient, renewer, caretaker, watchdog),
    )  # fmt: skip
    crew.notifier.on_pushed = partial(setattr, rest, "pushed")
    announce = partial(host.announce, "")
    crew.settler.on_handed_over = crew.reconciler.on_moved = announce
    crew.reaper.on_handed_over = partial(_announce_moved, crew, announce)
    _wire(crew)
    return crew


def _wire(crew: Crew) -> None:
    """Connect what one service notices to what another does about it; the lease thread's calls cross over safely."""
    loop = asyncio.get_running_loop()
    crew.executor.on_free = crew.settler.on_counted = crew.dispatcher.wake
    crew.caretaker.on_cancel = across(loop, partial(_cancel, crew))
    crew.caretaker.on_taken_back = across(loop, _forget_waiting)
    crew.caretaker.on_released = across(loop, partial(_look_behind, crew))
    crew.renewer.on_lost = across(loop, partial(_stop_all, crew))
    crew.dispatcher.on_doubt = partial(crew.thread.tell, crew.renewer.doubt)
    crew.renewer.notes = partial(_notes, crew)
    crew.lookout.on_care = partial(_look_after, crew)


def _each(wakes: Sequence[Callable[[str], None]], queue_name: str) -> None:
    for wake in wakes:
        wake(queue_name)


def _look_after(crew: Crew) -> None:
    """Have those look who do what the lookout has seen a reason for."""
    crew.reconciler.wake()
    crew.reaper.wake()


def _notes(crew: Crew) -> dict[str, Any]:
    """What the worker's row says of it beside its lease."""
    return {
        "listener": crew.notifier.state,
        "unknown_tasks": sorted(crew.claimer.lookup.unknown),
        "unforeseen": crew.reconciler.unforeseen,
    }


def across[**P](loop: asyncio.AbstractEventLoop, function: Callable[P, None]) -> Callable[P, None]:
    """Return a function of the event loop as one that the lease thread may call."""

    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(partial(function, *args, **kwargs))

    return call


def _look_behind(crew: Crew) -> None:
    """Look at once, and soon behind the marks: rows came back to where they stood."""
    crew.claimer.marks.hurry()
    crew.dispatcher.wake()


async def _announce_moved(crew: Crew, announce: Callable[[], Awaitable[None]]) -> None:
    crew.claimer.marks.hurry()
    await announce()


def _cancel(crew: Crew, lease: Lease) -> None:
    for attempt in crew.attempts.live():
        if attempt.lease == lease and attempt.stop is None:
            crew.executor.interrupt(attempt, Stop.CANCEL)


def _stop_all(crew: Crew, worker_id: WorkerId) -> None:
    for attempt in crew.attempts.live():
        if attempt.worker_id == worker_id:
            crew.executor.interrupt(attempt, Stop.LEASE_LOST)


def _forget_waiting(attempt: Attempt) -> None:
    if attempt.aio_task is not None:
        attempt.aio_task.cancel()


def _card(host: Host, plan: Plan) -> WorkerCard:
    return WorkerCard(
        worker_id="",
        backend_alias=host.settings.alias,
        hostname=socket.gethostname(),
        pid=os.getpid(),
        queues=plan.queues,
        concurrency=plan.concurrency,
        lease_seconds=host.settings.lease_seconds,
        limits=host.settings.rate_limits.rules,
    )
