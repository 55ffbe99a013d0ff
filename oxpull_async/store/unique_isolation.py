"""Keep unique enqueues true in transactions whose snapshot is older than what is committed.

What is read without a lock is verified before it becomes an answer. Where the truth cannot be known the enqueue is
a UniqueEnqueueRace: nothing is written, and the message says what to repeat and what became of the transaction.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import Conflict, Contended, DatabaseTrouble, LockTimeout, UniqueEnqueueRace
from oxpull_async.domain.record import TaskId, wire_id
from oxpull_async.domain.unique_plan import Found, KeyPlan, plan_key
from oxpull_async.store.holders import LockedKeys, Sight, look

_REPEATABLE_READ, _SERIALIZABLE = "repeatable read", "serializable"


class Outdated(Exception):
    """The snapshot does not show what is committed for a key; chained to the database's error."""


class _UndoneError(Exception):
    """Ends a savepoint that was only opened to try something."""


@asynccontextmanager
async def racing(conn: Connection) -> AsyncIterator[None]:
    """Let an enqueue in an open transaction count whole or not at all.

    What stops it is a race. Outside of a transaction errors pass as they are: who began can repeat.
    Raises: UniqueEnqueueRace.
    """
    if not conn.in_transaction:
        yield
        return
    try:
        async with conn.transaction():
            yield
    except Outdated as stopped:
        raise await _race(conn, stopped) from stopped.__cause__
    except (Conflict, LockTimeout) as stopped:
        raise await _race(conn, stopped) from stopped


@asynccontextmanager
async def repeatable(conn: Connection) -> AsyncIterator[None]:
    """Let a race be a conflict for whoever begins a transaction here, and so can repeat it."""
    joins = conn.in_transaction
    try:
        yield
    except UniqueEnqueueRace as race:
        if joins:
            raise
        stopped = race.__cause__
        raise (stopped if isinstance(stopped, Contended) else Conflict(str(race))) from race


def is_dated(conn: Connection, isolation: str | None) -> bool:
    """Whether plain reads in a transaction answer from a snapshot that may be outrun.

    Where locks see the newest row, SERIALIZABLE makes a lock of every read.
    """
    return isolation == _REPEATABLE_READ or (isolation == _SERIALIZABLE and conn.dialect.locks_by_snapshot)


def is_fresh(isolation: str | None) -> bool:
    """Whether every statement of a transaction sees what is committed by then.

    Others answer from a snapshot, or lock the gaps between the rows that they read.
    """
    return isolation not in {_REPEATABLE_READ, _SERIALIZABLE}


async def verified(conn: Connection, sight: Sight, plans: Sequence[KeyPlan]) -> Sight:
    """Verify against what is committed the holders on whom plans rest that write nothing.

    Returns what was found, newer where somebody has written meanwhile, with the keys that only a lock can tell about.
    Raises: Outdated where no lock could either.
    """
    resting = {plan.key: plan for plan in plans if plan.key in sight.found and plan.taken_from is None}
    if not resting:
        return sight
    if not conn.dialect.locks_by_snapshot:
        moved = _moved(resting, sight, await _look_apart(conn, list(resting)))
        return replace(sight, doubtful=frozenset(moved))
    changed = await _changed(conn, {key: _ids(sight.found[key]) for key in resting})
    if not changed:
        return sight
    fresh = await _look_apart(conn, list(changed), cause=next(iter(changed.values())))
    for key, event in _moved({key: resting[key] for key in changed}, sight, fresh).items():
        raise Outdated(f"since the transaction's snapshot began {event}") from changed[key]
    return replace(sight, found={**sight.found, **fresh.found})


def refuse_newer(seen: Sight, locked: LockedKeys) -> None:
    """Raise Outdated where locked lock rows name others than the snapshot does."""
    if any(seen.names.get(key) != names for key, names in locked.names.items()):
        raise Outdated("another enqueue took the key after the transaction's snapshot began, which does not show it")


def refuse_promotion(seen: Sequence[KeyPlan], locked: Sequence[KeyPlan]) -> None:
    """Raise Outdated where the snapshot shows a holder as pending whose follow-up is due."""
    known = {plan.key for plan in seen if plan.promoted}
    if any(plan.promoted and plan.key not in known for plan in locked):
        raise Outdated("the task that held the key ended after the transaction's snapshot began, and has a follow-up")


def _ids(found: Found) -> tuple[TaskId, ...]:
    return tuple(record.id for record in (found.holder, found.follow_up) if record is not None)


async def _changed(conn: Connection, ids: Mapping[str, tuple[TaskId, ...]]) -> dict[str, Conflict]:
    """Return the keys whose tasks somebody has changed and committed since the snapshot began, with the refusals.

    A row that is being written at this moment counts as unchanged: its last committed version is what we read.
    """
    if await _refusal(conn, [id_ for these in ids.values() for id_ in these]) is None:
        return {}
    refusals = {key: await _refusal(conn, these) for key, these in ids.items()}
    return {key: refusal for key, refusal in refusals.items() if isinstance(refusal, Conflict)}


async def _refusal(conn: Connection, ids: Sequence[TaskId]) -> Contended | None:
    """Try to lock tasks against changes, undo it at once, and return what was said against it."""
    try:
        async with _undone(conn):
            await conn.fetch("share_tasks_now", ids=json.dumps([wire_id(id_) for id_ in ids]))
    except (Conflict, LockTimeout) as refusal:
        return refusal
    return None


@asynccontextmanager
async def _undone(conn: Connection) -> AsyncIterator[None]:
    with suppress(_UndoneError):
        async with conn.transaction():
            yield
            raise _UndoneError


async def _look_apart(conn: Connection, keys: Sequence[str], *, cause: Conflict | None = None) -> Sight:
    """Read keys once more on a connection of its own, which sees what is committed and takes no lock."""
    try:
        async with conn.apart() as apart:
            return await look(apart, keys)
    except DatabaseTrouble as trouble:
        hint = ""
        if isinstance(trouble, LockTimeout):
            hint = ". A change of the tables, such as a migration's, may be waiting for this very transaction"
        known = "may have" if cause is None else "has"
        raise Outdated(
            f"the task that held the key {known} changed since the transaction's snapshot began, and could not be read "
            f"on a connection of its own: {trouble}{hint}"
        ) from trouble


def _moved(resting: Mapping[str, KeyPlan], seen: Sight, fresh: Sight) -> dict[str, str]:
    """Return the keys whose plans do not rest on what is committed, and what happened to them."""
    events = {key: _event(plan, seen, fresh) for key, plan in resting.items()}
    return {key: event for key, event in events.items() if event is not None}


def _event(plan: KeyPlan, seen: Sight, fresh: Sight) -> str | None:
    found = fresh.found.get(plan.key)
    if found is None:
        return "the key was given up"
    if fresh.names[plan.key] != seen.names[plan.key]:
        return f"the key passed to task {found.holder_id}"
    again = plan_key(plan.key, plan.calls, found)
    if (again.writes, again.refused, again.answers) == (plan.writes, plan.refused, plan.answers):
        return None
    if found.holder is None:
        return f"task {found.holder_id}, which held the key, was deleted"
    return f"task {found.holder_id}, which held the key, became {found.holder.status}"


async def _race(conn: Connection, stopped: Exception) -> UniqueEnqueueRace:
    """Say why the enqueue was stopped, and ask the transaction itself whether it lives."""
    try:
        (level, database), *_ = await conn.fetch("isolation_level")
    except DatabaseTrouble:
        level, database, alive = None, "", False
    else:
        alive = _survived(stopped, level)
    return UniqueEnqueueRace(
        f"whether the unique key is held could not be known, and nothing was written: {_cause(stopped, level)}"
        f"{f' [{level.upper()}, {database}]' if level else ''}. {_what_to_do(level, alive=alive)}",
        transaction_survived=alive,
    )


def _survived(stopped: Exception, level: str | None) -> bool:
    """Whether a transaction that still answers can go on and commit."""
    if isinstance(stopped, Contended) and not stopped.transaction_survived:
        return isinstance(stopped, Conflict) and level == _REPEATABLE_READ
    return True


def _cause(stopped: Exception, level: str | None) -> str:
    if isinstance(stopped, LockTimeout):
        return f"another transaction was in the way ({stopped})"
    if (
        isinstance(stopped, Conflict)
        and not stopped.transaction_survived
        and level in (_REPEATABLE_READ, _SERIALIZABLE)
    ):
        return f"another transaction took the key or changed its task after the snapshot of this one began ({stopped})"
    if isinstance(stopped, Conflict):
        return f"the database ended this enqueue to break a deadlock or conflict ({stopped})"
    return str(stopped)


def _what_to_do(level: str | None, *, alive: bool) -> str:
    if not alive:
        return "The transaction that is open here is lost: roll it back and repeat all of it"
    if level in (_REPEATABLE_READ, _SERIALIZABLE):
        return (
            "The transaction that is open here is as it was before, but its snapshot stays: enqueue in a new, short "
            "transaction at READ COMMITTED, or outside of one"
        )
    return "The transaction that is open here is as it was before: enqueue again in it, or roll it back"
