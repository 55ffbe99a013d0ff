"""From what an attempt raised to the outcome that is written."""

import asyncio
import json
import random

from oxpull_async.domain.errors import DataRefused, InvalidPayload, TaskCancelled, TaskTimeout
from oxpull_async.domain.failure_text import class_path, describe_exception, storable_text
from oxpull_async.domain.outcome import Cancelled, Failed, Outcome, Released, SlowDown, Snoozed
from oxpull_async.domain.retry import MAX_DELAY, MAX_SNOOZES, Retry, Snooze, retry_delay
from oxpull_async.runtime.attempts import Attempt, Stop

MOST_IN_LOGS = 1024


def judge_failure(attempt: Attempt, error: BaseException) -> Outcome:
    """Decide what an attempt that raised came to, given that it may have been asked to stop."""
    cancelled = isinstance(error, asyncio.CancelledError)
    match attempt.stop:
        case Stop.SHUTDOWN | Stop.LEASE_LOST if cancelled or _is_interruption(attempt, error):
            return Released()
        case Stop.CANCEL if cancelled:
            return Cancelled(_entry(TaskCancelled(), attempt))
        case _:
            return failure(attempt, cause(attempt, error))


def cause(attempt: Attempt, error: BaseException) -> BaseException:
    """Return what an attempt failed of: its timeout, where that is what cancelled it."""
    is_timeout = attempt.stop is Stop.TIMEOUT and isinstance(error, asyncio.CancelledError)
    return timed_out(attempt) if is_timeout else error


def _is_interruption(attempt: Attempt, error: BaseException) -> bool:
    """Whether an exception after the worker's own stop is taken for its consequence: interrupted is not failed."""
    told = attempt.body.is_coroutine or attempt.body.takes_context
    return told and not isinstance(error, Retry | Snooze)


def failure(attempt: Attempt, error: BaseException) -> Outcome:
    """Decide what follows from an exception: another attempt later, or the end."""
    claimed = attempt.claimed
    if isinstance(error, Snooze) and claimed.snoozes < MAX_SNOOZES:
        return Snoozed(error.seconds)
    slow_down = _slow_down(error, attempt)
    entry = _entry(error, attempt)
    if isinstance(error, InvalidPayload):
        return Failed(entry, None)
    chance = random.random()  # noqa: S311 - spreading load, not keeping secrets
    try:
        delay = retry_delay(attempt.policy, error, claimed.attempt, claimed.max_attempts, chance)
    except Exception as broken:  # noqa: BLE001 - a backoff function is the user's code
        broken.__context__ = error
        return Failed(_entry(broken, attempt), None)
    return Failed(entry, delay, slow_down)


def _slow_down(error: BaseException, attempt: Attempt) -> SlowDown | None:
    """Return what a task asked to hold; a limit that its start did not count under is not its own to shut."""
    if not isinstance(error, Retry) or error.slow_down is None:
        return None
    if error.slow_down not in {permit.window[0] for permit in attempt.claimed.permits}:
        error.add_note(f"slow_down={error.slow_down!r} held nothing: no rate limit of that name covers this task")
        return None
    return SlowDown(error.slow_down, min(error.after, MAX_DELAY))


def timed_out(attempt: Attempt) -> TaskTimeout:
    """Return the exception that says how long the attempt was allowed to run."""
    return TaskTimeout(f"the attempt ran longer than its timeout of {attempt.timeout} s")


def brief(error: BaseException) -> str:
    """Return a short text about an exception that any log can take, whatever its own methods do."""
    try:
        return storable_text(f"{type(error).__qualname__}: {error}".removesuffix(": "), MOST_IN_LOGS)
    except Exception:  # noqa: BLE001 - an exception's own methods may raise anything
        return describe_exception(error)[0]


def error_entry(kind: type[BaseException], text: str, attempt: Attempt) -> str:
    """Return one entry of the stored `errors` list as JSON text; the database adds the time."""
    return _json(class_path(kind), storable_text(text), attempt)


def unstorable(attempt: Attempt, refused: DataRefused) -> Failed:
    """Turn an outcome that the database refuses into a failure that says so and is final."""
    text = storable_text(f"the outcome could not be stored: {refused}").encode("ascii", "backslashreplace").decode()
    return Failed(error_entry(type(refused), text, attempt), None)


def _entry(error: BaseException, attempt: Attempt) -> str:
    class_path, text = describe_exception(error)
    return _json(class_path, text, attempt)


def _json(class_path: str, text: str, attempt: Attempt) -> str:
    return json.dumps(
        {
            "exception_class_path": class_path,
            "traceback": text,
            "attempt": attempt.claimed.attempt,
            "worker_id": attempt.worker_id,
        }
    )
