"""When a failed attempt runs again.

Backoff curves, exception filters, and the two exceptions a task may raise.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import assert_never

from oxpull_async.domain.durations import Duration, seconds
from oxpull_async.domain.errors import InvalidTask, OxpullError
from oxpull_async.domain.limit_name import checked_limit_name

MAX_SNOOZES = 1000
MAX_DELAY = 366 * 86_400.0


class Retry(OxpullError):
    """The task asked to be run again."""

    def __init__(self, after: Duration = 0, message: str | None = None, *, slow_down: str | None = None) -> None:
        """Run the task again `after` seconds from now.

        The attempt counts, and on the last one the task fails. `slow_down` names a rate limit that covers the task: as
        long as that, the limit admits nothing more under this task's key.

        Raises: UsageError for no duration, or a name that no limit can have.
        """
        super().__init__(message)
        self.after = seconds(after, name="after")
        self.slow_down = None if slow_down is None else checked_limit_name(slow_down)


class Snooze(OxpullError):
    """The task asked to be run later."""

    def __init__(self, for_: Duration) -> None:
        """Run the task again `for_` seconds from now.

        The attempt is given back, at most 1,000 times a task.
        """
        super().__init__()
        self.seconds = seconds(for_, name="for_")


@dataclass(frozen=True, slots=True)
class Exponential:
    """Wait base * 2^(n-1) seconds, at most `maximum`, spread by +- `jitter` of it."""

    base: float = 5.0
    maximum: float = 600.0
    jitter: float = 0.2


type Backoff = Exponential | Sequence[float] | Callable[[int], float | timedelta]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How failures are treated."""

    backoff: Backoff = Exponential()
    retry_on: tuple[type[BaseException], ...] = (BaseException,)
    fail_on: tuple[type[BaseException], ...] = ()

    def covers(self, error: BaseException) -> bool:
        """Whether this exception may be followed by another attempt."""
        return isinstance(error, self.retry_on) and not isinstance(error, self.fail_on)


def delay_after(policy: RetryPolicy, attempt: int, chance: float) -> float:
    """Return the seconds to wait after attempt number `attempt`.

    `chance` in [0, 1) is the caller's random number.
    """
    match policy.backoff:
        case Exponential(base, maximum, jitter):
            plain = min(base * 2.0 ** min(attempt - 1, 1000), maximum)
            return plain * (1 + jitter * (2 * chance - 1))
        case backoff if callable(backoff):
            return _bounded(seconds(backoff(attempt), name="backoff"))
        case Sequence() as delays:
            return _bounded(delays[min(attempt, len(delays)) - 1])
        case _ as never:
            assert_never(never)


def retry_delay(
    policy: RetryPolicy, error: BaseException, attempt: int, max_attempts: int, chance: float
) -> float | None:
    """Return the seconds until the next attempt, or None when the failure is final."""
    if attempt >= max_attempts:
        return None
    if isinstance(error, Retry):
        return _bounded(error.after)
    return delay_after(policy, attempt, chance) if policy.covers(error) else None


def checked_backoff(backoff: object) -> Backoff:
    """Return the backoff of a declaration.

    Raises: InvalidTask when it is no Exponential, non-empty list of seconds or callable over the attempt's number.
    """
    if isinstance(backoff, Exponential) or callable(backoff):
        return backoff
    if isinstance(backoff, (list, tuple)) and backoff:
        return tuple(seconds(delay, name="backoff") for delay in backoff)
    raise InvalidTask(
        f"backoff={backoff!r} is not an Exponential, a list of seconds or a callable over the attempt's number"
    )


def _bounded(delay: float) -> float:
    return 0.0 if math.isnan(delay) else max(0.0, min(delay, MAX_DELAY))
