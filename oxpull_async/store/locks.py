"""Running locks: taken in the claim, handed on in the transaction that ends the attempt.

A running row is its own slot, so nothing has to be freed: a key's slots are counted from the rows. The key's lock row
serialises whoever takes, parks and hands on.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.errors import Conflict, RunningLockTaken
from oxpull_async.domain.failure_text import class_path
from oxpull_async.domain.record import TaskId, task_id, wire_id
from oxpull_async.domain.running_lock import Admission, LockCandidate, OnConflict, admit
from oxpull_async.store.moved import follow_stored

PARK_AT_ONCE = 500


async def admit_locked(conn: Connection, candidates: Sequence[LockCandidate]) -> Admission:
    """Decide which candidates with running locks may start.

    The caller has locked their rows and leases those admitted.
    """
    if not candidates:
        return Admission()
    return admit(candidates, await slots_held(conn, sorted({candidate.lock_key for candidate in candidates})))


async def slots_held(conn: Connection, keys: Sequence[str]) -> dict[str, int]:
    """Lock the lock rows of these keys, given in order, and count the slots held of each."""
    if not keys:
        return {}
    await lock_keys(conn, keys)
    return dict(Counter(row[0] for row in await conn.fetch("taken_slots", keys=json.dumps(keys))))


async def turn_away(conn: Connection, admission: Admission, *, may_be_more: bool) -> int:
    """Park or end the candidates that were not admitted; returns how many.

    Those admitted have been leased. Where there `may_be_more` due rows behind the candidates, those of full keys park
    too, so that none stands in front.
    """
    ids = {row.task_id for row in admission.parked}
    if ids:
        for key, held in sorted(admission.full.items()) if may_be_more else ():
            more = await conn.fetch("find_parkable", lock_key=key, held=held, limit=PARK_AT_ONCE)
            ids.update(task_id(row[0]) for row in more)
        await conn.execute("park_tasks", ids=_ids(ids))
    turned_away = len(ids)
    if admission.discarded:
        keys = sorted({row.lock_key for row in admission.discarded})
        holders = {row[0]: row for row in await conn.fetch("taken_slots", keys=json.dumps(keys))}
        refused = [row for row in admission.discarded if row.lock_key in holders]
        rows = [{"id": wire_id(row.task_id), "error": _taken(row, holders[row.lock_key])} for row in refused]
        turned_away += await conn.execute("refuse_tasks", tasks=json.dumps(rows))
        await follow_stored(conn, [row.task_id for row in refused])
    return turned_away


async def lock_keys(conn: Connection, keys: Sequence[str]) -> None:
    """Lock the lock rows of these keys in order, made where they are missing.

    Raises: Conflict where one was deleted meanwhile; without it nobody would wait for this transaction.
    """
    names = json.dumps(keys)
    if len(await conn.fetch("lock_locks", keys=names)) == len(keys):
        return
    await conn.execute("insert_locks", keys=names)
    if len(await conn.fetch("lock_locks", keys=names)) < len(keys):
        raise Conflict("the lock row of a running lock vanished while it was taken: repeat the transaction")


async def hand_over(conn: Connection, keys: Sequence[str]) -> int:
    """Make the best waiter of every queue ready for each freed slot; returns how many.

    `keys` names a key once per slot. Nothing is reserved: the slot is taken at the claim, and whoever comes late
    parks again.
    """
    if not keys:
        return 0
    await lock_keys(conn, sorted(set(keys)))
    return await pass_on(conn, keys)


async def pass_on(conn: Connection, keys: Sequence[str]) -> int:
    """Wake as `hand_over` does for due rows that leave their keys; returns how many.

    No slot is freed, so the lock rows are not needed: whoever parks meanwhile found a full key, and its holder hands
    over. A caller's transaction keeps no claim waiting.
    """
    if not keys:
        return 0
    waiters = await _find_waiters(conn, Counter(keys))
    if not waiters:
        return 0
    return await conn.execute("unpark_tasks", ids=_ids(waiters))


async def due_locks(conn: Connection, ids: Sequence[TaskId]) -> list[str]:
    """Lock those of these rows that have a running lock.

    Returns the running locks of those that are due, one for each row.
    """
    return [row[0] for row in await conn.fetch("lock_hanging", ids=_ids(ids)) if row[1]]


async def hand_over_idle(conn: Connection, limit: int) -> int:
    """Wake waiters of keys that have free slots and nothing ready; returns how many."""
    idle = await conn.fetch("find_idle_locks", limit=limit)
    if not idle:
        return 0
    async with conn.transaction():
        return await hand_over(conn, [key for key, free in idle for _ in range(min(free, PARK_AT_ONCE))])


async def _find_waiters(conn: Connection, freed: Mapping[str, int]) -> list[TaskId]:
    """Lock the best waiters of every queue that their keys' slots would let in."""
    if conn.dialect.has_lateral:
        rows = [{"lock_key": key, "free": count} for key, count in sorted(freed.items())]
        return [task_id(row[0]) for row in await conn.fetch("find_waiters", freed=json.dumps(rows))]
    waiters: list[TaskId] = []
    for key, held, first in await conn.fetch("waiting_places", keys=json.dumps(sorted(freed))):
        place = first
        while place is not None:
            best = await conn.fetch("find_waiters", lock_key=key, place=place, held=held, free=freed[key])
            waiters += [task_id(row[0]) for row in best]
            [[place]] = await conn.fetch("next_place", lock_key=key, place=place)
    return waiters


def _taken(candidate: LockCandidate, holder: Row) -> str:
    who = f"task {task_id(holder[1])}, attempt {holder[2]}, worker {task_id(holder[3])}"
    return json.dumps(
        {
            "exception_class_path": class_path(RunningLockTaken),
            "traceback": f"the running lock is taken by {who}",
            "attempt": candidate.attempts,
            "worker_id": "",
        }
    )


def locked_candidate(row: Row) -> LockCandidate:
    """Read one row of the statement `claim_candidates` that has a running lock."""
    return LockCandidate(task_id(row[0]), row[3], row[4], OnConflict(row[5]), row[6])


def _ids(ids: Collection[TaskId]) -> str:
    return json.dumps(sorted(wire_id(id_) for id_ in ids))
