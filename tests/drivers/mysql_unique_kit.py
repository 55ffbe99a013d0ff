"""What the tests of unique tasks on MySQL and MariaDB share: rules, calls, and how one connection waits for another."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import aiomysql

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Lease, Settlement, Succeeded
from oxpull_async.domain.record import ClaimedTask, TaskRecord
from oxpull_async.domain.unique import Unique, UniqueRule
from oxpull_async.domain.unique_plan import UniqueCall
from oxpull_async.drivers.aiomysql import OwnSession
from oxpull_async.store import settle, unique
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.drivers.mysql_kit import claim, new_task, read, register
from tests.fixtures import innodb
from tests.fixtures.waiting import until

EXISTING = Unique()
RERUN = Unique(on_duplicate="rerun")
REPLACE = Unique(on_duplicate="replace")
RAISE = Unique(on_duplicate="raise")
DEBOUNCE = Unique(on_duplicate="debounce", wait=10, max_wait=15)
"""The server's list of transactions is not made anew before nobody has looked at it for 0.1 s."""


def call(
    alias: str, rule: Unique = EXISTING, position: int = 0, *, key: str | None = None, **changes: object
) -> UniqueCall:
    checked = UniqueRule.of(rule, default_ttl=None)
    task = new_task(alias, unique_key=key or alias, delay=checked.wait, reruns=checked.mode == "rerun", **changes)
    return UniqueCall(position, task, checked)


async def enqueue(conn: Connection, alias: str, rule: Unique = EXISTING, **changes: object) -> UniqueAnswer:
    return await unique.enqueue_unique(conn, call(alias, rule, **changes))  # type: ignore[arg-type]


async def enqueue_bulk(conn: Connection, alias: str, **changes: object) -> UniqueAnswer:
    return (await unique.enqueue_unique_many(conn, [call(alias, **changes)]))[0]  # type: ignore[arg-type]


async def start(conn: Connection, alias: str) -> ClaimedTask:
    (claimed,) = await claim(conn, alias, await register(conn, alias))
    return claimed


async def end(conn: Connection, claimed: ClaimedTask) -> None:
    outcome = Settlement(Lease(claimed.id, claimed.epoch), Succeeded("1"), claimed.rerun_key)
    assert len(await settle.settle(conn, [outcome])) == 1


async def live(conn: Connection, alias: str) -> list[TaskRecord]:
    """Read the pending rows of a test, follow-ups included."""
    assert isinstance(conn, OwnSession)
    cursor = await conn.link.cursor(aiomysql.Cursor)
    await cursor.execute(
        "SELECT id FROM oxpull_task WHERE backend_alias = %s AND status IN ('READY', 'WAITING', 'RUNNING') ORDER BY id",
        (alias,),
    )
    return [await read(conn, str(id_)) for (id_,) in await cursor.fetchall()]


async def is_waiting(watcher: Connection, session: OwnSession) -> None:
    """Wait until a session waits for a lock."""
    assert isinstance(watcher, OwnSession)
    cursor = await watcher.link.cursor(aiomysql.Cursor)

    async def waits() -> bool:
        await cursor.execute(innodb.REPORT)
        return session.link.thread_id() in innodb.waiting(await cursor.fetchall())

    await until(waits, what="the session waits for a lock")


class _RollbackError(Exception):
    """Ends a test's transaction without a commit."""


@asynccontextmanager
async def transaction(conn: Connection, *, commits: bool) -> AsyncIterator[None]:
    """Open a transaction that ends as is said."""
    with suppress(_RollbackError):
        async with conn.transaction():
            yield
            if not commits:
                raise _RollbackError
