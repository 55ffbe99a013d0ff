"""Unique tasks: the declared rule, and what a second enqueue of a held key gets."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from oxpull_async.domain.durations import Duration, seconds
from oxpull_async.domain.errors import InvalidTask, UsageError
from oxpull_async.domain.key_functions import checked_key
from oxpull_async.domain.record import TaskStatus

SOME_TTL = 1.0
"""Stands for the default ttl that the task's Oxpull may have, where it is not known yet."""


LONGEST = 1e11
"""Over 3,000 years, in seconds: what is added to a clock must stay inside the calendar of every database."""


class Until(StrEnum):
    """How long a key is held."""

    SETTLED = "settled"
    STARTED = "started"
    EXPIRED = "expired"


class OnDuplicate(StrEnum):
    """What a second enqueue does."""

    EXISTING = "existing"
    RAISE = "raise"
    REPLACE = "replace"
    DEBOUNCE = "debounce"
    RERUN = "rerun"


@dataclass(frozen=True, slots=True)
class Unique:
    """At most one pending task per key.

    `until`: the key is held until the task is "settled", "started", or its `ttl` has "expired" (default: "started" for
    debounce, else "settled"). `ttl` (seconds, timedelta; math.inf: none) ends the window early. `key`: a function of
    the arguments as they were passed that returns text (default: all arguments as they are stored). `on_duplicate`:
    "existing", "raise", "replace", "debounce" (with `wait` and perhaps `max_wait`) or "rerun".

    Raises: InvalidTask for a combination that docs/unique.md does not have.
    """

    until: Literal["settled", "started", "expired"] | None = None
    ttl: Duration | None = None
    key: Callable[..., str] | None = None
    on_duplicate: Literal["existing", "raise", "replace", "debounce", "rerun"] = "existing"
    wait: Duration | None = None
    max_wait: Duration | None = None

    def __post_init__(self) -> None:
        UniqueRule.of(self, default_ttl=SOME_TTL)


@dataclass(frozen=True, slots=True)
class UniqueRule:
    """A checked rule with its defaults in place; durations are seconds."""

    until: Until
    mode: OnDuplicate
    ttl: float | None
    key: Callable[..., str] | None
    wait: float | None
    max_wait: float | None

    @classmethod
    def of(cls, unique: Unique, *, default_ttl: float | None) -> "UniqueRule":
        """Check a declaration; raises InvalidTask naming the rule that it breaks."""
        mode = _choice(OnDuplicate, "on_duplicate", unique.on_duplicate)
        default = Until.STARTED if mode is OnDuplicate.DEBOUNCE else Until.SETTLED
        until = default if unique.until is None else _choice(Until, "until", unique.until)
        _refuse_combination(unique, until, mode)
        if unique.key is not None:
            checked_key(unique.key)
        ttl = _ttl(unique.ttl, default_ttl if mode is not OnDuplicate.RERUN else None)
        if until is Until.EXPIRED and ttl is None:
            raise InvalidTask('until="expired" needs a finite ttl: the key is held until it has passed')
        return cls(until, mode, ttl, unique.key, _optional("wait", unique.wait), _optional("max_wait", unique.max_wait))


@dataclass(frozen=True, slots=True)
class Holder:
    """What is known about the task that a key's lock row names.

    `status` is None when its row is gone, `is_expired` when the key was taken without a ttl.
    """

    status: TaskStatus | None
    attempts: int
    is_expired: bool | None
    has_follow_up: bool

    @property
    def is_live(self) -> bool:
        """Whether the holder is READY, WAITING or RUNNING."""
        return self.status is not None and not self.status.is_finished

    @property
    def has_started(self) -> bool:
        """Whether it runs or has run; an attempt that was given back does not count."""
        return self.status is TaskStatus.RUNNING or self.attempts > 0


class Verdict(StrEnum):
    """What an enqueue of a key does whose lock row exists."""

    TAKE_OVER = "create a task and make it the holder"
    EXISTING = "answer with the holder"
    EXISTING_FOLLOW_UP = "answer with the follow-up"
    REFUSE = "raise AlreadyEnqueued"
    UPDATE_HOLDER = "give the holder the new arguments"
    ADD_FOLLOW_UP = "create a follow-up that waits for the holder's end"
    UPDATE_FOLLOW_UP = "give the follow-up the new arguments"
    PROMOTE = "make the follow-up the holder, and look again"


def is_held(until: Until, holder: Holder) -> bool:
    """Whether the key is held; a task whose row was deleted by hand holds none.

    A key that another rule took without a ttl never expires: it is held until its task has settled.
    """
    if until is Until.EXPIRED and holder.is_expired is not None:
        return not holder.is_expired and holder.status is not None
    if holder.is_expired or not holder.is_live:
        return False
    return until is not Until.STARTED or holder.status is not TaskStatus.RUNNING


def judge(until: Until, mode: OnDuplicate, holder: Holder) -> Verdict:
    """Decide what an enqueue gets that finds the key's lock row."""
    if holder.has_follow_up and not holder.is_live:
        return Verdict.PROMOTE
    held = is_held(until, holder)
    if holder.has_follow_up and (mode is OnDuplicate.RERUN or not held):
        return _FOLLOWED[mode]
    if not held:
        return Verdict.TAKE_OVER
    return _STARTED[mode] if holder.has_started else _UNSTARTED[mode]


_UNSTARTED = {
    OnDuplicate.EXISTING: Verdict.EXISTING,
    OnDuplicate.RAISE: Verdict.REFUSE,
    OnDuplicate.REPLACE: Verdict.UPDATE_HOLDER,
    OnDuplicate.DEBOUNCE: Verdict.UPDATE_HOLDER,
    OnDuplicate.RERUN: Verdict.UPDATE_HOLDER,
}
_STARTED = {
    OnDuplicate.EXISTING: Verdict.EXISTING,
    OnDuplicate.RAISE: Verdict.REFUSE,
    OnDuplicate.REPLACE: Verdict.EXISTING,
    OnDuplicate.DEBOUNCE: Verdict.EXISTING,
    OnDuplicate.RERUN: Verdict.ADD_FOLLOW_UP,
}


_FOLLOWED = {
    OnDuplicate.EXISTING: Verdict.EXISTING_FOLLOW_UP,
    OnDuplicate.RAISE: Verdict.REFUSE,
    OnDuplicate.REPLACE: Verdict.UPDATE_FOLLOW_UP,
    OnDuplicate.DEBOUNCE: Verdict.UPDATE_FOLLOW_UP,
    OnDuplicate.RERUN: Verdict.UPDATE_FOLLOW_UP,
}
"""A follow-up is pending although its holder's time is over: it stands in the holder's place."""


def declared_rule(unique: object, *, default_ttl: float | None) -> UniqueRule | None:
    """Return the rule that `unique=` declares: True is `Unique()`, False is none.

    Raises: InvalidTask for anything else, or where the rule needs a ttl that nobody has given.
    """
    if unique is False:
        return None
    if unique is True:
        return UniqueRule.of(Unique(), default_ttl=default_ttl)
    if isinstance(unique, Unique):
        return UniqueRule.of(unique, default_ttl=default_ttl)
    raise InvalidTask(f"unique={unique!r:.80} must be True, False or Unique(…)")


def _choice[E: StrEnum](kind: type[E], name: str, value: object) -> E:
    try:
        return kind(str(value))
    except ValueError:
        raise InvalidTask(f"{name}={value!r} must be one of {', '.join(kind)}") from None


def _refuse_combination(unique: Unique, until: Until, mode: OnDuplicate) -> None:
    debounces = mode is OnDuplicate.DEBOUNCE
    if debounces and unique.wait is None:
        raise InvalidTask('on_duplicate="debounce" needs wait: by how much each enqueue moves run_after')
    if not debounces and (unique.wait is not None or unique.max_wait is not None):
        raise InvalidTask(f'wait and max_wait belong to on_duplicate="debounce", not to "{mode}"')
    if debounces and until is Until.SETTLED:
        raise InvalidTask('on_duplicate="debounce" holds the key until "started": a task that runs cannot be moved')
    if until is Until.EXPIRED and mode not in {OnDuplicate.EXISTING, OnDuplicate.RAISE}:
        raise InvalidTask(f'until="expired" goes with on_duplicate "existing" or "raise", not with "{mode}"')
    if mode is OnDuplicate.RERUN and (until is not Until.SETTLED or unique.ttl is not None):
        raise InvalidTask('on_duplicate="rerun" holds the key until "settled" and takes no ttl')
    wait, longest = _optional("wait", unique.wait), _optional("max_wait", unique.max_wait)
    if wait is not None and longest is not None and longest < wait:
        raise InvalidTask(f"max_wait={longest} is shorter than wait={wait}")


def checked_ttl(name: str, ttl: Duration | None) -> float | None:
    """Return a ttl in seconds; raises InvalidTask unless it is None or a duration above zero."""
    value = _optional(name, ttl)
    if value == 0:
        raise InvalidTask(f"{name}={ttl!r} must be above zero")
    return value


def _ttl(ttl: Duration | None, default: float | None) -> float | None:
    if ttl is None:
        return default
    return None if ttl == math.inf else checked_ttl("ttl", ttl)


def _optional(name: str, duration: Duration | None) -> float | None:
    if duration is None:
        return None
    try:
        value = seconds(duration, name=name)
    except UsageError as wrong:
        raise InvalidTask(str(wrong)) from None
    if value > LONGEST:
        raise InvalidTask(f"{name}={duration!r} is out of range: at most {LONGEST:g} seconds, or leave it out")
    return value
