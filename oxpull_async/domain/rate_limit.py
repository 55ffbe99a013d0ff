"""Rate limits as they are declared: what they cover, and the keys under which a task counts."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from difflib import get_close_matches
from itertools import product
from typing import Any, Protocol

from oxpull_async.domain.durations import Duration, seconds
from oxpull_async.domain.errors import UsageError
from oxpull_async.domain.key_functions import checked_key, key_text
from oxpull_async.domain.limit_keys import key_digest, limit_keys
from oxpull_async.domain.limit_name import checked_limit_name
from oxpull_async.domain.task import checked_queue, checked_task_path

MOST_STARTS, MOST_SLIDING = 2_147_483_647, 10_000
LEAST_PER, MOST_PER = 0.001, 366 * 86_400.0
MOST_KEYS = 8


class HasPath(Protocol):
    """A task, as far as a limit looks at it."""

    @property
    def path(self) -> str:
        """The dotted path under which its rows are stored."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `limit` attempts of what it covers start in `per` seconds, over all workers.

    It covers the `tasks` (or their dotted paths) and everything in the `queues`. `limit=0` lets nothing start. `key`: a
    function of the arguments as they were passed that returns text; each text has a budget of its own. `sliding` counts
    over any span of that length, else spans follow one another, aligned to the Unix epoch.

    Raises: UsageError for a value out of range, a key that is no plain function, or where it covers nothing.
    """

    limit: int
    per: Duration
    tasks: Collection[str | HasPath] = ()
    queues: Collection[str] = ()
    key: Callable[..., str] | None = None
    sliding: bool = False

    def __post_init__(self) -> None:
        if type(self.limit) is not int or not 0 <= self.limit <= MOST_STARTS:
            raise UsageError(f"limit={self.limit!r} must be a whole number from 0 to {MOST_STARTS:,}")
        if type(self.sliding) is not bool:
            raise UsageError(f"sliding={self.sliding!r} must be True or False")
        if self.sliding and self.limit > MOST_SLIDING:
            raise UsageError(f"limit={self.limit} with sliding=True: {MOST_SLIDING:,} is the most, each start is a row")
        if not LEAST_PER <= seconds(self.per, name="per") <= MOST_PER:
            raise UsageError(f"per={self.per!r} must be a duration from a millisecond to 366 days")
        if not _paths(self.tasks) | _queues(self.queues):
            raise UsageError("neither tasks nor queues: a limit says what it covers")
        if self.key is not None:
            checked_key(self.key)


@dataclass(frozen=True, slots=True)
class LimitRule:
    """A declared limit with its name, as workers store it; `per` is in seconds."""

    name: str
    limit: int
    per: float
    tasks: frozenset[str]
    queues: frozenset[str]
    sliding: bool = False
    key: Callable[..., str] | None = None

    def covers(self, task_path: str, queue_name: str) -> bool:
        """Whether a task counts under this limit."""
        return task_path in self.tasks or queue_name in self.queues


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The limits that one process declares."""

    rules: tuple[LimitRule, ...] = ()

    def covering(self, task_path: str, queue_name: str) -> list[LimitRule]:
        """Return the limits under which a task counts."""
        return [rule for rule in self.rules if rule.covers(task_path, queue_name)]

    def keys_of(
        self, task_path: str, queue_name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> str | None:
        """Return the text that is stored with a task: the keys of its keyed limits, "" without any.

        None where no limit covers it. A key that is empty text counts as none: the budget is that of the limit itself.
        Raises: InvalidArguments when a key function raises, or returns something else than text.
        """
        rules = self.covering(task_path, queue_name)
        if not rules:
            return None
        texts = {
            rule.name: key_text(rule.key, args, kwargs, limit_place(task_path, rule.name))
            for rule in rules
            if rule.key is not None
        }
        return limit_keys({name: key_digest(text) for name, text in texts.items() if text})


def limit_place(path: str, name: str) -> str:
    """Return how errors name a rate limit of a task."""
    return f"{path}, rate limit {name!r}"


def read_limits(declared: object, queues: frozenset[str] = frozenset()) -> RateLimits:
    """Read a dict of names to limits, each a RateLimit or a dict of what one takes.

    `queues` are those that there are, none for any.

    Raises: UsageError naming the first limit that is wrong, and why.
    """
    if not isinstance(declared, Mapping):
        raise UsageError(f"rate_limits={declared!r:.80} must be a dict of names to limits")
    return together([read_limit(name, entry, queues) for name, entry in declared.items()])


def together(rules: Sequence[LimitRule]) -> RateLimits:
    """Return the limits of one process.

    Raises: UsageError where two names differ by case only, or a task has too many keys.
    """
    folded: dict[str, str] = {}
    for rule in rules:
        other = folded.setdefault(rule.name.casefold(), rule.name)
        if other != rule.name:
            raise UsageError(f"the rate limits {other!r} and {rule.name!r} differ by case only: rename one")
    _check_number_of_keys(rules)
    return RateLimits(tuple(rules))


def read_limit(name: object, entry: object, queues: frozenset[str] = frozenset()) -> LimitRule:
    """Read one limit; `queues` are those that there are, none for any.

    Raises: UsageError naming it for whatever is wrong.
    """
    known = checked_limit_name(name)
    try:
        limit = entry if isinstance(entry, RateLimit) else RateLimit(**_settings_form(entry))
        for queue_name in sorted(_queues(limit.queues)):
            checked_queue(queue_name, queues)
    except UsageError as wrong:
        raise UsageError(f"the rate limit {name!r}: {wrong}") from None
    per = seconds(limit.per, name="per")
    return LimitRule(known, limit.limit, per, _paths(limit.tasks), _queues(limit.queues), limit.sliding, limit.key)


_KNOWN = frozenset(each.name for each in fields(RateLimit))


def _settings_form(entry: object) -> dict[str, Any]:
    """Read the settings form, whose `per` is a whole number of seconds or a timedelta."""
    if not isinstance(entry, Mapping):
        raise UsageError(f'{entry!r:.80} must be a RateLimit or a dict like {{"limit": 20, "per": 1, "tasks": […]}}')
    for key in entry:
        if key not in _KNOWN:
            near = get_close_matches(str(key), _KNOWN, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(_KNOWN))}"
            raise UsageError(f"unknown key {key!r}; {hint}")
    if "limit" not in entry or "per" not in entry:
        raise UsageError('"limit" and "per" must both be given')
    per = entry["per"]
    if not isinstance(per, timedelta) and (type(per) is not int or per < 1):
        raise UsageError(f"per={per!r} must be a whole number of seconds, at least 1, or a timedelta")
    return dict(entry)


def _paths(tasks: object) -> frozenset[str]:
    return frozenset(_path(task) for task in _listed("tasks", tasks))


def _path(task: object) -> str:
    path = task if isinstance(task, str) else getattr(task, "path", None)
    if not isinstance(path, str) or "." not in path:
        raise UsageError(f"tasks: {task!r:.80} is neither a task nor a dotted path like 'shop.tasks.send_invoice'")
    return checked_task_path(path)


def _queues(queues: object) -> frozenset[str]:
    return frozenset(checked_queue(name) for name in _listed("queues", queues))


def _listed(name: str, given: object) -> Collection[object]:
    if isinstance(given, str) or not isinstance(given, Collection):
        raise UsageError(f"{name}={given!r:.80} must be a list")
    return given


def _check_number_of_keys(rules: Sequence[LimitRule]) -> None:
    """Raise UsageError where a task may be in more keyed limits than its row has room for."""
    keyed = RateLimits(tuple(rule for rule in rules if rule.key is not None))
    paths = {path for rule in keyed.rules for path in rule.tasks} | {""}
    queues = {name for rule in keyed.rules for name in rule.queues} | {""}
    if len(keyed.rules) <= MOST_KEYS:
        return
    for path, queue in product(sorted(paths), sorted(queues)):
        if len(names := [rule.name for rule in keyed.covering(path, queue)]) > MOST_KEYS:
            what = " ".join(filter(None, (path, queue and f"in queue {queue!r}")))
            raise UsageError(
                f"{what} is in {len(names)} limits with a key: {MOST_KEYS} is the most ({', '.join(names)})"
            )
