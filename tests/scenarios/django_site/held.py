"""What this process holds: threads, connections to the database, file descriptors."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from oxpull_async.drivers.url import DatabaseUrl

PORTS = {"postgres": 5432, "mysql": 3306}
EVERY_SECONDS = 0.02
PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class Held:
    """Counts at one instant, or the highest of many."""

    threads: int
    connections: int
    descriptors: int


@dataclass(slots=True)
class Meter:
    """Counts what the process holds, for one database."""

    url: DatabaseUrl
    peak: Held = Held(0, 0, 0)
    process: psutil.Process = field(default_factory=psutil.Process)

    def held(self) -> Held:
        """Count now."""
        return Held(threading.active_count(), self._connections(), self.process.num_fds())

    def settled(self, before: Held) -> Held:
        """Count once there are no more threads than before: those of the last requests may be about to end."""
        ends = time.monotonic() + PATIENCE
        while threading.active_count() > before.threads and time.monotonic() < ends:
            time.sleep(EVERY_SECONDS)
        return self.held()

    @contextmanager
    def sampling(self, threads_until: Callable[[], bool]) -> Iterator[None]:
        """Keep the peak of what is held during the block, beyond what was held at its start.

        Threads are looked at until `threads_until` says so.
        """
        ended = threading.Event()
        before = self.held()

        def sample() -> None:
            while not ended.wait(EVERY_SECONDS):
                now, peak = self.held(), self.peak
                self.peak = Held(
                    peak.threads
                    if threads_until()
                    else max(peak.threads, now.threads - before.threads - 1),  # this one
                    max(peak.connections, now.connections),
                    max(peak.descriptors, now.descriptors - before.descriptors),
                )

        sampler = threading.Thread(target=sample)
        sampler.start()
        try:
            yield
        finally:
            ended.set()
            sampler.join()

    def _connections(self) -> int:
        """Count sockets to the server, or handles on the file: the journal's own are not counted."""
        if self.url.family == "sqlite":
            name = str(Path(self.url.database).resolve())
            return sum(file.path == name for file in self.process.open_files())
        port = self.url.port or PORTS[self.url.family]
        return sum(bool(socket.raddr) and socket.raddr[1] == port for socket in self.process.net_connections("tcp"))
