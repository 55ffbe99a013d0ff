"""The windows of rate limits: locked in order, read at one instant, counted in the claim."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.errors import Conflict
from oxpull_async.domain.outcome import Lease, Settlement
from oxpull_async.domain.permit import Permit, WindowKey
from oxpull_async.domain.rate_windows import Admitted, Limit, Room, Window, room
from oxpull_async.domain.record import instant, instant_or_none, wire_id, wire_instant

GRACE = 86_400.0


async def read_rooms(
    conn: Connection, limits: Mapping[str, Limit], windows: Iterable[WindowKey]
) -> dict[WindowKey, Room]:
    """Say how much room each window has; the answer holds while its row is locked."""
    wanted = sorted(set(windows))
    if not wanted:
        return {}
    asked = [{**_names(key), "per": limits[key[0]].per.total_seconds()} for key in wanted]
    rows = await conn.fetch("read_windows", windows=json.dumps(asked))
    return {(row[0], row[1]): room(limits[row[0]], _window(row)) for row in rows}


async def lock_windows(conn: Connection, windows: Iterable[WindowKey]) -> None:
    """Lock the rows of these windows in order, made where they are missing.

    Raises: Conflict where one was deleted meanwhile; without it nobody would wait for this transaction.
    """
    wanted = sorted(set(windows))
    names = json.dumps([_names(key) for key in wanted])
    if not wanted or len(await conn.fetch("lock_windows", windows=names)) == len(wanted):
        return
    await conn.execute("insert_windows", windows=names)
    if len(await conn.fetch("lock_windows", windows=names)) < len(wanted):
        raise Conflict("the row of a rate window vanished while it was taken: repeat the transaction")


async def count_starts(
    conn: Connection, limits: Mapping[str, Limit], rooms: Mapping[WindowKey, Room], admitted: Admitted
) -> None:
    """Count the rows that were just leased, in windows that are locked."""
    counts = [
        {
            **_names(key),
            "started_at": wire_instant(rooms[key].started_at),
            "used": rooms[key].used + count,
            "expires_at": wire_instant(rooms[key].until),
        }
        for key, count in sorted(admitted.taken().items())
        if not limits[key[0]].sliding
    ]
    starts = [
        {**_names(key), "task_id": wire_id(row.task_id), "per": limits[key[0]].per.total_seconds()}
        for row in admitted.starting
        for key in row.windows
        if limits[key[0]].sliding
    ]
    if counts:
        await conn.execute("write_windows", windows=json.dumps(counts))
    if starts:
        await conn.execute("insert_starts", starts=json.dumps(starts))


async def follow_outcomes(conn: Connection, settlements: Sequence[Settlement]) -> None:
    """Return the permits of attempts that did not begin, and hold windows that are to be shut.

    A permit goes back into the window that counted it, if that is still the present one; held windows never open sooner
    for it.
    """
    returned = [(one.lease, permit) for one in settlements for permit in one.permits]
    delays = _delays(settlements)
    if not returned and not delays:
        return
    await lock_windows(conn, {*delays, *(permit.window for _, permit in returned)})
    await _give_back(conn, returned)
    if delays:
        rows = [{**_names(key), "delay": delay} for key, delay in sorted(delays.items())]
        await conn.execute("hold_windows", windows=json.dumps(rows))


def _delays(settlements: Sequence[Settlement]) -> dict[WindowKey, float]:
    delays: dict[WindowKey, float] = {}
    for window, seconds in (one.holds for one in settlements if one.holds is not None):
        delays[window] = max(delays.get(window, 0.0), seconds)
    return delays


async def _give_back(conn: Connection, returned: Sequence[tuple[Lease, Permit]]) -> None:
    counted = Counter(permit for _, permit in returned if permit.started_at is not None)
    if counted:
        rows = [
            {**_names(permit.window), "started_at": wire_instant(permit.started_at), "permits": count}
            for permit, count in counted.items()
        ]
        await conn.execute("return_permits", windows=json.dumps(rows))
    starts = [
        {**_names(permit.window), "task_id": wire_id(lease.task_id), "epoch": lease.epoch}
        for lease, permit in returned
        if permit.started_at is None
    ]
    if starts:
        await conn.execute("delete_starts", starts=json.dumps(starts))


async def prune_windows(conn: Connection, limit: int) -> int:
    """Delete windows and starts that are long over; returns how many.

    A day's grace keeps a step of the clock from opening one again.
    """
    windows = await conn.execute("prune_windows", age=GRACE, limit=limit)
    return windows + await conn.execute("prune_starts", age=GRACE, limit=limit)


async def count_expired(conn: Connection) -> int:
    """Return how many windows and starts `prune_windows` would delete in the end."""
    [[windows, starts]] = await conn.fetch("count_windows", age=GRACE)
    return int(windows) + int(starts)


def _window(row: Row) -> Window:
    return Window(
        now=instant(row[7]),
        started_at=instant_or_none(row[2]),
        used=row[3] or 0,
        held_until=instant_or_none(row[4]),
        starts=row[5] or 0,
        oldest=instant_or_none(row[6]),
    )


def _names(key: WindowKey) -> dict[str, object]:
    return {"name": key[0], "limit_key": key[1]}
