"""Which statements are pinned, with values as the store passes them, and the indexes each must use."""

import json
from dataclasses import dataclass
from itertools import pairwise

from oxpull_async.db.contract import Scalar
from oxpull_async.domain.low_water import WHOLE
from oxpull_async.domain.record import wire_id
from oxpull_async.store.enqueue import task_columns
from oxpull_async.store.stretches import Stretches, last_mark, queue_list
from tests.fixtures import make
from tests.plans.load import KEY, QUEUES, Loaded

READY, DEFERRED, LEASED = "oxpull_task_ready", "oxpull_task_deferred", "oxpull_task_leased"
LOCK_READY, LOCK_WAITING, LOCK = "oxpull_task_lock_ready", "oxpull_task_lock_waiting", "oxpull_task_lock"
READY_LOCKED, LOCK_RUNNING = "oxpull_task_ready_locked", "oxpull_task_lock_running"
LIMITED, RECHECK = "oxpull_task_limited", "oxpull_task_recheck"
LIMIT = 100
ALIAS: dict[str, Scalar] = {"backend_alias": make.ALIAS}
NONE: dict[str, Scalar] = {}
WHOLE_QUEUES: Stretches = {}


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
    Pinned("claim", ("primary", READY), RETURNING, merges=True, reads=1_200),
    Pinned("claim_past_locked", ("primary", READY, READY_LOCKED, LOCK_RUNNING), RETURNING, merges=True, reads=1_200),
    Pinned("find_startable", (READY_LOCKED, LOCK_RUNNING), ("postgres",), merges=True),
    Pinned("find_startable", ("primary", READY_LOCKED, LOCK_RUNNING), ("sqlite",), merges=True),
    Pinned("find_startable", (READY,), ("mysql",), merges=True),
    Pinned("claim_candidates", (READY,), ("postgres",), merges=True),
    Pinned("claim_candidates", ("primary", READY), ("sqlite",), merges=True),
    Pinned("claim_candidates", (READY,), ("mysql",)),
    Pinned("locked_candidates", (READY_LOCKED,), ("postgres",), merges=True),
    Pinned("locked_candidates", ("primary", READY_LOCKED), ("sqlite",), merges=True),
    Pinned("locked_candidates", (READY,), ("mysql",)),
    Pinned("claim", ("primary",), ("mysql",)),
    Pinned("claimed_tasks", ("primary",), ("mysql",)),
    Pinned("peek", (READY, READY_LOCKED, LIMITED, DEFERRED), RETURNING),
    Pinned("peek_queue", (), ("mysql",)),
    Pinned("promote", ("primary", DEFERRED)),
    Pinned("limited_lanes", (LIMITED,), ("postgres",)),
    Pinned("limited_lanes", ("primary", LIMITED), ("sqlite",)),
    Pinned("set_apart", ("primary",)),
    Pinned("limited_candidates", (LIMITED,), RETURNING, merges=True),
    Pinned("limited_candidates", (READY,), ("mysql",)),
    Pinned("claim_ages", ("primary",)),
    Pinned("mark_begun", ("primary",)),
    Pinned("settle", ("primary",), reads=1_050),
    Pinned("settle_successes", ("primary",), ("postgres",), reads=1_050),
    Pinned("lock_outcomes", ("primary",), ("mysql",)),
    Pinned("settle_locked", ("primary",), ("mysql",)),
    Pinned("glance", (READY, READY_LOCKED, LIMITED, DEFERRED, LEASED, RECHECK, LOCK_WAITING), RETURNING),
    Pinned("glance", (LEASED, LOCK), ("mysql",)),
    Pinned("held_tasks", (LEASED,)),
    Pinned("expired_tasks", (LEASED,)),
    Pinned("remove_dead_workers", (LEASED,)),
    Pinned("workers", (LEASED,)),
    Pinned("waiting_time", (READY, READY_LOCKED, LEASED), RETURNING, reads=3_000),
    Pinned("waiting_time", (READY, LEASED), ("mysql",), reads=3_000),
    Pinned("get_tasks", ("primary",)),
    Pinned("find_holder", ("primary",)),
    Pinned("rewrite_holder", ("primary",), RETURNING),
    Pinned("take_over_key", ("primary",), ("postgres",)),
    Pinned("rewrite_unstarted", ("primary",), ("postgres", "mysql")),
    Pinned("take_keys", ()),
    Pinned("set_follow_ups", ()),
    Pinned("prune_scan", ("primary",), reads=2_000),
    Pinned("prunable_tasks", ("primary",)),
    Pinned("prune_tasks", ("primary",)),
    Pinned("prune_batches_scan", ("primary",)),
    Pinned("retry_tasks", ("primary",)),
    Pinned("discard_tasks", ("primary",)),
    Pinned("cancel_tasks", ("primary",)),
    Pinned("run_tasks_now", ("primary",)),
    Pinned("lock_followed_tasks", ("primary",)),
    Pinned("keys_of_tasks", ("primary",)),
    Pinned("queue_backlog", (READY, READY_LOCKED, LIMITED), RETURNING, reads=1_700),
    Pinned("find_edges", ()),
    Pinned("lock_nodes", ()),
    Pinned("write_nodes", ()),
    Pinned("set_edges", ()),
    Pinned("find_ended_upstreams", ()),
    Pinned("find_marked_nodes", ()),
    Pinned("find_named_nodes", ()),
    Pinned("find_dooming_edges", ()),
    Pinned("prune_nodes", ("primary",)),
    Pinned("prune_edges", ("primary",)),
    Pinned("upstream_results", ("primary",)),
    Pinned("unmet_edges", ("primary",)),
    Pinned("scan_nodes", ("primary",)),
    Pinned("lock_waiting_nodes", ("primary",)),
    Pinned("lock_node_tasks", ("primary",)),
    Pinned("find_statuses", ("primary",)),
    Pinned("declare_nodes", ("primary",)),
    Pinned("release_nodes", ("primary",)),
    Pinned("discard_nodes", ("primary",)),
    Pinned("queue_backlog", (READY,), ("mysql",), reads=1_700),
    Pinned("unfinished_by_queue", (DEFERRED, LEASED, LOCK_WAITING), RETURNING, merges=True),
    Pinned("unfinished_by_queue", (DEFERRED, LEASED, LOCK), ("mysql",)),
    Pinned("pending_follow_ups", ("primary", READY, READY_LOCKED, LIMITED, DEFERRED, LEASED, LOCK_WAITING), RETURNING),
    Pinned("pending_follow_ups", ("primary", READY, DEFERRED, LEASED, LOCK), ("mysql",)),
    Pinned("recent_outcomes", ("primary",), merges=True),
    Pinned("unfinished_tasks", (READY, READY_LOCKED, LIMITED, DEFERRED, LEASED, LOCK_WAITING), RETURNING),
    Pinned("unfinished_tasks", (READY, DEFERRED, LEASED, LOCK), ("mysql",)),
)


def values(name: str, loaded: Loaded, stretches: Stretches = WHOLE_QUEUES) -> dict[str, Scalar]:
    """Give a statement the values that the store would; `stretches` are those of queues that claims read."""
    worker: Scalar = wire_id(loaded.worker_id)
    ids: dict[str, Scalar] = {"ids": loaded.running}
    statuses: dict[str, Scalar] = {"statuses": json.dumps(["SUCCESSFUL", "DISCARDED"]), "age": 604_800.0}
    where: dict[str, Scalar] = {**ALIAS, "limit": LIMIT, "excluded_paths": "[]"}
    is_split = not loaded.ox.database.dialect.update_returns_rows
    queues = where | ({"queue_name": QUEUES[0]} if is_split else {"queues": json.dumps(QUEUES)})
    claims_from: dict[str, Scalar] = {"queues": queue_list(loaded.ox.database.dialect, QUEUES, stretches)}
    if is_split:
        claims_from = {"queue_name": QUEUES[0], **last_mark(stretches.get(QUEUES[0], WHOLE))}
    lane: dict[str, Scalar] = {**ALIAS, "queue_name": QUEUES[0], "limit": LIMIT}
    has_lateral = loaded.ox.database.dialect.has_lateral
    claimed: dict[str, Scalar] = {"worker_id": worker, "later_paths": "[]"}
    by_name: dict[str, dict[str, Scalar]] = {
        "claim_past_locked": {**claimed, **where, **claims_from},
        "find_startable": queues,
        "claim_candidates": {**where, **claims_from},
        "locked_candidates": queues,
        "claimed_tasks": {**ids, "worker_id": worker},
        "peek": ALIAS,
        "peek_queue": {**ALIAS, "after": ""},
        "glance": {**ALIAS, "worker_id": worker, "grace": 0.0},
        "promote": {"limit": 1000},
        "limited_lanes": lane | {"after_path": "", "after_keys": ""},
        "limited_candidates": ALIAS | {"lanes": "[]"} if has_lateral else lane | {"task_path": "", "limit_keys": ""},
        "mark_begun": {"attempts": loaded.outcomes},
        "settle": {"outcomes": loaded.outcomes},
        "settle_successes": {"ids": _array(loaded.running), "epoch": 1, "results": "{}"},
        "lock_outcomes": {"ids": tuple(json.loads(loaded.running))},
        "settle_locked": {"ids": tuple(json.loads(loaded.running))},
        "held_tasks": {"worker_id": worker},
        "expired_tasks": {"limit": LIMIT},
        "remove_dead_workers": NONE,
        "workers": ALIAS,
        "waiting_time": ALIAS,
        "prune_scan": {**statuses, "backend_alias": None, "after": json.loads(loaded.running)[0], "limit": 1000},
        "prunable_tasks": {**statuses, **ids, "backend_alias": None},
        "prune_tasks": ids,
        "prune_batches_scan": {"age": 0.0, "backend_alias": None, "after": None, "limit": LIMIT},
        "retry_tasks": {**ids, "include_discarded": False},
        "queue_backlog": {**ALIAS, "after": "", "limit": LIMIT},
        "unfinished_by_queue": {**ALIAS, "limit": LIMIT},
        "pending_follow_ups": {**ALIAS, "limit": LIMIT},
        "recent_outcomes": {**ALIAS, "limit": LIMIT},
        "unfinished_tasks": {**ALIAS, "status": "READY", "queue_name": None, "limit": LIMIT},
    }
    by_name |= _of_nodes(loaded) | _of_keys(loaded)
    if name == "claim":
        listed: dict[str, Scalar] = {"ids": tuple(json.loads(loaded.running)), "before": None}
        return {**claimed, **(listed if is_split else {**where, **claims_from})}
    return dict(by_name.get(name, ids))


def _of_keys(loaded: Loaded) -> dict[str, dict[str, Scalar]]:
    """Give the values of the statements about unique keys."""
    id_ = json.loads(loaded.running)[0]
    call = make.unique_call(key=KEY)
    columns = {name: value for name, value in task_columns(call.task).items() if name != "waiting_for"}
    row = {"unique_key": KEY, "holder_id": wire_id(call.task.id), "old_id": id_, "follow_up_id": None, "ttl": None}
    written = (
        "unique_key", "args", "kwargs", "priority", "run_after", "reruns", "lock_key", "lock_limit", "lock_conflict",
        "limit_keys",
    )  # fmt: skip
    rewritten = {name: columns[name] for name in written} | {"wait": None, "max_wait": None}
    return {
        "find_holder": {"unique_key": KEY},
        "rewrite_holder": rewritten,
        "take_over_key": columns | {"ttl": None, "old_id": id_, "old_status": "RUNNING"},
        "rewrite_unstarted": {"tasks": json.dumps([rewritten | {"id": id_}])},
        "take_keys": {"keys": json.dumps([row])},
        "set_follow_ups": {"keys": json.dumps([row])},
    }


def _array(ids: str) -> str:
    """Give ids, which are a JSON list, as an array of PostgreSQL's."""
    return "{" + ",".join(json.loads(ids)) + "}"


def _of_nodes(loaded: Loaded) -> dict[str, dict[str, Scalar]]:
    """Give the values of the statements about workflows: a part of a chain of nodes."""
    ids: dict[str, Scalar] = {"ids": json.dumps(loaded.chain[:-1])}
    workflow: dict[str, Scalar] = {"workflow_id": loaded.workflow_id}
    wishes = [{"id": id_, "on_discard": "met", "on_run": "met"} for id_ in loaded.chain[:-1]]
    rows = [{"id": id_, "unmet": 0, "counted": None, "cascaded": False, "recheck": None} for id_ in loaded.chain[:-1]]
    edges = [
        {"upstream_id": upstream, "downstream_id": downstream, "state": "met"}
        for upstream, downstream in pairwise(loaded.chain)
    ]
    errors = [{"id": id_, "error": "{}"} for id_ in loaded.chain[:-1]]
    names = [
        "lock_nodes", "find_ended_upstreams", "find_dooming_edges", "prune_nodes", "prune_edges", "lock_waiting_nodes",
        "lock_node_tasks", "find_statuses", "declare_nodes", "release_nodes",
    ]  # fmt: skip
    return dict.fromkeys(names, ids) | {
        "find_edges": {"nodes": json.dumps(wishes), "limit": 1_001},
        "write_nodes": {"nodes": json.dumps(rows)},
        "set_edges": {"edges": json.dumps(edges)},
        "find_marked_nodes": {"limit": LIMIT},
        "find_named_nodes": {**workflow, "names": json.dumps([f"n{n}" for n in range(LIMIT)])},
        "upstream_results": {"task_id": loaded.chain[0]},
        "unmet_edges": {"task_id": loaded.chain[0], "limit": 10},
        "scan_nodes": {**workflow, "after": "n1", "limit": LIMIT},
        "discard_nodes": {"tasks": json.dumps(errors)},
    }
