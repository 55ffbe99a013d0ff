"""From the value of one key of OPTIONS to what the core takes.

The core's own rules decide; a reader raises UsageError, naming the key, for a value that they refuse.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from compat_sync.options.schedules import read_schedulable
from oxpull_async.domain.durations import seconds
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.settings import Settings
from oxpull_async.domain.task import MAX_ATTEMPTS, checked_queue

if TYPE_CHECKING:
    from oxpull_async.domain.settings import SettingsKeywords

__all__ = ["READERS", "Reader", "legacy_attempts", "read_queues"]

_MOST_CONNECTIONS = 1000
_POOLERS = ("session", "transaction")

type _Read = Callable[[str, Any], Any]


@dataclass(frozen=True, slots=True)
class Reader:
    """How one key is read: `read(key, value)`, and the code of the check that reports a refusal."""

    code: str
    read: _Read


def legacy_attempts(value: object) -> int | None:
    """Return the attempts that django-ox makes of an old form of MAX_ATTEMPTS, or None.

    A text or a fraction is cut to a whole number; True is 1, and so is 0, since every task was attempted once. Whole
    numbers above 0 are no old form.
    """
    if (type(value) is int and value != 0) or not isinstance(value, (str, int, float)):
        return None
    try:
        attempts = int(value)
    except (ValueError, OverflowError):
        return None
    return max(1, attempts) if 0 <= attempts <= MAX_ATTEMPTS else None


def read_queues(value: object) -> frozenset[str]:
    """Return the names of QUEUES, none for any.

    Raises: UsageError for anything but a list of names.
    """
    return frozenset(_queue("QUEUES", name) for name in _listed("QUEUES", value, "default"))


def _by_core(keyword: str, pick: Callable[[Settings], object]) -> _Read:
    def read(key: str, value: object) -> object:
        try:
            return pick(Settings.of(cast("SettingsKeywords", {keyword: value})))
        except UsageError as wrong:
            raise UsageError(str(wrong).replace(keyword, key, 1)) from None

    return read


def _attempts(key: str, value: object) -> object:
    legacy = legacy_attempts(value)
    return _of_max_attempts(key, value) if legacy is None else legacy


def _unique_tasks(key: str, value: object) -> object:
    for path in _listed(key, value, "shop.tasks.send_invoice"):
        if not isinstance(path, str):
            raise UsageError(f"{key}: {path!r:.80} is no dotted path like 'shop.tasks.send_invoice'")
    return _of_unique_tasks(key, value)


def _listed(key: str, value: object, example: str) -> Collection[object]:
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    raise UsageError(f"{key}={value!r:.80} must be a list of names, like [{example!r}]")


def _timeouts(key: str, value: object) -> Mapping[str, float | None]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{key}={value!r:.80} must be a dict of queue to seconds or None")
    return {_queue(key, queue): _of_timeout(f"{key}[{queue!r}]", timeout) for queue, timeout in value.items()}


def _queue(key: str, name: object) -> str:
    try:
        return checked_queue(name)
    except UsageError as wrong:
        raise UsageError(str(wrong).replace("queue_name", f"{key}: the queue", 1)) from None


def _above_zero(key: str, value: object) -> float:
    duration = seconds(value, name=key)
    if duration == 0:
        raise UsageError(f"{key}=0 must be above zero")
    return duration


def _pool_size(key: str, value: object) -> int:
    if type(value) is not int or not 1 <= value <= _MOST_CONNECTIONS:
        raise UsageError(f"{key}={value!r} must be a whole number from 1 to {_MOST_CONNECTIONS}")
    return value


def _pooler(key: str, value: object) -> str:
    if value not in _POOLERS:
        raise UsageError(f"{key}={value!r} must be one of {', '.join(_POOLERS)}")
    return str(value)


def _listen_url(key: str, value: object) -> str | None:
    if value is None or (isinstance(value, str) and "://" in value):
        return value
    # The value is not shown: where a URL is meant, it may hold a password.
    raise UsageError(f"{key} must be None or a URL like postgresql://user:password@host:5432/database")


_of_max_attempts = _by_core("max_attempts", lambda settings: settings.defaults.max_attempts)
_of_unique_tasks = _by_core("unique_tasks", lambda settings: settings.unique_tasks)
_of_timeout = _by_core("timeout", lambda settings: settings.defaults.timeout)

READERS: Mapping[str, Reader] = {
    "MAX_ATTEMPTS": Reader("E111", _attempts),
    "LOCK_TIMEOUT": Reader("E110", _by_core("lease_seconds", lambda settings: settings.lease_seconds)),
    "TASK_TIMEOUT": Reader("E104", _of_timeout),
    "TASK_TIMEOUTS": Reader("E104", _timeouts),
    "TASK_TIMEOUT_GRACE": Reader("E104", _above_zero),
    "BACKOFF_INITIAL": Reader("E110", _above_zero),
    "BACKOFF_MAX": Reader("E110", _above_zero),
    "UNIQUE_TASKS": Reader("E002", _unique_tasks),
    "UNIQUE_TTL": Reader("E205", _by_core("unique_ttl", lambda settings: settings.unique_ttl)),
    "MAX_PAYLOAD_BYTES": Reader("E205", _by_core("max_payload_bytes", lambda settings: settings.max_payload_bytes)),
    "POOL_SIZE": Reader("E205", _pool_size),
    "POOLER": Reader("E205", _pooler),
    "LISTEN_URL": Reader("E205", _listen_url),
    "SCHEDULABLE_TASKS": Reader("E107", read_schedulable),
}
"""The readers of all keys that stand alone; TASK_OPTIONS needs the unique ttl."""
