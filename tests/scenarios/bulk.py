"""Many tasks in one call: all are stored or none, and values that no database stores are refused or end their task."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from oxpull_async import Oxpull, TaskStatus, Worker
from oxpull_async.errors import InvalidArguments
from tests.app.kit import rolled_back
from tests.scenarios.proof import Proof, proof

REFUSED: dict[str, Callable[[], Any]] = {
    "NUL": lambda: "a\0b",
    "NaN": lambda: float("nan"),
    "Infinity": lambda: [float("inf")],
    "lone surrogate": lambda: {"text": "\ud800"},
    "10 MB": lambda: "x" * 10_000_000,
    "object()": object,
}


@dataclass(frozen=True, slots=True)
class Stored:
    """One call stored its rows in one transaction, and another one nothing."""

    rows: int
    rows_after_rollback: int
    rows_after_bad_argument: int
    refused: str


async def stored_in_bulk(url: str, *, rows: int) -> Stored:
    """Store rows in one call, roll as many back, and have the last of as many be refused."""
    async with Oxpull(url) as ox:
        await ox.migrate()
        task = ox.remote("tests.scenarios.bulk.anything")
        results = await ox.enqueue_many(task.call(number) for number in range(rows))
        assert [result.args for result in results] == [[number] for number in range(rows)]
        after_rollback = await _rolled_back(ox, rows)
        message = ""
        try:
            await ox.enqueue_many([*[task.call(number) for number in range(rows - 1)], task.call({"a": [object()]})])
        except InvalidArguments as refused:
            message = str(refused)
        assert message.startswith(f"call {rows - 1} "), f"the bad row is not named: {message!r}"
        assert (after_rollback, await _count(ox)) == (rows, rows)
    return Stored(rows, after_rollback, rows, message.partition(":")[0])


@dataclass(frozen=True, slots=True)
class Unstorable:
    """Values that no database stores were refused as arguments, and ended their tasks as return values."""

    kinds: int
    refused_arguments: int
    failed_tasks: int
    runs: int
    others_done: int


async def unstorable_values(url: str, *, others: int) -> Unstorable:
    """Enqueue and return values that cannot be stored, among tasks that do no harm."""
    ran: list[str] = []
    async with Oxpull(url) as ox:
        await ox.migrate()

        @ox.task
        async def hand_back(kind: str) -> Any:
            ran.append(kind)
            return REFUSED[kind]()

        @ox.task
        async def harmless(number: int) -> int:
            return number

        refused = sum([await _is_refused(ox, make()) for make in REFUSED.values()])
        bad = await ox.enqueue_many(hand_back.call(kind) for kind in REFUSED)
        good = await ox.enqueue_many(harmless.call(number) for number in range(others))
        await asyncio.wait_for(Worker(ox, burst=True).run(), 120)
        for result in (*bad, *good):
            await result.refresh()
        failed = [result for result in bad if result.status is TaskStatus.FAILED and len(result.errors) == 1]
        done = [result.return_value for result in good]
    assert refused == len(failed) == len(ran) == len(REFUSED), f"{refused} refused, {len(failed)} failed, {ran} ran"
    assert done == list(range(others))
    return Unstorable(len(REFUSED), refused, len(failed), len(ran), len(done))


async def _rolled_back(ox: Oxpull, rows: int) -> int:
    task = ox.remote("tests.scenarios.bulk.anything")
    async with rolled_back(ox.transaction()):
        await ox.enqueue_many(task.call(number) for number in range(rows))
    return await _count(ox)


async def _is_refused(ox: Oxpull, value: Any) -> bool:
    before = await _count(ox)
    try:
        await ox.remote("tests.scenarios.bulk.anything").enqueue(value)
    except InvalidArguments:
        return await _count(ox) == before
    return False


async def _count(ox: Oxpull) -> int:
    async with ox.transaction() as tx:
        [[count]] = await tx.fetch("SELECT count(*) FROM oxpull_task")
    return int(count)


PROOFS: list[Proof] = [
    proof("10,000 rows in one call, and a bad argument in row 9,999", "F2", partial(stored_in_bulk, rows=10_000)),
    proof("values that no database stores", "F2, A7", partial(unstorable_values, others=200)),
]
