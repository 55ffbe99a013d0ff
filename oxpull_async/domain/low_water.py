"""Low water: how far a worker has claimed a queue, and where its next claim begins.

What was claimed may stay in the front of the database's index until it is cleaned up, and every claim would step over
it. Marks miss what is committed behind them later, so now and then a claim begins at the front.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from oxpull_async.domain.record import TaskId

SCAN_SHARE, HURRIED_SHARE = 20.0, 4.0
MOST_MARKS = 8


class Place(NamedTuple):
    """Where a row stands in the order of claims; the least comes first."""

    rank: int
    available_at: datetime
    task_id: TaskId


class Stretch(NamedTuple):
    """The part of a queue's order after a place, up to a rank; None where it has no such end."""

    after: Place | None = None
    below: int | None = None


WHOLE = (Stretch(),)


@dataclass(frozen=True, slots=True)
class LowWater:
    """The last place that a worker claimed in each rank of a queue, and its last whole scan.

    `scanned_at` is when that ended, `took` how long it lasted. `hurried`: rows may have come behind the marks.
    """

    marks: tuple[Place, ...] = ()
    scanned_at: float = -math.inf
    took: float = 0.0
    hurried: bool = False

    def wants_scan(self, now: float) -> bool:
        """Whether the next claim begins at the front.

        Such claims take a twentieth of the time, hurried ones a fourth.
        """
        share = HURRIED_SHARE if self.hurried else SCAN_SHARE
        return not self.marks or now - self.scanned_at > share * self.took

    def stretches(self) -> tuple[Stretch, ...]:
        """Return what there is to claim but for what lies behind the marks, in order."""
        ends = [*(mark.rank for mark in self.marks), None]
        return tuple(Stretch(after, below) for after, below in zip([None, *self.marks], ends, strict=True))

    def raised(self, taken: Iterable[Place]) -> "LowWater":
        """Note what a claim took; where there are too many ranks, only the marks of some are kept."""
        best: dict[int, Place] = {}
        for place in taken:
            best[place.rank] = max(place, best.get(place.rank, place))
        for mark in self.marks:
            if mark.rank in best or len(best) < MOST_MARKS:
                best[mark.rank] = max(mark, best.get(mark.rank, mark))
        return replace(self, marks=tuple(best[rank] for rank in sorted(best)[:MOST_MARKS]))

    def scanned(self, now: float, took: float) -> "LowWater":
        """Note that a claim began at the front."""
        return replace(self, scanned_at=now, took=took, hurried=False)

    def hurry(self) -> "LowWater":
        """Note that rows may have come behind the marks: the next scan comes sooner."""
        return replace(self, hurried=True)
