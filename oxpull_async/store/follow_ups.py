"""Follow-ups: the one task per key that waits for the key's holder to end, then runs with the newest arguments."""

import json
from collections.abc import Sequence

from oxpull_async.db.contract import Connection
from oxpull_async.domain.record import TaskId, task_id, wire_id


async def release_follow_ups(conn: Connection, keys: Sequence[str]) -> list[TaskId]:
    """Make the follow-ups of locked keys ready whose holders have ended, and the holders of their keys.

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


async def keys_of(conn: Connection, ids: Sequence[TaskId]) -> list[str]:
    """Return the keys on which a follow-up of these tasks may hang, in order."""
    rows = await conn.fetch("keys_of_tasks", ids=_ids(ids))
    return sorted(row[0] for row in rows)


async def drop_follow_ups(conn: Connection, keys: Sequence[str]) -> None:
    """Clear the pointers of locked keys to follow-ups that were discarded."""
    await conn.execute("drop_follow_ups", keys=json.dumps(keys))


async def mark_rechecks(conn: Connection, ids: Sequence[TaskId]) -> None:
    """Note that the follow-ups of these ended tasks are still to be looked at."""
    await conn.execute("mark_rechecks", ids=_ids(ids))


async def recheck(conn: Connection, limit: int) -> list[TaskId]:
    """Look at the follow-ups of marked tasks whose keys are free now; returns the tasks that became ready."""
    async with conn.transaction():
        marked = {task_id(row[0]): row[1] for row in await conn.fetch("find_rechecks", limit=limit)}
        free = await lock_free_keys(conn, sorted(set(marked.values())))
        done = [id_ for id_, key in marked.items() if key in free]
        if not done:
            return []
        released = await release_follow_ups(conn, sorted(free))
        await conn.execute("clear_rechecks", ids=_ids(done))
    return released


def _ids(ids: Sequence[TaskId]) -> str:
    return json.dumps(sorted(wire_id(id_) for id_ in ids))
