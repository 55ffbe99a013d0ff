"""A caller and somebody beside it, over one key: what they do, and who waits for whom."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace as replaced

from oxpull_async.db.contract import Connection, Database
from oxpull_async.domain.errors import LockTimeout, UniqueEnqueueRace
from oxpull_async.domain.outcome import Failed, Succeeded
from oxpull_async.domain.record import ClaimedTask, TaskId
from oxpull_async.domain.unique import Unique, UniqueRule
from oxpull_async.domain.unique_plan import UniqueCall
from oxpull_async.store import operate
from oxpull_async.store.unique import enqueue_unique
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.fixtures import innodb, make
from tests.fixtures.raw import taken_back
from tests.fixtures.waiting import until
from tests.races.callers import Caller, execute
from tests.races.settings import Setting

KEY = "k"
WAITING = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


class OtherWaitsError(Exception):
    """The caller's transaction keeps everybody else from writing, so that the interleaving cannot happen."""


def call(unique: Unique | None = None) -> UniqueCall:
    """Make one enqueue of the key."""
    rule = UniqueRule.of(unique or Unique(), default_ttl=None)
    task = replaced(make.new_task(), unique_key=KEY, reruns=rule.mode == "rerun", delay=rule.wait)
    return UniqueCall(0, task, rule)


async def enqueue(conn: Connection) -> UniqueAnswer:
    """Enqueue the key."""
    return await enqueue_unique(conn, call())


@dataclass(slots=True)
class Stage:
    """`here` enqueues; `database` is where the others come from; `watcher` sees who waits."""

    setting: Setting
    here: Caller
    database: Database
    watcher: Any
    marks: int = 0

    async def beside[T](self, operation: Callable[[Connection], Awaitable[T]]) -> T:
        """Do something on another connection, and commit it."""
        async with self.database.connection() as conn:
            try:
                return await operation(conn)
            except LockTimeout as late:
                raise OtherWaitsError from late

    @asynccontextmanager
    async def in_flight[T](
        self, operation: Callable[[Connection], Awaitable[T]], *, commit: bool = True
    ) -> AsyncIterator[T]:
        """Do something in another transaction that is open for the block."""
        try:
            async with self.database.connection() as conn:
                block = conn.transaction() if commit else taken_back(conn)
                async with block:
                    yield await operation(conn)
        except LockTimeout as late:
            raise OtherWaitsError from late

    async def waiting(self, coroutine: Coroutine[Any, Any, UniqueAnswer]) -> "asyncio.Task[UniqueAnswer]":
        """Start something, and return when it waits for a lock, or has not waited."""
        begun = asyncio.Event()

        async def start() -> UniqueAnswer:
            begun.set()
            return await coroutine

        task = asyncio.create_task(start())
        await begun.wait()
        if self.setting.family != "sqlite":
            await until(lambda: self._waits(task), within=20, what="nobody waits for a lock")
        return task

    async def begin(self) -> None:
        """Open the caller's transaction and let its snapshot begin."""
        await self.here.begin()
        if self.setting.family != "sqlite" and self.setting.begin:
            await self._mark()
        await self.here.do(lambda conn: conn.fetch("installation"))

    async def enqueue(self) -> UniqueAnswer:
        """Enqueue in the caller's transaction."""
        return await self.here.do(enqueue)

    async def arrive(self) -> UniqueAnswer:
        """Open the caller's transaction and enqueue in it at once."""
        await self.here.begin()
        return await self.here.do(enqueue)

    async def outcome(self, coroutine: Awaitable[UniqueAnswer]) -> str:
        """Say in words what an enqueue came to; a race's word about the transaction is put to the test."""
        try:
            answer = await coroutine
        except UniqueEnqueueRace as race:
            return f"race, {await self._end_after(race)}"
        except LockTimeout as late:
            if self.setting.begin is None or self.setting.family == "sqlite":
                return "waits in vain"
            raise AssertionError from late
        return "created" if answer.created else f"existing {answer.record.status}"

    async def _end_after(self, race: UniqueEnqueueRace) -> str:
        assert "nothing was written" in str(race)
        assert race.__cause__ is not None or "snapshot" in str(race)
        if not race.transaction_survived:
            await self.here.end(commit=False)
            return "lost"
        await self._mark()
        await self.here.end(commit=True)
        assert len(await execute(self.watcher, "SELECT n FROM race_marker")) == self.marks
        return "usable"

    async def _mark(self) -> None:
        """Write something else in the caller's transaction."""
        await self.here.do(lambda conn: conn.run_script("INSERT INTO race_marker (n) VALUES (1)"))
        self.marks += 1

    async def _waits(self, task: "asyncio.Task[UniqueAnswer]") -> bool:
        if task.done() or self.setting.family == "postgres":
            return task.done() or bool(await execute(self.watcher, WAITING))
        ours = {row[0] for row in await execute(self.watcher, innodb.SESSIONS)}
        return bool(ours & innodb.waiting(await execute(self.watcher, innodb.REPORT)))


async def stored(stage: Stage) -> TaskId:
    """Let somebody take the key."""
    return (await stage.beside(enqueue)).record.id


async def claimed(conn: Connection) -> ClaimedTask:
    """Let a worker begin the holder."""
    (task,) = await make.claimed(conn, await make.worker(conn))
    return task


async def settled(stage: Stage, *, failed: bool = False) -> TaskId:
    """Let a worker run the holder to its end."""

    async def run(conn: Connection) -> TaskId:
        task = await claimed(conn)
        await make.settled(conn, task, Failed(make.ERROR, None) if failed else Succeeded("1"))
        return task.id

    return await stage.beside(run)


async def deleted(stage: Stage) -> None:
    """Delete the holder's row by hand."""
    await stage.beside(lambda conn: conn.run_script("DELETE FROM oxpull_task"))


async def retried(conn: Connection, id_: TaskId) -> int:
    """Let an operator retry a task."""
    return await operate.retry(conn, [id_], include_discarded=False)
