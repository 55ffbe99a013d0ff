"""Unique tasks under fire: callers race for the same keys while the workers that free them are killed."""

import asyncio
import random
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from multiprocessing import get_context

from oxpull_async import Oxpull, Task, Unique
from oxpull_async.app import enqueuer
from oxpull_async.db.contract import Connection
from oxpull_async.domain.keys import custom_key
from oxpull_async.domain.record import TaskId, TaskRecord, instant, new_record, task_id
from oxpull_async.domain.unique_plan import UniqueCall
from oxpull_async.errors import UniqueEnqueueRace
from oxpull_async.store.enqueue import enqueue
from oxpull_async.store.unique_at_once import UniqueAnswer
from tests.fixtures.waiting import until
from tests.scenarios.looks import NOW, read, watching
from tests.scenarios.mayhem import mayhem
from tests.scenarios.proof import Proof, proof
from tests.scenarios.stage import APP, stage

PATH = f"{APP}.effect"
LIVE = "('READY', 'RUNNING', 'WAITING')"
TWO_HOLDERS = f"""
    SELECT unique_key, count(*) FROM oxpull_task
     WHERE unique_key IS NOT NULL AND status IN {LIVE}
       AND (waiting_for IS NULL OR waiting_for <> 'follow_up')
     GROUP BY unique_key HAVING count(*) > 1"""
"""Nothing in these scenarios supersedes a live holder, so follow-ups are the only live rows to be left out."""


@dataclass(frozen=True, slots=True)
class Fire:
    """What each caller does: so many enqueues of so many keys, the last fifth of them declared `rerun`."""

    enqueues: int
    keys: int
    seconds: float
    pause: float
    keyless: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What an enqueue got; `asked_at` is None where its task was seen live by this caller just before the call."""

    task_id: TaskId
    created: bool
    asked_at: datetime | None


@dataclass(frozen=True, slots=True)
class Answers:
    """What one caller got in all."""

    answers: list[Answer]
    races: int


@dataclass(frozen=True, slots=True)
class Raced:
    """How the race for the keys went; no look ever saw two live holders of a key."""

    enqueues: int
    keys: int
    created: int
    existing: int
    races_refused: int
    workers_killed: int
    looks: int


async def one_holder_per_key(
    url: str, fire: Fire, *, processes: int, kills: int, workers: int = 3, lease_seconds: float = 2.0
) -> Raced:
    """Let processes enqueue the same keys while workers run them and are killed at random."""
    async with stage(url, lease_seconds=lease_seconds) as scene:
        async with watching(scene.ox, at_most_one_holder) as watch:
            async with mayhem(scene, "--concurrency=20", workers=workers, kills=kills) as havoc:
                got = await _callers(url, fire, processes)
                killed = len(havoc.killed)
            await _settled(scene.ox, lease_seconds * 3 + 60)
        records = {row.id: row for row in await scene.records()}
    answers = [answer for one in got for answer in one.answers]
    created = [answer.task_id for answer in answers if answer.created]
    check_created(created, records)
    for answer in answers:
        check_live(answer, records)
    assert killed, "no worker was killed"
    total = fire.enqueues * processes
    races = sum(one.races for one in got)
    assert len(answers) + races == total
    return Raced(total, fire.keys, len(created), len(answers) - len(created), races, killed, watch.looks)


async def at_most_one_holder(conn: Connection) -> None:
    """Fail where a key has two live holders."""
    double = await read(conn, TWO_HOLDERS)
    assert not double, f"{len(double)} keys have several live holders: {double[:3]}"


def check_created(created: list[TaskId], records: dict[TaskId, TaskRecord]) -> None:
    """Fail unless exactly the rows exist that callers were told to have created."""
    assert len(created) == len(set(created)), "two callers were told to have created the same task"
    assert set(created) == records.keys(), (
        f"{len(records.keys() - set(created))} rows that nobody created, "
        f"{len(set(created) - records.keys())} created rows that are not there"
    )


def check_live(answer: Answer, records: dict[TaskId, TaskRecord]) -> None:
    """Fail where an answer names a task that had ended before the call began."""
    if answer.asked_at is None:
        return
    ended = records[answer.task_id].finished_at
    assert ended is None or ended >= answer.asked_at, (
        f"at {answer.asked_at} an enqueue was answered with task {answer.task_id}, which had ended at {ended}"
    )


async def _callers(url: str, fire: Fire, processes: int) -> list[Answers]:
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        return await asyncio.gather(*(loop.run_in_executor(pool, _caller, url, fire) for _ in range(processes)))


def _caller(url: str, fire: Fire) -> Answers:
    """Run in a process of its own."""
    if fire.keyless:
        enqueuer.enqueue_unique = _without_a_key  # type: ignore[attr-defined]
    return asyncio.run(_enqueue_at_random(url, fire))


async def _without_a_key(conn: Connection, call: UniqueCall) -> UniqueAnswer:
    """Store a unique task and no lock row: what the onlooker must notice."""
    stored = await enqueue(conn, call.task)
    return UniqueAnswer(new_record(call.task, stored.enqueued_at, stored.available_at), created=True, changed=True)


async def _enqueue_at_random(url: str, fire: Fire) -> Answers:
    answers: list[Answer] = []
    races = 0
    async with Oxpull(url) as ox, ox.database.connection() as conn:
        plain, rerun = (_task(ox, rerun=again) for again in (False, True))
        for _ in range(fire.enqueues):
            number = random.randrange(fire.keys)
            task = rerun if number >= fire.keys * 4 // 5 else plain
            before, lives, asked_at = await _holder(conn, number)
            try:
                result = await task.enqueue(number, fire.seconds)
            except UniqueEnqueueRace:
                races += 1
                continue
            seen = result.id == before and lives
            answers.append(Answer(result.id, result.created, None if seen else asked_at))
            await asyncio.sleep(random.uniform(0, fire.pause))
    return Answers(answers, races)


def _task(ox: Oxpull, *, rerun: bool) -> Task[..., object]:
    unique = Unique(key=_key, on_duplicate="rerun" if rerun else "existing")
    return ox.remote(PATH, max_attempts=2, unique=unique)


def _key(number: int, seconds: float) -> str:
    return str(number)


async def _holder(conn: Connection, number: int) -> tuple[TaskId | None, bool, datetime]:
    """Whom the lock row names now, whether that task is live, and the database's time before that was read."""
    key = custom_key("default", PATH, "default", str(number))
    now = NOW[conn.dialect.name]
    [[asked_at, holder, lives]] = await read(
        conn,
        f"SELECT {now}, u.holder_id, CASE WHEN t.status IN {LIVE} THEN 1 ELSE 0 END FROM (SELECT 1 AS one) o"
        f" LEFT JOIN oxpull_unique u ON u.unique_key = '{key}' LEFT JOIN oxpull_task t ON t.id = u.holder_id",
    )
    return None if holder is None else task_id(holder), bool(lives), instant(asked_at)


async def _settled(ox: Oxpull, within: float) -> None:
    """Wait until nothing is left to run."""

    async def nothing_left() -> bool:
        return not any(queue.ready + queue.running + queue.waiting for queue in await ox.stats())

    await until(nothing_left, within=within, what="every task ended")


PROOFS: list[Proof] = [
    proof(
        "8 processes enqueue 50 unique keys 2,000 times each while workers are killed",
        "C1, G2",
        partial(
            one_holder_per_key, fire=Fire(enqueues=2_000, keys=50, seconds=0.1, pause=0.005), processes=8, kills=50
        ),
    ),
]
