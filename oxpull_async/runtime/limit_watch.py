"""What a worker knows of due rows with limit keys: when to look, and what to set apart."""

import time
from collections.abc import Sequence
from dataclasses import replace

from oxpull_async.db.contract import Database
from oxpull_async.domain.rate_lanes import LaneMark, LimitsLook
from oxpull_async.domain.record import ClaimedTask, TaskId
from oxpull_async.runtime.attempts import LATEST_START
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.claim import ClaimRequest, claim_ages
from oxpull_async.store.queues import Outlook
from oxpull_async.store.rate_lanes import look_at_lanes
from oxpull_async.store.rate_limits import sort_limited

LOOK_AGAIN, LOOK_SHARE, OPENING_SHARE = 0.05, 20, 3
SORT_AT_ONCE, SORT_ROUNDS, SORT_SHARE = 1000, 10, 100
SURE_FOR = 0.03
MOST_AT_ONCE = 500  # as many as one statement leases on any database, so that all start or none


class LimitWatch:
    """Looks at the lanes of limited rows now and then, and at once when a window opens."""

    def __init__(self, database: Database, backend_alias: str) -> None:
        self._database = database
        self._alias = backend_alias
        self._queues: tuple[str, ...] = ()
        self._after: LaneMark | None = None
        self._found_some = False
        self._looks_at = 0.0
        self._sorts_at = 0.0
        self._at_once = MOST_AT_ONCE
        self.is_throttled = False

    @property
    def meets_limits(self) -> bool:
        """Whether due rows had limit keys when the dispatcher looked last."""
        return bool(self._queues)

    @property
    def due_in(self) -> float:
        """The seconds until the next look."""
        return max(self._looks_at - time.monotonic(), 0.0)

    def shortened(self, pause: float) -> float:
        """Return a pause that ends in time for the next look."""
        return min(pause, self.due_in) if self._queues else pause

    def note(self, queues: tuple[str, ...]) -> None:
        """Note which served queues have due rows with limit keys; new ones are looked at at once."""
        if not self._queues:
            self.look_now()
        self._queues = queues

    def look_now(self) -> None:
        """Let the next claim look; until then it is not known whether all lanes are shut."""
        self._looks_at, self.is_throttled = 0.0, False

    async def looked(self, request: ClaimRequest) -> ClaimRequest:
        """Return the request with what a look found, where one is due and finds a lane with room."""
        queues, began = [name for name in self._queues if name in request.queues], time.monotonic()
        if not queues or began < self._looks_at:
            return request
        after, most = self._after, min(request.limit, self._at_once)
        look = await repeat(
            self._database,
            lambda conn: look_at_lanes(conn, self._alias, queues, most, after, request.excluded_paths),
        )
        self._note_round(look)
        self._rest(look, time.monotonic() - began)
        return replace(request, limit=most if look.lanes else request.limit, look=look)

    def _note_round(self, look: LimitsLook) -> None:
        """Note what a round through all lanes has come to, which may take several looks."""
        self._found_some = bool(look.lanes) or (self._after is not None and self._found_some)
        self._after = look.after
        self.is_throttled = look.after is None and not self._found_some

    def _rest(self, look: LimitsLook, took: float) -> None:
        """Put the next look off: looks take a twentieth of the time, a quarter where windows keep opening."""
        pause = max(LOOK_AGAIN, took * LOOK_SHARE)
        if look.opens_in is not None:
            pause = min(pause, max(look.opens_in, took * OPENING_SHARE))
        self._looks_at = time.monotonic() + pause

    def claimed(self, rows: Sequence[ClaimedTask]) -> None:
        """Note what a claim brought: after a row of an open lane there may be more."""
        if any(row.limit_keys is not None for row in rows):
            self._looks_at = 0.0

    async def stamps(self, rows: Sequence[ClaimedTask], began: float) -> dict[TaskId, float]:
        """Say when the starts of limited rows were stamped at the earliest, in monotonic seconds.

        That is when their claim was sent, or if it took long what the database says.
        """
        limited = [row.id for row in rows if row.permits]
        sent = time.monotonic()
        if not limited or sent - began <= SURE_FOR:
            self._suit(len(limited), sent - began)
            return dict.fromkeys(limited, began)
        ages = await repeat(self._database, lambda conn: claim_ages(conn, limited))
        self._suit(len(limited), max(ages.values(), default=0.0) + time.monotonic() - sent)
        return {id_: sent - ages[id_] for id_ in limited if id_ in ages}

    def _suit(self, count: int, age: float) -> None:
        """Claim fewer limited rows at once where their claims leave little time to begin, and more again later."""
        if age > LATEST_START / 2:
            self._at_once = max(count // 2, 1)
        elif age < LATEST_START / 4 and count >= self._at_once:
            self._at_once = min(self._at_once * 2, MOST_AT_ONCE)

    async def sort(self, outlook: Outlook, *, now: bool = False) -> int:
        """Set rows apart whose enqueue knew of no limit; returns how many.

        It takes at most a hundredth of the time, unless it is to be done `now`.
        """
        began = time.monotonic()
        if not outlook.has_limits or not outlook.queues or (began < self._sorts_at and not now):
            return 0
        total = 0
        for _ in range(SORT_ROUNDS):
            moved = await repeat(self._database, lambda conn: sort_limited(conn, self._alias, SORT_AT_ONCE))
            total += moved
            if moved < SORT_AT_ONCE:
                break
        ended = time.monotonic()
        self._sorts_at = ended + (0.0 if total else max(LOOK_AGAIN, (ended - began) * SORT_SHARE))
        return total
