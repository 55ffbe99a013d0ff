"""What this project means by fast: how its figures must stand to those of others in one run."""

from dataclasses import dataclass

from benchmarks.comparison import Comparison
from benchmarks.contestants import OURS, RAW, Store

BEST_PEER = "the best other queue of this database"


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure of ours that must be so many `times` as good as another contestant's, or that good by itself.

    Of two costs the smaller one is the better; without `other` it is the figure itself that must be reached, or kept
    within where it is a cost.
    """

    store: Store
    workload: str
    row: str
    times: float
    other: str | None = None

    @property
    def title(self) -> str:
        beside = "" if self.other is None else f" x {self.other}"
        return f"{self.row}: {self.times:.4g}{beside}"

    def reached(self, comparison: Comparison) -> float:
        """Return what came out, in the bar's own measure; raises LookupError where something was not measured."""
        rows = {row.contestant: row for row in comparison.of(self.row)}
        if OURS not in rows:
            raise LookupError(f"{self.row} was not measured: {comparison.not_run}")
        if self.other is None:
            return rows[OURS].median
        best = comparison.best_peer(self.row) if self.other == BEST_PEER else rows.get(self.other)
        ahead = None if best is None else comparison.ahead(best)
        if ahead is None:
            raise LookupError(f"{self.other} was not measured at {self.row}: {comparison.not_run}")
        return ahead

    def is_held(self, comparison: Comparison) -> bool:
        """Say whether a comparison reaches it."""
        is_cost = self.other is None and comparison.of(self.row)[0].is_cost
        reached = self.reached(comparison)
        return reached <= self.times if is_cost else reached >= self.times


BARS: tuple[Bar, ...] = (
    Bar("postgres", "enqueue, one caller", "enqueue, one caller", 0.85, RAW),
    Bar("postgres", "enqueue, 50 callers", "enqueue, 50 callers", 8, BEST_PEER),
    Bar("postgres", "enqueue, 50 callers", "enqueue, 50 callers", 2, "SAQ (Redis)"),
    Bar("postgres", "bulk", "bulk", 1.1, "pgqueuer"),
    Bar("postgres", "unique, fresh keys", "unique, fresh keys", 0.8, RAW),
    Bar("postgres", "unique, duplicates", "unique, duplicates", 0.75, RAW),
    Bar("postgres", "drain, 1 process", "drain, 1 process", 1.5, "pgqueuer"),
    Bar("postgres", "drain, 1 process", "drain, 1 process", 0.7, RAW),
    Bar("postgres", "naps", "naps", 1, "pgqueuer"),
    Bar("postgres", "naps", "naps, most memory", 100),
    Bar("postgres", "pick-up", "pick-up, median", 1 / 1.2, RAW),
    Bar("postgres", "pick-up", "pick-up, 95 of 100", 1 / 2, RAW),
    Bar("postgres", "flow beside a held snapshot", "flow beside a held snapshot", 0.9),
    Bar("postgres", "drain beside ended tasks", "drain beside ended tasks", 0.95),
    Bar("postgres", "drain beside scheduled tasks", "drain beside scheduled tasks", 0.9),
    Bar("postgres", "drain beside more urgent scheduled tasks", "drain beside more urgent scheduled tasks", 0.9),
    Bar("postgres", "idle worker", "idle worker, processor", 0.5),
    Bar("postgres", "idle worker", "idle worker, transactions", 60),
    Bar("sqlite", "enqueue, one caller", "enqueue, one caller", 0.85, RAW),
    Bar("sqlite", "drain, 1 process", "drain, 1 process", 3, "huey"),
    Bar("sqlite", "pick-up", "pick-up, median", 25),
    Bar("mysql", "drain, 1 process", "drain, 1 process", 0.5, RAW),
    Bar("mysql", "pick-up", "pick-up, median", 25),
)
"""Pick-up on MySQL is that of a queue whose last task was a moment ago: an older one is looked at less often."""
