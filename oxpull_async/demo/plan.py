"""What one demo run is to do."""

from dataclasses import dataclass
from pathlib import Path

LEASE_SECONDS, SHORT_LEASE_SECONDS = 10, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which files to index, with how many workers, and whether one of them is killed."""

    root: Path
    limit: int | None
    workers: int
    kills: bool
    pace: float
    port: int

    @property
    def lease_seconds(self) -> int:
        """How long a dead worker's tasks wait: short where one is going to die."""
        return SHORT_LEASE_SECONDS if self.kills else LEASE_SECONDS
