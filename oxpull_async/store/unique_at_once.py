"""One unique call, answered or written by one statement where that can be the whole truth.

No such statement decides by a row that another one of it has waited for. Where there is more to a key than it can tell
nothing is written, and the careful way (`store.unique`) goes on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from oxpull_async.db.contract import Connection, Scalar
from oxpull_async.domain.record import TaskId, TaskRecord, new_record, wire_id, wire_instant
from oxpull_async.domain.unique import OnDuplicate, Verdict, judge
from oxpull_async.domain.unique_plan import UniqueCall
from oxpull_async.store.enqueue import task_columns
from oxpull_async.store.fresh_keys import enqueue_fresh
from oxpull_async.store.holders import Glimpse, glimpse
from oxpull_async.store.unique_isolation import is_dated

_UPDATING = frozenset({OnDuplicate.REPLACE, OnDuplicate.DEBOUNCE, OnDuplicate.RERUN})


type Known = TaskRecord | Callable[[], TaskRecord]
"""A task's record, or what makes it when somebody looks: many callers never do."""


@dataclass(slots=True)
class UniqueAnswer:
    """What an enqueue got: the task's record, made when it is first looked at.

    `created`: this call inserted it; `changed`: it was inserted or given new arguments, by this call or one beside it;
    `refused`: the rule says no, and the record is the holder's.
    """

    known: Known
    created: bool = False
    changed: bool = False
    refused: bool = False

    @property
    def record(self) -> TaskRecord:
        """The record of the task."""
        if not isinstance(self.known, TaskRecord):
            self.known = self.known()
        return self.known


type Answers = dict[int, UniqueAnswer]


async def answer_at_once(conn: Connection, call: UniqueCall) -> UniqueAnswer | Glimpse | None:
    """Store the task or answer with the holder; else return what was seen last.

    Of a key that was met before the lock row is looked at first, of another one only if it cannot be taken.
    """
    key = str(call.task.unique_key)
    # With one writer at a time, a transaction that has not written reads a snapshot, and may never write after that.
    looks_first = call.met and (conn.dialect.skips_locked or not conn.in_transaction)
    known = await _answer_for_known(conn, call, key) if looks_first else None
    if known is not None and not (isinstance(known, Glimpse) and _may_be_outrun(conn, known)):
        return known
    return await _take_free(conn, call) or await _answer_for_known(conn, call, key)


async def _answer_for_known(conn: Connection, call: UniqueCall, key: str) -> UniqueAnswer | Glimpse | None:
    """Answer for a key that has a lock row; None where it has none."""
    at_once = conn.dialect.enqueues_unique_at_once
    if at_once and call.rule.mode in _UPDATING and (changed := await _rewrite_holder(conn, call)) is not None:
        return changed
    seen = await glimpse(conn, key)
    holder = None if seen is None else seen.holder
    if seen is None or holder is None or _may_be_outrun(conn, seen):
        return seen
    verdict = judge(call.rule.until, call.rule.mode, holder)
    if verdict is Verdict.EXISTING:
        return UniqueAnswer(seen.record)
    if verdict is Verdict.REFUSE:
        return UniqueAnswer(seen.record, refused=True)
    if verdict is Verdict.TAKE_OVER and at_once and holder.status is not None:
        return await _take_over(conn, call, seen.holder_id, holder.status) or seen
    return seen


def _may_be_outrun(conn: Connection, seen: Glimpse) -> bool:
    """Whether what was read is from a caller's snapshot, on which the hint is not relied either."""
    return conn.in_transaction and is_dated(conn, seen.isolation)


async def _take_free(conn: Connection, call: UniqueCall) -> UniqueAnswer | None:
    """Take the key and store the task, if nobody has the key."""
    if conn.dialect.enqueues_unique_at_once:
        return await _insert(conn, "insert_unique_task", call)
    record = await enqueue_fresh(conn, call.task, key_row(call))
    return None if record is None else UniqueAnswer(record, created=True, changed=True)


async def _take_over(conn: Connection, call: UniqueCall, old: TaskId, status: str) -> UniqueAnswer | None:
    """Take the key from a holder whose time is over, if it is still as it was seen, and store the task."""
    return await _insert(conn, "take_over_key", call, old_id=wire_id(old), old_status=status)


async def _insert(conn: Connection, statement: str, call: UniqueCall, **values: Scalar) -> UniqueAnswer | None:
    columns = task_columns(call.task)
    del columns["waiting_for"]
    row = await conn.fetchrow(statement, **columns, ttl=call.rule.ttl, **values)
    return None if row is None else UniqueAnswer(partial(new_record, call.task, *row), created=True, changed=True)


async def _rewrite_holder(conn: Connection, call: UniqueCall) -> UniqueAnswer | None:
    """Give an unstarted holder new arguments; None where there is none, or more to it than one statement tells."""
    task, rule = call.task, call.rule
    row = await conn.fetchrow(
        "rewrite_holder",
        unique_key=task.unique_key,
        args=task.args,
        kwargs=task.kwargs,
        priority=task.priority,
        run_after=wire_instant(task.run_after),
        wait=rule.wait,
        max_wait=rule.max_wait,
        reruns=task.reruns,
        lock_key=task.lock_key,
        lock_limit=task.lock_limit,
        lock_conflict=task.lock_conflict,
        limit_keys=task.limit_keys,
    )
    return None if row is None else UniqueAnswer(partial(TaskRecord.from_row, row), changed=True)


def key_row(call: UniqueCall) -> dict[str, object]:
    """Return the lock row of a call that takes its key, as statements over many keys read it."""
    return {"unique_key": call.task.unique_key, "holder_id": wire_id(call.task.id), "ttl": call.rule.ttl}
