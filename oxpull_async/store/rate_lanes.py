"""Look which lanes of rows with limit keys have room, and lock the best rows of those."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from oxpull_async.db.contract import Connection, Row
from oxpull_async.domain.rate_lanes import FIRST_LANE, Lane, LaneMark, LimitsLook, first_opening, lane_of, open_lanes
from oxpull_async.domain.rate_windows import Limit
from oxpull_async.store.rate_limits import declared_limits
from oxpull_async.store.rate_windows import read_rooms

MOST_LANES = 1_000


async def look_at_lanes(
    conn: Connection,
    backend_alias: str,
    queues: Sequence[str],
    most: int,
    after: LaneMark | None = None,
    excluded_paths: Collection[str] = (),
) -> LimitsLook:
    """Say which lanes of these queues have room for a start, for a claim of at most `most` rows.

    It sees a bounded number of lanes: where there are more, the next look begins behind the last one.
    """
    limits = await declared_limits(conn, backend_alias)
    seen, last = await _lanes(conn, backend_alias, sorted(queues), after or FIRST_LANE, limits)
    lanes = [lane for lane in seen if lane.task_path not in excluded_paths]
    rooms = await read_rooms(conn, limits, (window for lane in lanes for window in lane.windows))
    found = open_lanes(lanes, rooms, most)
    shut = [lane for lane in lanes if not all(rooms[window].is_open for window in lane.windows)]
    opening = first_opening(shut, rooms)
    now = next((each.seen_at for each in rooms.values()), None)
    opens_in = None if opening is None or now is None else (opening - now).total_seconds()
    return LimitsLook(tuple(replace(lane, places=left) for lane, left in found), limits, opens_in, last)


async def limited_candidates(conn: Connection, backend_alias: str, lanes: Sequence[Lane]) -> list[tuple[Row, Lane]]:
    """Lock the best rows of these lanes, of each as many as it has places."""
    if conn.dialect.has_lateral:
        by_mark = {lane.mark: lane for lane in lanes}
        rows = await conn.fetch("limited_candidates", backend_alias=backend_alias, lanes=_lanes_text(lanes))
        return [(row, by_mark[row[7], row[8], row[9]]) for row in rows]
    return [(row, lane) for lane in lanes for row in await _candidates(conn, backend_alias, lane)]


async def _candidates(conn: Connection, backend_alias: str, lane: Lane) -> Sequence[Row]:
    return await conn.fetch(
        "limited_candidates",
        backend_alias=backend_alias,
        queue_name=lane.queue_name,
        task_path=lane.task_path,
        limit_keys=lane.limit_keys,
        limit=lane.places,
    )


async def _lanes(
    conn: Connection, backend_alias: str, queues: Sequence[str], after: LaneMark, limits: Mapping[str, Limit]
) -> tuple[list[Lane], LaneMark | None]:
    """Step through the lanes behind a mark; returns them, and the last one where there may be more."""
    lanes: list[Lane] = []
    for queue_name in (name for name in queues if name >= after[0]):
        mark: LaneMark | None = after if queue_name == after[0] else (queue_name, "", "")
        while mark is not None:
            rows = await _lanes_behind(conn, backend_alias, mark, MOST_LANES - len(lanes))
            lanes += [lane_of(queue_name, row, limits) for row in rows]
            if len(lanes) >= MOST_LANES:
                return lanes, lanes[-1].mark
            mark = lanes[-1].mark if rows and not conn.dialect.steps_through_indexes else None
    return lanes, None


async def _lanes_behind(conn: Connection, backend_alias: str, mark: LaneMark, limit: int) -> Sequence[Row]:
    queue_name, path, keys = mark
    return await conn.fetch(
        "limited_lanes",
        backend_alias=backend_alias,
        queue_name=queue_name,
        after_path=path,
        after_keys=keys,
        limit=limit,
    )


def _lanes_text(lanes: Sequence[Lane]) -> str:
    return json.dumps(
        [
            {
                "queue_name": lane.queue_name,
                "task_path": lane.task_path,
                "limit_keys": lane.limit_keys,
                "places": lane.places,
            }
            for lane in lanes
        ]
    )
