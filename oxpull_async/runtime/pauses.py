"""How long the loops wait: while the database is away, and between looks at an idle queue."""

import math
import random

FIRST, LONGEST = 0.1, 2.0
BUSY_POLL, WARM_POLL, IDLE_POLL, PUSHED_POLL = 0.02, 0.04, 1.2, 5.0
COOLING, DOUBLING = 10.0, 0.4
FIRST_SIDE_PAUSE, SIDE_PAUSE, SIDE_SHARE = 0.25, 0.02, 1 / 30


class Backoff:
    """Growing pauses between tries, spread so that a fleet does not come back all at once."""

    def __init__(self) -> None:
        self._pause = FIRST

    def next(self) -> float:
        """Return the seconds to wait before the next try."""
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST)
        return pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreading load, not keeping secrets

    def reset(self) -> None:
        """Start over, after a try that went well."""
        self._pause = FIRST


def poll_pause(idle_for: float, *, pushed: bool) -> float:
    """Return the seconds until the next look.

    Short for a while after work, then soon long; longest where wake-ups are pushed.
    """
    if pushed:
        return PUSHED_POLL
    if idle_for < COOLING:
        return BUSY_POLL + (WARM_POLL - BUSY_POLL) * idle_for / COOLING
    doublings = min((idle_for - COOLING) / DOUBLING, 10.0)
    return min(WARM_POLL * math.exp2(doublings), IDLE_POLL)


def side_pause(took: float) -> float:
    """Return the seconds for which work on the side rests after it took so long.

    It gets at most a thirtieth of the time.
    """
    return max(SIDE_PAUSE, took * (1 / SIDE_SHARE - 1))
