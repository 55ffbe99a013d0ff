"""What rate limits let start: declarations put together, room in windows, who is admitted.

Pure: instants are the database's, and nothing is read or written here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from oxpull_async.domain.limit_keys import key_of
from oxpull_async.domain.permit import Permit, WindowKey
from oxpull_async.domain.running_lock import Admission, LockCandidate, OnConflict

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Declaration:
    """One worker's declaration of a limit; `per` is in seconds."""

    backend_alias: str
    name: str
    limit: int
    per: float
    sliding: bool
    tasks: frozenset[str]
    queues: frozenset[str]


@dataclass(frozen=True, slots=True)
class Limit:
    """What all declarations of a name come to, and what those of one alias cover."""

    name: str
    limit: int
    per: timedelta
    sliding: bool
    tasks: frozenset[str]
    queues: frozenset[str]

    def covers(self, task_path: str, queue_name: str) -> bool:
        """Whether a task counts under this limit."""
        return task_path in self.tasks or queue_name in self.queues


def limits_of(declarations: Sequence[Declaration], backend_alias: str) -> dict[str, Limit]:
    """Return, by name, the limits that cover something of this alias.

    Of a name's declarations, of whatever alias, the smallest limit and the longest time hold; it slides if any does.
    """
    by_name: dict[str, list[Declaration]] = {}
    for declared in declarations:
        by_name.setdefault(declared.name, []).append(declared)
    return {
        name: Limit(
            name,
            min(each.limit for each in found),
            timedelta(seconds=max(each.per for each in found)),
            any(each.sliding for each in found),
            frozenset().union(*(each.tasks for each in found if each.backend_alias == backend_alias)),
            frozenset().union(*(each.queues for each in found if each.backend_alias == backend_alias)),
        )
        for name, found in by_name.items()
        if any(each.backend_alias == backend_alias for each in found)
    }


def windows_of(limits: Mapping[str, Limit], task_path: str, queue_name: str, limit_keys: str) -> tuple[WindowKey, ...]:
    """Return, in the order in which they are locked, the windows that a stored task counts in."""
    names = sorted(name for name, limit in limits.items() if limit.covers(task_path, queue_name))
    return tuple((name, key_of(limit_keys, name)) for name in names)


@dataclass(frozen=True, slots=True)
class Window:
    """One window as it is stored, at the instant `now`.

    `starts` and `oldest`: how many starts under a sliding limit lie in the time behind it, and the first of them. A
    limit that was declared otherwise a while ago has both kinds of counts.
    """

    now: datetime
    started_at: datetime | None = None
    used: int = 0
    held_until: datetime | None = None
    starts: int = 0
    oldest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Room:
    """How many starts a window has left at the instant `seen_at`.

    `opens_at`: when it may have more than none, None where that is never or now. A fixed window began at `started_at`
    and is over at `until`; `used` counts what started in it, or under a sliding limit in the time behind; `others` may
    lie there, counted when the limit slid, or did not yet. A task asked to hold it shut until `held_until`.
    """

    seen_at: datetime
    left: int
    opens_at: datetime | None = None
    started_at: datetime | None = None
    until: datetime | None = None
    used: int = 0
    others: int = 0
    held_until: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Whether another start has room."""
        return self.left > 0


def room(limit: Limit, window: Window) -> Room:
    """Say how many starts a limit has left in a window."""
    found = _sliding_room(limit, window) if limit.sliding else _fixed_room(limit, window)
    if window.held_until is None or window.held_until <= window.now:
        return found
    opens_at = None if limit.limit == 0 else max(window.held_until, found.opens_at or window.held_until)
    return replace(found, left=0, opens_at=opens_at, held_until=window.held_until)


def _sliding_room(limit: Limit, window: Window) -> Room:
    """Count the starts behind `now`, and those of a fixed window of which some may lie there."""
    others, over_at = 0, None
    if window.started_at is not None:
        over_at = _aligned(window.started_at, limit.per) + 2 * limit.per
        others = window.used if over_at > window.now else 0
    left = max(limit.limit - window.starts - others, 0)
    return Room(
        window.now, left, _opening(limit, left, window.oldest, over_at if others else None),
        used=window.starts, others=others,
    )  # fmt: skip


def _fixed_room(limit: Limit, window: Window) -> Room:
    """Find the window that `now` is in; one that began later by the clock of its time goes on."""
    began = _aligned(window.now, limit.per)
    if window.started_at is not None and window.started_at >= began:
        began, used = window.started_at, window.used
    else:
        used = 0
    until = _aligned(began, limit.per) + limit.per
    left = max(limit.limit - used - window.starts, 0)
    opens_at = _opening(limit, left, window.oldest, until)
    return Room(window.now, left, opens_at, began, until, used, window.starts)


def _opening(limit: Limit, left: int, oldest: datetime | None, until: datetime | None) -> datetime | None:
    """Return when a shut window may open first: as its oldest start falls out of it, or as a fixed one is over."""
    if left or not limit.limit:
        return None
    return min((each for each in (until, oldest and oldest + limit.per) if each is not None), default=None)


def _aligned(moment: datetime, per: timedelta) -> datetime:
    """Return the last multiple of `per` since the Unix epoch that is not after `moment`."""
    return moment - (moment - EPOCH) % per


@dataclass(frozen=True, slots=True)
class Contender:
    """A due row as the claim sees it, with its running lock and the windows that it counts in."""

    task_id: str
    lock: LockCandidate | None = None
    windows: tuple[WindowKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Admitted:
    """Which rows may start; what their running locks refuse is in `locks`."""

    starting: tuple[Contender, ...] = ()
    locks: Admission = field(default_factory=Admission)

    def taken(self) -> dict[WindowKey, int]:
        """Count the permits that are taken of each window."""
        counts: dict[WindowKey, int] = {}
        for row in self.starting:
            for window in row.windows:
                counts[window] = counts.get(window, 0) + 1
        return counts


def admit_all(
    contenders: Sequence[Contender], held: Mapping[str, int], left: Mapping[WindowKey, int], most: int
) -> Admitted:
    """Decide for rows in claim order, until `most` may start.

    A row's running lock is asked first: one that it refuses takes no permit. Then all its windows must have room, or
    it takes neither permits nor the slot.
    """
    slots, room_left = dict(held), dict(left)
    starting: list[Contender] = []
    refused: list[LockCandidate] = []
    for row in contenders:
        if len(starting) >= most:
            break
        if row.lock is not None and slots.get(row.lock.lock_key, 0) >= row.lock.limit:
            refused.append(row.lock)
        elif all(room_left.get(window, 0) > 0 for window in row.windows):
            starting.append(row)
            for window in row.windows:
                room_left[window] -= 1
            if row.lock is not None:
                slots[row.lock.lock_key] = slots.get(row.lock.lock_key, 0) + 1
    return Admitted(tuple(starting), _refusals(starting, refused, slots))


def _refusals(starting: Sequence[Contender], refused: Sequence[LockCandidate], slots: Mapping[str, int]) -> Admission:
    parked = tuple(row for row in refused if not _ends(row))
    return Admission(
        admitted=tuple(row.lock for row in starting if row.lock is not None),
        parked=parked,
        discarded=tuple(row for row in refused if _ends(row)),
        full={row.lock_key: slots[row.lock_key] for row in parked},
    )


def _ends(row: LockCandidate) -> bool:
    return row.on_conflict is OnConflict.DISCARD and row.attempts == 0


def permits_of(row: Contender, limits: Mapping[str, Limit], rooms: Mapping[WindowKey, Room]) -> tuple[Permit, ...]:
    """Return what an admitted row took of its windows."""
    return tuple(
        Permit(window, None if limits[window[0]].sliding else rooms[window].started_at) for window in row.windows
    )


def over_at(admitted: Admitted, rooms: Mapping[WindowKey, Room]) -> datetime | None:
    """Return when the first fixed window is over in which something starts; None without any."""
    ends = (rooms[window].until for window in admitted.taken())
    return min((end for end in ends if end is not None), default=None)
