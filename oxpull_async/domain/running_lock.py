"""Running locks: at most so many attempts with one key run at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from oxpull_async.domain.errors import InvalidTask
from oxpull_async.domain.key_functions import checked_key

MOST_SLOTS = 32_767
MAX_NAME = 255


class OnConflict(StrEnum):
    """What becomes of a task that finds its lock taken."""

    WAIT = "wait"
    DISCARD = "discard"


@dataclass(frozen=True, slots=True)
class RunningLock:
    """At most `limit` attempts with one key run at once, over all workers.

    `key`: a function of the arguments as they were passed that returns text (default: all arguments as they are
    stored). `name` stands in the place of the task's path, so that tasks share a lock; a name without a key is one lock
    for everything under that name. `on_conflict`: "wait" parks the task until a slot is free, "discard" ends a task
    that has not been attempted yet.

    Raises: InvalidTask for a value out of range, or a key that is no plain function.
    """

    key: Callable[..., str] | None = None
    limit: int = 1
    on_conflict: Literal["wait", "discard"] = "wait"
    name: str | None = None

    def __post_init__(self) -> None:
        if type(self.limit) is not int or not 1 <= self.limit <= MOST_SLOTS:
            raise InvalidTask(f"running lock: limit={self.limit!r} must be a whole number from 1 to {MOST_SLOTS}")
        if self.on_conflict not in tuple(OnConflict):
            raise InvalidTask(f"running lock: on_conflict={self.on_conflict!r} must be wait or discard")
        if self.name is not None and (type(self.name) is not str or not 0 < len(self.name) <= MAX_NAME):
            raise InvalidTask(f"running lock: name={self.name!r} must be text of 1 to {MAX_NAME} characters")
        if self.key is not None:
            checked_key(self.key)


def declared_lock(running_lock: object) -> RunningLock | None:
    """Return the lock that `running_lock=` declares: True is `RunningLock()`, False is none.

    Raises: InvalidTask for anything else.
    """
    if isinstance(running_lock, bool):
        return RunningLock() if running_lock else None
    if isinstance(running_lock, RunningLock):
        return running_lock
    raise InvalidTask(f"running_lock={running_lock!r} must be True, False or RunningLock(…)")


def lock_place(path: str) -> str:
    """Return how errors name the running lock of a task."""
    return f"{path}, running_lock"


@dataclass(frozen=True, slots=True)
class LockCandidate:
    """A due row with a running lock, as the claim sees it.

    `attempts` is how many were made before.
    """

    task_id: str
    lock_key: str
    limit: int
    on_conflict: OnConflict
    attempts: int


@dataclass(frozen=True, slots=True)
class Admission:
    """Which candidates may start, which park, and which end.

    `full` counts the slots held of keys where some parked.
    """

    admitted: tuple[LockCandidate, ...] = ()
    parked: tuple[LockCandidate, ...] = ()
    discarded: tuple[LockCandidate, ...] = ()
    full: dict[str, int] = field(default_factory=dict)

    def of_taken_keys(self) -> "Admission":
        """Return what is refused because of attempts that run, not because of rows admitted here."""
        keys = {row.lock_key for row in self.admitted}
        return Admission(
            parked=tuple(row for row in self.parked if row.lock_key not in keys),
            discarded=tuple(row for row in self.discarded if row.lock_key not in keys),
            full={key: held for key, held in self.full.items() if key not in keys},
        )


def admit(candidates: Sequence[LockCandidate], taken: dict[str, int]) -> Admission:
    """Decide for candidates in claim order; `taken` counts the slots held per key.

    A row is admitted iff fewer slots are held than its own limit; "discard" ends first attempts only.
    """
    held = dict(taken)
    admitted: list[LockCandidate] = []
    parked: list[LockCandidate] = []
    discarded: list[LockCandidate] = []
    for row in candidates:
        if held.get(row.lock_key, 0) < row.limit:
            held[row.lock_key] = held.get(row.lock_key, 0) + 1
            admitted.append(row)
        elif row.on_conflict is OnConflict.DISCARD and row.attempts == 0:
            discarded.append(row)
        else:
            parked.append(row)
    full = {row.lock_key: held[row.lock_key] for row in parked}
    return Admission(tuple(admitted), tuple(parked), tuple(discarded), full)
