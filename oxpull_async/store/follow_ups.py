"""Follow-ups: the one task per key that waits for the key's holder to end.

Then it runs, with the newest arguments.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskId, task_id, wire_id


async def release_follow_ups(conn: Connection, keys: Sequence[str]) -> None:
    """Make follow-ups whose holders have ended ready, and the holders of their keys.

    The caller has locked the keys. A follow-up that was discarded stays as it is, and gets no key.
    """
    if not keys:
        return
    names = json.dumps(keys)
    rows = await conn.fetch("find_follow_ups", keys=names)
    if rows:
        ids = _ids([task_id(row[0]) for row in rows])
        await conn.execute("release_follow_ups", ids=ids)
        await conn.execute("promote_keys", keys=names, ids=ids)


async def see_ends(conn: Connection, pairs: Mapping[TaskId, TaskId], *, joins: bool, dated: bool) -> None:
    """See to it that new follow-ups, given with their holders, are released when these end.

    A holder that is declared to rerun does that itself, unless it may have ended before a dated transaction began.
    Else the follow-up is marked, for its holder's row is not to be locked in a caller's transaction (`joins`).
    """
    declared = set() if dated else set((await what_hangs_on(conn, list(pairs.values()))).keys)
    unseen = {follow_up: holder for follow_up, holder in pairs.items() if holder not in declared}
    if not unseen:
        return
    await conn.execute("mark_rechecks", ids=_ids(list(unseen)))
    if not joins:
        await conn.execute("declare_reruns", ids=_ids(list(unseen.values())))


async def lock_free_keys(conn: Connection, keys: Sequence[str]) -> set[str]:
    """Lock those of the keys that nobody else has locked, in order."""
    if not keys:
        return set()
    return {row[0] for row in await conn.fetch("lock_free_keys", keys=json.dumps(sorted(keys)))}


@dataclass(frozen=True, slots=True)
class Hanging:
    """What hangs on tasks: the keys of those declared to rerun.

    And whether any has a running lock, or is of a batch or a workflow.
    """

    keys: dict[TaskId, str]
    has_locks: bool
    is_followed: bool


async def what_hangs_on(conn: Connection, ids: Sequence[TaskId]) -> Hanging:
    """Return what must be looked at when these tasks end."""
    rows = await conn.fetch("keys_of_tasks", ids=_ids(ids))
    keys = {task_id(row[0]): row[1] for row in rows if row[1] is not None}
    is_followed = any(row[3] is not None or row[4] is not None for row in rows)
    return Hanging(keys, any(row[2] is not None for row in rows), is_followed)


async def follow_ends(conn: Connection, keys: Mapping[TaskId, str], free: set[str]) -> None:
    """Release the follow-ups of tasks that may have ended, and take their recheck marks off.

    A task whose key somebody else has locked keeps its mark, and the next recheck looks at it.
    """
    seen = [id_ for id_, key in keys.items() if key in free]
    if seen:
        await release_follow_ups(conn, sorted(free))
        await conn.execute("drop_follow_ups", keys=json.dumps(sorted(free)))
        await conn.execute("clear_rechecks", ids=_ids(seen))


async def recheck(conn: Connection, limit: int) -> int:
    """Look at the follow-ups of marked tasks whose keys are free now; returns how many keys.

    A marked follow-up has its holder declared to rerun: whatever ends that task releases it from then on.
    """
    marked = {task_id(row[0]): row[1] for row in await conn.fetch("find_rechecks", limit=limit)}
    if not marked:
        return 0
    async with conn.transaction():
        keys = sorted(set(marked.values()))
        free = await lock_free_keys(conn, keys)
        rows = await conn.fetch("find_holders", keys=json.dumps(keys))
        followed = [task_id(row[1]) for row in rows if row[0] in free and row[2] is not None]
        if followed:
            await conn.execute("declare_reruns", ids=_ids(followed))
        await follow_ends(conn, marked, free)
        orphans = [id_ for id_, key in marked.items() if key not in {row[0] for row in rows}]
        if orphans:
            await conn.execute("clear_rechecks", ids=_ids(orphans))
        return len(free) + len(orphans)


def _ids(ids: Sequence[TaskId]) -> str:
    return json.dumps(sorted({wire_id(id_) for id_ in ids}))
