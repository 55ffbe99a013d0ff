"""Unique tasks: the lock row of a key decides; the rest follows from the row it names."""

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from oxpull_async.db.contract import Connection
from oxpull_async.domain.chunks import chunks
from oxpull_async.domain.errors import AlreadyEnqueued, Conflict, UniqueEnqueueRace
from oxpull_async.domain.record import NewTask, TaskId, TaskRecord, new_record, wire_id, wire_instant
from oxpull_async.domain.unique_plan import Found, KeyPlan, Seat, UniqueCall, plan_key
from oxpull_async.store.enqueue import ROW_OVERHEAD, Stored, enqueue_many, task_columns
from oxpull_async.store.follow_ups import release_follow_ups
from oxpull_async.store.fresh_keys import enqueue_fresh, lock_or_insert
from oxpull_async.store.holders import LockedKeys, Sight, lock_keys, look
from oxpull_async.store.locks import pass_on
from oxpull_async.store.results import get_tasks
from oxpull_async.store.unique_isolation import is_dated, is_fresh, racing, refuse_newer, refuse_promotion, verified

MOST_PASSES = 5


@dataclass(frozen=True, slots=True)
class UniqueAnswer:
    """What an enqueue got: the task's record, and what the call did.

    `created`: this call inserted it; `changed`: it was inserted or given new arguments, by this call or one beside it;
    `refused`: the rule says no, and the record is the holder's.
    """

    record: TaskRecord
    created: bool = False
    changed: bool = False
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
    async with racing(conn):
        return await _enqueue_one(conn, call)


async def _enqueue_one(conn: Connection, call: UniqueCall) -> UniqueAnswer:
    if conn.dialect.enqueues_unique_at_once:
        columns = task_columns(call.task)
        del columns["waiting_for"]
        rows = await conn.fetch("insert_unique_task", **columns, ttl=call.rule.ttl)
        if rows:
            return UniqueAnswer(new_record(call.task, *rows[0]), created=True, changed=True)
    elif record := await enqueue_fresh(conn, call.task, _key_row(call)):
        return UniqueAnswer(record, created=True, changed=True)
    return (await _enqueue_many(conn, [call], {}))[call.position]


async def enqueue_unique_many(
    conn: Connection, calls: Sequence[UniqueCall], plain: Mapping[int, NewTask] = MappingProxyType({})
) -> Answers:
    """Store unique tasks, and plain ones beside them; answers by position.

    It comes to what the same calls one after another would. A refused call stops everything: its answer is the only
    one, and nothing was written.
    """
    async with racing(conn):
        return await _enqueue_many(conn, calls, plain)


async def find(conn: Connection, keys: Sequence[str]) -> Mapping[str, Found]:
    """Return the lock rows that these keys have, with the records they name."""
    return (await look(conn, keys)).found


async def _enqueue_many(conn: Connection, calls: Sequence[UniqueCall], plain: Mapping[int, NewTask]) -> Answers:
    """Answer from what is read without a lock, if that is the whole truth and nothing is to be written."""
    by_key, joins = _by_key(calls), conn.in_transaction
    sight = await look(conn, list(by_key))
    plans = _plans(by_key, sight.found)
    if joins and is_dated(conn, sight.isolation):
        sight = await verified(conn, sight, _resting(plans))
        plans = _plans(by_key, sight.found)
    writes = bool(plain) or any(plan.writes for plan in plans)
    if not sight.doubtful and (_is_refused(plans) or not writes):
        return _answers(plans, {})
    try:
        async with conn.transaction():
            return await _carry_out(conn, *await _decide(conn, by_key, sight, joins=joins), plain)
    except _RefusedError as refused:
        return refused.answers


async def _decide(
    conn: Connection, by_key: Mapping[str, Sequence[UniqueCall]], sight: Sight, *, joins: bool
) -> tuple[list[KeyPlan], Mapping[TaskId, str]]:
    """Lock the keys in order, then the tasks that the plans build on, and plan from what these are now.

    Returns the plans, and the running locks of due tasks that are to be passed on if a plan takes them away. From a
    snapshot nobody can tell who waits, and the workers find them.
    """
    locked = await _lock(conn, by_key)
    dated = joins and is_dated(conn, locked.isolation)
    if dated:
        refuse_newer(sight, locked)
    plans = _plans(by_key, locked.found)
    built_on = {id_ for plan in plans for id_ in _built_on(plan, locked, sight.doubtful)}
    await locked.lock_tasks(conn, built_on if dated else built_on - _only_followed(plans))
    plans = _plans(by_key, locked.found)
    if dated:
        refuse_promotion(_plans(by_key, sight.found), plans)
    return plans, locked.due_locks if is_fresh(locked.isolation) else {}


async def _carry_out(
    conn: Connection, plans: Sequence[KeyPlan], due_locks: Mapping[TaskId, str], plain: Mapping[int, NewTask]
) -> Answers:
    if _is_refused(plans):
        raise _RefusedError(_answers(plans, {}))
    records = await _write(conn, plans, plain.values())
    await pass_on(conn, _left_locks(plans, due_locks))
    created = {at: UniqueAnswer(records[task.id], created=True, changed=True) for at, task in plain.items()}
    return created | _answers(plans, records)


async def _lock(conn: Connection, by_key: Mapping[str, Sequence[UniqueCall]]) -> LockedKeys:
    """Lock the lock rows that exist, insert those that do not, both in order; returns those that existed."""
    if not conn.dialect.insert_returns_rows:
        taken = await lock_or_insert(conn, [_key_row(calls[0]) for calls in by_key.values()])
        others = [key for key in by_key if key not in taken]
        return await LockedKeys.of(conn, await lock_keys(conn, others) if others else [])
    rows = list(await lock_keys(conn, list(by_key)))
    locked, taken = {row[0] for row in rows}, set[str]()
    free = [key for key in by_key if key not in locked]
    if free:
        inserted = await conn.fetch("insert_keys", keys=json.dumps([_key_row(by_key[key][0]) for key in free]))
        taken = {row[0] for row in inserted}
        missed = [key for key in free if key not in taken]
        rows += await lock_keys(conn, missed) if missed else []
    if len(rows) + len(taken) < len(by_key):
        raise Conflict("a key's lock row vanished while this enqueue waited for it: repeat the transaction")
    return await LockedKeys.of(conn, rows)


def _built_on(plan: KeyPlan, locked: LockedKeys, doubtful: Container[str]) -> set[TaskId]:
    """Return the tasks that must stay as they are until this plan is written."""
    if not plan.writes and plan.key not in doubtful:
        return set()
    ids = {seat.record.id for seat in _seats(plan) if seat.record is not None}
    if plan.promoted or plan.key in doubtful:
        ids |= {id_ for id_ in locked.names[plan.key] if id_ is not None}
    return ids | ({plan.taken_from} if plan.taken_from else set())


def _only_followed(plans: Sequence[KeyPlan]) -> set[TaskId]:
    """Return the running holders that only get a follow-up: they may settle meanwhile, and a recheck finds that."""
    return {
        plan.holder.record.id
        for plan in plans
        if plan.follow_up is not None and plan.follow_up.created_at is not None
        and plan.holder.record is not None and plan.holder.latest is None and not plan.promoted
    }  # fmt: skip


async def _write(conn: Connection, plans: Sequence[KeyPlan], plain: Iterable[NewTask]) -> dict[TaskId, TaskRecord]:
    """Write the plans, and plain tasks among the new ones; returns the records of what was written, by id."""
    await release_follow_ups(conn, [plan.key for plan in plans if plan.promoted])
    taken = [_taken_row(plan) for plan in plans if plan.taken_from is not None]
    if taken:
        await conn.execute("take_keys", keys=json.dumps(taken))
    await _rewrite(conn, _rewritten(plans))
    new = [_new_task(plan, seat) for plan in plans for seat in _seats(plan) if seat.created_at is not None]
    records = await _insert(conn, sorted([*new, *plain], key=lambda task: task.id))
    follow_ups = [
        _follow_up_row(plan, plan.follow_up)
        for plan in plans if plan.follow_up and plan.follow_up.created_at is not None
    ]  # fmt: skip
    if follow_ups:
        await conn.execute("set_follow_ups", keys=json.dumps(follow_ups))
    changed = [record.id for record, _ in _rewritten(plans)]
    changed += [plan.holder.record.id for plan in plans if plan.promoted and plan.holder.record is not None]
    return records | (await get_tasks(conn, changed) if changed else {})


def _rewritten(plans: Sequence[KeyPlan]) -> list[tuple[TaskRecord, UniqueCall]]:
    seats = [seat for plan in plans for seat in _seats(plan)]
    return [(seat.record, seat.latest) for seat in seats if seat.record is not None and seat.latest is not None]


def _left_locks(plans: Sequence[KeyPlan], due_locks: Mapping[TaskId, str]) -> list[str]:
    """Return the running locks of due tasks that get another one, or may be due later only."""
    return [
        due_locks[record.id]
        for record, latest in _rewritten(plans)
        if record.id in due_locks and (latest.task.lock_key != due_locks[record.id] or _may_be_later(latest))
    ]


def _may_be_later(latest: UniqueCall) -> bool:
    return latest.rule.wait is not None or latest.task.run_after is not None


async def _rewrite(conn: Connection, rewritten: Sequence[tuple[TaskRecord, UniqueCall]]) -> None:
    if not rewritten:
        return
    written = 0
    rows = [_rewritten_row(record, latest) for record, latest in rewritten]
    for chunk in chunks(((row, _size(row)) for row in rows), max_bytes=conn.max_batch_bytes):
        written += await conn.execute("rewrite_unstarted", tasks=json.dumps(chunk))
    if written < len(rewritten):
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


def _is_refused(plans: Sequence[KeyPlan]) -> bool:
    return any(plan.refused is not None for plan in plans)


def _resting(plans: Sequence[KeyPlan]) -> list[KeyPlan]:
    """Return the plans that answer without writing; of a call that is refused, those that refuse it."""
    if _is_refused(plans):
        return [plan for plan in plans if plan.refused is not None]
    return [plan for plan in plans if not plan.writes]


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
        latest,
        id=first.id, max_attempts=first.max_attempts, timeout=first.timeout,
        waiting_for="follow_up" if seat is plan.follow_up else None,
    )  # fmt: skip


def _answers(plans: Sequence[KeyPlan], records: Mapping[TaskId, TaskRecord]) -> Answers:
    refused = [(plan.refused, plan) for plan in plans if plan.refused is not None]
    if refused:
        position, plan = min(refused, key=lambda pair: pair[0])
        if plan.holder.created_at is not None:
            raise AlreadyEnqueued(
                f"call {position} has the unique key of call {plan.holder.created_at} in the same enqueue; nothing was "
                "written. Leave one of them out", existing=None, position=position,
            )  # fmt: skip
        return {position: UniqueAnswer(_record_of(plan, plan.holder, {}), refused=True)}
    answers: Answers = {}
    for plan in plans:
        seats = {"holder": plan.holder, "follow_up": plan.follow_up or plan.holder, "former": plan.former}
        found = {name: _answer(plan, seats[name], records) for name in set(plan.answers.values())}
        for position, name in plan.answers.items():
            answers[position] = replace(found[name], created=seats[name].created_at == position)
    return answers


def _answer(plan: KeyPlan, seat: Seat, records: Mapping[TaskId, TaskRecord]) -> UniqueAnswer:
    changed = seat.latest is not None or (plan.promoted and seat is plan.holder)
    return UniqueAnswer(_record_of(plan, seat, records), changed=changed)


def _record_of(plan: KeyPlan, seat: Seat, records: Mapping[TaskId, TaskRecord]) -> TaskRecord:
    if seat.created_at is not None:
        task = _new_task(plan, seat)
        return records[task.id]
    if seat.record is None:
        raise UniqueEnqueueRace(
            "the task that holds the key is not visible to this transaction: repeat it in a new one"
        )
    return records.get(seat.record.id, seat.record)


def _key_row(call: UniqueCall) -> dict[str, object]:
    return {"unique_key": call.task.unique_key, "holder_id": wire_id(call.task.id), "ttl": call.rule.ttl}


def _taken_row(plan: KeyPlan) -> dict[str, object]:
    call = next(call for call in plan.calls if call.position == plan.holder.created_at)
    return _key_row(call) | {"old_id": wire_id(str(plan.taken_from))}


def _follow_up_row(plan: KeyPlan, follow_up: Seat) -> dict[str, object]:
    holder = plan.holder.record.id if plan.holder.record else _new_task(plan, plan.holder).id
    new = _new_task(plan, follow_up)
    return {"unique_key": plan.key, "holder_id": wire_id(holder), "follow_up_id": wire_id(new.id)}


def _rewritten_row(record: TaskRecord, latest: UniqueCall) -> dict[str, object]:
    task, rule = latest.task, latest.rule
    return {
        "id": wire_id(record.id),
        "unique_key": task.unique_key,
        "args": task.args,
        "kwargs": task.kwargs,
        "priority": task.priority,
        "run_after": wire_instant(task.run_after),
        "wait": rule.wait,
        "max_wait": rule.max_wait,
        "lock_key": task.lock_key,
        "lock_limit": task.lock_limit,
        "lock_conflict": task.lock_conflict,
    }


def _size(row: Mapping[str, object]) -> int:
    return len(str(row["args"])) + len(str(row["kwargs"])) + ROW_OVERHEAD
