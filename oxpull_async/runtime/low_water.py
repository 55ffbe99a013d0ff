"""Where a worker's claims begin: behind what it took, and at times at the front."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from oxpull_async.db.contract import Dialect
from oxpull_async.domain.low_water import LowWater, Place
from oxpull_async.domain.record import ClaimedTask
from oxpull_async.store.claim import ClaimRequest

MOST_VIEWS = 256

type View = tuple[str, frozenset[str]]
type Ask = Callable[[ClaimRequest], Awaitable[Sequence[ClaimedTask]]]


class Marks:
    """The low water of each queue as one worker sees it, in its memory only.

    Claims that leave other tasks alone have marks of their own, since they pass rows that others may take.
    `look_took`: the seconds of the last look at the queues, which steps over what claims left as well.
    """

    def __init__(self, dialect: Dialect, clock: Callable[[], float] = time.monotonic) -> None:
        self._dialect = dialect
        self._clock = clock
        self._waters: dict[View, LowWater] = {}
        self.look_took = 0.0

    async def claim(self, request: ClaimRequest, ask: Ask) -> Sequence[ClaimedTask]:
        """Claim what lies beyond the marks; where nothing does, at once what lies behind them."""
        narrowed, began = self._narrowed(request), self._clock()
        rows = await ask(narrowed)
        if not rows and narrowed.stretches:
            narrowed, began = request, self._clock()
            rows = await ask(narrowed)
        self._note(narrowed, rows, self._clock() - began)
        return rows

    def hurry(self) -> None:
        """Note that rows may have come behind the marks: promoted, taken over, handed back."""
        self._waters = {view: water.hurry() for view, water in self._waters.items()}

    def _narrowed(self, request: ClaimRequest) -> ClaimRequest:
        """Return the request for what lies beyond the marks, but for queues to be scanned."""
        if not self._dialect.claims_from_marks:
            return request
        now = self._clock()
        waters = {name: self._water(request, name) for name in request.queues}
        return replace(
            request,
            stretches={name: water.stretches() for name, water in waters.items() if not water.wants_scan(now)},
        )

    def _note(self, request: ClaimRequest, rows: Sequence[ClaimedTask], took: float) -> None:
        """Note what a claim took, and how long."""
        now = self._clock()
        taken: dict[str, list[Place]] = {name: [] for name in request.queues}
        for row in rows:
            if row.lock_key is None and row.limit_keys is None:
                taken[row.queue_name].append(Place(-row.priority, row.available_at, row.id))
        if len(self._waters) > MOST_VIEWS:
            self._waters.clear()
        for name, places in taken.items():
            water = self._water(request, name)
            water = water if name in request.stretches else water.scanned(now, took)
            self._waters[name, request.excluded_paths] = water.raised(places)

    def _water(self, request: ClaimRequest, queue_name: str) -> LowWater:
        return self._waters.get((queue_name, request.excluded_paths), LowWater())
