"""Which statements are pinned, with values as the store passes them, and the indexes each must use."""

import json
from dataclasses import dataclass

from oxpull_async.db.contract import Scalar
from oxpull_async.domain.record import wire_id
from tests.fixtures import make
from tests.plans.load import QUEUES, Loaded

READY, DEFERRED, LEASED = "oxpull_task_ready", "oxpull_task_deferred", "oxpull_task_leased"
LOCK_READY, LOCK_WAITING, LOCK = "oxpull_task_lock_ready", "oxpull_task_lock_waiting", "oxpull_task_lock"
LIMIT = 100
ALIAS: dict[str, Scalar] = {"backend_alias": make.ALIAS}
NONE: dict[str, Scalar] = {}


@dataclass(frozen=True, slots=True)
class Pinned:
    """One statement, the indexes of the task table that it may use, and how many rows it may read.

    `merges` lets it sort what its LIMIT let through.
    """

    name: str
    indexes: tuple[str, ...]
    dialects: tuple[str, ...] = ("postgres", "mysql", "sqlite")
    merges: bool = False
    reads: int = 1_000

    def __str__(self) -> str:
        return self.name


RETURNING = ("postgres", "sqlite")
PINNED = (
    Pinned("claim", ("primary", READY), RETURNING, merges=True, reads=1_100),
    Pinned("claim_candidates", (READY,), ("mysql",)),
    Pinned("claim", ("primary",), ("mysql",)),
    Pinned("claimed_tasks", ("primary",), ("mysql",)),
    Pinned("peek", (READY, DEFERRED, LOCK_READY), RETURNING),
    Pinned("peek_queue", (), ("mysql",)),
    Pinned("promote", ("primary", DEFERRED)),
    Pinned("mark_begun", ("primary",)),
    Pinned("settle", ("primary",)),
    Pinned("lock_outcomes", ("primary",), ("mysql",)),
    Pinned("held_tasks", (LEASED,)),
    Pinned("expired_tasks", (LEASED,)),
    Pinned("remove_dead_workers", (LEASED,)),
    Pinned("workers", (LEASED,)),
    Pinned("waiting_time", (READY, LEASED), reads=3_000),
    Pinned("get_tasks", ("primary",)),
    Pinned("prune_scan", ("primary",), reads=2_000),
    Pinned("prune_tasks", ("primary",)),
    Pinned("retry_tasks", ("primary",)),
    Pinned("discard_tasks", ("primary",)),
    Pinned("cancel_tasks", ("primary",)),
    Pinned("run_tasks_now", ("primary",)),
    Pinned("queue_backlog", (READY,), reads=1_700),
    Pinned("unfinished_by_queue", (DEFERRED, LEASED, LOCK_WAITING), RETURNING, merges=True),
    Pinned("unfinished_by_queue", (DEFERRED, LEASED, LOCK), ("mysql",)),
    Pinned("pending_follow_ups", ("primary", READY, DEFERRED, LEASED, LOCK_WAITING), RETURNING),
    Pinned("pending_follow_ups", ("primary", READY, DEFERRED, LEASED, LOCK), ("mysql",)),
    Pinned("recent_outcomes", ("primary",), merges=True),
    Pinned("unfinished_tasks", (READY, DEFERRED, LEASED, LOCK_WAITING), RETURNING),
    Pinned("unfinished_tasks", (READY, DEFERRED, LEASED, LOCK), ("mysql",)),
)


def values(name: str, loaded: Loaded) -> dict[str, Scalar]:
    """Give a statement the values that the store would."""
    worker: Scalar = wire_id(loaded.worker_id)
    ids: dict[str, Scalar] = {"ids": loaded.running}
    statuses: dict[str, Scalar] = {"statuses": json.dumps(["SUCCESSFUL", "DISCARDED"]), "age": 604_800.0}
    where: dict[str, Scalar] = {**ALIAS, "limit": LIMIT, "excluded_paths": "[]"}
    claimed: dict[str, Scalar] = {"worker_id": worker, "later_paths": "[]"}
    by_name: dict[str, dict[str, Scalar]] = {
        "claim_candidates": {**where, "queue_name": QUEUES[0]},
        "claimed_tasks": {**ids, "worker_id": worker},
        "peek": ALIAS,
        "peek_queue": {**ALIAS, "after": ""},
        "promote": {"limit": 1000},
        "mark_begun": {"attempts": loaded.outcomes},
        "settle": {"outcomes": loaded.outcomes},
        "lock_outcomes": {"outcomes": loaded.outcomes},
        "held_tasks": {"worker_id": worker},
        "expired_tasks": {"limit": LIMIT},
        "remove_dead_workers": NONE,
        "workers": ALIAS,
        "waiting_time": ALIAS,
        "prune_scan": {**statuses, "backend_alias": None, "after": json.loads(loaded.running)[0], "limit": 1000},
        "prune_tasks": {**statuses, **ids},
        "retry_tasks": {**ids, "include_discarded": False},
        "queue_backlog": {**ALIAS, "after": "", "limit": LIMIT},
        "unfinished_by_queue": {**ALIAS, "limit": LIMIT},
        "pending_follow_ups": {**ALIAS, "limit": LIMIT},
        "recent_outcomes": {**ALIAS, "limit": LIMIT},
        "unfinished_tasks": {**ALIAS, "status": "READY", "queue_name": None, "limit": LIMIT},
    }
    if name == "claim":
        is_split = not loaded.ox.database.dialect.update_returns_rows
        return {**claimed, **(ids if is_split else {**where, "queues": json.dumps(QUEUES)})}
    return dict(by_name.get(name, ids))
