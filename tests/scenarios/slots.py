"""The ledger of running locks: a table in which tasks note from when to when they ran, and its checker."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from uuid_utils import uuid7

from oxpull_async import Oxpull
from oxpull_async.domain.record import instant, instant_or_none
from oxpull_async.domain.running_lock import Admission, LockCandidate
from tests.scenarios.looks import NOW, read

INSTANT = {"postgres": "timestamptz", "mysql": "datetime(6)", "sqlite": "text"}


@dataclass(frozen=True, slots=True)
class Held:
    """A slot that a task held; `ended_at` is None where its worker was killed, or the end could not be noted."""

    key: str
    attempt: str
    pid: int
    began_at: datetime
    ended_at: datetime | None


async def make_table(ox: Oxpull) -> None:
    """Make the ledger's table, anew."""
    kind = INSTANT[ox.database.dialect.name]
    async with ox.database.connection() as conn:
        await conn.run_script("DROP TABLE IF EXISTS test_slot")
        await conn.run_script(
            "CREATE TABLE test_slot (id char(36) PRIMARY KEY, lock_key varchar(64) NOT NULL,"
            " attempt varchar(64) NOT NULL, pid integer NOT NULL,"
            f" began_at {kind} NOT NULL, ended_at {kind} NULL)"
        )


async def note_begin(ox: Oxpull, key: str, attempt: str) -> str:
    """Note that a slot of a key is held from now on; returns the row's id."""
    row = str(uuid7())
    async with ox.transaction() as tx:
        await tx.execute(
            "INSERT INTO test_slot (id, lock_key, attempt, pid, began_at)"
            f" VALUES ('{row}', '{key}', '{attempt}', {os.getpid()}, {NOW[ox.database.dialect.name]})"
        )
    return row


async def note_end(ox: Oxpull, row: str) -> None:
    """Note that it is held until now."""
    async with ox.transaction() as tx:
        await tx.execute(f"UPDATE test_slot SET ended_at = {NOW[ox.database.dialect.name]} WHERE id = '{row}'")


async def slots(ox: Oxpull) -> list[Held]:
    """Read the ledger."""
    async with ox.database.connection() as conn:
        rows = await read(conn, "SELECT lock_key, attempt, pid, began_at, ended_at FROM test_slot")
    return [Held(row[0], row[1], row[2], instant(row[3]), instant_or_none(row[4])) for row in rows]


type Leases = Mapping[int, Sequence[datetime]]
"""By process id: when its leases ended; a process that was stalled for too long has several."""


async def worker_leases(ox: Oxpull) -> dict[int, list[datetime]]:
    """Read when the leases of each process end or ended, several where one was lost."""
    leases: dict[int, list[datetime]] = {}
    async with ox.database.connection() as conn:
        for pid, ended_at in await read(conn, "SELECT pid, lease_expires_at FROM oxpull_worker"):
            leases.setdefault(pid, []).append(instant(ended_at))
    return leases


def end_of(slot: Held, leases: Leases) -> datetime:
    """Say until when a slot was rightly held: to its task's end, or to the end of its worker's lease before that."""
    ends = [ended_at for ended_at in leases.get(slot.pid, ()) if ended_at >= slot.began_at]
    return min([*ends, slot.ended_at or datetime.max.replace(tzinfo=UTC)])


def most_at_once(held: Iterable[Held], leases: Leases) -> dict[str, int]:
    """Count how many slots of each key were held at once at most."""
    changes: dict[str, list[tuple[datetime, int]]] = {}
    for slot in held:
        changes.setdefault(slot.key, []).extend([(slot.began_at, 1), (end_of(slot, leases), -1)])
    return {key: _highest(sorted(steps)) for key, steps in changes.items()}


def check_limits(held: Sequence[Held], leases: Leases, limits: Mapping[str, int]) -> None:
    """Fail where more slots of a key were held at once than its limit."""
    most = most_at_once(held, leases)
    broken = {key: count for key, count in most.items() if count > limits[key]}
    slots = sorted((slot for slot in held if slot.key in broken), key=lambda slot: (slot.key, slot.began_at))
    text = "\n".join(f"{slot.key} {slot.attempt} {slot.pid} {slot.began_at} - {slot.ended_at}" for slot in slots)
    assert not broken, f"{len(broken)} of {len(most)} running locks exceeded, by key: {broken}\n{text}\n{leases}"


def everybody(candidates: Sequence[LockCandidate], taken: dict[str, int]) -> Admission:
    """Admit whoever comes: what the ledger must notice."""
    return Admission(admitted=tuple(candidates))


def _highest(steps: Sequence[tuple[datetime, int]]) -> int:
    now = most = 0
    for _, change in steps:
        now += change
        most = max(most, now)
    return most
