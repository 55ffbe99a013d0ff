"""Read who holds unique keys: their lock rows and the tasks these name."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.record import TaskId, TaskRecord, TaskStatus, task_id, wire_id
from oxpull_async.domain.unique import Holder
from oxpull_async.domain.unique_plan import Found
from oxpull_async.store.results import get_tasks

LOCK_KEY, DUE = 25, 26
STATUS, ATTEMPTS = 5, 15
KEY_ROW = 25
"""Where the columns of the lock row begin behind those of the record."""
HOLDER, FOLLOW_UP, EXPIRED, ISOLATION = 1, 2, 3, 4

type Names = tuple[TaskId, TaskId | None]
"""The holder and the follow-up that a lock row names, whether they exist or not."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What was found for keys, and whom their lock rows name.

    `isolation` is None where the database has one level, or nothing was found; `doubtful`: the keys of whose tasks
    only a lock can tell what is committed.
    """

    found: Mapping[str, Found]
    names: Mapping[str, Names]
    isolation: str | None
    doubtful: frozenset[str] = frozenset()


async def look(conn: Connection, keys: Sequence[str]) -> Sight:
    """Read the lock rows that these keys have, and the records they name, without a lock."""
    return await _sight(conn, await conn.fetch("find_holders", keys=json.dumps(keys)))


class Glimpse:
    """One key's lock row and its holder's, as one statement saw them."""

    __slots__ = ("_key_row", "_row")

    def __init__(self, row: Row) -> None:
        self._row = row
        self._key_row = row[KEY_ROW:]

    @property
    def isolation(self) -> str | None:
        """The isolation level, where there are several."""
        level: str | None = self._key_row[ISOLATION]
        return level

    @property
    def holder_id(self) -> TaskId:
        """Whom the lock row names."""
        return task_id(self._key_row[HOLDER])

    @property
    def holder(self) -> Holder | None:
        """The holder as the rules see it.

        None where a follow-up is named, of which more must be known.
        """
        status, attempts, (_, _, follow_up, expired, _) = self._row[STATUS], self._row[ATTEMPTS], self._key_row
        if follow_up is not None:
            return None
        is_expired = None if expired is None else bool(expired)
        if status is None:
            return Holder(None, 0, is_expired, has_follow_up=False)
        return Holder(TaskStatus(status), attempts, is_expired, has_follow_up=False)

    def record(self) -> TaskRecord:
        """Return the holder's record, which must exist."""
        return TaskRecord.from_row(self._row)

    async def sight(self, conn: Connection) -> Sight:
        """Return what was seen as `look` does, with the follow-up if one is named."""
        records = {} if self._row[0] is None else {(record := self.record()).id: record}
        if self._key_row[FOLLOW_UP] is not None:
            records |= await get_tasks(conn, _named([self._key_row]))
        rows = [self._key_row]
        return Sight({rows[0][0]: _found(rows[0], records)}, _names(rows), self.isolation)


async def glimpse(conn: Connection, key: str) -> Glimpse | None:
    """Read the lock row of a key and its holder in one statement, without a lock.

    None where the key has none.
    """
    row = await conn.fetchrow("find_holder", unique_key=key)
    return None if row is None or row[KEY_ROW] != key else Glimpse(row)  # MySQL pads what it compares


class LockedKeys:
    """Lock rows that this transaction has locked, with what is known of their tasks.

    `due_locks`: the running lock of each locked task that is due and has one.
    """

    def __init__(self, rows: Sequence[Row], records: Mapping[TaskId, TaskRecord]) -> None:
        self._rows = rows
        self._records = dict(records)
        self.due_locks: dict[TaskId, str] = {}

    @classmethod
    async def of(cls, conn: Connection, rows: Sequence[Row], seen: Mapping[Names, TaskRecord]) -> "LockedKeys":
        """Read the tasks that locked lock rows name, without a lock; not those that were seen."""
        names = _names(rows)
        known = {record.id: record for these in names.values() if (record := seen.get(these)) is not None}
        unknown = [id_ for id_ in _named(rows) if id_ not in known]
        return cls(rows, known | (await get_tasks(conn, unknown) if unknown else {}))

    @property
    def found(self) -> dict[str, Found]:
        """What is known by now."""
        return {row[0]: _found(row, self._records) for row in self._rows}

    @property
    def isolation(self) -> str | None:
        """The isolation level, where there are several and lock rows were locked."""
        return self._rows[0][4] if self._rows else None

    @property
    def names(self) -> dict[str, Names]:
        """Whom each lock row names."""
        return _names(self._rows)

    async def lock_tasks(self, conn: Connection, ids: Iterable[TaskId]) -> None:
        """Lock tasks, and know them as they are now.

        What is decided next still holds when it is written.
        """
        wanted = sorted({wire_id(id_) for id_ in ids})
        if not wanted:
            return
        for id_ in wanted:
            self._records.pop(task_id(id_), None)
        for row in await conn.fetch("lock_tasks", ids=json.dumps(wanted)):
            record = TaskRecord.from_row(row)
            self._records[record.id] = record
            if row[DUE] and row[LOCK_KEY] is not None:
                self.due_locks[record.id] = row[LOCK_KEY]


async def lock_keys(conn: Connection, keys: Sequence[str]) -> Sequence[Row]:
    """Lock the lock rows that these keys have, in order, and return them as they are now."""
    return await conn.fetch("lock_keys", keys=json.dumps(keys))


async def lock_or_insert(conn: Connection, key_rows: Sequence[Mapping[str, object]]) -> set[str]:
    """Lock the lock rows of these keys in order, made where missing; returns those made."""
    keys = json.dumps(key_rows)
    if conn.dialect.insert_returns_rows:
        return {row[0] for row in await conn.fetch("insert_keys", keys=keys)}
    await conn.execute("insert_keys", keys=keys)
    return {row[0] for row in await conn.fetch("inserted_keys", keys=keys)}


async def _sight(conn: Connection, rows: Sequence[Row]) -> Sight:
    if not rows:
        return Sight({}, {}, None)
    records = await get_tasks(conn, _named(rows))
    return Sight({row[0]: _found(row, records) for row in rows}, _names(rows), rows[0][4])


def _names(rows: Sequence[Row]) -> dict[str, Names]:
    return {row[0]: (task_id(row[1]), None if row[2] is None else task_id(row[2])) for row in rows}


def _named(rows: Sequence[Row]) -> list[TaskId]:
    return [task_id(id_) for row in rows for id_ in row[1:3] if id_ is not None]


def _found(row: Row, records: Mapping[TaskId, TaskRecord]) -> Found:
    holder = task_id(row[1])
    named = None if row[2] is None else records.get(task_id(row[2]))
    follow_up = named if named is not None and named.waiting_for == "follow_up" else None
    is_expired = None if row[3] is None else bool(row[3])
    return Found(holder, None if follow_up is None else follow_up.id, is_expired, records.get(holder), follow_up)
