"""The validated settings of an Oxpull."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, Protocol, TypedDict

from oxpull_async.domain.durations import Duration, seconds
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.rate_limit import RateLimit, RateLimits, read_limits
from oxpull_async.domain.retry import Backoff, Exponential, RetryPolicy, checked_backoff
from oxpull_async.domain.schedule_entry import ScheduleEntry, read_entries
from oxpull_async.domain.storable import is_name
from oxpull_async.domain.task import (
    TaskOptions,
    checked_max_attempts,
    checked_queue,
    checked_task_path,
    checked_timeout,
)
from oxpull_async.domain.unique import checked_ttl

MAX_PAYLOAD_BYTES = 1_048_576
MAX_ALIAS = 128
USUAL_POOL_SIZE = 10


class HasPath(Protocol):
    """A task, as far as settings look at it."""

    path: str


class SettingsKeywords(TypedDict, total=False):
    """The keyword arguments of Oxpull."""

    queues: Collection[str]
    max_attempts: int
    backoff: Backoff
    timeout: Duration | None
    max_payload_bytes: int
    lease_seconds: Duration
    pool_size: int
    pooler: Literal["session", "transaction"]
    listen_url: str
    alias: str
    unique_tasks: Collection[str | HasPath]
    unique_ttl: Duration | None
    rate_limits: Mapping[str, RateLimit | Mapping[str, Any]]
    schedules: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Settings:
    """How tasks of one Oxpull are stored and run unless they say otherwise.

    `queues` empty allows any name; `unique_tasks` are the paths of tasks that are unique by default.
    """

    queues: frozenset[str]
    defaults: TaskOptions
    max_payload_bytes: int
    lease_seconds: float
    alias: str
    unique_tasks: frozenset[str] = frozenset()
    unique_ttl: float | None = None
    schedules: Mapping[str, ScheduleEntry] = field(default_factory=dict)
    rate_limits: RateLimits = field(default_factory=RateLimits)

    @classmethod
    def of(cls, given: SettingsKeywords) -> "Settings":
        """Check the keyword arguments of Oxpull.

        Raises: TypeError for an unknown one, UsageError for a value out of range.
        """
        refuse_unknown("Oxpull()", given.keys(), SettingsKeywords.__annotations__)
        alias = given.get("alias", "default")
        if not is_name(alias, MAX_ALIAS):
            raise UsageError(
                f"alias={alias!r:.160} must be text of 1 to {MAX_ALIAS} characters without NUL or lone surrogates"
            )
        lease = seconds(given.get("lease_seconds", 30), name="lease_seconds")
        if lease < 1:
            raise UsageError(f"lease_seconds={lease} is too short to renew in time: 1 is the least, 30 the default")
        payload = given.get("max_payload_bytes", MAX_PAYLOAD_BYTES)
        if type(payload) is not int or payload < 2:  # noqa: PLR2004 - "[]" takes two bytes
            raise UsageError(f"max_payload_bytes={payload!r} must be a whole number of bytes, at least 2")
        unique = frozenset(_path(task) for task in _listed("unique_tasks", given.get("unique_tasks", ())))
        ttl = checked_ttl("unique_ttl", given.get("unique_ttl"))
        queues = _queues(given.get("queues", ()))
        entries = read_entries(given.get("schedules", {}), queues=queues)
        limits = read_limits(given.get("rate_limits", {}), queues)
        return cls(queues, _defaults(given), payload, lease, alias, unique, ttl, entries, limits)


def refuse_unknown(where: str, given: Collection[str], known: Collection[str]) -> None:
    """Raise TypeError when a keyword is unknown, naming the nearest known one."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(sorted(known))}"
            raise TypeError(f"{where} got an unexpected keyword argument {name!r}{hint}")


def _queues(queues: Collection[str]) -> frozenset[str]:
    return frozenset(checked_queue(name) for name in _listed("queues", queues))


def _listed[T](name: str, given: Collection[T]) -> Collection[T]:
    if isinstance(given, str):
        raise UsageError(f"{name}={given!r} must be a list of names: [{given!r}]")
    return given


def _path(task: str | HasPath) -> str:
    path = task if isinstance(task, str) else getattr(task, "path", None)
    if not isinstance(path, str) or "." not in path:
        raise UsageError(
            f"unique_tasks: {task!r:.80} is neither a task nor a dotted path like 'shop.tasks.send_invoice'"
        )
    return checked_task_path(path)


def _defaults(given: SettingsKeywords) -> TaskOptions:
    return TaskOptions(
        max_attempts=checked_max_attempts(given.get("max_attempts", 3)),
        timeout=checked_timeout(given.get("timeout")),
        policy=RetryPolicy(backoff=checked_backoff(given.get("backoff", Exponential()))),
    )
