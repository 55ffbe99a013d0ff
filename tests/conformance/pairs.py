"""A key's holder that runs and the follow-up that waits for it, and every way in which the holder may end."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from oxpull_async.db.contract import Connection
from oxpull_async.domain.outcome import Cancelled, Failed, Outcome, Released, Snoozed, Succeeded
from oxpull_async.domain.record import ClaimedTask, TaskId, TaskRecord, TaskStatus
from oxpull_async.domain.unique import Unique
from oxpull_async.store.claim import ClaimRequest, claim
from oxpull_async.store.lease import expired, reap
from oxpull_async.store.operate import cancel, discard
from oxpull_async.store.unique import enqueue_unique, find
from tests.fixtures import make, raw

RERUN = Unique(on_duplicate="rerun")

type Ending = Callable[[Connection, "Pair"], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Pair:
    """A key's holder that runs, and the follow-up that waits for it."""

    key: str
    claimed: ClaimedTask
    follow_up: TaskRecord


async def put(
    conn: Connection, key: str = make.KEY, args: str = "[2]", *, rule: Unique = RERUN, **options: object
) -> TaskRecord:
    """Enqueue a call of a key, by default one that reruns."""
    call = make.unique_call(rule, key=key, args=args, **options)  # type: ignore[arg-type]
    return (await enqueue_unique(conn, call)).record


async def pair(conn: Connection, key: str = make.KEY, *, rule: Unique = RERUN, **options: object) -> Pair:
    """Have a holder of a key run, by default one that is declared to rerun, and a follow-up wait for it."""
    claimed = await running(conn, key, rule=rule, **options)
    follow_up = await put(conn, key)
    assert follow_up.status is TaskStatus.WAITING
    return Pair(key, claimed, follow_up)


async def running(conn: Connection, key: str = make.KEY, *, rule: Unique = RERUN, **options: object) -> ClaimedTask:
    """Have a holder of a key run."""
    holder = await put(conn, key, args="[1]", rule=rule, queue_name=key, **options)
    request = ClaimRequest(await make.worker(conn), make.ALIAS, (key,), 1, meets_locks=True)
    [claimed] = await claim(conn, request)
    assert claimed.id == holder.id
    return claimed


async def names(conn: Connection, key: str = make.KEY) -> tuple[TaskId, TaskId | None]:
    """Read whom a key's lock row names: the holder, and the follow-up if one waits."""
    found = (await find(conn, [key]))[key]
    return found.holder_id, found.follow_up_id


async def is_released(conn: Connection, found: Pair) -> bool:
    """Whether the follow-up is ready and the holder; all of it or nothing."""
    record = await make.record(conn, found.follow_up.id)
    if record.status is TaskStatus.WAITING:
        assert record == found.follow_up
        assert await names(conn, found.key) == (found.claimed.id, found.follow_up.id)
        return False
    assert (record.status, record.waiting_for) == (TaskStatus.READY, None)
    assert await names(conn, found.key) == (found.follow_up.id, None)
    return True


def ends(outcome: Outcome) -> Ending:
    async def end(conn: Connection, found: Pair) -> None:
        assert await make.settled(conn, found.claimed, outcome) is not None

    return end


async def reaped(conn: Connection, found: Pair) -> None:
    worker = (await make.record(conn, found.claimed.id)).leased_by
    assert worker is not None
    await raw.forget_worker(conn, worker)
    [row] = await expired(conn, 10)
    assert await reap(conn, row, make.ERROR) is not None


async def reaped_for_good(conn: Connection, found: Pair) -> None:
    await raw.change(conn, found.claimed.id, "max_attempts = 1")
    await reaped(conn, found)


async def reaped_after_a_cancel(conn: Connection, found: Pair) -> None:
    await cancel(conn, [found.claimed.id])
    await reaped(conn, found)


async def failed_after_a_cancel(conn: Connection, found: Pair) -> None:
    await cancel(conn, [found.claimed.id])
    assert await make.settled(conn, found.claimed, Failed(make.ERROR, 0.0)) is TaskStatus.DISCARDED


async def discarded_between_attempts(conn: Connection, found: Pair) -> None:
    await make.settled(conn, found.claimed, Failed(make.ERROR, 0.0))
    assert await discard(conn, [found.claimed.id]) == 1


async def cancelled_between_attempts(conn: Connection, found: Pair) -> None:
    await make.settled(conn, found.claimed, Failed(make.ERROR, 0.0))
    assert await cancel(conn, [found.claimed.id]) == 1


ENDINGS: dict[str, Ending] = {
    "success": ends(Succeeded("1")),
    "failure": ends(Failed(make.ERROR, None)),
    "cancel": ends(Cancelled(make.ERROR)),
    "failure after a cancel": failed_after_a_cancel,
    "loss": reaped_for_good,
    "reap after a cancel": reaped_after_a_cancel,
    "discard between attempts": discarded_between_attempts,
    "cancel between attempts": cancelled_between_attempts,
}
RETURNS: dict[str, Ending] = {
    "failure with attempts left": ends(Failed(make.ERROR, 0.0)),
    "snooze": ends(Snoozed(0.0)),
    "release": ends(Released()),
    "reap with attempts left": reaped,
}
