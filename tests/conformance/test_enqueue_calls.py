"""Enqueue calls of any kind in one transaction, and once more where nobody knows whether they were carried out."""

from dataclasses import replace

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import ConnectionLost
from oxpull_async.domain.outcome import Succeeded
from oxpull_async.domain.record import TaskStatus
from oxpull_async.domain.unique import Unique
from oxpull_async.store.enqueue_calls import EnqueueCalls, enqueue_again, enqueue_calls
from oxpull_async.store.unique import enqueue_unique, find
from tests.conformance.meanwhile import Meanwhile
from tests.fixtures import make, raw

RAISE = Unique(on_duplicate="raise")
REPLACE = Unique(on_duplicate="replace")


def mixed() -> EnqueueCalls:
    """Make two plain calls around three unique ones, two of which share a key."""
    unique = [make.unique_call(key=key, position=at) for at, key in ((1, "a"), (2, "b"), (3, "a"))]
    return EnqueueCalls({0: make.new_task(), 4: make.new_task()}, unique)


CALLS = {
    "one plain": lambda: EnqueueCalls({0: make.new_task()}, ()),
    "several plain": lambda: EnqueueCalls({0: make.new_task(), 1: make.new_task()}, ()),
    "one unique": lambda: EnqueueCalls({}, [make.unique_call()]),
    "unique and plain": mixed,
}
every_kind = pytest.mark.parametrize("kind", CALLS)


@every_kind
async def test_every_call_is_answered_with_the_stored_record(conn: Connection, kind: str) -> None:
    calls = CALLS[kind]()
    answers = await enqueue_calls(conn, calls)
    tasks = dict(calls.tasks())
    assert set(answers) == set(tasks)
    for at, answer in answers.items():
        assert await make.record(conn, answer.record.id) == answer.record
        assert answer.created == (answer.record.id == tasks[at].id)
    assert await raw.count_tasks(conn) == sum(answer.created for answer in answers.values())


@every_kind
async def test_calls_stand_or_fall_with_the_transaction_around_them(conn: Connection, kind: str) -> None:
    calls = CALLS[kind]()
    async with raw.taken_back(conn):
        await enqueue_calls(conn, calls)
    assert await raw.count_tasks(conn) == 0
    assert len(await enqueue_calls(conn, calls)) == len(dict(calls.tasks()))


@every_kind
async def test_A16_a_repeat_of_what_stands_gives_the_same_answers_and_adds_nothing(conn: Connection, kind: str) -> None:
    calls = CALLS[kind]()
    first = await enqueue_calls(conn, calls)
    count = await raw.count_tasks(conn)
    again = await enqueue_again(conn, calls)
    assert {at: (one.created, one.record) for at, one in again.items()} == {
        at: (one.created, one.record) for at, one in first.items()
    }
    assert await raw.count_tasks(conn) == count


@every_kind
async def test_A16_a_repeat_of_what_was_never_carried_out_does_it_now(conn: Connection, kind: str) -> None:
    calls = CALLS[kind]()
    answers = await enqueue_again(conn, calls)
    tasks = dict(calls.tasks())
    assert {at: answer.record.id == tasks[at].id for at, answer in answers.items()} == {
        at: answer.created for at, answer in answers.items()
    }
    assert await raw.count_tasks(conn) == sum(answer.created for answer in answers.values())


async def test_A16_a_repeat_that_finds_its_own_task_run_already_still_answers_with_it(conn: Connection) -> None:
    calls = EnqueueCalls({}, [make.unique_call(RAISE)])
    first = (await enqueue_calls(conn, calls))[0]
    [claimed] = await make.claimed(conn, await make.worker(conn))
    await make.settled(conn, claimed, Succeeded("1"))
    again = (await enqueue_again(conn, calls))[0]
    assert (again.created, again.refused, again.record.id) == (True, False, first.record.id)
    assert again.record.status is TaskStatus.SUCCESSFUL


async def test_A16_a_repeat_of_a_duplicate_is_answered_with_the_holder(conn: Connection) -> None:
    held = await enqueue_unique(conn, make.unique_call())
    calls = EnqueueCalls({0: make.new_task()}, [make.unique_call(position=1, args="[2]")])
    await enqueue_calls(conn, calls)
    again = await enqueue_again(conn, calls)
    assert [(again[at].created, again[at].record.id) for at in (0, 1)] == [
        (True, calls.plain[0].id), (False, held.record.id)
    ]  # fmt: skip


async def test_A16_a_repeat_that_cannot_know_an_answer_says_so(conn: Connection) -> None:
    held = await enqueue_unique(conn, make.unique_call())
    calls = EnqueueCalls({0: make.new_task()}, [make.unique_call(position=1, args="[2]")])
    await enqueue_calls(conn, calls)
    await raw.delete(conn, held.record.id)
    await raw.forget_keys(conn)
    with pytest.raises(ConnectionLost, match=r"calls \[1\]"):
        await enqueue_again(conn, calls)


async def test_A16_a_repeat_is_refused_for_a_task_of_somebody_else_only(conn: Connection) -> None:
    held = await enqueue_unique(conn, make.unique_call())
    again = await enqueue_again(conn, EnqueueCalls({}, [make.unique_call(RAISE)]))
    assert (again[0].refused, again[0].record) == (True, held.record)


async def test_a_refused_call_writes_nothing_of_the_others(conn: Connection) -> None:
    held = await enqueue_unique(conn, make.unique_call())
    calls = mixed()
    calls = replace(calls, unique=[*calls.unique, make.unique_call(RAISE, position=9)])
    answers = await enqueue_calls(conn, calls)
    assert {at: (one.refused, one.record) for at, one in answers.items()} == {9: (True, held.record)}
    assert await raw.count_tasks(conn) == 1
    assert await find(conn, ["a", "b"]) == {}


async def test_a_call_that_updates_answers_with_what_it_wrote(conn: Connection) -> None:
    held = await enqueue_unique(conn, make.unique_call(REPLACE))
    calls = EnqueueCalls({}, [make.unique_call(REPLACE, args="[7]")])
    answer = (await enqueue_calls(conn, calls))[0]
    assert (answer.created, answer.changed, answer.record.id, answer.record.args) == (False, True, held.record.id, [7])


async def test_A16_a_repeat_that_is_overtaken_by_the_first_try_is_answered_with_it(conn: Connection) -> None:
    calls = EnqueueCalls({}, [make.unique_call(RAISE)])
    met = Meanwhile(conn, "get_tasks", lambda conn: enqueue_calls(conn, calls))
    answer = (await enqueue_again(met, calls))[0]
    assert (answer.created, answer.refused, answer.record.id) == (True, False, calls.unique[0].task.id)
    assert await raw.count_tasks(conn) == 1
