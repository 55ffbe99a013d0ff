"""What the tests of unique tasks share: looks at stored keys, and states that only SQL makes at once."""

from datetime import datetime
from typing import Any

from oxpull_async import Oxpull, TaskResult
from oxpull_async.domain.record import instant_or_none, task_id, wire_id
from tests.fixtures import raw

RUNNING = "status = 'RUNNING', attempts = 1, due = NULL"


async def run(ox: Oxpull, result: TaskResult[Any]) -> None:
    """Make a task run, as far as its row says."""
    async with ox.database.connection() as conn:
        await raw.change(conn, result.id, RUNNING)


async def key_of(ox: Oxpull, result: TaskResult[Any]) -> str | None:
    """Read the unique key that a task was stored with."""
    return (await _fetch(ox, f"SELECT unique_key FROM oxpull_task WHERE id = '{wire_id(result.id)}'"))[0][0]  # type: ignore[no-any-return]


async def holder_of(ox: Oxpull, key: str | None) -> str:
    """Read whom a key's lock row names."""
    return task_id((await _fetch(ox, f"SELECT holder_id FROM oxpull_unique WHERE unique_key = '{key}'"))[0][0])


async def expiry_of(ox: Oxpull, result: TaskResult[Any]) -> datetime | None:
    """Read when the key that a task holds expires."""
    sql = f"SELECT expires_at FROM oxpull_unique WHERE holder_id = '{wire_id(result.id)}'"
    return instant_or_none((await _fetch(ox, sql))[0][0])


async def _fetch(ox: Oxpull, sql: str) -> list[Any]:
    async with ox.transaction() as tx:
        return await tx.fetch(sql)
