"""Write what attempts came to, each fenced by its epoch."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.chunks import MAX_BATCH_ROWS, chunks
from oxpull_async.domain.outcome import Lease, Settlement, Succeeded
from oxpull_async.domain.record import TaskId, TaskStatus, task_id, wire_id
from oxpull_async.store.follow_ups import follow_ends, lock_free_keys
from oxpull_async.store.locks import hand_over
from oxpull_async.store.moved import Moved, follow_moved, follow_stored
from oxpull_async.store.rate_windows import follow_outcomes
from oxpull_async.store.settle_locked import write_locked

ROW_OVERHEAD = 200
_STATUSES: dict[str, TaskStatus] = {status.value: status for status in TaskStatus}

type Settled = dict[Lease, TaskStatus]


class _Written(NamedTuple):
    """The outcomes that counted, and the keys of ended tasks for whose follow-ups somebody has to look.

    `moved`: the tasks of batches and workflows among those that ended.
    """

    settled: Settled
    keys: dict[TaskId, str]
    moved: dict[TaskId, Moved]


async def settle(conn: Connection, settlements: Sequence[Settlement]) -> Settled:
    """Write outcomes in one transaction.

    Returns the stored status of those whose lease was still good.

    An outcome that is absent from the answer changed nothing: the task had been taken away, and the news is not an
    error. Repeating the call after a lost connection is safe, since the write that lands moves the row out of RUNNING.
    """
    if all([one.is_bare for one in settlements]):  # noqa: C419 - quicker than a generator
        written = await _settle_rows(conn, settlements)
        if written.keys or written.moved:
            async with conn.transaction():
                await follow_stored(conn, list(written.moved))
                await _follow_late(conn, written.keys)
        return written.settled
    keys = {one.lease.task_id: one.rerun_key for one in settlements if one.rerun_key is not None}
    locks = {one.lease: one.lock_key for one in settlements if one.lock_key is not None}
    limited = [one for one in settlements if one.permits or one.holds is not None]
    async with conn.transaction():
        free = await lock_free_keys(conn, sorted(set(keys.values())))
        written = await _settle_rows(conn, settlements)
        await hand_over(conn, [key for lease, key in locks.items() if lease in written.settled])
        await follow_outcomes(conn, [one for one in limited if one.lease in written.settled])
        await follow_moved(conn, written.moved)
        await follow_ends(conn, keys, free)
        await _follow_late(conn, {id_: key for id_, key in written.keys.items() if id_ not in keys})
    return written.settled


async def _follow_late(conn: Connection, keys: Mapping[TaskId, str]) -> None:
    """Release the follow-ups of tasks that got one without having been declared to rerun when they were claimed."""
    if keys:
        await follow_ends(conn, keys, await lock_free_keys(conn, sorted(set(keys.values()))))


async def _settle_rows(conn: Connection, settlements: Sequence[Settlement]) -> _Written:
    if conn.dialect.has_arrays and _may_go_by_ids(settlements, conn.max_batch_bytes):
        return await _write_successes(conn, settlements)
    rows = sorted(((one, one.columns()) for one in settlements), key=lambda row: str(row[1]["id"]))
    sized = ((row, _size(row[1])) for row in rows)
    parts = list(chunks(sized, max_bytes=conn.max_batch_bytes))
    if len(parts) == 1 and conn.dialect.update_returns_rows:
        return await _write(conn, parts[0])
    written = _Written({}, {}, {})
    async with conn.transaction():
        for part in parts:
            found = await _write(conn, part)
            written.settled.update(found.settled)
            written.keys.update(found.keys)
            written.moved.update(found.moved)
    return written


async def mark_begun(conn: Connection, leases: Sequence[Lease]) -> None:
    """Note that these attempts have started, so that a reap charges them."""
    await conn.execute("mark_begun", attempts=_leases(leases))


async def report_progress(conn: Connection, lease: Lease, progress: str) -> bool:
    """Store how far an attempt is, as JSON text; False when the lease is lost."""
    id_ = wire_id(lease.task_id)
    return await conn.execute("report_progress", id=id_, epoch=lease.epoch, progress=progress) > 0


def _may_go_by_ids(settlements: Sequence[Settlement], max_bytes: int) -> bool:
    """Whether they are successes of one epoch, as most are, and few enough for one statement."""
    if not 0 < len(settlements) <= MAX_BATCH_ROWS or len({one.lease.epoch for one in settlements}) > 1:
        return False
    size = ROW_OVERHEAD * len(settlements)
    for outcome in [one.outcome for one in settlements]:
        if type(outcome) is not Succeeded:
            return False
        size += len(outcome.value)
    return size <= max_bytes


async def _write_successes(conn: Connection, settlements: Sequence[Settlement]) -> _Written:
    ids = ",".join([one.lease.task_id for one in settlements])
    values = [(one.lease.task_id, one.outcome.value) for one in settlements if isinstance(one.outcome, Succeeded)]
    results = ",".join([f'"{id_}":{value}' for id_, value in values if value != "null"])
    epoch = settlements[0].lease.epoch
    return _read(await conn.fetch("settle_successes", ids=f"{{{ids}}}", epoch=epoch, results=f"{{{results}}}"))


async def _write(conn: Connection, part: Sequence[tuple[Settlement, dict[str, object]]]) -> _Written:
    if conn.dialect.update_returns_rows:
        rows = await conn.fetch("settle", outcomes=json.dumps([columns for _, columns in part]))
    else:
        rows = await write_locked(conn, part)
    return _read(rows)


def _read(rows: Sequence[Row]) -> _Written:
    written = _Written({}, {}, {})
    settled = written.settled
    for id_, epoch, word, key, batch_id, workflow_id in rows:
        text, status = task_id(id_), _STATUSES[word]
        settled[Lease(text, epoch)] = status
        if key is not None:
            written.keys[text] = key
        if (batch_id is not None or workflow_id is not None) and status.is_finished:
            node_of = None if workflow_id is None else task_id(workflow_id)
            written.moved[text] = Moved(status, batch_id is not None, node_of)
    return written


def _leases(leases: Sequence[Lease]) -> str:
    in_order = sorted(leases, key=lambda lease: lease.task_id)
    return json.dumps([{"id": wire_id(lease.task_id), "epoch": lease.epoch} for lease in in_order])


def _size(columns: dict[str, object]) -> int:
    return len(str(columns["value"] or "")) + len(str(columns["error"] or "")) + ROW_OVERHEAD
