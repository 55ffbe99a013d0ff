"""What happens to a held key: every row of the table of events in docs/unique.md."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from oxpull_async import Oxpull, Task, TaskResult
from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Failed, Outcome, Succeeded
from oxpull_async.domain.record import ClaimedTask
from oxpull_async.errors import TaskResultDoesNotExist
from oxpull_async.store.lease import expired, reap
from tests.app.kit import nothing
from tests.app.unique_kit import holder_of, key_of
from tests.docs.unique import table
from tests.fixtures import make, raw

pytestmark = pytest.mark.asyncio

THIS, OTHER, NOBODY = "this task", "the task that took it", "nobody"


class Story:
    """A unique task, its key, and perhaps another task that took the key since."""

    def __init__(self, ox: Oxpull, conn: Connection, task: Task[..., Any], first: TaskResult[Any]) -> None:
        self.ox = ox
        self.conn = conn
        self.task = task
        self.first = first
        self.other: TaskResult[Any] | None = None

    async def claim(self) -> ClaimedTask:
        [claimed] = await make.claimed(self.conn, await make.worker(self.conn))
        return claimed

    async def settle(self, outcome: Outcome) -> ClaimedTask:
        claimed = await self.claim()
        await make.settled(self.conn, claimed, outcome)
        return claimed

    async def worker_dies(self) -> ClaimedTask:
        """Claim, begin, and let the worker fall silent until it is reaped."""
        worker = await make.worker(self.conn)
        [claimed] = await make.claimed(self.conn, worker)
        await raw.forget_worker(self.conn, worker)
        [row] = await expired(self.conn, 10)
        assert await reap(self.conn, row, make.ERROR) is not None
        return claimed

    async def take_over(self) -> None:
        self.other = await self.task.enqueue(1)
        assert self.other.created


async def fails_once(story: Story) -> None:
    await story.settle(Failed(make.ERROR, 60))


async def fails_for_good(story: Story) -> None:
    await story.settle(Failed(make.ERROR, None))


async def succeeds(story: Story) -> None:
    await story.settle(Succeeded("1"))


async def loses_its_worker(story: Story) -> None:
    await story.worker_dies()


async def is_lost(story: Story) -> None:
    async with story.ox.database.connection() as conn:
        await raw.change(conn, story.first.id, "max_attempts = 1")
    await story.worker_dies()


async def succeeds_late(story: Story) -> None:
    await raw.change(story.conn, story.first.id, "max_attempts = 1")
    claimed = await story.worker_dies()
    await story.take_over()
    assert await make.settled(story.conn, claimed, Succeeded("1")) is not None


async def is_retried(story: Story) -> None:
    await fails_for_good(story)
    assert await story.ox.retry(story.first.id)


async def is_retried_too_late(story: Story) -> None:
    await fails_for_good(story)
    await story.take_over()
    assert await story.ox.retry(story.first.id)


async def is_discarded(story: Story) -> None:
    assert await story.ox.discard(story.first.id)


async def is_cancelled_while_it_runs(story: Story) -> None:
    await story.claim()
    assert await story.ox.cancel(story.first.id)


async def is_pruned(story: Story) -> None:
    await succeeds(story)
    await raw.change(story.conn, story.first.id, "finished_at = '2001-01-01 00:00:00.000000'")
    assert (await story.ox.prune()).removed == 1


EVENTS: dict[str, Callable[[Story], Awaitable[None]]] = {
    "an attempt fails, others are left": fails_once,
    "the last attempt fails": fails_for_good,
    "it succeeds": succeeds,
    "its worker dies, attempts are left": loses_its_worker,
    "its worker dies on the last attempt": is_lost,
    "the outcome of a LOST task arrives after all, its key was taken since": succeeds_late,
    "an operator retries it, its key is free": is_retried,
    "an operator retries it, its key was taken since": is_retried_too_late,
    "an operator discards or cancels it before it runs": is_discarded,
    "an operator cancels it while it runs": is_cancelled_while_it_runs,
    "it is pruned": is_pruned,
}
ROWS = table("events")[1:]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
async def test_an_event_does_to_a_held_key_what_the_page_says(ox: Oxpull, row: list[str]) -> None:
    event, status, held_by, answer = row
    task = ox.task(unique=True)(nothing)
    async with ox.database.connection() as conn:
        story = Story(ox, conn, task, await task.enqueue(1))
        key = await key_of(ox, story.first)
        await EVENTS[event](story)
    assert await status_of(ox, story.first) == status.partition(",")[0]
    second = await task.enqueue(1)
    assert second.created == (answer == "new")
    holder = await holder_of(ox, key)
    assert holder == second.id
    whose = held_by.removesuffix(" again").partition(";")[0]
    expected = {THIS: story.first.id, OTHER: story.other and story.other.id, NOBODY: second.id}
    assert holder == expected[whose]


async def status_of(ox: Oxpull, result: TaskResult[Any]) -> str:
    try:
        return str((await ox.get_result(result.id)).status)
    except TaskResultDoesNotExist:
        return "gone"


async def test_every_event_of_the_page_has_its_story() -> None:
    assert [row[0] for row in ROWS] == list(EVENTS)


async def test_C1_a_retried_former_holder_runs_without_the_key(ox: Oxpull) -> None:
    task = ox.task(unique=True)(nothing)
    first = await task.enqueue(1)
    await ox.discard(first.id)
    second = await task.enqueue(1)
    assert await ox.retry(first.id, include_discarded=True)
    async with ox.database.connection() as conn:
        both = await make.claimed(conn, await make.worker(conn))
        assert {row.id for row in both} == {first.id, second.id}
        retried = next(row for row in both if row.id == first.id)
        await make.settled(conn, retried, Succeeded("1"))
    assert (await task.enqueue(1)).id == second.id
