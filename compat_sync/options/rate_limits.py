"""RATE_LIMITS: how many attempts of which tasks may start in how much time."""

from collections.abc import Mapping

from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.rate_limit import LimitRule, RateLimits, read_limit, together

__all__ = ["read_rate_limits"]


def read_rate_limits(given: object, queues: frozenset[str] = frozenset()) -> tuple[RateLimits, list[str]]:
    """Read RATE_LIMITS; returns what is right of it, and a sentence for each wrong limit."""
    if not isinstance(given, Mapping):
        return RateLimits(), [f"RATE_LIMITS={given!r:.80} must be a dict of names to limits"]
    rules: list[LimitRule] = []
    wrong = []
    for name, limit in given.items():
        try:
            rules.append(read_limit(name, limit, queues))
        except UsageError as refused:
            wrong.append(f"RATE_LIMITS: {refused}")
    try:
        return together(rules), wrong
    except UsageError as refused:
        return RateLimits(), [*wrong, f"RATE_LIMITS: {refused}"]
