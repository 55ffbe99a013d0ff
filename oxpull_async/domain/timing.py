"""When a schedule ticks: labels of a wall clock as instants of a zone.

A label that the clock skips in spring is as much later as the skip is long. One that comes twice in autumn ticks at its
first time, or at both where that was asked for.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo

from oxpull_async.domain.cron import parse_cron
from oxpull_async.domain.durations import seconds
from oxpull_async.domain.errors import UsageError

MIN_EVERY, MAX_EVERY = 1.0, 62_135_596_800.0
REPEATED_HOURS = ("once", "twice")
MAX_ZONE = 64
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a label of a wall clock
_DAY = timedelta(days=1)


class Labels(Protocol):
    """Labels of a wall clock, as naive datetimes."""

    def after(self, label: datetime) -> Iterator[datetime]:
        """List those after a label, in order, to the end of the calendar."""

    def before(self, label: datetime) -> Iterator[datetime]:
        """List those before a label, the last one first."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Labels `every` seconds, counted from 1970-01-01 00:00 and `phase` seconds."""

    every: float
    phase: float

    def after(self, label: datetime) -> Iterator[datetime]:
        """List the labels after another, in order."""
        step = timedelta(seconds=self.every)
        return self._steps(self._last(label) + step, step)

    def before(self, label: datetime) -> Iterator[datetime]:
        """List the labels before another, the last one first."""
        step, found = timedelta(seconds=self.every), self._last(label)
        return self._steps(found - step if found == label else found, -step)

    def _last(self, label: datetime) -> datetime:
        """Return the last label at another or before."""
        first = _EPOCH + timedelta(seconds=self.phase)
        return label - (label - first) % timedelta(seconds=self.every)

    @staticmethod
    def _steps(label: datetime, step: timedelta) -> Iterator[datetime]:
        while True:
            yield label
            label += step


@dataclass(frozen=True, slots=True)
class Timing:
    """When a schedule ticks: by `cron`, or by `every` and `phase` in seconds, in a zone."""

    cron: str | None = None
    every: float | None = None
    phase: float = 0.0
    tz: str = "UTC"
    repeated_hour: str = "once"

    def after(self, moment: datetime) -> datetime | None:
        """Return the first tick after an instant, or None at the end of the calendar."""
        zone, labels = _zone(self.tz), _labels(self)
        best: datetime | None = None
        for label in _listed(labels.after, _shifted(moment, zone, min)):
            if best is not None and label - _offset(best, zone, max) >= _naive(best):
                break
            ticks = [tick for tick in self._ticks(label, zone) if tick > moment]
            best = min([*ticks, *([] if best is None else [best])], default=None)
        return best

    def before(self, moment: datetime) -> datetime | None:
        """Return the last tick before an instant, or None at the calendar's beginning."""
        zone, labels = _zone(self.tz), _labels(self)
        best: datetime | None = None
        for label in _listed(labels.before, _shifted(moment, zone, max)):
            if best is not None and label - _offset(best, zone, min) <= _naive(best):
                break
            ticks = [tick for tick in self._ticks(label, zone) if tick < moment]
            best = max([*ticks, *([] if best is None else [best])], default=None)
        return best

    def latest(self, moment: datetime) -> datetime | None:
        """Return the last tick at an instant or before."""
        return self.before(moment + timedelta(microseconds=1))

    def describe(self) -> str:
        """Say in a few words when it ticks."""
        if self.every is None:
            return f"{self.cron} ({self.tz})"
        late = f" + {self.phase:g} s" if self.phase else ""
        return f"every {self.every:g} s{late}{'' if self.tz == 'UTC' else f' ({self.tz})'}"

    def _ticks(self, label: datetime, zone: tzinfo) -> Iterator[datetime]:
        """List the instants of a label: one, or two where its hour comes twice and both count."""
        try:
            first = label.replace(tzinfo=zone).astimezone(UTC)
            second = label.replace(tzinfo=zone, fold=1).astimezone(UTC)
        except OverflowError:
            return
        yield first
        if second > first and self.repeated_hour == "twice":
            yield second


def checked_timing(
    *,
    cron: object = None,
    every: object = None,
    phase: object = None,
    tz: object = "UTC",
    repeated_hour: object = "once",
) -> Timing:
    """Return when to tick; exactly one of `cron` and `every` is given.

    `every` and `phase` are seconds or timedelta.

    Raises: UsageError naming what is wrong.
    """
    if (cron is None) == (every is None):
        raise UsageError("a schedule has either cron or every: give one of them")
    zone = checked_zone(tz)
    if repeated_hour not in REPEATED_HOURS:
        raise UsageError(f"repeated_hour={repeated_hour!r} must be 'once' or 'twice'")
    if cron is not None:
        if phase is not None:
            raise UsageError(f"phase={phase!r} goes with every, not with cron")
        parse_cron(cron)
        return Timing(cron=" ".join(str(cron).split()), tz=zone, repeated_hour=str(repeated_hour))
    step = seconds(every, name="every")
    if not MIN_EVERY <= step <= MAX_EVERY:
        raise UsageError(f"every={every!r} must be from {MIN_EVERY:g} to {MAX_EVERY:.0f} seconds")
    shift = 0.0 if phase is None else seconds(phase, name="phase")
    if shift >= step:
        raise UsageError(f"phase={phase!r} must be less than every={every!r}")
    return Timing(every=step, phase=shift, tz=zone, repeated_hour=str(repeated_hour))


def checked_zone(tz: object) -> str:
    """Return the name of a time zone; raises UsageError for one that is not known here."""
    name = getattr(tz, "key", tz)
    try:
        if not isinstance(name, str) or len(name) > MAX_ZONE:
            raise ValueError(name)  # noqa: TRY301 - what ZoneInfo itself raises for a malformed name
        _zone(name)
    except (ValueError, OSError, LookupError):
        raise UsageError(
            f"tz={tz!r:.80} is no IANA time zone that is known here, like 'Europe/Paris' or 'UTC'"
        ) from None
    return name


@lru_cache(maxsize=1024)
def _zone(name: str) -> tzinfo:
    return UTC if name == "UTC" else ZoneInfo(name)


def _labels(timing: Timing) -> Labels:
    return parse_cron(timing.cron) if timing.every is None else Interval(timing.every, timing.phase)


def _listed(labels: Callable[[datetime], Iterator[datetime]], label: datetime | None) -> Iterator[datetime]:
    """List labels from one on, to the end of the calendar."""
    if label is not None:
        with suppress(OverflowError):
            yield from labels(label)


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def _shifted(moment: datetime, zone: tzinfo, choose: Callable[[list[timedelta]], timedelta]) -> datetime | None:
    """Return the outermost label that an instant could have in a zone."""
    nudge = timedelta(microseconds=1) if choose is max else -timedelta(microseconds=1)
    try:
        return _naive(moment) + _offset(moment, zone, choose) + nudge
    except OverflowError:
        return None


def _offset(moment: datetime, zone: tzinfo, choose: Callable[[list[timedelta]], timedelta]) -> timedelta:
    """Return the least or greatest offset from UTC that a zone has within a day of an instant."""
    found = []
    for near in (-_DAY, timedelta(0), _DAY):
        try:
            found.append((moment + near).astimezone(zone).utcoffset() or timedelta(0))
        except OverflowError:
            continue
    return choose(found)
