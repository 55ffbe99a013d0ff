"""What a comparison found: samples by workload and contestant, and the ratios between them."""

from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks.contestants import OURS, RAW

LOWER_IS_BETTER = ("ms", "%", "a minute", "MB")


@dataclass(frozen=True, slots=True)
class Row:
    """What one contestant came to in one workload; a sample is None for a round in which it failed."""

    workload: str
    unit: str
    contestant: str
    samples: list[float | None]
    settings: dict[str, Any]

    @property
    def is_cost(self) -> bool:
        """Whether less of it is better."""
        return self.unit in LOWER_IS_BETTER

    @property
    def values(self) -> list[float]:
        return [sample for sample in self.samples if sample is not None]

    @property
    def median(self) -> float:
        return median(self.values)


@dataclass(slots=True)
class Comparison:
    """The rows of a run, who did not run where and why, and what was found installed."""

    rows: list[Row] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)
    packages: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, workload: str) -> list[Row]:
        return [row for row in self.rows if row.workload == workload and row.values]

    def workloads(self) -> list[str]:
        return list(dict.fromkeys(row.workload for row in self.rows if row.values))

    def ahead(self, row: Row, of: str = OURS) -> float | None:
        """Say how many times as fast another contestant was: the median of the ratios within the rounds."""
        other = next((one for one in self.of(row.workload) if one.contestant == of), None)
        if other is None:
            return None
        pairs = [(a, b) for a, b in zip(other.samples, row.samples, strict=True) if a and b]
        if not pairs:
            return None
        return median(b / a if row.is_cost else a / b for a, b in pairs)

    def best_peer(self, workload: str) -> Row | None:
        peers = [row for row in self.of(workload) if row.contestant != RAW and not row.contestant.startswith(OURS)]
        pick = min if peers and peers[0].is_cost else max
        return pick(peers, key=lambda row: row.median, default=None)
