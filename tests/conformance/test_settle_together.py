"""Outcomes that are ready together: few statements, and the same rows whichever statement writes them."""

import json
from collections.abc import Sequence
from math import ceil
from typing import Any

import pytest

from oxpull_async.db.contract import Connection
from oxpull_async.domain.errors import DataRefused
from oxpull_async.domain.outcome import Failed, Lease, Outcome, Settlement, Succeeded
from oxpull_async.domain.record import ClaimedTask, TaskStatus, wire_id
from oxpull_async.store.enqueue import enqueue_many
from oxpull_async.store.id_lists import LISTED_AT_ONCE
from oxpull_async.store.results import get_tasks
from oxpull_async.store.settle import settle
from tests.conformance.spy import Spy
from tests.fixtures import make, raw

SOMETHING = "01a227d4d324730e94020d76e79e237e"
LOST = f"status = 'LOST', leased_by = NULL, finished_at = started_at, errors = '[{make.ERROR}]'".replace("\\n", " ")
STATES = {
    "runs": "begun = true",
    "is asked to stop": "cancel_requested = true",
    "is lost": LOST,
    "is lost and was asked to stop": f"cancel_requested = true, {LOST}",
    "is declared to rerun": "reruns = true, unique_key = 'k'",
    "is marked": "recheck = 1, unique_key = 'k'",
    "has another epoch": "epoch = 7",
    "was handed back": "status = 'READY', epoch = 2, due = 1, leased_by = NULL",
    "has failed": "status = 'FAILED', leased_by = NULL",
    "was discarded": "status = 'DISCARDED', leased_by = NULL",
    "is of a batch": f"batch_id = '{SOMETHING}'",
    "is a node": f"workflow_id = '{SOMETHING}'",
}
VALUES = ("null", "0", "1.5", "false", '""', '"a\\"b,}\\u00fc"', "[null]", '{"a":{"b":[1,"]"]}}', "{}")


async def running(conn: Connection, count: int) -> list[ClaimedTask]:
    await enqueue_many(conn, [make.new_task() for _ in range(count)])
    return await make.claimed(conn, await make.worker(conn), count)


async def columns(conn: Connection, task: ClaimedTask) -> list[Any]:
    row = await conn.fetchrow("test_settled_row", id=wire_id(task.id))
    assert row is not None
    return [*row[:7], json.loads(row[7])[1:], *row[8:]]


def settlements(tasks: Sequence[ClaimedTask], outcomes: Sequence[Outcome]) -> list[Settlement]:
    return [Settlement.of(task, outcome) for task, outcome in zip(tasks, outcomes, strict=True)]


@pytest.mark.parametrize("state", STATES)
async def test_a_success_comes_to_the_same_alone_or_among_successes_or_among_others(
    conn: Connection, state: str
) -> None:
    """Whatever has become of the row since its claim."""
    first, second = await running(conn, len(VALUES)), await running(conn, len(VALUES))
    for task in (*first, *second):
        await raw.change(conn, task.id, STATES[state])
    outcomes = [Succeeded(value) for value in VALUES]
    stranger = Settlement(Lease(make.new_id(), 99), Succeeded("1"))
    together, mixed = Spy(conn), Spy(conn)
    one = await settle(together, settlements(first, outcomes))
    other = await settle(mixed, [*settlements(second, outcomes), stranger])
    assert ("settle_successes" in {name for name, _ in together.sent}) is conn.dialect.has_arrays
    assert "settle_successes" not in {name for name, _ in mixed.sent}
    assert [one.get(make.lease(task)) for task in first] == [other.get(make.lease(task)) for task in second]
    for task, twin in zip(first, second, strict=True):
        assert await columns(conn, task) == await columns(conn, twin)


@pytest.mark.parametrize("count", [1, 2, 1000])
async def test_successes_that_are_ready_together_are_one_statement(conn: Connection, count: int) -> None:
    tasks, spy = await running(conn, count), Spy(conn)
    written = await settle(spy, settlements(tasks, [Succeeded("null")] * count))
    assert written == dict.fromkeys([make.lease(task) for task in tasks], TaskStatus.SUCCESSFUL)
    if conn.dialect.update_returns_rows:
        assert [name for name, _ in spy.sent] == ["settle_successes" if conn.dialect.has_arrays else "settle"]
    else:
        assert len(spy.sent) == 2 * ceil(count / LISTED_AT_ONCE)  # rows are locked, then written


async def test_outcomes_of_all_kinds_that_are_ready_together_are_one_statement(conn: Connection) -> None:
    tasks, spy = await running(conn, 40), Spy(conn)
    await settle(spy, settlements(tasks, [Succeeded("1"), Failed(make.ERROR, None)] * 20))
    if conn.dialect.update_returns_rows:
        assert [name for name, _ in spy.sent] == ["settle"]


async def test_a_success_that_no_database_can_store_takes_the_others_back(conn: Connection) -> None:
    tasks = await running(conn, 3)
    with pytest.raises(DataRefused):
        await settle(conn, settlements(tasks, [Succeeded("1"), Succeeded('"'), Succeeded("null")]))
    assert {one.status for one in (await get_tasks(conn, [task.id for task in tasks])).values()} == {TaskStatus.RUNNING}
