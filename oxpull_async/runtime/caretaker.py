"""The caretaker: compares what runs here with what the database thinks runs here.

Runs on the lease thread.
It hands back rows that nobody here knows (a claim whose answer was lost), rows that did not start within a second,
marks attempts that have begun, and passes on requests to cancel.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

from oxpull_async.db.contract import Database
from oxpull_async.domain.errors import DatabaseTrouble
from oxpull_async.domain.events import DatabaseDown, TasksReleased
from oxpull_async.domain.lease import HeldTask
from oxpull_async.domain.outcome import Lease, Released, Settlement
from oxpull_async.runtime.attempts import Attempt, Attempts, Phase
from oxpull_async.runtime.hub import Hub
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.lookout import Lookout
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.lease import held, unknown_attempts
from oxpull_async.store.settle import mark_begun, settle

TICK = 0.25
LOOK_EVERY, LOOK_SHARE = 1.0, 40
MOST_UNSTARTED = 1.0


class Caretaker:
    """Looks after the attempts of one worker."""

    def __init__(self, database: Database, attempts: Attempts, lease: LeaseState, lookout: Lookout, hub: Hub) -> None:
        self._database = database
        self._attempts = attempts
        self._lease = lease
        self._lookout = lookout
        self._hub = hub
        self._suspects: dict[tuple[str, int], int] = {}
        self._looked_at = 0.0
        self._looks_every = LOOK_EVERY
        self.on_cancel: Callable[[Lease], None] = lambda _: None
        self.on_taken_back: Callable[[Attempt], None] = lambda _: None
        self.on_released: Callable[[], None] = lambda: None

    async def run(self) -> None:
        """Look after the attempts until cancelled."""
        claims_seen = 0
        while True:
            await asyncio.sleep(TICK)
            try:
                await self._mark_begun()
                await self._hand_back_unstarted()
                claims_ended = self._attempts.claims_ended
                busy = self._attempts.busy or self._suspects or claims_ended != claims_seen
                due = busy and time.monotonic() - self._looked_at >= self._looks_every
                if due or self._attempts.claim_in_doubt or self._is_due():
                    claims_seen = claims_ended
                    await self.look()
            except DatabaseTrouble as trouble:
                self._hub.emit(DatabaseDown("caretaker", str(trouble), TICK))

    def _is_due(self) -> bool:
        """Once in a renewal interval somebody looks even when nothing seems to run here."""
        interval = self._lease.interval
        return time.monotonic() - self._looked_at >= interval and not self._lookout.knows_of_no_rows(interval)

    async def look(self) -> None:
        """Read what runs under this worker's id; pass on cancels, hand back what nobody here knows."""
        self._looked_at = time.monotonic()
        self._attempts.claim_in_doubt = False
        worker_id = self._lease.worker_id
        rows = await repeat(self._database, lambda conn: held(conn, worker_id))
        self._looks_every = max(LOOK_EVERY, (time.monotonic() - self._looked_at) * LOOK_SHARE)
        for row in rows:
            if row.cancel_requested:
                self.on_cancel(Lease(row.task_id, row.epoch))
        lost = self._judge_unknown(rows)
        if lost:
            back = [
                Settlement(
                    Lease(row.task_id, row.epoch),
                    Released(),
                    row.rerun_key,
                    row.lock_key,
                    row.batch_id,
                    row.workflow_id,
                )
                for row in lost
            ]
            await self._release(back, "no claim delivered them")

    def _judge_unknown(self, rows: Sequence[HeldTask]) -> list[HeldTask]:
        """Return the unknown rows that no claim under way can still deliver; remember the others for the next look.

        The order counts: the rows were read, so no claim that begins from now on brought them; a claim that has ended
        made its rows known before it ended.
        """
        fence = self._attempts.claims_begun
        ended = self._attempts.claims_ended
        unknown = unknown_attempts(rows, self._attempts.known())
        seen = {(row.task_id, row.epoch): self._suspects.get((row.task_id, row.epoch), fence) for row in unknown}
        self._suspects = seen
        return [row for row in unknown if seen[row.task_id, row.epoch] <= ended]

    async def _mark_begun(self) -> None:
        begun = [attempt for attempt in self._attempts.live() if attempt.phase is Phase.BEGUN and not attempt.marked]
        if begun:
            leases = [attempt.lease for attempt in begun]
            await repeat(self._database, lambda conn: mark_begun(conn, leases))
            for attempt in begun:
                attempt.marked = True

    async def _hand_back_unstarted(self) -> None:
        now = time.monotonic()
        late = [
            attempt
            for attempt in self._attempts.live()
            if now - attempt.claimed_at > MOST_UNSTARTED and self._attempts.take_back(attempt)
        ]
        if late:
            await self.hand_back(late, "they did not start within a second")

    async def hand_back(self, attempts: Sequence[Attempt], why: str) -> None:
        """Write back attempts that were taken back before they started."""
        try:
            await self._release([attempt.settlement(Released()) for attempt in attempts], why)
        finally:
            for attempt in attempts:
                self._attempts.forget(attempt)
                self.on_taken_back(attempt)

    async def _release(self, rows: Sequence[Settlement], why: str) -> None:
        settled = await repeat(self._database, lambda conn: settle(conn, rows))
        if settled:
            self._hub.emit(TasksReleased(len(settled), why))
            self.on_released()
