"""Durations as users write them: seconds or timedelta."""

import math
from datetime import timedelta

from oxpull_async.domain.errors import UsageError

type Duration = int | float | timedelta


def seconds(duration: object, *, name: str) -> float:
    """Return a duration in seconds.

    Raises: UsageError when it is neither a finite number of seconds >= 0 nor a timedelta.
    """
    if isinstance(duration, timedelta):
        value = duration.total_seconds()
    elif isinstance(duration, (int, float)) and not isinstance(duration, bool):
        value = _number(duration)
    else:
        raise UsageError(f"{name}={duration!r} is no duration: pass seconds (int or float) or a timedelta")
    if not math.isfinite(value) or value < 0:
        raise UsageError(f"{name}={duration!r:.80} is out of range: a duration is finite and not negative")
    return value


def _number(duration: float) -> float:
    try:
        return float(duration)
    except OverflowError:
        return math.inf
