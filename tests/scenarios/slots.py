"""The ledger of running locks: a table in which tasks note from when to when they ran, and its checker."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from uuid_utils import uuid7

from oxpull_async import Oxpull
from oxpull_async.domain.record import instant, instant_or_none
from oxpull_async.domain.running_lock import Admission, LockCandidate
from tests.scenarios.looks import NOW, read

INSTANT = {"postgres": "timestamptz", "mysql": "datetime(6)", "sqlite": "text"}


@dataclass(frozen=True, slots=True)
class Held:
    """A slot that a task held; `ended_at` is None where it was killed."""

    key: str
    pid: int
    began_at: datetime
    ended_at: datetime | None


async def make_table(ox: Oxpull) -> None:
    """Make the ledger's table, anew."""
    kind = INSTANT[ox.database.dialect.name]
    async with ox.database.connection() as conn:
        await conn.run_script("DROP TABLE IF EXISTS test_slot")
        await conn.run_script(
            "CREATE TABLE test_slot (id char(36) PRIMARY KEY, lock_key varchar(64) NOT NULL, pid integer NOT NULL,"
            f" began_at {kind} NOT NULL, ended_at {kind} NULL)"
        )


async def note_begin(ox: Oxpull, key: str) -> str:
    """Note that a slot of a key is held from now on; returns the row's id."""
    row = str(uuid7())
    async with ox.transaction() as tx:
        await tx.execute(
            "INSERT INTO test_slot (id, lock_key, pid, began_at)"
            f" VALUES ('{row}', '{key}', {os.getpid()}, {NOW[ox.database.dialect.name]})"
        )
    return row


async def note_end(ox: Oxpull, row: str) -> None:
    """Note that it is held until now."""
    async with ox.transaction() as tx:
        await tx.execute(f"UPDATE test_slot SET ended_at = {NOW[ox.database.dialect.name]} WHERE id = '{row}'")


async def slots(ox: Oxpull) -> list[Held]:
    """Read the ledger."""
    async with ox.database.connection() as conn:
        rows = await read(conn, "SELECT lock_key, pid, began_at, ended_at FROM test_slot")
    return [Held(row[0], row[1], instant(row[2]), instant_or_none(row[3])) for row in rows]


def most_at_once(held: Iterable[Held], leases: Mapping[int, datetime | None]) -> dict[str, int]:
    """Count how many slots of each key were held at once at most.

    `leases` says of the workers that were killed when their lease ended: until then they hold what they had begun.
    """
    changes: dict[str, list[tuple[datetime, int]]] = {}
    for slot in held:
        ended_at = slot.ended_at or leases[slot.pid] or slot.began_at
        changes.setdefault(slot.key, []).extend([(slot.began_at, 1), (max(ended_at, slot.began_at), -1)])
    return {key: _highest(sorted(steps)) for key, steps in changes.items()}


def check_limits(held: Sequence[Held], leases: Mapping[int, datetime | None], limits: Mapping[str, int]) -> None:
    """Fail where more slots of a key were held at once than its limit."""
    most = most_at_once(held, leases)
    broken = {key: count for key, count in most.items() if count > limits[key]}
    assert not broken, f"{len(broken)} of {len(most)} running locks exceeded, by key: {broken}"


def everybody(candidates: Sequence[LockCandidate], taken: dict[str, int]) -> Admission:
    """Admit whoever comes: what the ledger must notice."""
    return Admission(admitted=tuple(candidates))


def _highest(steps: Sequence[tuple[datetime, int]]) -> int:
    now = most = 0
    for _, change in steps:
        now += change
        most = max(most, now)
    return most
