"""The worker's lease as both threads see it: its id, and until when to rely on it."""

import threading

from oxpull_async.domain.lease import trusted_until
from oxpull_async.domain.record import WorkerId


class LeaseState:
    """Shared between the event loop and the lease thread; instants are monotonic seconds."""

    def __init__(self, lease_seconds: float) -> None:
        self.lease_seconds = lease_seconds
        self.interval = lease_seconds / 3
        self.worker_id: WorkerId = ""
        self.confirmed_at = 0.0
        self._trusted_until = 0.0
        self._lock = threading.Lock()

    def granted(self, worker_id: WorkerId, sent_at: float) -> None:
        """Note a lease that was granted by a statement sent at `sent_at`."""
        with self._lock:
            self.worker_id = worker_id
            self.confirmed_at = sent_at
            self._trusted_until = trusted_until(sent_at, self.lease_seconds)

    def lost(self) -> None:
        """Note that the lease must not be relied on any more."""
        with self._lock:
            self._trusted_until = 0.0

    def is_trusted(self, now: float) -> bool:
        """Whether the lease may be relied on at `now`."""
        return now < self._trusted_until

    @property
    def deadline(self) -> float:
        """The monotonic instant at which trust ends."""
        return self._trusted_until
