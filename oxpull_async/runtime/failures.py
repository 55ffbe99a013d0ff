"""From what an attempt raised to the outcome that is written."""

import asyncio
import json
import random

from oxpull_async.domain.errors import InvalidPayload, TaskCancelled, TaskTimeout
from oxpull_async.domain.failure_text import describe_exception, storable_text
from oxpull_async.domain.outcome import Cancelled, Failed, Outcome, Released, Snoozed
from oxpull_async.domain.record import WorkerId
from oxpull_async.domain.retry import MAX_SNOOZES, Snooze, retry_delay
from oxpull_async.runtime.attempts import Attempt, Stop


def judge_failure(attempt: Attempt, error: BaseException, worker_id: WorkerId) -> Outcome | None:
    """Decide what an attempt that raised came to; None when its lease is lost and nothing is to be written."""
    stopped = attempt.stop if isinstance(error, asyncio.CancelledError) else None
    match stopped:
        case Stop.SHUTDOWN:
            return Released()
        case Stop.LEASE_LOST:
            return None
        case Stop.CANCEL:
            return Cancelled(_entry(TaskCancelled(), attempt, worker_id))
        case Stop.TIMEOUT:
            return failure(attempt, timed_out(attempt), worker_id)
        case None:
            return failure(attempt, error, worker_id)


def failure(attempt: Attempt, error: BaseException, worker_id: WorkerId) -> Outcome:
    """Decide what follows from an exception: another attempt later, or the end."""
    claimed = attempt.claimed
    if isinstance(error, Snooze) and claimed.snoozes < MAX_SNOOZES:
        return Snoozed(error.seconds)
    entry = _entry(error, attempt, worker_id)
    if isinstance(error, InvalidPayload):
        return Failed(entry, None)
    chance = random.random()  # noqa: S311 - spreading load, not keeping secrets
    try:
        delay = retry_delay(attempt.policy, error, claimed.attempt, claimed.max_attempts, chance)
    except Exception as broken:  # noqa: BLE001 - a backoff function is the user's code
        broken.__context__ = error
        return Failed(_entry(broken, attempt, worker_id), None)
    return Failed(entry, delay)


def timed_out(attempt: Attempt) -> TaskTimeout:
    """Return the exception that says how long the attempt was allowed to run."""
    return TaskTimeout(f"the attempt ran longer than its timeout of {attempt.timeout} s")


def error_entry(kind: type[BaseException], text: str, attempt: Attempt, worker_id: WorkerId) -> str:
    """Return one entry of the stored `errors` list as JSON text; the database adds the time."""
    return _json(f"{kind.__module__}.{kind.__qualname__}", storable_text(text), attempt, worker_id)


def _entry(error: BaseException, attempt: Attempt, worker_id: WorkerId) -> str:
    class_path, text = describe_exception(error)
    return _json(class_path, text, attempt, worker_id)


def _json(class_path: str, text: str, attempt: Attempt, worker_id: WorkerId) -> str:
    return json.dumps(
        {
            "exception_class_path": class_path,
            "traceback": text,
            "attempt": attempt.claimed.attempt,
            "worker_id": worker_id,
        }
    )
