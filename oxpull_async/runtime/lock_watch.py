"""What a worker knows of due rows with running locks: when to look at them, and to make way."""

import time
from collections.abc import Sequence
from dataclasses import replace

from oxpull_async.db.contract import Database
from oxpull_async.domain.record import ClaimedTask
from oxpull_async.runtime.pauses import FIRST_SIDE_PAUSE, side_pause
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.claim import ClaimRequest, claim_and_look, make_way

LOOK_AGAIN = 0.02


class LockWatch:
    """Claims for one worker on its event loop, and looks at blocked rows now and then only."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._meets_locks = False
        self._unfinished = False
        self._passed: object = None
        self._looks_again_at = 0.0
        self._makes_way_at = 0.0

    @property
    def meets_locks(self) -> bool:
        """Whether due rows had running locks when the dispatcher looked last."""
        return self._meets_locks

    @property
    def unfinished(self) -> bool:
        """Whether the last claim only turned rows away, and perhaps not the last ones."""
        return self._unfinished

    def note(self, *, meets_locks: bool) -> None:
        """Note what the dispatcher saw; where locks are new, nobody needs to make way yet."""
        if meets_locks and not self._meets_locks:
            self._makes_way_at = max(self._makes_way_at, time.monotonic() + FIRST_SIDE_PAUSE)
        self._meets_locks = meets_locks

    async def claim(self, request: ClaimRequest) -> Sequence[ClaimedTask]:
        """Claim; for some milliseconds after all locks were seen taken, rows without come first."""
        view, begun = (request.queues, request.excluded_paths), time.monotonic()
        if view == self._passed and begun < self._looks_again_at:
            request = replace(request, passes_locked=True)
        claimed = await repeat(self._database, lambda conn: claim_and_look(conn, request))
        self._unfinished = claimed.unfinished
        if not claimed.passed_locked:
            self._passed = None
        elif not request.passes_locked:
            self._passed, self._looks_again_at = view, begun + LOOK_AGAIN
        return claimed.tasks

    async def make_way(self, request: ClaimRequest) -> None:
        """Get rows of taken locks out of the way, now and then, after a claim that has passed them."""
        begun = time.monotonic()
        if self._passed is None or begun < self._makes_way_at:
            return
        try:
            await repeat(self._database, lambda conn: make_way(conn, request))
        finally:
            ended = time.monotonic()
            self._makes_way_at = ended + side_pause(ended - begun)
