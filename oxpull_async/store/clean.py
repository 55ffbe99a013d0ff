"""Remove lock rows that nothing hangs on any more: hygiene, never needed for a right answer."""

import json
from dataclasses import dataclass

from oxpull_async.db.contract import Connection
from oxpull_async.store.follow_ups import lock_free_keys


@dataclass(frozen=True, slots=True)
class CleanedKeys:
    """One step: how many stale keys went (a dry run: were found), and where the next starts."""

    removed: int
    after: str | None


async def clean_keys(conn: Connection, after: str, limit: int, *, dry_run: bool) -> CleanedKeys:
    """Look at the next unique keys, and remove the stale ones that nobody has locked."""
    rows = await conn.fetch("scan_keys", after=after, limit=limit)
    stale = [row[0] for row in rows if row[1]]
    last = rows[-1][0] if len(rows) == limit else None
    if dry_run or not stale:
        return CleanedKeys(len(stale), last)
    async with conn.transaction():
        free = await lock_free_keys(conn, stale)
        removed = await conn.execute("delete_stale_keys", keys=json.dumps(sorted(free))) if free else 0
    return CleanedKeys(removed, last)


async def clean_locks(conn: Connection, limit: int) -> int:
    """Remove up to `limit` lock rows of running locks under which no task runs, waits or is due."""
    async with conn.transaction():
        idle = sorted(row[0] for row in await conn.fetch("lock_idle_locks", limit=limit))
        return await conn.execute("delete_locks", keys=json.dumps(idle)) if idle else 0
