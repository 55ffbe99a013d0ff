"""Follow-ups: the one task per key that waits for the key's holder to end.

Then it runs, with the newest arguments.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskId, task_id, wire_id


async def release_follow_ups(conn: Connection, keys: Sequence[str]) -> list[TaskId]:
    """Make follow-ups whose holders have ended ready, and the holders of their keys.

    The caller has locked the keys. Returns the ids of the tasks that became ready.
    """
    if not keys:
        return []
    names = json.dumps(keys)
    rows = await conn.fetch("find_follow_ups", keys=names)
    if not rows:
        return []
    ids = json.dumps(sorted(wire_id(task_id(row[0])) for row in rows))
    await conn.execute("release_follow_ups", ids=ids)
    await conn.execute("promote_keys", keys=names, ids=ids)
    return [task_id(row[0]) for row in rows]


async def lock_free_keys(conn: Connection, keys: Sequence[str]) -> set[str]:
    """Lock those of the keys that nobody else has locked, in order."""
    if not keys:
        return set()
    return {row[0] for row in await conn.fetch("lock_free_keys", keys=json.dumps(sorted(keys)))}


@dataclass(frozen=True, slots=True)
class Hanging:
    """What hangs on tasks: the keys of those declared to rerun, and whether any has a lock."""

    keys: dict[TaskId, str]
    has_locks: bool


async def what_hangs_on(conn: Connection, ids: Sequence[TaskId]) -> Hanging:
    """Return what must be looked at when these tasks end."""
    rows = await conn.fetch("keys_of_tasks", ids=_ids(ids))
    keys = {task_id(row[0]): row[1] for row in rows if row[1] is not None}
    return Hanging(keys, any(row[2] is not None for row in rows))


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
    """Look at the follow-ups of marked tasks whose keys are free now; returns how many keys."""
    marked = {task_id(row[0]): row[1] for row in await conn.fetch("find_rechecks", limit=limit)}
    if not marked:
        return 0
    async with conn.transaction():
        keys = sorted(set(marked.values()))
        free = await lock_free_keys(conn, keys)
        await follow_ends(conn, marked, free)
        known = {row[0] for row in await conn.fetch("find_holders", keys=json.dumps(keys))}
        orphans = [id_ for id_, key in marked.items() if key not in known]
        if orphans:
            await conn.execute("clear_rechecks", ids=_ids(orphans))
        return len(free) + len(orphans)


def _ids(ids: Sequence[TaskId]) -> str:
    return json.dumps(sorted({wire_id(id_) for id_ in ids}))
