"""The writer of enqueues: stores single tasks of many callers together.

The first goes at once; those that come while it is under way share the next statement (decision 008).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextvars import Context
from copy import copy
from dataclasses import dataclass, field

from oxpull_async.db.contract import MAX_BATCH_BYTES, Database
from oxpull_async.domain.chunks import chunks
from oxpull_async.domain.errors import ConnectionLost, Contended, DatabaseUnavailable, NotMigrated, PoolExhausted
from oxpull_async.domain.record import NewTask
from oxpull_async.runtime.repeat import repeat
from oxpull_async.store.enqueue import task_size
from oxpull_async.store.plain_tasks import Written, enqueue_plain, enqueue_plain_again

PATIENCE = 1.0
"""How many seconds a statement may be under way before those who come get another writer."""
_CONCERN_ALL = (DatabaseUnavailable, PoolExhausted, NotMigrated, Contended)


@dataclass(slots=True, eq=False)
class _Waiting:
    """A task to be stored, and where its caller waits for the answer.

    `unsure`: it may stand already, since the writer was stopped while it wrote.
    """

    task: NewTask
    outcome: "asyncio.Future[Written | Exception]"
    unsure: bool = False


@dataclass(slots=True, eq=False)
class _Lane:
    """The callers of one event loop: who waits for the next statement, and who is in the one under way.

    The gates open when all who wait before them are answered.
    """

    waiting: list[_Waiting] = field(default_factory=list)
    under_way: Sequence[_Waiting] = ()
    gates: "list[asyncio.Future[None]]" = field(default_factory=list)
    since: float = 0.0
    writer: "asyncio.Task[None] | None" = None

    def next_batch(self) -> Sequence[_Waiting]:
        """Take what the next statement stores: all who wait, as far as one statement carries them."""
        waiting = self.waiting
        if len(waiting) == 1 or waiting[0].unsure:
            count = 1
        else:
            count = len(next(chunks(((one, task_size(one.task)) for one in waiting), max_bytes=MAX_BATCH_BYTES)))
        self.under_way, self.waiting = waiting[:count], waiting[count:]
        return self.under_way

    def gates_behind(self) -> "Sequence[asyncio.Future[None]]":
        """Take the gates that open when the batch under way is written: none while others wait before them."""
        if self.waiting:
            return ()
        gates, self.gates = self.gates, []
        return gates

    def parted(self, newcomer: _Waiting) -> "_Lane":
        """Return another lane for those who wait and a newcomer, since this one's statement does not come back."""
        other = _Lane([*self.waiting, newcomer], gates=self.gates)
        self.waiting, self.gates = [], []
        return other

    def left_open(self) -> list[_Waiting]:
        """Return those who still wait for an answer when the writer stops before its time."""
        for one in self.under_way:
            one.unsure = True
        return [one for one in (*self.under_way, *self.waiting) if not one.outcome.done()]


class EnqueueWriter:
    """Stores single tasks of one event loop's callers, those that wait at a moment together.

    The writer is an asyncio task in an empty context: a caller that is cancelled leaves, and its task is stored.
    `announce` is called with the queues of what was committed.
    """

    def __init__(self, database: Callable[[], Database], announce: Callable[[str], None]) -> None:
        self._database = database
        self._announce = announce
        self._lanes: dict[asyncio.AbstractEventLoop, _Lane] = {}
        self._writers: set[asyncio.Task[None]] = set()

    async def write(self, task: NewTask) -> Written:
        """Store one task; it stands when this returns.

        Raises: what the database says about this task alone, or about everything that it was sent.
        """
        loop = asyncio.get_running_loop()
        waiting = _Waiting(task, loop.create_future())
        lane = self._lanes.get(loop)
        if lane is None:
            self._start(loop, _Lane([waiting]))
        elif loop.time() - lane.since <= PATIENCE:
            lane.waiting.append(waiting)
        else:
            self._start(loop, lane.parted(waiting))
        outcome = await waiting.outcome
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def flush(self) -> None:
        """Wait until what the running event loop has given so far is written or refused."""
        loop = asyncio.get_running_loop()
        lane = self._lanes.get(loop)
        if lane is not None:
            gate = loop.create_future()
            lane.gates.append(gate)
            await gate

    def _start(self, loop: asyncio.AbstractEventLoop, lane: _Lane) -> None:
        for other in list(self._lanes):
            if other.is_closed():
                self._lanes.pop(other, None)
        self._lanes[loop] = lane
        writer = asyncio.Task(
            self._run(loop, lane), loop=loop, name="oxpull enqueue", context=Context(), eager_start=True
        )
        if not writer.done():
            self._writers.add(writer)
            lane.writer = writer

    async def _run(self, loop: asyncio.AbstractEventLoop, lane: _Lane) -> None:
        """Write until nobody waits; what is left when this is cancelled goes to another writer."""
        left: list[_Waiting] = []
        try:
            while lane.waiting:
                lane.since = loop.time()
                batch = lane.next_batch()
                gates = lane.gates_behind()
                await self._write(batch, again=batch[0].unsure)
                _open(gates)
        except asyncio.CancelledError:
            left = lane.left_open()
            raise
        finally:
            if self._lanes.get(loop) is lane:
                del self._lanes[loop]
            if lane.writer is not None:
                self._writers.discard(lane.writer)
            if left:
                self._start(loop, _Lane(left))
            _open(lane.gates)

    async def _write(self, batch: Sequence[_Waiting], *, again: bool) -> None:
        """Write a batch in one transaction: once more after a lost connection, in parts where a row may be to blame.

        `again`: it may stand already.
        """
        try:
            answers = await self._store(batch, again=again)
        except ConnectionLost as lost:
            if not again:
                await self._write(batch, again=True)
            elif len(batch) == 1:
                _fail(batch, lost)
            else:
                await self._write_parts(batch, 1, again=True)
        except _CONCERN_ALL as trouble:
            _fail(batch, trouble)
        except Exception as refused:  # noqa: BLE001 - it goes to the caller whose row it is
            if len(batch) > 1:
                await self._write_parts(batch, (len(batch) + 1) // 2, again=again)
            elif again:
                await self._look_again(batch, refused)
            else:
                _fail(batch, refused)
        else:
            self._answer(batch, answers)

    async def _write_parts(self, batch: Sequence[_Waiting], size: int, *, again: bool) -> None:
        for start in range(0, len(batch), size):
            await self._write(batch[start : start + size], again=again)

    async def _look_again(self, batch: Sequence[_Waiting], refused: Exception) -> None:
        """Look once more for a row that was refused: its own id, landed meanwhile, may be why."""
        try:
            answers = await self._store(batch, again=True)
        except Exception:  # noqa: BLE001 - the first error says why
            _fail(batch, refused)
        else:
            self._answer(batch, answers)

    def _store(self, batch: Sequence[_Waiting], *, again: bool) -> Awaitable[Sequence[Written | None]]:
        tasks = [one.task for one in batch]
        if again:
            return repeat(self._database(), lambda conn: enqueue_plain_again(conn, tasks))
        return repeat(self._database(), lambda conn: enqueue_plain(conn, tasks))

    def _answer(self, batch: Sequence[_Waiting], answers: Sequence[Written | None]) -> None:
        for one, answer in zip(batch, answers, strict=True):
            if not one.outcome.done():
                one.outcome.set_result(answer or _gone())
        for queue_name in {one.task.queue_name for one in batch}:
            self._announce(queue_name)


def _open(gates: "Sequence[asyncio.Future[None]]") -> None:
    for gate in gates:
        if not gate.done():
            gate.set_result(None)


def _fail(batch: Sequence[_Waiting], trouble: Exception) -> None:
    """Give each caller an error of its own: raising one error in several tasks would mix their tracebacks."""
    for one, error in zip(batch, _copies(trouble), strict=False):
        if not one.outcome.done():
            one.outcome.set_result(error)


def _copies(trouble: Exception) -> Iterator[Exception]:
    yield trouble
    while True:
        twin = copy(trouble).with_traceback(trouble.__traceback__)
        twin.__cause__ = trouble.__cause__
        yield twin


def _gone() -> ConnectionLost:
    return ConnectionLost(
        "the connection broke while an enqueue was under way. It was carried out, but the task has gone meanwhile"
    )
