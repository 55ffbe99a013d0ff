"""A worker with nothing to do: for how long already, how often it looks, and with what."""

import time

from oxpull_async.runtime.lookout import Lookout
from oxpull_async.runtime.pauses import COOLING, poll_pause
from oxpull_async.store.queues import Outlook


class Rest:
    """Tells the dispatcher how to look around.

    `pushed`: somebody tells when there may be something new. After a while without work one look serves all loops.
    """

    def __init__(self, lookout: Lookout) -> None:
        self.pushed = False
        self._lookout = lookout
        self._busy_until = time.monotonic()
        self._was_quiet = False

    def end(self) -> None:
        """Note that there is, or just was, something to do."""
        self._busy_until = time.monotonic()

    def pause(self) -> float:
        """Return the seconds until the next look."""
        return poll_pause(time.monotonic() - self._busy_until, pushed=self.pushed)

    def note(self, outlook: Outlook) -> None:
        """Note whether a whole look found any row that is due."""
        self._was_quiet = not outlook.queues and not outlook.limited

    async def quiet(self) -> Outlook | None:
        """Say what is to come where one look for all loops finds nothing due; else None."""
        if not self._was_quiet or time.monotonic() - self._busy_until <= COOLING:
            return None
        seen = await self._lookout.look(0.0)
        return Outlook((), seen.next_due_in) if seen.is_quiet else None
