"""The lookout: looks once for all loops of a worker, as often as one of them asks."""

import asyncio
import time
from typing import TYPE_CHECKING

from oxpull_async.db.contract import Database
from oxpull_async.runtime.lease import LeaseState
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.glance import Glance, glance

if TYPE_CHECKING:
    from collections.abc import Callable


class Lookout:
    """Keeps the last glance; what it says was so when its statement was sent, or later.

    Belongs to the event loop; `knows_of_no_rows` may be asked from the lease thread.
    """

    def __init__(self, database: Database, backend_alias: str, lease: LeaseState) -> None:
        self._database = database
        self._alias = backend_alias
        self._lease = lease
        self._one_at_a_time = asyncio.Lock()
        self._last: tuple[float, str, Glance] | None = None
        self.on_care: Callable[[], None] = lambda: None

    async def look(self, max_age: float) -> Glance:
        """Return a glance that is at most so many seconds old."""
        async with self._one_at_a_time:
            last, now = self._last, time.monotonic()
            if last is not None and now - last[0] <= max_age and last[1] == self._lease.worker_id:
                return last[2]
            worker_id = self._lease.worker_id
            seen = await repeat(self._database, lambda conn: glance(conn, self._alias, worker_id, self.grace))
            self._last = now, worker_id, seen
            if seen.needs_care:
                self.on_care()
            return seen

    @property
    def grace(self) -> float:
        """How long an expired lease is left alone: where one writer delays others, an interval."""
        return 0.0 if self._database.dialect.skips_locked else self._lease.interval

    def knows_of_no_rows(self, max_age: float) -> bool:
        """Whether a glance at most so many seconds ago found no row under the worker's id."""
        last = self._last
        if last is None or last[1] != self._lease.worker_id:
            return False
        return time.monotonic() - last[0] <= max_age and not last[2].holds
