"""What the modes of unique tasks promise over time: one follow-up, one debounced run, and many at once."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from oxpull_async import Oxpull, Task, TaskResult, TaskStatus, Unique
from oxpull_async.domain.events import TaskSettled
from tests.fixtures.workers import working
from tests.scenarios.proof import Proof, proof

if TYPE_CHECKING:
    from oxpull_async.app.task import Call

PATIENCE = 30.0

TICK = 0.002  # SQLite keeps milliseconds


@dataclass(frozen=True, slots=True)
class Rerun:
    """How often one key was enqueued while its holder ran, and what ran in consequence."""

    rounds: int
    enqueues_during_a_run: int
    follow_ups_per_round: int
    runs: int


async def rerun_once(url: str, *, rounds: int, enqueues: int) -> Rerun:
    """Enqueue one key many times while its holder runs: exactly one follow-up runs, with the last arguments."""
    ran: list[tuple[int, int]] = []
    gates = [asyncio.Event() for _ in range(rounds)]
    began = [asyncio.Event() for _ in range(rounds)]
    async with Oxpull(url) as ox:
        await ox.migrate()

        @ox.task(unique=Unique(key=_turn, on_duplicate="rerun"))
        async def refresh(turn: int, number: int) -> None:
            ran.append((turn, number))
            began[turn].set()
            await gates[turn].wait()

        async with working(ox) as (_, witness):
            for turn in range(rounds):
                holder = await refresh.enqueue(turn, 0)
                await asyncio.wait_for(began[turn].wait(), PATIENCE)
                at_once = [refresh.enqueue(turn, number) for number in range(1, enqueues)]
                answers = [*await asyncio.gather(*at_once), await refresh.enqueue(turn, enqueues)]
                _check_follow_up(holder, answers)
                gates[turn].set()
                await witness.seen(TaskSettled, count=2 * (turn + 1), within=PATIENCE)
    expected = [(turn, number) for turn in range(rounds) for number in (0, enqueues)]
    assert ran == expected, f"{ran} ran instead of {expected}"
    return Rerun(rounds, enqueues, 1, len(ran))


def _turn(turn: int, number: int) -> str:
    return str(turn)


def _check_follow_up(holder: TaskResult[Any], answers: Sequence[TaskResult[Any]]) -> None:
    ids = {answer.id for answer in answers}
    assert len(ids) == 1, f"{len(ids)} follow-ups"
    assert holder.id not in ids
    assert sum(answer.created for answer in answers) == 1


@dataclass(frozen=True, slots=True)
class Debounced:
    """When a debounced task started that was enqueued without a pause, and one that was left alone."""

    enqueues_before_the_start: int
    max_wait: float
    started_after: float
    wait: float
    started_after_the_last: float


async def debounced_once(url: str, *, wait: float, max_wait: float, slack: float) -> Debounced:
    """Fire at one key until its task starts: it starts once, at max_wait; left alone, it starts after wait."""
    ran: list[tuple[str, int]] = []
    unique = Unique(key=_name, on_duplicate="debounce", wait=wait, max_wait=max_wait)
    async with Oxpull(url) as ox:
        await ox.migrate()

        @ox.task(unique=unique)
        async def index(name: str, number: int) -> None:
            ran.append((name, number))

        async with working(ox) as (_, witness):
            first = await index.enqueue("busy", 0)
            fired, last = await _fire(index, first, max_wait + PATIENCE)
            await witness.seen(TaskSettled, within=PATIENCE)
            await first.refresh()
            for number in range(20):
                quiet = await index.enqueue("quiet", number)
            await witness.seen(TaskSettled, count=3, within=PATIENCE)
            await quiet.refresh()
    late = _seconds(first, first.record.enqueued_at)
    assert first.attempts == 1
    assert max_wait - TICK <= late <= max_wait + slack, f"it started {late} s after the first enqueue"
    assert [run for run in ran if run[0] == "quiet"] == [("quiet", 19)]
    assert ran[0] == ("busy", last), f"{ran[0]} ran, the last accepted arguments were {last}"
    assert quiet.run_after is not None
    return Debounced(fired, max_wait, late, wait, wait + _seconds(quiet, quiet.run_after))


def _name(name: str, number: int) -> str:
    return name


async def _fire(index: Task[[str, int], None], first: TaskResult[Any], seconds: float) -> tuple[int, int]:
    """Enqueue without a pause until a new task is made; returns how often, and the last number the first task took."""
    ends = time.monotonic() + seconds
    for number in count(1):
        answer = await index.enqueue("busy", number)
        if answer.created:
            return number, number - 1
        assert answer.id == first.id
        assert time.monotonic() < ends, "it never started"
        await asyncio.sleep(0.002)
    raise AssertionError


def _seconds(result: TaskResult[Any], since: Any) -> float:
    assert result.started_at is not None
    took: timedelta = result.started_at - since
    return round(took / timedelta(seconds=1), 3)


@dataclass(frozen=True, slots=True)
class InBulk:
    """One call of many unique tasks, and how much longer it took than plain rows."""

    calls: int
    duplicates_inside: int
    pending_before: int
    rows_written: int
    seconds: float
    times_as_long_as_as_many_plain_calls: float
    times_as_long_as_as_many_plain_rows: float


async def unique_in_bulk(url: str, *, calls: int, runs: int, most: float | None = None) -> InBulk:
    """Enqueue unique calls at once, three in ten of them duplicates inside and two in ten pending already."""
    inside, pending = calls * 3 // 10, calls * 2 // 10
    distinct = calls - inside
    numbers = [*range(distinct), *range(inside)]
    async with Oxpull(url) as ox:
        await ox.migrate()
        plain = ox.remote("tests.scenarios.unique_modes.anything")
        unique = plain.using(unique=True)
        times: list[tuple[float, float, float]] = []
        for _ in range(runs):
            await _empty(ox)
            long = await _timed(ox, [plain.call(number) for number in numbers])
            await _empty(ox)
            short = await _timed(ox, [plain.call(number) for number in range(distinct - pending)])
            await _empty(ox)
            before = await ox.enqueue_many(unique.call(number) for number in range(0, 2 * pending, 2))
            start = time.monotonic()
            answers = await ox.enqueue_many(unique.call(number) for number in numbers)
            times.append((time.monotonic() - start, long, short))
            _check_bulk(numbers, before, answers)
            assert await _rows(ox) == distinct, "a row too many or too few"
    took, long, short = (min(column) for column in zip(*times, strict=True))
    if most is not None:
        assert took / long <= most, f"{took:.2f} s, as many plain calls {long:.2f} s"
    return InBulk(calls, inside, pending, distinct - pending, took, took / long, took / short)


def _check_bulk(numbers: Sequence[int], before: Sequence[TaskResult[Any]], answers: Sequence[TaskResult[Any]]) -> None:
    """Fail unless each answer is the task of its call's number, created by the first call that had nobody's number."""
    task_of = {result.args[0]: result.id for result in before}
    for number, answer in zip(numbers, answers, strict=True):
        assert answer.args == [number]
        assert answer.created == (number not in task_of), f"created={answer.created} for the call of {number}"
        assert answer.id == task_of.setdefault(number, answer.id)
        assert answer.status is TaskStatus.READY


async def _timed(ox: Oxpull, calls: "Sequence[Call[object]]") -> float:
    start = time.monotonic()
    await ox.enqueue_many(calls)
    return time.monotonic() - start


async def _empty(ox: Oxpull) -> None:
    async with ox.transaction() as tx:
        for table in ("oxpull_task", "oxpull_unique"):
            await tx.execute(f"DELETE FROM {table}")


async def _rows(ox: Oxpull) -> int:
    async with ox.transaction() as tx:
        [[rows]] = await tx.fetch("SELECT count(*) FROM oxpull_task")
    return int(rows)


BULK = partial(unique_in_bulk, calls=10_000, runs=3)
PROOFS: list[Proof] = [
    proof("100 rerun enqueues during one run", "C1", partial(rerun_once, rounds=10, enqueues=100)),
    proof("debounce under constant fire", "C2", partial(debounced_once, wait=2.0, max_wait=10.0, slack=0.5)),
    proof(
        "10,000 unique calls at once, within twice the time of plain ones", "C3", partial(BULK, most=2.0), ("postgres",)
    ),
    proof("10,000 unique calls at once", "C3", BULK, ("mysql", "sqlite")),
]
