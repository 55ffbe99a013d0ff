"""What an entry of TASKS says, with all its problems at once, in the names of the settings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

from django.core import checks
from django.core.exceptions import ImproperlyConfigured

from compat_sync.checks.catalog import Problem
from compat_sync.options.keys import IDLE_KEYS, OPTION_KEYS, STORED_SOURCES, meant
from compat_sync.options.rate_limits import read_rate_limits
from compat_sync.options.readers import READERS, legacy_attempts, read_queues
from compat_sync.options.schedules import SchedulableEntry, read_schedules
from compat_sync.options.tasks import read_task_options
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.rate_limit import RateLimits
from oxpull_async.domain.retry import Exponential
from oxpull_async.domain.schedule_entry import ScheduleEntry
from oxpull_async.domain.settings import USUAL_POOL_SIZE, Settings
from oxpull_async.domain.task import DEFAULT_QUEUE

if TYPE_CHECKING:
    from oxpull_async.domain.settings import SettingsKeywords

__all__ = ["DEFAULT_GRACE", "SESSION", "BackendOptions", "examine", "mended", "read_options"]

DEFAULT_GRACE = 10.0
SESSION: Literal["session"] = "session"
_OF_ENTRY = frozenset({"BACKEND", "QUEUES", "OPTIONS"})
_KNOWN = frozenset(key.name for key in OPTION_KEYS)
_KEYWORDS = {
    "MAX_ATTEMPTS": "max_attempts",
    "LOCK_TIMEOUT": "lease_seconds",
    "TASK_TIMEOUT": "timeout",
    "UNIQUE_TASKS": "unique_tasks",
    "UNIQUE_TTL": "unique_ttl",
    "MAX_PAYLOAD_BYTES": "max_payload_bytes",
}
_SCHEDULES, _SCHEDULABLE = "SCHEDULES", "SCHEDULABLE_TASKS"
_OTHERS = ("TASK_TIMEOUT_GRACE", "POOL_SIZE", "POOLER", "LISTEN_URL")


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """What an alias of TASKS says; durations are seconds.

    `queue_timeouts` has the queues with a timeout of their own (None: no limit), `timeout_grace` is how long a function
    may outlast its timeout, `task_options` are the keywords of `@task` by the task's path, `schedulable` the tasks that
    stored schedules may start, by key.
    """

    settings: Settings
    queue_timeouts: Mapping[str, float | None]
    timeout_grace: float
    task_options: Mapping[str, Mapping[str, Any]]
    pool_size: int
    pooler: Literal["session", "transaction"]
    listen_url: str | None
    schedulable: Mapping[str, SchedulableEntry] = MappingProxyType({})


def read_options(alias: str, params: Mapping[str, Any]) -> BackendOptions:
    """Read `TASKS[alias]`.

    Nothing is imported and no database is asked.

    Raises: ImproperlyConfigured with every error that `manage.py check` would report for the same reason.
    """
    options, problems = examine(alias, params)
    errors = [problem for problem in problems if problem.level >= checks.ERROR]
    if errors:
        raise ImproperlyConfigured("\n".join(f"{problem.text} (compat_sync.{problem.code})" for problem in errors))
    return options


def examine(alias: str, params: Mapping[str, Any]) -> tuple[BackendOptions, list[Problem]]:
    """Read `TASKS[alias]`, and list everything in it that is wrong or worth a word.

    Defaults stand in the place of what is wrong.
    """
    reading = _Reading(alias, params)
    return reading.options(), reading.problems


def mended(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of TASKS in a shape that Django's BaseTaskBackend takes.

    So a wrong one can be reported by its backend's `check`.
    """
    queues, options = params.get("QUEUES", [DEFAULT_QUEUE]), params.get("OPTIONS", {})
    try:
        queues = list(read_queues(queues))
    except UsageError:
        queues = []
    return {**params, "QUEUES": queues, "OPTIONS": dict(options) if isinstance(options, Mapping) else {}}


class _Reading:
    """One pass over an entry of TASKS; what is wrong is noted, and its default goes on in its place."""

    def __init__(self, alias: str, params: Mapping[str, Any]) -> None:
        self.problems: list[Problem] = []
        self._alias = alias
        self._params = params
        self._given = self._options_dict()

    def options(self) -> BackendOptions:
        """Read all keys."""
        for key in sorted(self._params.keys() - _OF_ENTRY, key=str):
            self._look_beside(key)
        for key in self._given:
            self._look_at(key)
        settings, others = self._settings(), self._values(_OTHERS)
        return BackendOptions(
            settings,
            MappingProxyType(self._queue_timeouts(settings.queues)),
            others.get("TASK_TIMEOUT_GRACE", DEFAULT_GRACE),
            self._task_options(settings.unique_ttl),
            others.get("POOL_SIZE", USUAL_POOL_SIZE),
            others.get("POOLER", SESSION),
            others.get("LISTEN_URL"),
            self._values((_SCHEDULABLE,)).get(_SCHEDULABLE, {}),
        )

    def _settings(self) -> Settings:
        keywords = {_KEYWORDS[key]: value for key, value in self._values(_KEYWORDS).items()}
        settings = Settings.of(cast("SettingsKeywords", {**keywords, "queues": self._queues(), **self._backoff()}))
        self._look_at_attempts()
        settings = replace(
            settings, schedules=self._schedules(settings.queues), rate_limits=self._rate_limits(settings.queues)
        )
        try:
            return replace(settings, alias=Settings.of({"alias": self._alias}).alias)
        except UsageError as wrong:
            self._note("E204", str(wrong), "Give it a name of that length, in TASKS and wherever it is named.")
            return settings

    def _options_dict(self) -> Mapping[Any, Any]:
        given = self._params.get("OPTIONS", {})
        if isinstance(given, Mapping):
            return given
        self._note("E204", f"OPTIONS={given!r:.80} must be a dict")
        return {}

    def _look_at(self, key: object) -> None:
        if key == "SCHEDULE_SOURCE" and self._given[key] not in STORED_SOURCES:
            self._note(
                "E106", f"SCHEDULE_SOURCE={self._given[key]!r:.120} is no source of schedules that is known here"
            )
        elif key in IDLE_KEYS:
            self._note("I201", f"OPTIONS[{key!r}] has no effect: {IDLE_KEYS[str(key)]}")
        elif key == "QUEUES":
            self._note("E203", "QUEUES stands inside OPTIONS, where nothing looks for it")
        elif key not in _KNOWN:
            near = meant(key)
            hint = f"Did you mean {near!r}?" if near else f"Known are {', '.join(sorted(_KNOWN))}."
            self._note("E201", f"OPTIONS has the key {key!r:.80}, which is not known", hint)

    def _look_beside(self, key: object) -> None:
        near = meant(key)
        if str(key).upper() in _OF_ENTRY:
            hint = f"Did you mean {str(key).upper()!r}?"
        elif key in _KNOWN or near is None:
            hint = None
        else:
            hint = f"Did you mean {near!r}? It belongs into OPTIONS."
        self._note("E215", f"the key {key!r:.80} stands beside BACKEND, where nothing looks for it", hint)

    def _values(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of those keys that are given and valid."""
        values: dict[str, Any] = {}
        for key in keys:
            if key in self._given:
                try:
                    values[key] = READERS[key].read(key, self._given[key])
                except UsageError as wrong:
                    self._note(READERS[key].code, str(wrong))
        return values

    def _queues(self) -> frozenset[str]:
        try:
            return read_queues(self._params.get("QUEUES", (DEFAULT_QUEUE,)))
        except UsageError as wrong:
            self._note("E204", str(wrong))
            return frozenset()

    def _schedules(self, queues: frozenset[str]) -> Mapping[str, ScheduleEntry]:
        entries, wrong = read_schedules(self._given.get(_SCHEDULES, {}), queues)
        for sentence in wrong:
            self._note("E102", sentence)
        return entries

    def _rate_limits(self, queues: frozenset[str]) -> RateLimits:
        limits, wrong = read_rate_limits(self._given.get("RATE_LIMITS", {}), queues)
        for sentence in wrong:
            self._note("E005", sentence)
        return limits

    def _look_at_attempts(self) -> None:
        given = self._given.get("MAX_ATTEMPTS")
        attempts = legacy_attempts(given)
        if attempts is not None:
            self._note("W104", f"MAX_ATTEMPTS={given!r:.80} is taken as {attempts}", f"Write {attempts}.")

    def _backoff(self) -> dict[str, Exponential]:
        values = self._values(("BACKOFF_INITIAL", "BACKOFF_MAX"))
        if not values:
            return {}
        usual = Exponential()
        backoff = Exponential(values.get("BACKOFF_INITIAL", usual.base), values.get("BACKOFF_MAX", usual.maximum))
        if backoff.base > backoff.maximum:
            self._note("W103", f"BACKOFF_INITIAL={backoff.base:g} is more than BACKOFF_MAX={backoff.maximum:g}")
        return {"backoff": backoff}

    def _queue_timeouts(self, queues: frozenset[str]) -> dict[str, float | None]:
        timeouts: dict[str, float | None] = self._values(("TASK_TIMEOUTS",)).get("TASK_TIMEOUTS", {})
        for queue in timeouts:
            if queues and queue not in queues:
                self._note("E105", f"TASK_TIMEOUTS names {queue!r}, and QUEUES has {', '.join(sorted(queues))} only")
        return timeouts

    def _task_options(self, unique_ttl: float | None) -> Mapping[str, Mapping[str, Any]]:
        options, wrong = read_task_options(self._given.get("TASK_OPTIONS", {}), unique_ttl=unique_ttl)
        for sentence in wrong:
            self._note("E206", sentence)
        return options

    def _note(self, code: str, text: str, hint: str | None = None) -> None:
        self.problems.append(Problem(code, f"TASKS[{self._alias!r}]: {text}.", hint))
