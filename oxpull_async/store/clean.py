"""Remove lock rows that nothing hangs on any more: hygiene, never needed for a right answer."""

import json

from oxpull_async.db.contract import Connection
from oxpull_async.store.follow_ups import lock_free_keys
from oxpull_async.store.operate import Pruned, PruneRequest


async def clean_keys(conn: Connection, request: PruneRequest, after: str | None) -> Pruned:
    """Look at the next unique keys, and remove the stale ones that nobody has locked."""
    rows = await conn.fetch("scan_keys", after=after or "", limit=request.batch_size)
    stale = [row[0] for row in rows if row[1]]
    last = rows[-1][0] if len(rows) == request.batch_size else None
    if request.dry_run or not stale:
        return Pruned(len(rows), len(stale), last)
    async with conn.transaction():
        free = await lock_free_keys(conn, stale)
        removed = await conn.execute("delete_stale_keys", keys=json.dumps(sorted(free))) if free else 0
    return Pruned(len(rows), removed, last)


async def clean_locks(conn: Connection, request: PruneRequest, after: str | None) -> Pruned:
    """Remove the next lock rows of running locks under which no task runs, waits or is due."""
    async with conn.transaction():
        rows = await conn.fetch("lock_idle_locks", after=after or "", limit=request.batch_size)
        idle = [row[0] for row in rows]
        if idle and not request.dry_run:
            await conn.execute("delete_locks", keys=json.dumps(idle))
    return Pruned(len(idle), len(idle), idle[-1] if len(idle) == request.batch_size else None)
