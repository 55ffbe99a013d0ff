"""Tasks that are in memory only: the record they would have, and running one at once."""

import json
import time
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from compat_sync import clock
from compat_sync.results import result_of
from compat_sync.signals import ended
from compat_sync.testing.inline import Inline
from compat_sync.worker.around import Around, Teller
from oxpull_async.app.task import Task as CoreTask
from oxpull_async.domain.errors import InvalidTask
from oxpull_async.domain.record import ClaimedTask, NewTask, TaskRecord, TaskStatus, WorkerId, new_record
from oxpull_async.domain.retry import MAX_SNOOZES
from oxpull_async.domain.workflow import Upstream
from oxpull_async.runtime.attempts import Attempt, Attempts
from oxpull_async.runtime.lookup import Runnable

__all__ = ["run_at_once", "stored_now"]


def stored_now(new: NewTask) -> TaskRecord:
    """Return the record that a new task would have if it were stored at this moment."""
    now = datetime.now(UTC) + timedelta(seconds=clock.offset())
    later = now if new.delay is None else now + timedelta(seconds=new.delay)
    return new_record(new, now, new.run_after or later)


def run_at_once(task: CoreTask[..., Any], record: TaskRecord, worker_id: WorkerId, sender: type) -> TaskRecord:
    """Run a task's only attempt here, signals included, and return its record as it ended."""
    if task.body is None:
        raise InvalidTask(f"the code of {task.path} is not here")
    now = datetime.now(UTC)
    running = replace(
        record,
        status=TaskStatus.RUNNING,
        started_at=now,
        last_attempted_at=now,
        attempts=1,
        epoch=1,
        leased_by=worker_id,
        worker_ids=(worker_id,),
    )
    body = replace(task.body, surroundings=Around(task.body.is_coroutine, Teller(sender, record.backend_alias)))
    attempt = Attempt(_claimed(running), worker_id, Runnable(body, task.options.policy), time.monotonic())
    reports: list[str] = []

    def report(_attempt: Attempt, progress: str) -> bool:
        reports.append(progress)
        return True

    Attempts().begin(attempt, time.monotonic())
    inline = Inline(task.ox.settings.max_payload_bytes, result_of, report, _no_upstreams, nullcontext)
    ran = inline.carry_out(attempt, running)
    progress = json.loads(reports[-1]) if reports else None
    return replace(ended(running, ran.outcome), progress=progress)


def _no_upstreams(_attempt: Attempt) -> dict[str, Upstream]:
    """Tell that no task here is a node of a workflow."""
    return {}


def _claimed(record: TaskRecord) -> ClaimedTask:
    """Return what a worker would claim: the last attempt there is, so that nothing is put off."""
    return ClaimedTask(
        id=record.id, epoch=record.epoch, task_path=record.task_path, queue_name=record.queue_name,
        priority=record.priority, available_at=record.available_at, args=json.dumps(record.args),
        kwargs=json.dumps(record.kwargs), attempt=1, max_attempts=1, snoozes=MAX_SNOOZES, timeout=record.timeout,
        begun=True,
    )  # fmt: skip
