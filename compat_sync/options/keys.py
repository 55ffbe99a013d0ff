"""The keys of `TASKS[alias]["OPTIONS"]`, and what each takes.

docs/django-settings.md is made from this table.
"""

from dataclasses import dataclass
from difflib import get_close_matches

from oxpull_async.domain.settings import USUAL_POOL_SIZE

__all__ = ["IDLE_KEYS", "OPTION_KEYS", "STORED_SOURCES", "OptionKey", "meant"]


@dataclass(frozen=True, slots=True)
class OptionKey:
    """One key: what it takes, what holds without it, what it does."""

    name: str
    takes: str
    default: str
    meaning: str


OPTION_KEYS: tuple[OptionKey, ...] = (
    OptionKey(
        "MAX_ATTEMPTS", "1 to 32767", "3", "Attempts of a task that declares none; stored with it as it is enqueued."
    ),
    OptionKey(
        "LOCK_TIMEOUT",
        "seconds, at least 1",
        "30",
        "The lease: how long a worker may be silent before its tasks go to others.",
    ),
    OptionKey("TASK_TIMEOUT", "seconds or None", "None", "How long an attempt may take; None is without a limit."),
    OptionKey(
        "TASK_TIMEOUTS",
        "dict of queue to seconds or None",
        "{}",
        "The same for the tasks of one queue, where the task declares nothing itself.",
    ),
    OptionKey(
        "TASK_TIMEOUT_GRACE",
        "seconds",
        "10",
        "How long after its timeout a function may go on before its worker is replaced.",
    ),
    OptionKey(
        "BACKOFF_INITIAL", "seconds", "5", "The wait before the second attempt; it doubles with every further one."
    ),
    OptionKey("BACKOFF_MAX", "seconds", "600", "The longest wait between two attempts."),
    OptionKey("UNIQUE_TASKS", "list of dotted paths", "[]", "Tasks that are unique, as by `@unique` above `@task`."),
    OptionKey(
        "UNIQUE_TTL",
        "seconds or None",
        "None",
        "How long a unique key is held at most; None is until the task has ended.",
    ),
    OptionKey(
        "TASK_OPTIONS",
        "dict of dotted path to keywords",
        "{}",
        "Keywords of `@task` for Django 6.0, whose decorator takes none of ours.",
    ),
    OptionKey(
        "RATE_LIMITS",
        "dict of name to dict or RateLimit",
        "{}",
        "How many attempts start in how much time: `limit`, `per`, `tasks`, `queues`; docs/rate-limits.md has more.",
    ),
    OptionKey(
        "SCHEDULES",
        "dict of name to dict",
        "{}",
        "What is enqueued when: `task`, `cron` or `every`, and more; docs/schedules.md has the keys.",
    ),
    OptionKey(
        "SCHEDULABLE_TASKS",
        "dict of key to dotted path or dict",
        "{}",
        "The tasks that stored schedules may start: a path, or `task`, `form` and `permission`.",
    ),
    OptionKey(
        "MAX_PAYLOAD_BYTES", "bytes, at least 2", "1048576", "The most that arguments or a result may take as JSON."
    ),
    OptionKey("POOL_SIZE", "1 to 1000", str(USUAL_POOL_SIZE), "Native connections that each event loop may hold open."),
    OptionKey(
        "POOLER",
        '"session" or "transaction"',
        '"session"',
        '"transaction" behind a pooler that changes servers between transactions.',
    ),
    OptionKey(
        "LISTEN_URL", "URL or None", "None", "A direct connection for LISTEN, where DATABASES goes through a pooler."
    ),
)
IDLE_KEYS: dict[str, str] = {
    "WORKER_CLASS": "there is one worker",
    "WORKFLOWS": "workflows need no switch",
    "RATE_REFRESH_INTERVAL": "every claim reads the limits",
    "SCHEDULE_SOURCE": "every worker serves stored schedules",
    "SCHEDULE_RECONCILE_INTERVAL": "workers look for changed schedules every few seconds",
}
"""Keys of django-ox without an effect here, and why."""

STORED_SOURCES = ("django_ox.stored.DatabaseScheduleSource", "compat_sync.schedules.DatabaseScheduleSource")
"""What SCHEDULE_SOURCE may name: stored schedules, which are always served."""

_OTHER_NAMES = {"LEASE_SECONDS": "LOCK_TIMEOUT", "TIMEOUT": "TASK_TIMEOUT", "BACKOFF": "BACKOFF_INITIAL"}


def meant(name: object) -> str | None:
    """Return the key that was probably meant, by likeness, or None."""
    text = str(name).upper().replace("-", "_")
    if text in _OTHER_NAMES:
        return _OTHER_NAMES[text]
    return next(iter(get_close_matches(text, [key.name for key in OPTION_KEYS], n=1)), None)
