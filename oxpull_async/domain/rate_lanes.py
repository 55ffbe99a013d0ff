"""Lanes: due rows that count under the same limits, and which of them a claim looks into."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from oxpull_async.domain.permit import WindowKey
from oxpull_async.domain.rate_windows import Limit, Room, windows_of

FIRST_LANE = ("", "", "")

type LaneMark = tuple[str, str, str]
"""Where a look has come to: queue, task path and limit keys of a lane."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Due rows of one queue, task and set of limit keys.

    `place` is that of the best one in the order of claims, `places` how many rows of it may start.
    """

    queue_name: str
    task_path: str
    limit_keys: str
    place: tuple[Any, ...]
    windows: tuple[WindowKey, ...] = ()
    places: int = 0

    @property
    def mark(self) -> LaneMark:
        """Its place among the lanes."""
        return self.queue_name, self.task_path, self.limit_keys


@dataclass(frozen=True, slots=True)
class LimitsLook:
    """What a look at the lanes found: those with room, best first, and their limits.

    `opens_in`: the seconds until a window opens that shuts a lane now. `after`: the last lane seen where there may be
    more, which the next look begins behind.
    """

    lanes: tuple[Lane, ...] = ()
    limits: Mapping[str, Limit] = field(default_factory=dict)
    opens_in: float | None = None
    after: LaneMark | None = None


def lane_of(queue_name: str, row: Sequence[Any], limits: Mapping[str, Limit]) -> Lane:
    """Read one row of the statement `limited_lanes`."""
    path, keys = row[0], row[1]
    return Lane(queue_name, path, keys, tuple(row[2:5]), windows_of(limits, path, queue_name, keys))


def open_lanes(lanes: Sequence[Lane], rooms: Mapping[WindowKey, Room], most: int) -> list[tuple[Lane, int]]:
    """Return the lanes whose windows all have room, best first, and how many may start.

    More lanes than rows wanted are of no use: the best rows lie in the lanes that have the best first row.
    """
    found = [(lane, min([most, *(rooms[window].left for window in lane.windows)])) for lane in lanes]
    return sorted(((lane, left) for lane, left in found if left > 0), key=lambda pair: pair[0].place)[:most]


def first_opening(lanes: Sequence[Lane], rooms: Mapping[WindowKey, Room]) -> datetime | None:
    """Return when the first of the shut lanes may open; None where none ever does."""
    openings = [_opening([rooms[window] for window in lane.windows]) for lane in lanes]
    return min((moment for moment in openings if moment is not None), default=None)


def _opening(rooms: Sequence[Room]) -> datetime | None:
    """Return when the last of a lane's shut windows opens; None where none is shut, or one for ever."""
    shut = [each.opens_at for each in rooms if not each.is_open]
    return max((each for each in shut if each is not None), default=None) if None not in shut else None
