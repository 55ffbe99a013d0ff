"""Enqueuing what schedules call, on the test's own thread and in its transaction."""

from collections.abc import Sequence

from django.tasks import signals

from compat_sync.exceptions import UsageError, translated
from compat_sync.operations import BlockingOperations
from compat_sync.results import TaskResult, result_of
from compat_sync.shim import run_blocking
from compat_sync.signals import is_wanted, send_enqueued
from compat_sync.worker.host import DjangoHost, installed_packages, oxpull_backend, register
from oxpull_async.domain.events import ScheduleFailed, ScheduleTicked
from oxpull_async.domain.record import TaskRecord
from oxpull_async.runtime.lookup import Lookup
from oxpull_async.runtime.scheduler import Passing

__all__ = ["run_schedules"]


def run_schedules(*, backend: str = "default") -> list[TaskResult]:
    """Enqueue what the schedules of a backend call for ticks that are due; returns the results.

    A schedule of the settings that is seen first begins now, so that a test calls this once, moves the clock with
    `moved_clock`, and calls it again. `run_tasks` runs what was enqueued.

    Raises: UsageError where a schedule cannot enqueue, naming it and why.
    """
    register()
    host = DjangoHost.of(backend)
    enqueued: list[TaskRecord] = []
    failed: list[ScheduleFailed] = []

    def note(event: ScheduleTicked | ScheduleFailed) -> None:
        if isinstance(event, ScheduleFailed):
            failed.append(event)

    async def announce(records: Sequence[TaskRecord]) -> None:
        enqueued.extend(records)

    operations = BlockingOperations(host.ox, host.placed_in)
    passing = Passing(host, Lookup(host, installed_packages()), operations.operate, note, announce)
    with translated():
        while run_blocking(passing.look()) == 0.0:
            pass
    if failed:
        raise UsageError(f"the schedule {failed[0].name!r} could not enqueue: {failed[0].error}")
    results = [result_of(record, created=True) for record in enqueued]
    found = oxpull_backend(backend)
    if found is not None and is_wanted(signals.task_enqueued):
        send_enqueued(type(found), results)
    return results
