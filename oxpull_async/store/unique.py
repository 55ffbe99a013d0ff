"""Unique tasks: the lock row of a key decides; the rest follows from the row it names."""

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from oxpull_async.db.contract import Connection
from oxpull_async.domain.chunks import chunks
from oxpull_async.domain.errors import AlreadyEnqueued, Conflict, UniqueEnqueueRace
from oxpull_async.domain.record import NewTask, TaskId, TaskRecord, new_record, wire_id, wire_instant
from oxpull_async.domain.unique_plan import Found, KeyPlan, Seat, UniqueCall, plan_key
from oxpull_async.store.enqueue import ROW_OVERHEAD, Stored, enqueue_many
from oxpull_async.store.follow_ups import release_follow_ups, see_ends
from oxpull_async.store.holders import Glimpse, LockedKeys, Names, Sight, lock_keys, lock_or_insert, look
from oxpull_async.store.locks import pass_on
from oxpull_async.store.results import get_tasks
from oxpull_async.store.unique_at_once import Answers, Known, UniqueAnswer, answer_at_once, key_row
from oxpull_async.store.unique_isolation import is_dated, is_fresh, racing, refuse_newer, refuse_promotion, verified

MOST_PASSES = 5


class _RefusedError(Exception):
    """Carries the answer of a refused call out of a transaction that must not write anything."""

    def __init__(self, answers: Answers) -> None:
        super().__init__()
        self.answers = answers


async def enqueue_unique(conn: Connection, call: UniqueCall) -> UniqueAnswer:
    """Store a unique task, or answer with the task that holds its key.

    A fresh key costs one statement where the dialect can do it, and a plain duplicate writes nothing: one statement if
    the key was met before.

    Raises: UniqueEnqueueRace when the key changed hands too often meanwhile; nothing was written.
    """
    if not conn.in_transaction and call.task.waiting_for is None:  # what `racing` and the look below come to, cheaper
        answer = await answer_at_once(conn, call)
        return answer if isinstance(answer, UniqueAnswer) else await _enqueue_carefully(conn, call, answer)
    async with racing(conn):
        seen = await answer_at_once(conn, call) if call.task.waiting_for is None else None
        return seen if isinstance(seen, UniqueAnswer) else await _enqueue_carefully(conn, call, seen)


async def _enqueue_carefully(conn: Connection, call: UniqueCall, seen: Glimpse | None) -> UniqueAnswer:
    sight = None if seen is None else await seen.sight(conn)
    return (await _enqueue_many(conn, [call], {}, sight))[call.position]


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


async def _enqueue_many(
    conn: Connection, calls: Sequence[UniqueCall], plain: Mapping[int, NewTask], sight: Sight | None = None
) -> Answers:
    """Answer from what is read without a lock, if that is the whole truth and nothing is to be written."""
    by_key, joins = _by_key(calls), conn.in_transaction
    if sight is None:
        sight = await look(conn, list(by_key))
    plans = _plans(by_key, sight.found)
    if joins and is_dated(conn, sight.isolation):
        sight = await verified(conn, sight, _resting(plans))
        if sight.doubtful and _is_refused(plans):
            sight = replace(sight, doubtful=frozenset(sight.found))
        plans = _plans(by_key, sight.found)
    writing = [plan for plan in plans if plan.writes or plan.key in sight.doubtful]
    if not sight.doubtful and (_is_refused(plans) or not (writing or plain)):
        return _answers(plans, {})
    resting = [plan for plan in plans if not plan.writes and plan.key not in sight.doubtful]
    try:
        async with conn.transaction():
            decided = await _decide(conn, writing, sight, joins=joins) if writing else _Decided([], {})
            decided = replace(decided, plans=[*resting, *decided.plans])
            return await _carry_out(conn, decided, plain, joins=joins, isolation=sight.isolation)
    except _RefusedError as refused:
        return refused.answers


@dataclass(frozen=True, slots=True)
class _Decided:
    """Plans made under the keys' locks, and the running locks that due tasks have.

    Those that a plan takes away are passed on; from a snapshot nobody can tell to whom, so there are none.
    """

    plans: Sequence[KeyPlan]
    due_locks: Mapping[TaskId, str]


async def _decide(conn: Connection, seen: Sequence[KeyPlan], sight: Sight, *, joins: bool) -> _Decided:
    """Lock the keys of plans in order, then the tasks that these build on, and plan from what they are now."""
    locked = await _lock(conn, seen, sight)
    dated = joins and is_dated(conn, locked.isolation)
    if dated:
        refuse_newer(sight, locked)
    plans = _planned_again(seen, sight, locked)
    built_on = {id_ for plan in plans for id_ in _built_on(plan, locked, sight.doubtful)}
    if built_on:
        await locked.lock_tasks(conn, built_on)
        plans = _planned_again(seen, sight, locked)
    if dated:
        refuse_promotion(seen, plans)
    return _Decided(plans, locked.due_locks if is_fresh(locked.isolation) else {})


async def _carry_out(
    conn: Connection, decided: _Decided, plain: Mapping[int, NewTask], *, joins: bool, isolation: str | None
) -> Answers:
    plans = decided.plans
    if _is_refused(plans):
        raise _RefusedError(_answers(plans, {}))
    records = await _write(conn, plans, plain.values())
    await pass_on(conn, _left_locks(plans, decided.due_locks))
    waiting = {follow_up: holder for _, holder, follow_up in _new_follow_ups(plans)}
    if waiting:
        await see_ends(conn, waiting, joins=joins, dated=joins and is_dated(conn, isolation))
    created: Answers = {at: UniqueAnswer(records[task.id], created=True, changed=True) for at, task in plain.items()}
    return created | _answers(plans, records)


async def _lock(conn: Connection, plans: Sequence[KeyPlan], sight: Sight) -> LockedKeys:
    """Lock the lock rows that exist, insert those that do not, all in order; returns those that existed."""
    keys = [plan.key for plan in plans]
    rows = await lock_keys(conn, keys) if all(key in sight.names for key in keys) else []
    if len(rows) < len(keys):
        taken = await lock_or_insert(conn, [key_row(plan.calls[0]) for plan in plans])
        met = [key for key in keys if key not in taken]
        rows = await lock_keys(conn, met) if met else []
    return await LockedKeys.of(conn, rows, _to_be_locked(plans, sight))


def _to_be_locked(plans: Sequence[KeyPlan], sight: Sight) -> Mapping[Names, TaskRecord]:
    """Return the holders, by what their lock rows name, that are locked and read once more before anything is decided.

    What was seen of them suffices until then. Of a holder that gets a follow-up it would not: that it ended before its
    key was locked must be seen.
    """
    return {
        sight.names[plan.key]: plan.former.record
        for plan in plans
        if plan.former.record is not None
        and sight.names[plan.key][1] is None
        and (plan.taken_from is not None or plan.holder.latest is not None)
    }


def _planned_again(seen: Sequence[KeyPlan], sight: Sight, locked: LockedKeys) -> list[KeyPlan]:
    """Return the plans as they are by what is known now; those of keys that are still free stay."""
    found = locked.found
    return [
        plan if plan.key not in found and plan.key not in sight.found
        else plan_key(plan.key, plan.calls, found.get(plan.key))
        for plan in seen
    ]  # fmt: skip


def _built_on(plan: KeyPlan, locked: LockedKeys, doubtful: Container[str]) -> set[TaskId]:
    """Return the tasks that must stay as they are until this plan is written.

    A holder that only gets a follow-up is none of them: it may settle meanwhile, and a recheck finds that.
    """
    if not plan.writes and plan.key not in doubtful:
        return set()
    ids = {seat.record.id for seat in _seats(plan) if seat.record is not None and seat.latest is not None}
    if plan.promoted or plan.key in doubtful:
        ids |= {id_ for id_ in locked.names[plan.key] if id_ is not None}
    return ids | ({plan.taken_from} if plan.taken_from else set())


def _new_follow_ups(plans: Sequence[KeyPlan]) -> list[tuple[str, TaskId, TaskId]]:
    """Return the keys that get a follow-up, with their holders and the new tasks."""
    return [
        (plan.key, plan.holder.record.id, plan.follow_up.made.task.id)
        for plan in plans
        if plan.follow_up is not None and plan.follow_up.made is not None and plan.holder.record is not None
    ]


async def _write(conn: Connection, plans: Sequence[KeyPlan], plain: Iterable[NewTask]) -> dict[TaskId, Known]:
    """Write the plans, and plain tasks among the new ones; returns the records of what was written, by id."""
    await release_follow_ups(conn, [plan.key for plan in plans if plan.promoted])
    taken = [
        _taken_row(plan.taken_from, plan.holder.made)
        for plan in plans if plan.taken_from is not None and plan.holder.made is not None
    ]  # fmt: skip
    if taken:
        await conn.execute("take_keys", keys=json.dumps(taken))
    rewritten = _rewritten(plans)
    await _rewrite(conn, rewritten)
    new = [
        task
        for plan in plans for seat in _seats(plan)
        if (task := seat.new_task(waits=seat is plan.follow_up)) is not None
    ]  # fmt: skip
    records = await _insert(conn, sorted([*new, *plain], key=lambda task: task.id))
    follow_ups = [_follow_up_row(*names) for names in _new_follow_ups(plans)]
    if follow_ups:
        await conn.execute("set_follow_ups", keys=json.dumps(follow_ups))
    changed = [record.id for record, _, _ in rewritten]
    changed += [plan.holder.record.id for plan in plans if plan.promoted and plan.holder.record is not None]
    return records | (await get_tasks(conn, changed) if changed else {})


def _rewritten(plans: Sequence[KeyPlan]) -> list[tuple[TaskRecord, UniqueCall, bool]]:
    """Return the stored tasks that get new arguments, each once: from which call, and whether they rerun."""
    found = {
        seat.record.id: (seat.record, seat.latest, seat.reruns)
        for plan in plans for seat in _seats(plan) if seat.record is not None and seat.latest is not None
    }  # fmt: skip
    return list(found.values())


def _left_locks(plans: Sequence[KeyPlan], due_locks: Mapping[TaskId, str]) -> list[str]:
    """Return the running locks of due tasks that get another one, or may be due later only."""
    return [
        due_locks[record.id]
        for record, latest, _ in _rewritten(plans)
        if record.id in due_locks and (latest.task.lock_key != due_locks[record.id] or _may_be_later(latest))
    ]


def _may_be_later(latest: UniqueCall) -> bool:
    return latest.rule.wait is not None or latest.task.run_after is not None


async def _rewrite(conn: Connection, rewritten: Sequence[tuple[TaskRecord, UniqueCall, bool]]) -> None:
    rows = [_rewritten_row(record, latest, reruns=reruns) for record, latest, reruns in rewritten]
    written = 0
    for chunk in chunks(((row, _size(row)) for row in rows), max_bytes=conn.max_batch_bytes):
        written += await conn.execute("rewrite_unstarted", tasks=json.dumps(chunk))
    if written < len(rows):
        raise Conflict("the holder of a key started while its arguments were to be replaced: repeat the transaction")


async def _insert(conn: Connection, tasks: Sequence[NewTask]) -> dict[TaskId, Known]:
    stored: list[Stored] = await enqueue_many(conn, tasks) if tasks else []
    pairs = zip(tasks, stored, strict=True)
    return {task.id: partial(new_record, task, answer.enqueued_at, answer.available_at) for task, answer in pairs}


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


def _answers(plans: Sequence[KeyPlan], records: Mapping[TaskId, Known]) -> Answers:
    refused = [(plan.refused, plan) for plan in plans if plan.refused is not None]
    if refused:
        position, plan = min(refused, key=lambda pair: pair[0])
        if plan.holder.made is not None:
            raise AlreadyEnqueued(
                f"call {position} has the unique key of call {plan.holder.made.position} in the same enqueue; nothing "
                "was written. Leave one of them out", existing=None, position=position,
            )  # fmt: skip
        return {position: UniqueAnswer(_record_of(plan.holder, {}), refused=True)}
    answers: Answers = {}
    for plan in plans:
        seats = {"holder": plan.holder, "follow_up": plan.follow_up or plan.holder, "former": plan.former}
        for position, name in plan.answers.items():
            seat = seats[name]
            created = seat.made is not None and seat.made.position == position
            changed = seat.latest is not None or (plan.promoted and seat is plan.holder)
            answers[position] = UniqueAnswer(_record_of(seat, records), created=created, changed=changed)
    return answers


def _record_of(seat: Seat, records: Mapping[TaskId, Known]) -> Known:
    if seat.made is not None:
        return records[seat.made.task.id]
    if seat.record is None:
        raise UniqueEnqueueRace(
            "the task that holds the key is not visible to this transaction: repeat it in a new one"
        )
    return records.get(seat.record.id, seat.record)


def _taken_row(taken_from: TaskId, call: UniqueCall) -> dict[str, object]:
    return key_row(call) | {"old_id": wire_id(taken_from)}


def _follow_up_row(key: str, holder: TaskId, follow_up: TaskId) -> dict[str, object]:
    return {"unique_key": key, "holder_id": wire_id(holder), "follow_up_id": wire_id(follow_up)}


def _rewritten_row(record: TaskRecord, latest: UniqueCall, *, reruns: bool) -> dict[str, object]:
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
        "reruns": reruns,
        "lock_key": task.lock_key,
        "lock_limit": task.lock_limit,
        "lock_conflict": task.lock_conflict,
        "limit_keys": task.limit_keys,
    }


def _size(row: Mapping[str, object]) -> int:
    return len(str(row["args"])) + len(str(row["kwargs"])) + ROW_OVERHEAD
