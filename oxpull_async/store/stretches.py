"""How the stretches of queues that a claim reads travel to its statements."""

import json
from collections.abc import Mapping, Sequence

from oxpull_async.db.contract import Dialect, Scalar
from oxpull_async.domain.low_water import WHOLE, Stretch
from oxpull_async.domain.record import wire_id, wire_instant

type Stretches = Mapping[str, tuple[Stretch, ...]]

BEFORE_ALL, AFTER_ALL = -1000, 1000
NO_ID, LONG_AGO = "0" * 32, "1000-01-01 00:00:00"


def queue_list(dialect: Dialect, queues: Sequence[str], stretches: Stretches) -> str:
    """Return the queues as JSON text: names, or names with their stretches in order."""
    if not dialect.claims_from_marks:
        return json.dumps(sorted(queues))
    return json.dumps([
        {"queue_name": name, "stretches": [_document(stretch) for stretch in stretches.get(name, WHOLE)]}
        for name in sorted(queues)
    ])  # fmt: skip


def last_mark(stretches: tuple[Stretch, ...]) -> dict[str, Scalar]:
    """Return the mark of the lowest rank, for a statement that can heed only one.

    It takes what ranks before the mark, and what is beyond it.
    """
    after = stretches[-1].after
    if after is None:
        return {"mark_rank": BEFORE_ALL, "mark_at": LONG_AGO, "mark_id": NO_ID}
    return {"mark_rank": after.rank, "mark_at": wire_instant(after.available_at), "mark_id": wire_id(after.task_id)}


def _document(stretch: Stretch) -> dict[str, object]:
    rank, available_at, id_ = BEFORE_ALL, "-infinity", NO_ID
    if stretch.after is not None:
        rank, available_at, id_ = stretch.after.rank, stretch.after.available_at.isoformat(), stretch.after.task_id
    below = AFTER_ALL if stretch.below is None else stretch.below
    return {"rank": rank, "available_at": available_at, "id": id_, "below": below}
