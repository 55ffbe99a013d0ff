"""Outcomes where no statement both writes and returns: lock the rows, judge, then write."""

import json
from collections.abc import Sequence

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.outcome import Lease, Settlement
from oxpull_async.domain.record import TaskStatus, task_id
from oxpull_async.store.id_lists import id_lists

_ENDS = (TaskStatus.SUCCESSFUL, TaskStatus.FAILED)


async def write_locked(conn: Connection, part: Sequence[tuple[Settlement, dict[str, object]]]) -> list[Row]:
    """Write outcomes, in order of id, inside the caller's transaction.

    Returns id, epoch, stored status, the unique key whose follow-up is to be looked at, batch and workflow of those
    whose lease was still good.
    """
    wanted = {one.lease: columns for one, columns in part}
    written: list[Row] = []
    nothings: list[str] = []
    others: list[dict[str, object]] = []
    for ids in id_lists([str(columns["id"]) for _, columns in part]):
        for id_, epoch, status, is_cancelled, key, batch_id, workflow_id in await conn.fetch("lock_outcomes", ids=ids):
            columns = wanted.get(Lease(task_id(id_), epoch))
            if columns is None or (status != TaskStatus.RUNNING and columns["status"] not in _ENDS):
                continue
            ends = TaskStatus.DISCARDED if is_cancelled and not _succeeds(columns) else columns["status"]
            followed = None if ends == TaskStatus.READY else key
            written.append((id_, epoch, ends, followed, batch_id, workflow_id))
            if status == TaskStatus.RUNNING and _succeeds(columns) and columns["value"] == "null":
                nothings.append(str(columns["id"]))
            else:
                others.append(columns)
    for ids in id_lists(nothings):
        await conn.execute("settle_locked", ids=ids)
    if others:
        await conn.execute("settle", outcomes=json.dumps(others))
    return written


def _succeeds(columns: dict[str, object]) -> bool:
    return columns["status"] == TaskStatus.SUCCESSFUL
