"""The declared half of a task: options and their validation."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from oxpull_async.domain.annotations import ArgumentCodec, JsonCodec
from oxpull_async.domain.durations import seconds
from oxpull_async.domain.errors import InvalidTask, UsageError
from oxpull_async.domain.retry import RetryPolicy
from oxpull_async.domain.running_lock import RunningLock
from oxpull_async.domain.storable import is_name
from oxpull_async.domain.surroundings import Surroundings
from oxpull_async.domain.unique import UniqueRule

MIN_PRIORITY, MAX_PRIORITY = -100, 100
MAX_QUEUE_NAME, MAX_TASK_PATH = 128, 255
MAX_ATTEMPTS = 32_767
_EARLIEST, _LATEST = datetime(1000, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
DEFAULT_QUEUE = "default"


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """How a task is enqueued and run unless a call says otherwise."""

    queue_name: str = DEFAULT_QUEUE
    priority: int = 0
    max_attempts: int = 3
    timeout: float | None = None
    run_after: datetime | None = None
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    unique: UniqueRule | None = None
    running_lock: RunningLock | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """The executable half of a task; `surroundings` is what a framework does around it."""

    function: Callable[..., Any]
    codec: ArgumentCodec | JsonCodec
    is_coroutine: bool
    takes_context: bool
    surroundings: Surroundings | None = None
    takes_batch: bool = False

    @property
    def stands_alone(self) -> bool:
        """Whether it is called with the stored arguments only, and nothing is done around it."""
        return self.surroundings is None and not (self.takes_context or self.takes_batch)

    @property
    def wants_record(self) -> bool:
        """Whether the whole row is to be read before an attempt starts."""
        return self.takes_context or (self.surroundings is not None and self.surroundings.wants_record())


def checked_queue(name: object, allowed: frozenset[str] = frozenset()) -> str:
    """Return a queue name.

    Raises: InvalidTask when it is empty, too long, holds what no database stores, or is not among `allowed` where that
    is not empty.
    """
    if not is_name(name, MAX_QUEUE_NAME):
        raise InvalidTask(
            f"queue_name={name!r:.160} must be text of 1 to {MAX_QUEUE_NAME} characters without NUL or lone surrogates"
        )
    if allowed and name not in allowed:
        raise InvalidTask(f"queue_name={name!r} is not one of the declared queues: {', '.join(sorted(allowed))}")
    return name


def checked_priority(priority: object) -> int:
    """Return a priority; raises InvalidTask unless it is a whole number from -100 to 100."""
    if type(priority) is not int or not MIN_PRIORITY <= priority <= MAX_PRIORITY:
        raise InvalidTask(f"priority={priority!r} must be a whole number from {MIN_PRIORITY} to {MAX_PRIORITY}")
    return priority


def checked_max_attempts(max_attempts: object) -> int:
    """Return a number of attempts.

    Raises InvalidTask unless it is a whole number from 1 to 32,767.
    """
    if type(max_attempts) is not int or not 1 <= max_attempts <= MAX_ATTEMPTS:
        raise InvalidTask(f"max_attempts={max_attempts!r} must be a whole number from 1 to {MAX_ATTEMPTS}")
    return max_attempts


def checked_timeout(timeout: object) -> float | None:
    """Return a timeout in seconds.

    None and math.inf are no limit: None. Raises InvalidTask unless it is one of these or a duration above zero.
    """
    if timeout is None or timeout == math.inf:
        return None
    try:
        value = seconds(timeout, name="timeout")
    except UsageError as wrong:
        raise InvalidTask(str(wrong)) from None
    if value == 0:
        raise InvalidTask("timeout=0 would end every attempt at once: pass math.inf for no timeout")
    return value


def checked_run_after(run_after: object) -> datetime | None:
    """Return the instant a call is deferred to.

    Raises InvalidTask unless it is None or an aware datetime.
    """
    if run_after is None:
        return None
    if not isinstance(run_after, datetime):
        raise InvalidTask(f"run_after={run_after!r} must be an aware datetime")
    if run_after.utcoffset() is None:
        raise InvalidTask(f"run_after={run_after!r} has no time zone: pass an aware datetime, for example in UTC")
    if not _EARLIEST <= run_after <= _LATEST:
        raise InvalidTask(f"run_after={run_after!r} must lie in the years 1000 to 9999 of UTC, as databases know them")
    return run_after


def checked_task_path(path: str) -> str:
    """Return a task's dotted path; raises InvalidTask when it is too long or cannot be stored."""
    if len(path) > MAX_TASK_PATH:
        raise InvalidTask(f"the task path {path[:60]!r}… has {len(path)} characters; {MAX_TASK_PATH} is the most")
    if not is_name(path, MAX_TASK_PATH, least=0):
        raise InvalidTask(f"the task path {path!r} holds NUL or a lone surrogate, which no name has")
    return path
