"""Take due tasks for a worker: which shape depends on what the database can say."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from oxpull_async.db.contract import Connection, Row, Scalar
from oxpull_async.domain.low_water import WHOLE
from oxpull_async.domain.permit import WindowKey
from oxpull_async.domain.rate_lanes import LimitsLook
from oxpull_async.domain.rate_windows import Admitted, Contender, admit_all, over_at, permits_of
from oxpull_async.domain.record import ClaimedTask, TaskId, WorkerId, task_id, wire_id, wire_instant
from oxpull_async.store.id_lists import LISTED_AT_ONCE, id_lists
from oxpull_async.store.locks import admit_locked, locked_candidate, slots_held, turn_away
from oxpull_async.store.queues import json_list
from oxpull_async.store.rate_lanes import limited_candidates
from oxpull_async.store.rate_limits import declared_limits
from oxpull_async.store.rate_windows import count_starts, lock_windows, read_rooms
from oxpull_async.store.stretches import Stretches, last_mark, queue_list

MOST_PASSES = 10
MOST_DECISIONS = 3
WIDE_LOOK = 100
_OF_FREE_ROWS = 3


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """What a worker asks for: at most `limit` tasks of these queues.

    Attempts at `later_paths` will not start at once and are not marked as begun; `excluded_paths` are left alone.
    Without `meets_locks` rows that have a running lock may be left for a later claim; with `passes_locked` too, where a
    look a moment ago found their locks taken, they are looked at only if there are no others. Rows with limit keys are
    claimed only from the lanes that `look` found open a moment ago. Of a queue in `stretches` only those are read
    for rows without lock and limits, where the database gains by it; of the others all.
    """

    worker_id: WorkerId
    backend_alias: str
    queues: tuple[str, ...]
    limit: int
    later_paths: frozenset[str] = frozenset()
    excluded_paths: frozenset[str] = frozenset()
    meets_locks: bool = False
    passes_locked: bool = False
    look: LimitsLook | None = None
    stretches: Stretches = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a claim took, and whether it passed rows with running locks: none could start.

    It is `unfinished` where all it did was to turn rows away, and there may be others behind them.
    """

    tasks: list[ClaimedTask] = field(default_factory=list)
    passed_locked: bool = False
    unfinished: bool = False


class _Found(NamedTuple):
    """A row of a statement that lists candidates, and what its start depends on."""

    row: Row
    contender: Contender


async def claim(conn: Connection, request: ClaimRequest) -> list[ClaimedTask]:
    """Lease up to `limit` due tasks to the worker, by priority, then `available_at`, then id.

    Returns nothing when there is nothing, and when the worker's own lease has ended.
    """
    return (await claim_and_look(conn, request)).tasks


async def claim_and_look(conn: Connection, request: ClaimRequest) -> Claimed:
    """Claim as `claim` does, and tell what became of rows with running locks."""
    if request.limit < 1 or not request.queues:
        return Claimed()
    if request.look is not None and request.look.lanes:
        return await _claim_under_limits(conn, request, request.look)
    passes = request.passes_locked or not request.meets_locks
    rows = await (_claim_free if passes else _claim_unless_startable)(conn, request)
    if rows or not request.meets_locks:
        return Claimed(_in_order(rows), passed_locked=request.meets_locks)
    return await _claim_past_the_locked(conn, request)


async def make_way(conn: Connection, request: ClaimRequest) -> int:
    """Turn rows of taken running locks away that hide others; returns how many.

    Those of "discard" end, the others park, a bounded number at once. Rows of keys with a free slot stay. For the time
    in which claims are content with rows without a lock; one that finds nothing does it by itself.
    """
    request = replace(request, limit=max(request.limit, WIDE_LOOK))
    async with conn.transaction():
        locked = await _read(conn, request, "locked_candidates")
        admission = await admit_locked(conn, [locked_candidate(row) for row in _best(locked)])
        return await turn_away(conn, admission.of_taken_keys(), may_be_more=len(locked) >= request.limit)


async def claim_ages(conn: Connection, ids: Sequence[TaskId]) -> dict[TaskId, float]:
    """Say for how many seconds rows have been claimed, by the clock that stamped them."""
    rows = await conn.fetch("claim_ages", ids=json.dumps([wire_id(id_) for id_ in ids]))
    return {task_id(row[0]): float(row[1]) for row in rows}


async def _claim_past_the_locked(conn: Connection, request: ClaimRequest) -> Claimed:
    """Claim, once more where all that stood in front was turned away; each pass is a transaction of its own."""
    width = request.limit
    for _ in range(MOST_PASSES):
        rows, turned_away = await _claim_by_locking_first(conn, request, width)
        if rows or not turned_away:
            return Claimed(_in_order(rows))
        width = max(width, WIDE_LOOK)
    return Claimed(unfinished=True)


async def _claim_unless_startable(conn: Connection, request: ClaimRequest) -> Sequence[Row]:
    """Claim rows that need no running lock, unless one of the best that do could start as well."""
    if conn.dialect.update_returns_rows:
        return await _claim_at_once(conn, request, "claim_past_locked")
    return [] if await _read(conn, request, "find_startable") else await _claim_free(conn, request)


async def _claim_free(conn: Connection, request: ClaimRequest) -> Sequence[Row]:
    """Claim rows that need no running lock."""
    if conn.dialect.update_returns_rows:
        return await _claim_at_once(conn, request, "claim")
    async with conn.transaction():
        free = await _read_free(conn, request)
        return await _lease(conn, request, [task_id(row[0]) for row in _best(free)[: request.limit]])


async def _claim_at_once(conn: Connection, request: ClaimRequest, statement: str) -> Sequence[Row]:
    queues = queue_list(conn.dialect, request.queues, request.stretches)
    return await conn.fetch(statement, **_where(request), **_what(request), queues=queues)


async def _claim_by_locking_first(conn: Connection, request: ClaimRequest, width: int) -> tuple[Sequence[Row], int]:
    """Lock the best rows with and without running locks, and lease the best of those that may start.

    It sees at most `width` rows with locks. Where there is room left, those that may not start are turned away; returns
    how many those are, too.
    """
    async with conn.transaction():
        locked = await _read(conn, replace(request, limit=width), "locked_candidates")
        free = await _read_free(conn, request)
        admission = await admit_locked(conn, [locked_candidate(row) for row in _best(locked)])
        refused = {row.task_id for row in (*admission.parked, *admission.discarded)}
        best = [id_ for row in _best([*free, *locked]) if (id_ := task_id(row[0])) not in refused]
        rows = await _lease(conn, request, best[: request.limit])
        if best and (not rows or len(best) >= request.limit):
            return rows, 0
        return rows, await turn_away(conn, admission, may_be_more=len(locked) >= width)


async def _claim_under_limits(conn: Connection, request: ClaimRequest, look: LimitsLook) -> Claimed:
    """Claim the best rows of open lanes and of all others together, each as its lock and its limits let it.

    Once more where all that stood in front was turned away, as `_claim_past_the_locked` does.
    """
    for _ in range(MOST_PASSES):
        tasks, turned_away = await _claim_from_lanes(conn, request, look)
        if tasks or not turned_away:
            return Claimed(tasks)
        look = replace(look, lanes=tuple(replace(lane, places=WIDE_LOOK) for lane in look.lanes))
    return Claimed(unfinished=True)


async def _claim_from_lanes(conn: Connection, request: ClaimRequest, look: LimitsLook) -> tuple[list[ClaimedTask], int]:
    """Lock the best rows, lease those that may start, and turn away what locks refuse; returns how many, too."""
    async with conn.transaction():
        locked = await _read(conn, request, "locked_candidates") if request.meets_locks else []
        limited = await limited_candidates(conn, request.backend_alias, look.lanes)
        found = [_Found(row, _contender(row)) for row in (*locked, *await _read_free(conn, request))]
        found += [_Found(row, _contender(row, lane.windows)) for row, lane in limited]
        found.sort(key=lambda one: (one.row[1], one.row[2], one.contender.task_id))
        admitted, tasks = await _start_in_order(conn, request, look, [one.contender for one in found])
        if len(tasks) >= request.limit:
            return tasks, 0
        return tasks, await turn_away(conn, admitted.locks, may_be_more=len(found) >= request.limit)


async def _start_in_order(
    conn: Connection, request: ClaimRequest, look: LimitsLook, contenders: Sequence[Contender]
) -> tuple[Admitted, list[ClaimedTask]]:
    """Lock what the contenders need, decide, lease those admitted and count their starts.

    What a fixed window lets start is leased before it is over, or else decided again for the next one. Where limits are
    declared otherwise than when the lanes were looked at, nothing starts: whoever looks again sees them as they are.
    """
    windows = {window for row in contenders for window in row.windows}
    held = await slots_held(conn, sorted({row.lock.lock_key for row in contenders if row.lock is not None}))
    await lock_windows(conn, windows)
    if await declared_limits(conn, request.backend_alias) != look.limits:
        return Admitted(), []
    for _ in range(MOST_DECISIONS):
        rooms = await read_rooms(conn, look.limits, windows)
        admitted = admit_all(contenders, held, {key: each.left for key, each in rooms.items()}, request.limit)
        ends = over_at(admitted, rooms)
        rows = await _lease(conn, request, [row.task_id for row in admitted.starting], before=wire_instant(ends))
        if rows or not admitted.starting or ends is None:
            break
    if not rows:
        return Admitted() if admitted.starting else admitted, []
    await count_starts(conn, look.limits, rooms, admitted)
    permits = {row.task_id: permits_of(row, look.limits, rooms) for row in admitted.starting}
    return admitted, [task._replace(permits=permits[task.id]) for task in _in_order(rows)]


async def _read_free(conn: Connection, request: ClaimRequest) -> Sequence[Row]:
    """Lock the best rows without lock and limits of the stretches asked for."""
    if conn.dialect.update_returns_rows:
        queues = queue_list(conn.dialect, request.queues, request.stretches)
        return await conn.fetch("claim_candidates", **_where(request), queues=queues)
    return [row for name in request.queues for row in await _read_queue(conn, request, name)]


async def _read_queue(conn: Connection, request: ClaimRequest, queue_name: str) -> Sequence[Row]:
    """Lock the best rows of one queue beyond its mark, or all of its best where some outrank the mark."""
    where, stretches = _where(request), request.stretches.get(queue_name, WHOLE)
    rows = await conn.fetch("claim_candidates", **where, queue_name=queue_name, **last_mark(stretches))
    mark = stretches[-1].after
    if mark is not None and any(row[1] < mark.rank for row in rows):
        rows = await conn.fetch("claim_candidates", **where, queue_name=queue_name, **last_mark(WHOLE))
    return rows


async def _read(conn: Connection, request: ClaimRequest, statement: str) -> Sequence[Row]:
    """Read what a statement finds in the queues asked for, together or one after another."""
    if conn.dialect.update_returns_rows:
        return await conn.fetch(statement, **_where(request), queues=json_list(request.queues))
    return [
        row
        for queue_name in request.queues
        for row in await conn.fetch(statement, **_where(request), queue_name=queue_name)
    ]


def _contender(row: Row, windows: tuple[WindowKey, ...] = ()) -> Contender:
    """Read a candidate; where its row has a running lock, the columns after the first three are its lock's."""
    is_locked = len(row) > _OF_FREE_ROWS and row[_OF_FREE_ROWS] is not None
    return Contender(task_id(row[0]), locked_candidate(row) if is_locked else None, windows)


def _best(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row[1], row[2], task_id(row[0])))


async def _lease(
    conn: Connection, request: ClaimRequest, ids: Sequence[TaskId], before: str | None = None
) -> Sequence[Row]:
    if not ids:
        return []
    names = json.dumps([wire_id(id_) for id_ in ids])
    if conn.dialect.update_returns_rows:
        return await conn.fetch("claim_ids", ids=names, before=before, **_what(request))
    for some in id_lists([wire_id(id_) for id_ in ids], len(ids) if before else LISTED_AT_ONCE):
        await conn.execute("claim", ids=some, before=before, **_what(request))
    return await conn.fetch("claimed_tasks", ids=names, worker_id=wire_id(request.worker_id))


def _where(request: ClaimRequest) -> dict[str, Scalar]:
    return {
        "backend_alias": request.backend_alias,
        "limit": request.limit,
        "excluded_paths": json_list(request.excluded_paths),
    }


def _what(request: ClaimRequest) -> dict[str, Scalar]:
    return {"worker_id": wire_id(request.worker_id), "later_paths": json_list(request.later_paths)}


def _in_order(rows: Sequence[Row]) -> list[ClaimedTask]:
    return sorted((ClaimedTask.from_row(row) for row in rows), key=_claim_order)


def _claim_order(task: ClaimedTask) -> tuple[int, object, str]:
    return (-task.priority, task.available_at, task.id)
