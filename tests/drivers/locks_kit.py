"""What the tests of running locks share: locked tasks, claims that meet locks, and connections that stop at a gate."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from oxpull_async.db.contract import Connection, Row, Scalar
from oxpull_async.domain.outcome import Lease, Outcome, Settlement, Succeeded
from oxpull_async.domain.record import ClaimedTask, NewTask, TaskId, TaskStatus, WorkerId
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.enqueue import enqueue_many
from oxpull_async.store.results import get_tasks
from oxpull_async.store.settle import settle
from tests.conformance.wrapper import Wrapper
from tests.fixtures import make

DONE = Succeeded("1")


def locked(key: str = "k", limit: int = 1, conflict: str = "wait", **options: object) -> NewTask:
    """Make a task with a running lock that is not stored yet."""
    lock = {"lock_key": key, "lock_limit": limit, "lock_conflict": conflict}
    return make.new_task(**(lock | options))  # type: ignore[arg-type]


async def stored(conn: Connection, *tasks: NewTask) -> list[TaskId]:
    """Store tasks; gives their ids."""
    await enqueue_many(conn, tasks)
    return [task.id for task in tasks]


async def take(
    conn: Connection, worker_id: WorkerId, limit: int = 10, queues: tuple[str, ...] = (make.QUEUE,)
) -> list[ClaimedTask]:
    """Claim rows with and without running locks."""
    return await claim(conn, ClaimRequest(worker_id, make.ALIAS, queues, limit, meets_locks=True))


async def end(conn: Connection, *tasks: ClaimedTask, outcome: Outcome = DONE) -> int:
    """Settle attempts together; returns how many of them counted."""
    return len(
        await settle(conn, [Settlement(Lease(task.id, task.epoch), outcome, None, task.lock_key) for task in tasks])
    )


async def statuses(conn: Connection, ids: Sequence[TaskId]) -> str:
    """Give the first letters of the statuses of these tasks: READY is D for due, RUNNING is R, WAITING is W."""
    records = await get_tasks(conn, ids)
    letters = {TaskStatus.READY: "D", TaskStatus.DISCARDED: "X"}
    return "".join(letters.get(records[id_].status, records[id_].status[0]) for id_ in ids)


@dataclass
class Gate:
    """A place in front of a statement: who comes there says so, and goes on when it is opened."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait_until_reached(self) -> None:
        async with asyncio.timeout(20):
            await self.reached.wait()


class Gated(Wrapper):
    """A Connection that stops before some statements, and counts all of them."""

    def __init__(self, inner: Connection, **gates: Gate) -> None:
        super().__init__(inner)
        self.gates = gates
        self.names: list[str] = []

    async def fetch(self, statement: str, /, **values: Scalar) -> Sequence[Row]:
        await self._pass(statement)
        return await super().fetch(statement, **values)

    async def execute(self, statement: str, /, **values: Scalar) -> int:
        await self._pass(statement)
        return await super().execute(statement, **values)

    async def _pass(self, statement: str) -> None:
        self.names.append(statement)
        gate = self.gates.get(statement)
        if gate is not None:
            gate.reached.set()
            async with asyncio.timeout(20):
                await gate.opened.wait()
