"""What the tests of the MySQL dialect share: a loud cursor, databases with both column types of ids, and helpers."""

import secrets
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uuid_utils
from msgspec.structs import replace as replaced

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Lease, Outcome, Settlement
from oxpull_async.domain.record import ClaimedTask, NewTask, TaskRecord
from oxpull_async.drivers import aiomysql as driver
from oxpull_async.drivers.aiomysql import AiomysqlDatabase
from oxpull_async.drivers.aiomysql_link import PlainCursor
from oxpull_async.drivers.url import parse_url
from oxpull_async.store import claim as claims
from oxpull_async.store import enqueue, lease, results, schema, settle

NATIVE = "native"
ID_TYPES = (NATIVE, "char(32)")


class LoudCursor(PlainCursor):
    """The driver's cursor, but a warning of the server fails the test."""

    async def _show_warnings(self, conn: Any) -> None:
        for level, number, text in await conn.show_warnings():
            if level != "Note":  # "table already exists" is one
                warnings.warn(f"{level} {number}: {text}", stacklevel=2)


@asynccontextmanager
async def migrated(url: str, id_type: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AiomysqlDatabase]:
    """Give a database whose ids have the server's own type, or another one."""
    database = AiomysqlDatabase(parse_url(url))
    async with database.connection() as conn:
        await schema.migrate(conn, await database.uuid_type() if id_type == NATIVE else id_type)
    monkeypatch.setattr(driver, "PlainCursor", LoudCursor)
    yield database
    await database.close()


def new_alias() -> str:
    return f"alias-{secrets.token_hex(4)}"


def new_id() -> str:
    return str(uuid_utils.uuid7())


def new_task(alias: str, **changes: object) -> NewTask:
    task = NewTask(new_id(), alias, "shop.tasks.send", "mail", 0, '["\\u00e9", 1.0]', '{"a": 1}', None, 3, 30.0)
    return replaced(task, **changes)


async def register(conn: Connection, alias: str, *, lease_seconds: float = 30) -> str:
    card = lease.WorkerCard(new_id(), alias, "host", 1, ("mail",), 10, lease_seconds)
    await lease.register(conn, card)
    return card.worker_id


async def claim(conn: Connection, alias: str, worker_id: str, limit: int = 10, **more: Any) -> list[ClaimedTask]:
    return await claims.claim(conn, claims.ClaimRequest(worker_id, alias, ("mail", "bulk"), limit, **more))


async def run_one(conn: Connection, alias: str) -> tuple[str, ClaimedTask]:
    await enqueue.enqueue(conn, new_task(alias))
    worker_id = await register(conn, alias)
    (claimed,) = await claim(conn, alias, worker_id)
    return worker_id, claimed


async def finish(conn: Connection, claimed: ClaimedTask, outcome: Outcome) -> TaskRecord:
    lease_ = Lease(claimed.id, claimed.epoch)
    written = await settle.settle(conn, [Settlement(lease_, outcome)])
    record = await read(conn, claimed.id)
    assert written == {lease_: record.status}
    return record


async def read(conn: Connection, task_id: str) -> TaskRecord:
    record = await results.get_task(conn, task_id)
    assert record is not None
    return record
