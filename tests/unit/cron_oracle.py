"""What cron expressions mean, worked out day by day and offset by offset, without a cron library."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

ZONES = (
    "Europe/Paris",
    "America/New_York",
    "America/Santiago",  # the clock changes at midnight
    "Australia/Lord_Howe",  # by half an hour
    "Africa/Casablanca",  # backwards for Ramadan
    "Asia/Kolkata",  # never
)
FIRST, LAST = datetime(2024, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=30)
RANGES = (range(60), range(24), range(1, 32), range(1, 13), range(8))


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which a zone's offset does not change."""

    begins: datetime
    ends: datetime
    offset: timedelta

    def has(self, instant: datetime) -> bool:
        return self.begins <= instant < self.ends


@cache
def stretches(zone: str) -> tuple[Stretch, ...]:
    """List the stretches of a zone, found by asking it every half an hour."""
    asked = ZoneInfo(zone)
    edge = timedelta(days=3)
    found = [(FIRST - edge, _offset(FIRST - edge, asked))]
    instant = FIRST - edge
    while instant < LAST + edge:
        if (offset := _offset(instant, asked)) != found[-1][1]:
            found.append((instant, offset))
        instant += STEP
    found.append((LAST + edge, timedelta(0)))
    return tuple(Stretch(begins, ends, offset) for (begins, offset), (ends, _) in pairwise(found))


def changes(zone: str) -> list[datetime]:
    """List the instants at which a zone's clock changes."""
    return [stretch.begins for stretch in stretches(zone)[1:] if FIRST <= stretch.begins < LAST]


def ticks(
    expression: str, zone: str, *, twice: bool, since: datetime = FIRST, until: datetime = LAST
) -> list[datetime]:
    """List the ticks from `since` on and before `until`, each once, in order."""
    known = stretches(zone)
    day, last = (since - timedelta(days=2)).date(), (until + timedelta(days=2)).date()
    found = {
        tick for label in _labels(expression, day, last) for tick in _instants(label, known, twice=twice)
        if since <= tick < until
    }  # fmt: skip
    return sorted(found)


def _instants(label: datetime, known: tuple[Stretch, ...], *, twice: bool) -> list[datetime]:
    """List when a label is on the clock; a skipped one is on it as if the clock had not been changed yet."""
    as_utc = label.replace(tzinfo=UTC)
    near = bisect_right(known, as_utc, key=lambda stretch: stretch.begins) - 1
    around = known[max(near - 1, 0) : near + 2]
    shown = [as_utc - stretch.offset for stretch in around if stretch.has(as_utc - stretch.offset)]
    if not shown:
        before = [
            one
            for one, after in pairwise(around)
            if one.ends <= as_utc - one.offset and as_utc - after.offset < after.begins
        ]
        return [as_utc - before[0].offset]
    return shown if twice else shown[:1]


def _labels(expression: str, day: date, last: date) -> Iterator[datetime]:
    minutes, hours, days, months, weekdays = (
        _values(part, allowed) for part, allowed in zip(expression.split(), RANGES, strict=True)
    )
    starred = [part == "*" for part in expression.split()[2::2]]
    while day <= last:
        fits = (day.day in days, day.isoweekday() % 7 in {value % 7 for value in weekdays})
        if day.month in months and (all(fits) if any(starred) else any(fits)):
            yield from (datetime(day.year, day.month, day.day, hour, minute) for hour in hours for minute in minutes)  # noqa: DTZ001
        day += timedelta(days=1)


def _values(part: str, allowed: range) -> list[int]:
    found: set[int] = set()
    for term in part.split(","):
        body, _, step = term.partition("/")
        first, _, last = body.partition("-")
        low = allowed[0] if body == "*" else int(first)
        high = allowed[-1] if body == "*" or (step and not last) else int(last or first)
        found |= set(range(low, high + 1, int(step or 1)))
    return sorted(found)


def _offset(instant: datetime, zone: ZoneInfo) -> timedelta:
    return instant.astimezone(zone).utcoffset() or timedelta(0)
