"""Unique tasks: the lock row of a key decides, and everything else follows from the row it names."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from oxpull_async.db.contract import Connection, Scalar
from oxpull_async.domain.errors import Conflict, UniqueEnqueueRace
from oxpull_async.domain.record import NewTask, TaskId, TaskRecord, new_record, task_id, wire_id, wire_instant
from oxpull_async.domain.unique_plan import Found, KeyPlan, Seat, UniqueCall, plan_key
from oxpull_async.store.enqueue import Stored, enqueue_many, task_columns
from oxpull_async.store.follow_ups import release_follow_ups
from oxpull_async.store.results import get_tasks

MOST_PASSES = 5


@dataclass(frozen=True, slots=True)
class UniqueAnswer:
    """What an enqueue got: the task's record, whether this call inserted it, or that the rule refuses the call."""

    record: TaskRecord
    created: bool = False
    refused: bool = False


type Answers = dict[int, UniqueAnswer]


class _RefusedError(Exception):
    """Carries the answer of a refused call out of a transaction that must not write anything."""

    def __init__(self, answers: Answers) -> None:
        super().__init__()
        self.answers = answers


async def enqueue_unique(conn: Connection, call: UniqueCall) -> UniqueAnswer:
    """Store a unique task, or answer with the task that holds its key.

    A fresh key costs one statement where the dialect can do it, and a plain duplicate writes nothing.

    Raises: UniqueEnqueueRace when the key changed hands too often meanwhile; nothing was written.
    """
    if conn.dialect.writes_in_with:
        columns = task_columns(call.task)
        del columns["waiting_for"]
        rows = await conn.fetch("insert_unique_task", **columns, ttl=call.rule.ttl)
        if rows:
            return UniqueAnswer(new_record(call.task, *rows[0]), created=True)
    return (await enqueue_unique_many(conn, [call]))[call.position]


async def enqueue_unique_many(conn: Connection, calls: Sequence[UniqueCall]) -> Answers:
    """Store unique tasks as the same calls one after another would; answers by position.

    A refused call stops everything: its answer is the only one, and nothing was written.
    """
    by_key = _by_key(calls)
    plans = _plans(by_key, await find(conn, list(by_key)))
    if any(plan.refused is not None for plan in plans) or not any(plan.writes for plan in plans):
        return _answers(plans, {})
    try:
        async with conn.transaction():
            return await _carry_out(conn, by_key)
    except _RefusedError as refused:
        return refused.answers


async def find(conn: Connection, keys: Sequence[str]) -> dict[str, Found]:
    """Return the lock rows that these keys have, with the records they name."""
    rows = await conn.fetch("find_holders", keys=json.dumps(keys))
    if not rows:
        return {}
    ids = [task_id(id_) for row in rows for id_ in row[1:3] if id_ is not None]
    records = await get_tasks(conn, ids)
    return {row[0]: _found(row, records) for row in rows}


async def _carry_out(conn: Connection, by_key: Mapping[str, Sequence[UniqueCall]]) -> Answers:
    """Lock the keys in order, look again, and write what the plans say."""
    taken = await _take_free_keys(conn, by_key)
    others = [key for key in by_key if key not in taken]
    found = await find(conn, others) if others else {}
    await _lock_holders(conn, _plans({key: by_key[key] for key in others}, found))
    found = await find(conn, others) if others else {}
    plans = _plans(by_key, found)
    if any(plan.refused is not None for plan in plans):
        raise _RefusedError(_answers(plans, {}))
    records = await _write(conn, plans)
    return _answers(plans, records)


async def _take_free_keys(conn: Connection, by_key: Mapping[str, Sequence[UniqueCall]]) -> set[str]:
    """Lock the lock rows that exist, insert those that do not, both in order; returns the keys inserted."""
    locked = await _lock_keys(conn, list(by_key))
    free = [key for key in by_key if key not in locked]
    if not free:
        return set()
    rows = [_key_row(by_key[key][0]) for key in free]
    taken = await _insert_keys(conn, rows)
    missed = [key for key in free if key not in taken]
    if missed and len(await _lock_keys(conn, missed)) < len(missed):
        raise Conflict("a key's lock row vanished while this enqueue waited for it: repeat the transaction")
    return taken


async def _insert_keys(conn: Connection, rows: Sequence[dict[str, object]]) -> set[str]:
    text = json.dumps(rows)
    if conn.dialect.insert_returns_rows:
        return {row[0] for row in await conn.fetch("insert_keys", keys=text)}
    await conn.execute("insert_keys", keys=text)
    return {row[0] for row in await conn.fetch("inserted_keys", keys=text)}


async def _lock_keys(conn: Connection, keys: Sequence[str]) -> set[str]:
    return {row[0] for row in await conn.fetch("lock_keys", keys=json.dumps(keys))}


async def _lock_holders(conn: Connection, plans: Sequence[KeyPlan]) -> None:
    """Lock the rows that the plans build on, so that what is decided next still holds when it is written."""
    ids = {plan.taken_from for plan in plans if plan.taken_from}
    ids |= {seat.record.id for plan in plans for seat in _seats(plan) if seat.record is not None and plan.writes}
    if ids:
        await conn.fetch("lock_tasks", ids=_ids(ids))


async def _write(conn: Connection, plans: Sequence[KeyPlan]) -> dict[TaskId, TaskRecord]:
    """Write the plans; returns the records that were rewritten or inserted, by id."""
    await release_follow_ups(conn, [plan.key for plan in plans if plan.promoted])
    taken = [_taken_row(plan) for plan in plans if plan.taken_from is not None]
    if taken:
        await conn.execute("take_keys", keys=json.dumps(taken))
    rewritten = [seat for plan in plans for seat in _seats(plan) if seat.record is not None and seat.latest is not None]
    await _rewrite(conn, rewritten)
    new = [_new_task(plan, seat) for plan in plans for seat in _seats(plan) if seat.created_at is not None]
    records = await _insert(conn, new)
    follow_ups = [_follow_up_row(plan) for plan in plans if plan.follow_up and plan.follow_up.created_at is not None]
    if follow_ups:
        await conn.execute("set_follow_ups", keys=json.dumps(follow_ups))
    changed = [seat.record.id for seat in rewritten if seat.record is not None]
    changed += [plan.holder.record.id for plan in plans if plan.promoted and plan.holder.record is not None]
    return records | (await get_tasks(conn, changed) if changed else {})


async def _rewrite(conn: Connection, seats: Sequence[Seat]) -> None:
    if not seats:
        return
    rows = json.dumps([_rewritten_row(seat) for seat in seats])
    if await conn.execute("rewrite_unstarted", tasks=rows) < len(seats):
        raise Conflict("the holder of a key started while its arguments were to be replaced: repeat the transaction")


async def _insert(conn: Connection, tasks: Sequence[NewTask]) -> dict[TaskId, TaskRecord]:
    stored: list[Stored] = await enqueue_many(conn, tasks) if tasks else []
    pairs = zip(tasks, stored, strict=True)
    return {task.id: new_record(task, answer.enqueued_at, answer.available_at) for task, answer in pairs}


def _by_key(calls: Sequence[UniqueCall]) -> dict[str, list[UniqueCall]]:
    """Group calls by key, keys in the order in which they are locked."""
    by_key: dict[str, list[UniqueCall]] = {key: [] for key in sorted({str(call.task.unique_key) for call in calls})}
    for call in calls:
        by_key[str(call.task.unique_key)].append(call)
    return by_key


def _plans(by_key: Mapping[str, Sequence[UniqueCall]], found: Mapping[str, Found]) -> list[KeyPlan]:
    return [plan_key(key, calls, found.get(key)) for key, calls in by_key.items()]


def _seats(plan: KeyPlan) -> list[Seat]:
    return [plan.holder] if plan.follow_up is None else [plan.holder, plan.follow_up]


def _new_task(plan: KeyPlan, seat: Seat) -> NewTask:
    """Return the task that a call inserts, with the arguments of the last call that met it."""
    calls = {call.position: call for call in plan.calls}
    first = calls[seat.created_at if seat.created_at is not None else -1].task
    latest = first if seat.latest is None else seat.latest.task
    return replace(
        first,
        args=latest.args, kwargs=latest.kwargs, priority=latest.priority, run_after=latest.run_after, delay=latest.delay,
        waiting_for="follow_up" if seat is plan.follow_up else None,
    )  # fmt: skip


def _answers(plans: Sequence[KeyPlan], records: Mapping[TaskId, TaskRecord]) -> Answers:
    refused = [(plan.refused, plan) for plan in plans if plan.refused is not None]
    if refused:
        position, plan = min(refused, key=lambda pair: pair[0])
        return {position: UniqueAnswer(_record_of(plan, plan.holder, {}), refused=True)}
    answers: Answers = {}
    for plan in plans:
        for position, name in plan.answers.items():
            seat = plan.follow_up if name == "follow_up" and plan.follow_up else plan.holder
            answers[position] = UniqueAnswer(_record_of(plan, seat, records), created=seat.created_at == position)
    return answers


def _record_of(plan: KeyPlan, seat: Seat, records: Mapping[TaskId, TaskRecord]) -> TaskRecord:
    if seat.created_at is not None:
        task = _new_task(plan, seat)
        return records[task.id]
    if seat.record is None:
        raise UniqueEnqueueRace("the task that holds the key is not visible to this transaction: repeat it in a new one")
    return records.get(seat.record.id, seat.record)


def _found(row: Sequence[Scalar], records: Mapping[TaskId, TaskRecord]) -> Found:
    holder = task_id(row[1])
    follow_up = None if row[2] is None else records.get(task_id(row[2]))
    return Found(holder, None if follow_up is None else follow_up.id, bool(row[3]), records.get(holder), follow_up)


def _key_row(call: UniqueCall) -> dict[str, object]:
    return {"unique_key": call.task.unique_key, "holder_id": wire_id(call.task.id), "ttl": call.rule.ttl}


def _taken_row(plan: KeyPlan) -> dict[str, object]:
    call = next(call for call in plan.calls if call.position == plan.holder.created_at)
    return _key_row(call) | {"old_id": wire_id(str(plan.taken_from))}


def _follow_up_row(plan: KeyPlan) -> dict[str, object]:
    assert plan.follow_up is not None
    holder = plan.holder.record.id if plan.holder.record else _new_task(plan, plan.holder).id
    new = _new_task(plan, plan.follow_up)
    return {"unique_key": plan.key, "holder_id": wire_id(holder), "follow_up_id": wire_id(new.id)}


def _rewritten_row(seat: Seat) -> dict[str, object]:
    assert seat.record is not None
    assert seat.latest is not None
    task, rule = seat.latest.task, seat.latest.rule
    return {
        "id": wire_id(seat.record.id),
        "args": task.args,
        "kwargs": task.kwargs,
        "priority": task.priority,
        "run_after": wire_instant(task.run_after),
        "wait": rule.wait,
        "max_wait": rule.max_wait,
    }


def _ids(ids: set[TaskId]) -> str:
    return json.dumps(sorted(wire_id(id_) for id_ in ids))
