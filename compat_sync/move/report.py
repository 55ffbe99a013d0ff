"""What a move is asked for, and what it tells."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from oxpull_async.domain.record import TaskId

__all__ = ["MoveReport", "MoveRequest", "by_reason"]


@dataclass(frozen=True, slots=True)
class MoveRequest:
    """What to move, how many rows in one transaction, and whether to take it all back."""

    batch_size: int = 500
    dry_run: bool = False
    with_results: bool = False


@dataclass(slots=True)
class MoveReport:
    """What came over, and what stays where it was, and why.

    `left` has tasks by their ids, the others are by their kind and name.
    """

    ready: int = 0
    keys: int = 0
    results: int = 0
    stale_keys: int = 0
    batches: int = 0
    workflows: int = 0
    schedules: int = 0
    left: dict[TaskId, str] = field(default_factory=dict)
    left_batches: dict[str, str] = field(default_factory=dict)
    left_workflows: dict[str, str] = field(default_factory=dict)
    left_schedules: dict[str, str] = field(default_factory=dict)

    def add(self, other: "MoveReport") -> None:
        """Count what one transaction did."""
        for name in ("ready", "keys", "results", "batches", "workflows", "schedules"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("left", "left_batches", "left_workflows", "left_schedules"):
            getattr(self, name).update(getattr(other, name))


def by_reason(left: Mapping[str, str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Group what stays by its reason, the most frequent first."""
    groups: dict[str, list[str]] = {}
    for name, reason in left.items():
        groups.setdefault(reason, []).append(name)
    yield from sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
