"""Cron expressions of five fields, and the minutes of a wall clock that they match.

cronsim searches; here is the grammar, which is checked whole before anything is stored.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from cronsim import CronSim, CronSimError

from oxpull_async.domain.errors import UsageError

MAX_CRON = 128
MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_TERM = re.compile(r"(?P<first>\*|[0-9a-z]+)(?:-(?P<last>[0-9a-z]+))?(?:/(?P<step>[0-9]+))?")
_A_LEAP_YEARS_EVE = datetime(2096, 2, 28)  # noqa: DTZ001 - a label of a wall clock, before the longest gap between leap days


@dataclass(frozen=True, slots=True)
class _Field:
    """One of the five: its name, its least and greatest value, and names for values."""

    name: str
    least: int
    greatest: int
    names: tuple[str, ...] = ()

    def value(self, text: str, term: str) -> int:
        """Return what a number or name stands for."""
        value = int(text) if text.isdecimal() else self.least + self.names.index(text) if text in self.names else -1
        if not self.least <= value <= self.greatest:
            known = f"{self.least} to {self.greatest}{' or names of three letters' if self.names else ''}"
            raise UsageError(f"the {self.name} {term!r} holds {text!r}, which is not {known}")
        return value


FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 7, _DAYS),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """The labels of a wall clock that an expression matches; naive datetimes, of whole minutes."""

    expression: str

    def after(self, label: datetime) -> Iterator[datetime]:
        """List the matches after a label, in order, to the end of the calendar."""
        return _search(self.expression, label, reverse=False)

    def before(self, label: datetime) -> Iterator[datetime]:
        """List the matches before a label, the last one first."""
        return _search(self.expression, label, reverse=True)


@lru_cache(maxsize=4096)
def parse_cron(text: object) -> Cron:
    """Read an expression: five fields, or @hourly and its like.

    A field is *, or a list of values, ranges and steps. Where neither day field is a plain *, either one suffices for a
    day.

    Raises: UsageError naming the part that is wrong, also for an expression that no day matches.
    """
    if not isinstance(text, str) or len(text) > MAX_CRON:
        raise UsageError(
            f"cron={text!r:.80} must be text of at most {MAX_CRON} characters, like '*/15 8-17 * * mon-fri'"
        )
    lowered = text.strip().lower()
    parts = MACROS.get(lowered, lowered).split()
    if len(parts) != len(FIELDS):
        raise UsageError(
            f"cron={text!r} has {len(parts)} fields: five are wanted (minute, hour, day of the month, month, day of "
            f"the week), or one of {', '.join(MACROS)}"
        )
    try:
        cron = Cron(" ".join(_field(field, part) for field, part in zip(FIELDS, parts, strict=True)))
        found = next(cron.after(_A_LEAP_YEARS_EVE), None)
    except UsageError as wrong:
        raise UsageError(f"cron={text!r}: {wrong}") from None
    except CronSimError:
        found = None
    if found is None:
        raise UsageError(f"cron={text!r} can never match: none of its months has one of its days")
    return cron


def _field(field: _Field, text: str) -> str:
    return ",".join(_term(field, term) for term in text.split(","))


def _term(field: _Field, term: str) -> str:
    """Check one term of a list, and return it in numbers; a star with a step is a range that restricts."""
    match = _TERM.fullmatch(term)
    if match is None or (match["first"] == "*" and match["last"]):
        raise UsageError(f"the {field.name} {term!r} is neither *, a value nor a range, with or without a step")
    step = match["step"]
    if match["first"] == "*":
        first, last = field.least, field.greatest
    else:
        first = field.value(match["first"], term)
        last = field.value(match["last"], term) if match["last"] else field.greatest if step else first
    if last < first:
        raise UsageError(f"the {field.name} {term!r} is a range that descends")
    if step is None:
        return "*" if match["first"] == "*" else f"{first}-{last}"
    if not 1 <= int(step) <= field.greatest - field.least + 1:
        raise UsageError(f"the {field.name} {term!r} has a step that is 0 or exceeds {field.least} to {field.greatest}")
    return f"{first}-{last}/{step}" if first != last else f"{first}"


def _search(expression: str, label: datetime, *, reverse: bool) -> Iterator[datetime]:
    try:
        yield from CronSim(expression, label, reverse=reverse)
    except (OverflowError, ValueError):  # beyond the calendar
        return
