"""Enqueue calls of any kind, plain and unique, in one transaction: all of them or none."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from msgspec.structs import replace as replaced

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import ConnectionLost
from oxpull_async.domain.record import NewTask, TaskId, TaskRecord
from oxpull_async.domain.unique import OnDuplicate
from oxpull_async.domain.unique_plan import Found, UniqueCall
from oxpull_async.store.batches import Membership, add_members
from oxpull_async.store.nodes import Placement, add_nodes
from oxpull_async.store.plain_tasks import Written, enqueue_plain, written_record
from oxpull_async.store.results import get_tasks
from oxpull_async.store.unique import enqueue_unique, enqueue_unique_many, find
from oxpull_async.store.unique_at_once import Answers, UniqueAnswer


@dataclass(frozen=True, slots=True)
class EnqueueCalls:
    """The calls of one enqueue: plain tasks by their position, unique ones.

    And the batch they join, or where they stand in a workflow.
    """

    plain: Mapping[int, NewTask]
    unique: Sequence[UniqueCall]
    membership: Membership | None = None
    placement: Placement | None = None

    @property
    def lone_task(self) -> NewTask | None:
        """The only task of the call, where it is a plain one in no batch and no workflow."""
        if len(self.plain) != 1 or self.unique or self.membership is not None or self.placement is not None:
            return None
        return next(iter(self.plain.values()))

    def tasks(self) -> Iterator[tuple[int, NewTask]]:
        """List all tasks with their positions."""
        yield from self.plain.items()
        yield from ((call.position, call.task) for call in self.unique)

    def waiting(self, positions: Collection[int]) -> "EnqueueCalls":
        """Return the same calls, those at these positions to wait for edges."""
        if not positions:
            return self
        waits = frozenset(positions)
        return replace(
            self,
            plain={at: replaced(task, waiting_for="edges") if at in waits else task for at, task in self.plain.items()},
            unique=[
                replace(call, task=replaced(call.task, waiting_for="edges")) if call.position in waits else call
                for call in self.unique
            ],
        )


async def enqueue_calls(conn: Connection, calls: EnqueueCalls) -> Answers:
    """Store tasks as the same calls one after another would; answers by position.

    A refused call stops everything: its answer is the only one, and nothing was written. Tasks of a batch become its
    members, those of a workflow its nodes; raises what `add_members` and `add_nodes` raise.
    """
    if calls.placement is not None:
        return await add_nodes(conn, calls.placement, lambda waiting: _enqueue(conn, calls.waiting(waiting)))
    if calls.membership is not None:
        return await add_members(conn, calls.membership, partial(_enqueue, conn, calls))
    return await _enqueue(conn, calls)


async def _enqueue(conn: Connection, calls: EnqueueCalls) -> Answers:
    if not calls.unique:
        return await _enqueue_plain(conn, calls.plain)
    if len(calls.unique) == 1 and not calls.plain:
        call = calls.unique[0]
        return {call.position: await enqueue_unique(conn, call)}
    return await enqueue_unique_many(conn, calls.unique, calls.plain)


async def enqueue_again(conn: Connection, calls: EnqueueCalls) -> Answers:
    """Repeat an enqueue whose outcome is unknown, under the same ids.

    A row of ours that stands was created by it. Raises: ConnectionLost where it stands, but what one of its calls was
    answered can be known no more.
    """
    if calls.placement is not None:
        return await add_nodes(
            conn, calls.placement, lambda waiting: _enqueue_again(conn, calls.waiting(waiting)), again=True
        )
    if calls.membership is not None:
        return await add_members(conn, calls.membership, partial(_enqueue_again, conn, calls), again=True)
    return await _enqueue_again(conn, calls)


async def _enqueue_again(conn: Connection, calls: EnqueueCalls) -> Answers:
    ids = {position: task.id for position, task in calls.tasks()}
    found = await get_tasks(conn, list(ids.values()))
    if not found:
        answers = await _enqueue(conn, calls)
        if not any(answer.refused and answer.record.id in ids.values() for answer in answers.values()):
            return {at: replace(answer, created=answer.record.id == ids[at]) for at, answer in answers.items()}
        found = await get_tasks(conn, list(ids.values()))
    return await _answers_of(conn, calls, found)


async def _enqueue_plain(conn: Connection, plain: Mapping[int, NewTask]) -> Answers:
    tasks = list(plain.values())
    stored = await enqueue_plain(conn, tasks)
    return {position: plain_answer(task, one) for (position, task), one in zip(plain.items(), stored, strict=True)}


def plain_answer(task: NewTask, written: Written) -> UniqueAnswer:
    """Return what the enqueue of a plain task is answered."""
    return UniqueAnswer(partial(written_record, task, written), created=True, changed=True)


async def _answers_of(conn: Connection, calls: EnqueueCalls, found: Mapping[TaskId, TaskRecord]) -> Answers:
    """Return what an enqueue was answered that stands."""
    answers: Answers = {
        position: UniqueAnswer(found[task.id], created=True, changed=True)
        for position, task in calls.tasks()
        if task.id in found
    }
    holders = await find(conn, sorted({str(call.task.unique_key) for call in calls.unique})) if calls.unique else {}
    latest: dict[str, TaskRecord] = {}
    for call in calls.unique:
        key = str(call.task.unique_key)
        if call.position in answers:
            latest[key] = answers[call.position].record
        elif (record := latest.get(key) or _holder(call, holders.get(key))) is not None:
            answers[call.position] = UniqueAnswer(record)
    missing = sorted(position for position, _ in calls.tasks() if position not in answers)
    if missing:
        raise ConnectionLost(
            "the connection broke while an enqueue was under way. It was carried out, but the tasks that answer the "
            f"calls {json.dumps(missing[:9])} have gone meanwhile"
        )
    return answers


def _holder(call: UniqueCall, found: Found | None) -> TaskRecord | None:
    if found is None:
        return None
    return found.follow_up if call.rule.mode is OnDuplicate.RERUN and found.follow_up else found.holder
