"""Events as sentences, for logs and people."""

from typing import assert_never

from oxpull_async.domain import events


def sentence(event: events.Event) -> str:
    """Say what happened."""
    match event:
        case events.WorkerStarted() | events.WorkerStopped() | events.LeaseLost() | events.LoopBlocked():
            return _about_worker(event)
        case events.DatabaseDown(loop, error, retry_in):
            return f"the {loop} cannot reach the database, next try in {retry_in:.1f} s: {error}"
        case events.ListenerLost(error):
            return f"wake-ups are lost, polling until they are back: {error}"
        case events.TasksClaimed() | events.TasksReaped() | events.TasksReleased() | events.TaskUnknown():
            return _about_rows(event)
        case events.TaskStarted() | events.TaskSettled() | events.OutcomeIgnored() | events.AttemptFailed():
            return _about_task(event)
        case (
            events.BatchesReconciled()
            | events.WorkflowsReconciled()
            | events.ScheduleTicked()
            | events.ScheduleFailed()
        ):
            return _about_group(event)
        case _:
            assert_never(event)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which takes an s unless there is one."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _about_worker(
    event: events.WorkerStarted | events.WorkerStopped | events.LeaseLost | events.LoopBlocked,
) -> str:
    match event:
        case events.WorkerStarted(worker_id):
            return f"worker {worker_id} started"
        case events.WorkerStopped(worker_id, done, remaining):
            left = f"{counted(remaining, 'task')} {'is' if remaining == 1 else 'are'} left for later"
            return f"worker {worker_id} stopped: {counted(done, 'attempt')} ended, {left}"
        case events.LeaseLost(worker_id):
            return f"worker {worker_id} could not renew its lease in time: its tasks are stopped, it registers anew"
        case events.LoopBlocked(seconds, where):
            return f"the event loop has been blocked for {seconds} s by {where}"


def _about_rows(
    event: events.TasksClaimed | events.TasksReaped | events.TasksReleased | events.TaskUnknown,
) -> str:
    match event:
        case events.TasksClaimed(count):
            return f"claimed {counted(count, 'task')}"
        case events.TasksReaped(requeued, lost):
            return f"took over tasks of workers that fell silent: {requeued} ready again, {lost} lost"
        case events.TasksReleased(count, why):
            return f"handed back {counted(count, 'task')}: {why}"
        case events.TaskUnknown(task_path, reason):
            return f"{task_path} is left to other workers: {reason}"


def _about_group(
    event: events.BatchesReconciled | events.WorkflowsReconciled | events.ScheduleTicked | events.ScheduleFailed,
) -> str:
    if isinstance(event, events.BatchesReconciled):
        gone = f"{counted(event.missing, 'member')} had been deleted by hand"
        return f"batch {event.batch_id}: {gone}, {event.unforeseen} had ended without being counted"
    if isinstance(event, events.WorkflowsReconciled):
        gone = f"{counted(event.missing, 'node')} had been deleted by hand"
        return f"workflow {event.workflow_id}: {gone}, {event.unforeseen} had moved without being followed"
    if isinstance(event, events.ScheduleFailed):
        return f"the schedule {event.name!r} could not enqueue: {event.error}"
    why = ", since the task of the tick before has not ended" if event.overlapped else ""
    late = f"; {event.skipped} ticks are too old" if event.skipped else ""
    return f"the schedule {event.name!r} enqueued {event.enqueued} tasks for {len(event.ticks)} ticks{why}{late}"


def _about_task(
    event: events.TaskStarted | events.TaskSettled | events.OutcomeIgnored | events.AttemptFailed,
) -> str:
    name = f"{event.task_path} {event.task_id} (attempt {event.attempt})"
    match event:
        case events.TaskStarted():
            return f"{name} started"
        case events.TaskSettled():
            return f"{name} is {event.status}"
        case events.OutcomeIgnored():
            return f"{name} had been taken from this worker: its outcome does not count"
        case events.AttemptFailed():
            then = "no attempt is left" if event.retry_in is None else f"next attempt in {event.retry_in:.1f} s"
            return f"{name} failed, {then}: {event.error}"
